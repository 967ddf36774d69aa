//! The calling side: jsonrpsee's client over the daemon's socket, in newline framing.

#[cfg(test)]
mod tests;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::{FutureExt, SinkExt, Stream, StreamExt};
use jsonrpsee::core::JsonRawValue;
use jsonrpsee::core::client::{
    Client as RpcClient, ClientBuilder, ClientT, Error as RpcError, ReceivedMessage, Subscription, SubscriptionClientT, TransportReceiverT,
    TransportSenderT,
};
use jsonrpsee::core::traits::ToRpcParams;
use serde_json::Value;
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio_util::codec::{FramedRead, FramedWrite};

use crate::envelope::ErrorObject;
use crate::framing::{Frame, FrameCodec, FrameError, Framing};
use crate::methods::METHODS;
use crate::types::{ErrorData, ErrorKind};

/// Notifications held for a reader that is behind; beyond it the stream of events ends as lagged.
pub const EVENTS_HELD_MAX: usize = 4096;
/// Calls of one client that may be waiting at once; below the daemon's own bound.
pub const CALLS_WAITING_MAX: usize = 100;
/// Time for the answer to a call that is not long: the protocol has it answered within a second, the rest is for a busy machine.
pub const QUICK_ANSWER_TIMEOUT: Duration = Duration::from_secs(10);
/// A long call ends when it is answered or the socket closes; this only bounds a daemon that does neither.
const LONG_ANSWER_TIMEOUT: Duration = Duration::from_secs(24 * 3600);

/// Why a call has no result.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// Nobody listens there.
    #[error("connect to {path}")]
    Connect { path: PathBuf, source: io::Error },
    /// Somebody else listens there, who must not see keys or files.
    #[error("{path} is served by another user (uid {uid})")]
    Foreign { path: PathBuf, uid: u32 },
    /// The daemon answered with an error.
    #[error("{0}")]
    Call(#[source] ErrorObject),
    /// The daemon is gone, or has cut this client off.
    #[error("the daemon has ended")]
    Ended,
    /// What else makes the connection useless.
    #[error("the connection to the daemon is closed: {reason}")]
    Closed { reason: String },
    /// It listens and says nothing: it is stopped, or stuck. `pid` is the process that listens, where the system tells.
    #[error("the daemon{} does not answer: {method} was not answered within {} s", of_process(*pid), QUICK_ANSWER_TIMEOUT.as_secs())]
    Silent { method: String, pid: Option<i32> },
    /// What was sent or came back is not of the protocol.
    #[error("{method}: {reason}")]
    Protocol { method: String, reason: String },
}

impl ClientError {
    /// Whether the daemon is not there any more, so that another can be started.
    #[must_use]
    pub const fn is_loss(&self) -> bool {
        matches!(self, Self::Ended | Self::Closed { .. })
    }
}

fn of_process(pid: Option<i32>) -> String {
    pid.map_or_else(String::new, |pid| format!(" (process {pid})"))
}

/// One connection to the daemon. Dropping it closes the connection.
#[derive(Debug)]
pub struct Client {
    rpc: RpcClient,
    /// Who listens at the other side.
    pid: Option<i32>,
    /// A call was not answered in time: none is tried any more, so that no program waits again and again.
    given_up: AtomicBool,
}

impl Client {
    /// Connects to a daemon of this user that serves already.
    ///
    /// # Errors
    /// [`ClientError::Connect`] if nobody listens at `path`, [`ClientError::Foreign`] if it is another user.
    pub async fn connect(path: &Path) -> Result<Self, ClientError> {
        let failed = |source| ClientError::Connect { path: path.to_owned(), source };
        let stream = UnixStream::connect(path).await.map_err(failed)?;
        let uid = stream.peer_cred().map_err(failed)?.uid();
        if uid != rustix::process::geteuid().as_raw() {
            return Err(ClientError::Foreign { path: path.to_owned(), uid });
        }
        Ok(Self::over(stream))
    }

    /// Speaks over a socket that is connected already. Needs a tokio runtime.
    #[must_use]
    pub fn over(stream: UnixStream) -> Self {
        let pid = stream.peer_cred().ok().and_then(|peer| peer.pid());
        let (read, write) = stream.into_split();
        let sender = Sender(FramedWrite::new(write, FrameCodec::speaking(Framing::Lines)));
        let receiver = Receiver(FramedRead::new(read, FrameCodec::speaking(Framing::Lines)));
        let rpc = ClientBuilder::default()
            .request_timeout(LONG_ANSWER_TIMEOUT)
            .max_concurrent_requests(CALLS_WAITING_MAX)
            .max_buffer_capacity_per_subscription(EVENTS_HELD_MAX)
            .build_with_tokio(sender, receiver);
        Self { rpc, pid, given_up: AtomicBool::new(false) }
    }

