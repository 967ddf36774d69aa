//! A real socket in a scratch directory, a table of methods made for the purpose, raw bytes on the client's side.

mod cancelling;
mod crowds;
mod ending;
mod speaking;

use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use jsonrpsee::RpcModule;
use jsonrpsee::types::ErrorObjectOwned;
use paird_protocol::address::Address;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::server::Patience;
use super::{Listener, Peer, Server};
use crate::lifecycle::DaemonLock;

/// No test waits longer for anything; only a broken one waits as long.
const DEADLINE: Duration = Duration::from_secs(20);

async fn within<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(DEADLINE, work).await.expect("in time")
}

/// What the test methods share with the test.
#[derive(Default)]
struct Seen {
    /// `wait` has begun once for each permit.
    begun: Notify,
    /// Lets one `wait` finish.
    go_on: Notify,
    /// One permit for each `wait` that was dropped before its end.
    dropped: Notify,
    noted: AtomicUsize,
    noted_one: Notify,
    closed: Notify,
}

struct Unfinished(Option<Arc<Seen>>);

impl Drop for Unfinished {
    fn drop(&mut self) {
        if let Some(seen) = &self.0 {
            seen.dropped.notify_one();
        }
    }
}

fn methods(seen: Arc<Seen>) -> RpcModule<Arc<Seen>> {
    let mut module = RpcModule::new(seen);
    module.register_method("echo", |params, _, _| params.parse::<Value>()).unwrap();
    module.register_method("null", |_, _, _| Value::Null).unwrap();
    module
        .register_method("strict", |params, _, _| {
            #[derive(serde::Deserialize, Clone, serde::Serialize)]
            #[serde(deny_unknown_fields)]
            struct Strict {}
            params.parse::<Strict>()
        })
        .unwrap();
    module
        .register_method("big", |params, _, _| params.parse::<Value>().map(|v| "x".repeat(v["bytes"].as_u64().unwrap() as usize)))
        .unwrap();
    module.register_method("fail", |_, _, _| Err::<(), _>(ErrorObjectOwned::owned(5, "broken", None::<()>))).unwrap();
    module
        .register_method("note", |_, seen, _| {
            seen.noted.fetch_add(1, Ordering::SeqCst);
            seen.noted_one.notify_one();
        })
        .unwrap();
    module.register_method("panic", |_, _, _| -> bool { panic!("on purpose") }).unwrap();
    module
        .register_async_method("panicLater", |_, _, _| async {
            if true {
                panic!("on purpose")
            }
        })
        .unwrap();
    module
        .register_async_method("wait", |_, seen, _| async move {
            let mut unfinished = Unfinished(Some(seen.as_ref().clone()));
            seen.begun.notify_one();
            seen.go_on.notified().await;
            unfinished.0 = None;
            "waited"
        })
        .unwrap();
    module
        .register_method("shutdown", |_, _, extensions| {
            extensions.get::<Peer>().unwrap().close_after_reply();
            json!({})
        })
        .unwrap();
    module
        .register_method("subscribe", |params, seen, extensions| {
            let peer = extensions.get::<Peer>().unwrap().clone();
            let count = params.parse::<Value>().unwrap()["count"].as_u64().unwrap();
            let seen = seen.clone();
            let (answer, answered) = jsonrpsee::ResponsePayload::success(json!({"subscribed": true})).notify_on_completion();
            tokio::spawn(async move {
                answered.await.unwrap();
                for seq in 0..count {
                    let params = serde_json::value::to_raw_value(&json!({"seq": seq, "text": "x".repeat(1000)})).unwrap();
                    if peer.notify("event", &params).await.is_err() {
                        break;
                    }
                }
                peer.closed().await;
                assert!(peer.is_closed());
                seen.closed.notify_one();
            });
            answer
        })
        .unwrap();
    module
}

/// A server that runs until it is dropped or stopped.
struct Daemon {
    directory: tempfile::TempDir,
    socket: PathBuf,
    seen: Arc<Seen>,
    stop: CancellationToken,
    connections: tokio::sync::watch::Receiver<usize>,
    task: JoinHandle<()>,
    _lock: DaemonLock,
}

impl Daemon {
    fn start() -> Self {
        Self::with(Duration::from_secs(10), 1024)
    }

    fn with(stall_max: Duration, connections_max: usize) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let socket = directory.path().join("d.sock");
        let address = Address::named(socket.clone()).unwrap();
        let lock = DaemonLock::acquire(&address).unwrap();
        let listener = Listener::bind(&address, &lock).unwrap();
        let seen = Arc::new(Seen::default());
        let patience = Patience { stall_max, calls_finish_max: Duration::from_millis(100), stop_max: DEADLINE };
        let (counter, connections) = tokio::sync::watch::channel(0);
        let server = Server::new(methods(seen.clone())).with_bounds(patience, connections_max).counting(counter);
        let stop = CancellationToken::new();
        let task = tokio::spawn(server.run(listener, stop.clone(), stop.clone()));
        Self { directory, socket, seen, stop, connections, task, _lock: lock }
    }

    async fn client(&self) -> Client {
        let (read, write) = within(UnixStream::connect(&self.socket)).await.unwrap().into_split();
        Client { read: BufReader::new(read), write }
    }
}

/// Raw bytes in, raw bytes out.
struct Client {
    read: BufReader<OwnedReadHalf>,
    write: OwnedWriteHalf,
}

impl Client {
    async fn send(&mut self, text: &str) {
        within(self.write.write_all(text.as_bytes())).await.unwrap();
    }

    /// Closes the sending side alone.
    async fn said_all(&mut self) {
        within(self.write.shutdown()).await.unwrap();
    }

    async fn line(&mut self) -> String {
        let mut line = String::new();
        within(self.read.read_line(&mut line)).await.unwrap();
        line
    }

    async fn value(&mut self) -> Value {
        let line = self.line().await;
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    async fn rest(&mut self) -> String {
        let mut rest = String::new();
        within(self.read.read_to_string(&mut rest)).await.unwrap();
        rest
    }

    /// One round trip on newline framing.
    async fn ask(&mut self, text: &str) -> String {
        self.send(&format!("{text}\n")).await;
        self.line().await.trim_end().to_owned()
    }
}

fn request(id: &str, method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#)
}

#[tokio::test]
async fn the_socket_is_private_and_goes_with_the_server() {
    let daemon = Daemon::start();
    let mode = daemon.socket.symlink_metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    daemon.stop.cancel();
    within(daemon.task).await.unwrap();
    assert_eq!(daemon.socket.symlink_metadata().unwrap_err().kind(), io::ErrorKind::NotFound);
    assert_eq!(std::fs::read_dir(daemon.directory.path()).unwrap().count(), 1, "only the lock file stays");
}

#[test]
fn only_the_same_user_may_connect() {
    assert!(super::listener::may_connect(1000, 1000));
    assert!(!super::listener::may_connect(0, 1000));
    assert!(!super::listener::may_connect(1001, 1000));
}
