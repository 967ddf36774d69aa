//! A provider on a real socket: speaks HTTP/1.1 and server-sent events by a script, one step a request, and remembers what it was sent.
//!
//! ```text
//! let provider = FakeProvider::start([Step::reply("hello")]).await;
//! // … point a client at provider.base_url() …
//! assert_eq!(provider.requests()[0].body["stream"], true);
//! provider.finish();
//! ```

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinHandle;

/// How long a test waits for something that should happen at once.
const DEADLINE: Duration = Duration::from_secs(20);

/// What one request is answered with.
#[derive(Debug, Clone)]
pub enum Step {
    /// A complete reply; its bytes are sent in chunks of `chunk_bytes`.
    Reply { deltas: Vec<String>, usage: Option<Value>, chunk_bytes: usize },
    /// A stream of exactly these chunks, ended in order.
    Chunks(Vec<Vec<u8>>),
    /// A plain JSON answer, as of a server that ignores `stream`.
    Json(Value),
    /// A status with headers and a body, and no stream.
    Status { code: u16, headers: Vec<(String, String)>, body: String },
    /// Headers and these events, then nothing until the client goes.
    Stall(Vec<String>),
    /// The first `bytes` of a complete reply, then the connection ends without a word.
    CutAfter { deltas: Vec<String>, bytes: usize },
    /// These bytes in place of a response.
    Garbage(Vec<u8>),
    /// A complete reply whose events wait for [`FakeProvider::release`] one by one.
    Gate(Vec<String>),
}

impl Step {
    /// A complete reply with usage, one delta a word.
    #[must_use]
    pub fn reply(text: &str) -> Self {
        let usage = json!({"prompt_tokens": 10, "completion_tokens": 5});
        Self::Reply { deltas: text.split_inclusive(' ').map(str::to_owned).collect(), usage: Some(usage), chunk_bytes: usize::MAX }
    }

    /// A refusal with an OpenAI-shaped body.
    #[must_use]
    pub fn status(code: u16, retry_after: Option<&str>, kind: &str, message: &str) -> Self {
        let headers = retry_after.map(|wait| ("retry-after".to_owned(), wait.to_owned()));
        let body = json!({"error": {"message": message, "type": kind, "code": kind}}).to_string();
        Self::Status { code, headers: headers.into_iter().collect(), body }
    }
}

/// One event with data.
#[must_use]
pub fn event(data: &str) -> String {
    format!("data: {data}\n\n")
}

/// The event of one delta.
#[must_use]
pub fn delta_event(text: &str) -> String {
    event(&json!({"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": null}]}).to_string())
}

/// The events of a complete reply.
#[must_use]
pub fn reply_events(deltas: &[String], usage: Option<&Value>) -> Vec<String> {
    let mut events: Vec<String> = deltas.iter().map(|text| delta_event(text)).collect();
    events.push(event(&json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}).to_string()));
    events.extend(usage.map(|usage| event(&json!({"choices": [], "usage": usage}).to_string())));
    events.push(event("[DONE]"));
    events
}

/// A request as it came.
#[derive(Debug, Clone)]
pub struct Captured {
    /// Method and target, as in `POST /v1/chat/completions`.
    pub line: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body's bytes.
    pub bytes: Vec<u8>,
    /// The same as JSON; null if it is none.
    pub body: Value,
}

impl Captured {
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|header| header.0 == name).map(|header| header.1.as_str())
    }
}

/// The server. It stops when this is dropped.
#[derive(Debug)]
pub struct FakeProvider {
    base_url: String,
    shared: Arc<Shared>,
    accepting: JoinHandle<()>,
}

#[derive(Debug)]
struct Shared {
    script: Mutex<VecDeque<Step>>,
    requests: Mutex<Vec<Captured>>,
    faults: Mutex<Vec<String>>,
    gate: Semaphore,
    counts: watch::Sender<Counts>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    requests: usize,
    closed_early: usize,
}

impl FakeProvider {
    /// Listens on a free port of this machine.
    pub async fn start(script: impl IntoIterator<Item = Step>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("a bound socket has an address");
        let shared = Arc::new(Shared {
            script: Mutex::new(script.into_iter().collect()),
            requests: Mutex::default(),
            faults: Mutex::default(),
            gate: Semaphore::new(0),
            counts: watch::Sender::default(),
        });
        let serving = Arc::clone(&shared);
        let accepting = tokio::spawn(async move {
            // Connections end with the server: an aborted set aborts its tasks.
            let mut connections = tokio::task::JoinSet::new();
            while let Ok((socket, _)) = listener.accept().await {
                let shared = Arc::clone(&serving);
                connections.spawn(async move { shared.serve(socket).await });
            }
        });
        Self { base_url: format!("http://{address}/v1"), shared, accepting }
    }

    /// What a client is configured with.
    #[must_use]
    pub fn base_url(&self) -> &str {
        &self.base_url
    }

    /// Adds a step at the end of the script.
    pub fn push(&self, step: Step) {
        self.shared.script.lock().expect("no step panics").push_back(step);
    }

    /// Every request so far, in order of arrival.
    #[must_use]
    pub fn requests(&self) -> Vec<Captured> {
        self.shared.requests.lock().expect("no step panics").clone()
    }

    /// Lets `events` further events of gated replies through.
    pub fn release(&self, events: usize) {
        self.shared.gate.add_permits(events);
    }

    /// Waits until `count` requests have come.
    pub async fn wait_requests(&self, count: usize) {
        self.wait(&format!("{count} requests"), |counts| counts.requests >= count).await;
    }

    /// Waits until clients have closed `count` connections before their response was complete.
    pub async fn wait_closed_early(&self, count: usize) {
        self.wait(&format!("{count} connections closed early"), |counts| counts.closed_early >= count).await;
    }

