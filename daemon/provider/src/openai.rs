//! OpenAI-compatible chat completions: one wire that most providers and all local servers speak.

mod body;
mod endpoint;
mod reading;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use paird_base::limits::{
    ANSWER_BYTES_MAX, ERROR_BODY_BYTES_READ_MAX, SSE_EVENT_BYTES_MAX, STREAM_CLOSE_MAX, STREAM_SILENCE_MAX, STREAM_TAIL_MAX,
};
use reqwest::Response;
use reqwest::header::CONTENT_TYPE;
use tokio::time::timeout;

use self::body::Dialect;
pub use self::endpoint::Endpoint;
use self::reading::{Piece, Reading};
use crate::classify::classify;
use crate::drive::{Attempt, Outlet, drive};
use crate::error::causes;
use crate::retry::asked_wait;
use crate::sse::Decoder;
use crate::{Error, Finish, Http, Provider, ReplyStream, Request, channel, http};

/// A server that speaks chat completions.
#[derive(Debug, Clone)]
pub struct OpenAi {
    server: Arc<Server>,
}

#[derive(Debug)]
struct Server {
    endpoint: Endpoint,
    http: Http,
    /// What the server was found to refuse, by model.
    dialects: Mutex<BTreeMap<String, Dialect>>,
}

impl OpenAi {
    #[must_use]
    pub fn new(endpoint: Endpoint, http: Http) -> Self {
        Self { server: Arc::new(Server { endpoint, http, dialects: Mutex::default() }) }
    }
}

impl Provider for OpenAi {
    fn start(&self, request: Request) -> ReplyStream {
        let (events, stream) = channel();
        let call = Call { server: Arc::clone(&self.server), request };
        tokio::spawn(drive(call, events));
        stream
    }
}

struct Call {
    server: Arc<Server>,
    request: Request,
}

impl Attempt for Call {
    async fn run(&mut self, outlet: &mut Outlet) -> Result<Finish, Error> {
        self.exchange(outlet).await.map_err(|error| error.without(&self.server.endpoint.secrets()))
    }
}

impl Call {
    async fn exchange(&self, outlet: &mut Outlet) -> Result<Finish, Error> {
        let known = self.server.dialect(&self.request.model);
        let mut dialect = known;
        loop {
            let response = self.send(dialect).await?;
            if response.status().is_success() {
                // A refusal may quote the whole request, so only success shows that it was about the parameter.
                if dialect != known {
                    self.server.learn(&self.request.model, dialect);
                }
                return self.read(response, outlet).await;
            }
            let status = response.status().as_u16();
            let retry_after = asked_wait(|name| Some(response.headers().get(name)?.to_str().ok()?.to_owned()), SystemTime::now());
            let body = error_body(response).await;
            if matches!(status, 400 | 422)
                && let Some(narrower) = dialect.without_what_is_named(&body)
            {
                tracing::debug!(model = self.request.model, ?narrower, "the server refuses a parameter");
                dialect = narrower;
                continue;
            }
            return Err(classify(Some(status), retry_after, &body, &self.request.model));
        }
    }

    async fn send(&self, dialect: Dialect) -> Result<Response, Error> {
        let endpoint = &self.server.endpoint;
        let url = endpoint.url()?;
        let request = self.server.http.client(&url)?.post(url.clone());
        let request = endpoint.head(request)?.body(dialect.body(&self.request));
        match timeout(STREAM_SILENCE_MAX, request.send()).await {
            Ok(Ok(response)) => Ok(response),
            Ok(Err(error)) if error.is_connect() => {
                let base = endpoint.base_url.parse().map_or_else(|_| String::new(), |base| http::shown(&base));
                Err(Error::Connect { url: base, source: Arc::new(error.without_url()) })
            }
            Ok(Err(error)) => Err(broken(error)),
            Err(_) => Err(silent()),
        }
    }