    /// Calls a method by name; `params` must be an object or `null`. A method that is not long must be answered within
    /// [`QUICK_ANSWER_TIMEOUT`]; after one that was not, every call fails at once.
    ///
    /// # Errors
    /// The daemon's error, its silence, or the loss of the connection.
    pub async fn request(&self, method: &str, params: Value) -> Result<Value, ClientError> {
        let silent = || ClientError::Silent { method: method.to_owned(), pid: self.pid };
        if self.given_up.load(Ordering::Relaxed) {
            return Err(silent());
        }
        let long = METHODS.iter().any(|known| known.long && known.name == method);
        let patience = if long { LONG_ANSWER_TIMEOUT } else { QUICK_ANSWER_TIMEOUT };
        let Ok(answer) = tokio::time::timeout(patience, self.rpc.request(method, RawParams(params))).await else {
            self.given_up.store(true, Ordering::Relaxed);
            return Err(silent());
        };
        answer.map_err(|error| client_error(method, error))
    }

    /// Sends a message that is not answered.
    ///
    /// # Errors
    /// The loss of the connection.
    pub async fn notify(&self, method: &str, params: Value) -> Result<(), ClientError> {
        self.rpc.notification(method, RawParams(params)).await.map_err(|error| client_error(method, error))
    }

    /// The params of every notification of that name from now on; call it before the daemon is asked for them.
    /// The stream ends with the connection, or when the reader is more than [`EVENTS_HELD_MAX`] behind.
    ///
    /// # Errors
    /// The loss of the connection, or a second stream for the same name.
    pub async fn notifications(&self, method: &str) -> Result<impl Stream<Item = Value> + Send + Unpin + use<>, ClientError> {
        let subscription: Subscription<Value> = self.rpc.subscribe_to_method(method).await.map_err(|error| client_error(method, error))?;
        Ok(subscription.filter_map(|item| std::future::ready(item.ok())))
    }

    /// Whether nothing can be called here any more: the connection is lost, or a call was not answered.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.given_up.load(Ordering::Relaxed) || self.rpc.on_disconnect().now_or_never().is_some()
    }

    /// Comes back when the connection is lost, with the reason.
    pub async fn closed(&self) -> ClientError {
        loss(&self.rpc.on_disconnect().await)
    }
}

/// Params as they are: jsonrpsee's own builders know lists and maps only.
struct RawParams(Value);

impl ToRpcParams for RawParams {
    fn to_rpc_params(self) -> Result<Option<Box<JsonRawValue>>, serde_json::Error> {
        if self.0.is_null() { Ok(None) } else { serde_json::value::to_raw_value(&self.0).map(Some) }
    }
}

fn client_error(method: &str, error: RpcError) -> ClientError {
    match error {
        RpcError::Call(error) => {
            let data = error.data().and_then(|data| serde_json::from_str(data.get()).ok());
            let data = data.unwrap_or(ErrorData { kind: ErrorKind::Internal, hint: None, retryable: false, paths: Vec::new() });
            ClientError::Call(ErrorObject { code: error.code(), message: error.message().to_owned(), data })
        }
        RpcError::Transport(_) | RpcError::RestartNeeded(_) | RpcError::ServiceDisconnect => loss(&error),
        other => ClientError::Protocol { method: method.to_owned(), reason: other.to_string() },
    }
}

/// Why the connection is of no more use, without jsonrpsee's words around it.
fn loss(error: &RpcError) -> ClientError {
    match error {
        RpcError::RestartNeeded(cause) => loss(cause),
        RpcError::ServiceDisconnect => ClientError::Ended,
        RpcError::Transport(cause) => {
            let mut causes = std::iter::successors(Some(&**cause as &(dyn std::error::Error + 'static)), |error| error.source());
            if causes.any(is_end) { ClientError::Ended } else { ClientError::Closed { reason: cause.to_string() } }
        }
        other => ClientError::Closed { reason: other.to_string() },
    }
}

fn is_end(error: &(dyn std::error::Error + 'static)) -> bool {
    let gone = |error: &io::Error| matches!(error.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset);
    matches!(error.downcast_ref(), Some(ReceiveError::End | ReceiveError::Frame(FrameError::Truncated)))
        || error.downcast_ref().is_some_and(gone)
}

struct Sender(FramedWrite<OwnedWriteHalf, FrameCodec>);

impl TransportSenderT for Sender {
    type Error = io::Error;

    async fn send(&mut self, message: String) -> io::Result<()> {
        self.0.send(message.as_str()).await
    }
}

struct Receiver(FramedRead<OwnedReadHalf, FrameCodec>);

/// Why the receiving half has stopped.
#[derive(Debug, thiserror::Error)]
enum ReceiveError {
    #[error("the daemon closed it")]
    End,
    #[error("a message of {bytes} bytes is too long")]
    Oversized { bytes: u64 },
    #[error(transparent)]
    Frame(FrameError),
}

impl TransportReceiverT for Receiver {
    type Error = ReceiveError;

    async fn receive(&mut self) -> Result<ReceivedMessage, ReceiveError> {
        match self.0.next().await {
            Some(Ok(Frame::Message(bytes))) => Ok(ReceivedMessage::Bytes(bytes.into())),
            Some(Ok(Frame::Oversized { bytes })) => Err(ReceiveError::Oversized { bytes }),
            Some(Err(error)) => Err(ReceiveError::Frame(error)),
            None => Err(ReceiveError::End),
        }
    }
}