    async fn wait(&self, what: &str, reached: impl Fn(&Counts) -> bool) {
        let mut counts = self.shared.counts.subscribe();
        let waited = tokio::time::timeout(DEADLINE, counts.wait_for(reached)).await.map(|found| found.is_ok());
        assert_eq!(waited, Ok(true), "no {what} in time: {:?}", self.shared.counts.borrow());
    }

    /// Ends the server and checks that the script was played to its end and nothing else was asked.
    ///
    /// # Panics
    /// If steps are left over or a request came that no step was for.
    pub fn finish(self) {
        let left = self.shared.script.lock().expect("no step panics");
        assert!(left.is_empty(), "steps left over: {left:?}");
        let faults = self.shared.faults.lock().expect("no step panics");
        assert!(faults.is_empty(), "{faults:?}");
    }
}

impl Drop for FakeProvider {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

impl Shared {
    async fn serve(&self, socket: TcpStream) {
        let _ = socket.set_nodelay(true);
        let (mut input, mut output) = socket.into_split();
        let Ok(request) = read_request(&mut input).await else { return };
        let step = self.script.lock().expect("no step panics").pop_front();
        let step = step.unwrap_or_else(|| {
            self.faults.lock().expect("no step panics").push(format!("unexpected request: {} {}", request.line, request.body));
            Step::status(418, None, "unexpected", "the script of the fake provider has no step for this request")
        });
        self.requests.lock().expect("no step panics").push(request);
        self.counts.send_modify(|counts| counts.requests += 1);
        let complete = tokio::select! {
            written = self.play(step, &mut output) => written.is_ok(),
            // A client says nothing more, so what can be read is its end.
            _ = input.read_u8() => false,
        };
        if !complete {
            self.counts.send_modify(|counts| counts.closed_early += 1);
        }
    }

    async fn play(&self, step: Step, output: &mut (impl AsyncWrite + Unpin)) -> io::Result<()> {
        match step {
            Step::Reply { deltas, usage, chunk_bytes } => {
                let bytes = reply_events(&deltas, usage.as_ref()).concat().into_bytes();
                stream_head(output).await?;
                for chunk in bytes.chunks(chunk_bytes.clamp(1, bytes.len())) {
                    write_chunk(output, chunk).await?;
                }
                write_chunk(output, b"").await
            }
            Step::Chunks(chunks) => {
                stream_head(output).await?;
                for chunk in chunks.iter().filter(|chunk| !chunk.is_empty()) {
                    write_chunk(output, chunk).await?;
                }
                write_chunk(output, b"").await
            }
            Step::Json(body) => plain(output, 200, &[], &body.to_string()).await,
            Step::Status { code, headers, body } => plain(output, code, &headers, &body).await,
            Step::Stall(events) => {
                stream_head(output).await?;
                for event in events {
                    write_chunk(output, event.as_bytes()).await?;
                }
                std::future::pending().await
            }
            Step::CutAfter { deltas, bytes } => {
                let all = reply_events(&deltas, None).concat().into_bytes();
                stream_head(output).await?;
                if bytes > 0 {
                    write_chunk(output, &all[..bytes.min(all.len())]).await?;
                }
                output.shutdown().await
            }
            Step::Garbage(bytes) => {
                output.write_all(&bytes).await?;
                output.shutdown().await
            }
            Step::Gate(deltas) => {
                stream_head(output).await?;
                for event in reply_events(&deltas, None) {
                    self.gate.acquire().await.map_err(io::Error::other)?.forget();
                    write_chunk(output, event.as_bytes()).await?;
                }
                write_chunk(output, b"").await
            }
        }
    }
}

async fn stream_head(output: &mut (impl AsyncWrite + Unpin)) -> io::Result<()> {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n";
    output.write_all(head.as_bytes()).await
}

/// One chunk of HTTP's chunked coding; an empty one is the end.
async fn write_chunk(output: &mut (impl AsyncWrite + Unpin), chunk: &[u8]) -> io::Result<()> {
    let mut frame = format!("{:x}\r\n", chunk.len()).into_bytes();
    frame.extend_from_slice(chunk);
    frame.extend_from_slice(b"\r\n");
    output.write_all(&frame).await
}

async fn plain(output: &mut (impl AsyncWrite + Unpin), code: u16, headers: &[(String, String)], body: &str) -> io::Result<()> {
    let mut head = format!("HTTP/1.1 {code} Scripted\r\ncontent-length: {}\r\nconnection: close\r\n", body.len());
    if !headers.iter().any(|header| header.0 == "content-type") {
        head.push_str("content-type: application/json\r\n");
    }
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    output.write_all(format!("{head}\r\n{body}").as_bytes()).await
}

async fn read_request(input: &mut (impl AsyncRead + Unpin)) -> io::Result<Captured> {
    let mut bytes = Vec::new();
    let head_end = loop {
        if let Some(at) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break at + 4;
        }
        if input.read_buf(&mut bytes).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    };
    let mut body = bytes.split_off(head_end);
    let head = String::from_utf8_lossy(&bytes).into_owned();
    let mut lines = head.lines();
    let line = lines.next().unwrap_or("").trim_end_matches(" HTTP/1.1").to_owned();
    let headers: Vec<(String, String)> =
        lines.filter_map(|line| line.split_once(':')).map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned())).collect();
    let length = headers.iter().find(|header| header.0 == "content-length").and_then(|header| header.1.parse().ok()).unwrap_or(0);
    while body.len() < length {
        if input.read_buf(&mut body).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    let json = serde_json::from_slice(&body).unwrap_or_default();
    Ok(Captured { line, headers, bytes: body, body: json })
}