    async fn read(&self, response: Response, outlet: &mut Outlet) -> Result<Finish, Error> {
        let content_type = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or("").to_ascii_lowercase();
        if content_type.starts_with("text/html") {
            let message = "the base URL answers with a web page, not with a reply".to_owned();
            return Err(Error::BadRequest { message });
        }
        if content_type.starts_with("application/json") {
            self.read_whole(response, outlet).await
        } else {
            self.read_stream(response, outlet).await
        }
    }

    /// The answer of a server that ignores `stream`.
    async fn read_whole(&self, mut response: Response, outlet: &mut Outlet) -> Result<Finish, Error> {
        let mut body = Vec::new();
        while let Some(bytes) = next_bytes(&mut response, STREAM_SILENCE_MAX).await? {
            body.extend_from_slice(&bytes);
            if body.len() > ANSWER_BYTES_MAX {
                return Err(Error::TooLong);
            }
        }
        let mut reading = Reading::new(&self.request.model);
        pass(reading.whole(&String::from_utf8_lossy(&body))?, outlet).await?;
        reading.finish()
    }

    async fn read_stream(&self, mut response: Response, outlet: &mut Outlet) -> Result<Finish, Error> {
        let mut decoder = Decoder::new(SSE_EVENT_BYTES_MAX);
        let mut reading = Reading::new(&self.request.model);
        let mut events = Vec::new();
        while !reading.ended() {
            let patience = if reading.stopped() { STREAM_TAIL_MAX } else { STREAM_SILENCE_MAX };
            let bytes = match next_bytes(&mut response, patience).await {
                Ok(bytes) => bytes,
                // Only usage can be missing now.
                Err(_) if reading.stopped() => break,
                Err(error) => return Err(error),
            };
            let decoded = match &bytes {
                Some(bytes) => decoder.feed(bytes, &mut events),
                None => {
                    events.extend(decoder.finish());
                    Ok(())
                }
            };
            for event in events.drain(..) {
                pass(reading.event(&event)?, outlet).await?;
            }
            decoded.map_err(|_| Error::TooLong)?;
            if bytes.is_none() {
                break;
            }
        }
        let finish = reading.finish()?;
        // A connection whose response was read to its end serves the next request too.
        let _ = timeout(STREAM_CLOSE_MAX, response.chunk()).await;
        Ok(finish)
    }
}

async fn pass(pieces: Vec<Piece>, outlet: &mut Outlet) -> Result<(), Error> {
    for piece in pieces {
        match piece {
            Piece::Text(text) => outlet.text(text).await?,
            Piece::Reasoning(text) => outlet.reasoning(text).await?,
        }
    }
    Ok(())
}

async fn next_bytes(
    response: &mut Response,
    patience: Duration,
) -> Result<Option<impl AsRef<[u8]> + std::ops::Deref<Target = [u8]>>, Error> {
    match timeout(patience, response.chunk()).await {
        Ok(chunk) => chunk.map_err(broken),
        Err(_) => Err(silent()),
    }
}

/// As much of a refusal as is wanted, and as comes in a reasonable time.
async fn error_body(mut response: Response) -> String {
    let mut body = Vec::new();
    while body.len() < ERROR_BODY_BYTES_READ_MAX
        && let Ok(Some(bytes)) = next_bytes(&mut response, STREAM_TAIL_MAX).await
    {
        body.extend_from_slice(&bytes);
    }
    body.truncate(ERROR_BODY_BYTES_READ_MAX);
    String::from_utf8_lossy(&body).into_owned()
}

fn broken(error: reqwest::Error) -> Error {
    // The innermost cause says what happened, the outer ones only that something did.
    let error = error.without_url();
    Error::Broken { detail: causes(&error).last().map_or_else(String::new, ToString::to_string) }
}

fn silent() -> Error {
    Error::Broken { detail: format!("nothing came for {} s", STREAM_SILENCE_MAX.as_secs()) }
}

impl Server {
    fn dialect(&self, model: &str) -> Dialect {
        self.dialects.lock().unwrap_or_else(PoisonError::into_inner).get(model).copied().unwrap_or_default()
    }

    fn learn(&self, model: &str, dialect: Dialect) {
        self.dialects.lock().unwrap_or_else(PoisonError::into_inner).insert(model.to_owned(), dialect);
    }
}
