use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, OnceLock};

use futures_util::StreamExt;
use jsonrpsee::Methods;
use paird_base::limits::{NOTIFICATIONS_QUEUED_MAX, REPLIES_QUEUED_MAX};
use paird_protocol::ErrorKind;
use paird_protocol::envelope::{ErrorObject, INVALID_REQUEST, Refusal};
use paird_protocol::framing::{FRAME_BYTES_MAX, Frame, FrameCodec, FrameError, Framing};
use tokio::io::Interest;
use tokio::net::UnixStream;
use tokio::net::unix::OwnedReadHalf;
use tokio::sync::mpsc;
use tokio_util::codec::FramedRead;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use super::calls::Calls;
use super::outbox::{Outgoing, Peer, WriteError, Writer};
use super::server::Patience;

type WriterTask = AbortOnDropHandle<Result<(), WriteError>>;

/// Why no more calls are taken.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// The client said all it had to say; it may still be listening, as `nc` is.
    SaidAll,
    /// The client or the daemon wants to stop, or the stream of messages is broken.
    Closing,
    /// There is nobody to answer.
    Gone,
}

/// One client, from its first byte to the last answer.
pub(super) async fn serve(stream: UnixStream, id: u64, methods: Methods, patience: Patience, closing: CancellationToken) {
    let (read, half) = stream.into_split();
    let (replies, replies_queued) = mpsc::channel(REPLIES_QUEUED_MAX);
    let (notifications, notifications_queued) = mpsc::channel(NOTIFICATIONS_QUEUED_MAX);
    let framing = Arc::new(OnceLock::new());
    let writer = Writer {
        half,
        replies: replies_queued,
        notifications: notifications_queued,
        framing: framing.clone(),
        stall_max: patience.stall_max,
    };
    let mut writer = AbortOnDropHandle::new(tokio::spawn(writer.run()));

    let peer = Peer::new(id, notifications, closing.child_token());
    // Whoever holds the peer learns of the end however this function ends.
    let _closed = peer.closed_token().clone().drop_guard();
    let calls = Calls::new(methods, peer.clone(), replies.clone());
    let mut connection = Connection { frames: FramedRead::new(read, FrameCodec::sniffing()), framing, calls, replies, peer };

    let end = connection.read(&mut writer).await;
    if end == End::Closing {
        connection.peer.close_after_reply();
    }
    if end == End::Gone || !connection.drain(&mut writer, patience).await {
        return;
    }
    let _ = connection.replies.send(Outgoing::End).await;
    report(id, (&mut writer).await);
}

struct Connection {
    frames: FramedRead<OwnedReadHalf, FrameCodec>,
    framing: Arc<OnceLock<Framing>>,
    calls: Calls,
    replies: mpsc::Sender<Outgoing>,
    peer: Peer,
}

impl Connection {
    async fn read(&mut self, writer: &mut WriterTask) -> End {
        loop {
            tokio::select! {
                biased;
                result = &mut *writer => {
                    report(self.peer.connection_id(), result);
                    return End::Gone;
                }
                () = self.peer.closing().cancelled() => return End::Closing,
                () = self.calls.reap(), if !self.calls.is_idle() => {}
                frame = self.frames.next() => match frame {
                    Some(Ok(frame)) => self.take(frame).await,
                    Some(Err(FrameError::Io(error))) => {
                        tracing::debug!(connection = self.peer.connection_id(), %error, "the client is gone");
                        return End::Gone;
                    }
                    Some(Err(error)) => {
                        self.refuse(&error).await;
                        return End::Closing;
                    }
                    None => return End::SaidAll,
                },
            }
        }
    }

    async fn take(&mut self, frame: Frame) {
        let framing = self.frames.decoder().framing().unwrap_or(Framing::Lines);
        let framing = *self.framing.get_or_init(|| framing);
        match frame {
            Frame::Message(bytes) => self.calls.take(&bytes, framing).await,
            Frame::Oversized { bytes } => {
                let error = ErrorObject::new(
                    ErrorKind::InvalidParams,
                    format!("the message has {bytes} bytes, more than the {FRAME_BYTES_MAX} taken"),
                );
                self.answer_unread(error).await;
            }
        }
    }

    /// The last word to a client whose bytes make no sense.
    async fn refuse(&mut self, error: &FrameError) {
        tracing::debug!(connection = self.peer.connection_id(), %error, "the connection is refused");
        if let Some(text) = error.plain_answer() {
            let _ = self.replies.send(Outgoing::Plain(text)).await;
            return;
        }
        if let Some(framing) = self.frames.decoder().framing() {
            self.framing.get_or_init(|| framing);
        }
        self.answer_unread(ErrorObject::new(ErrorKind::InvalidParams, error.to_string())).await;
    }

    /// An error about a message whose id nobody read.
    async fn answer_unread(&self, error: ErrorObject) {
        self.calls.send(Refusal { id: None, error: error.with_code(INVALID_REQUEST) }.to_json()).await;
    }

    /// Lets the calls that are running finish, then what speaks by itself. False if there is nobody left to answer.
    async fn drain(&mut self, writer: &mut WriterTask, patience: Patience) -> bool {
        let socket = self.frames.get_ref().as_ref().as_fd().try_clone_to_owned();
        let closing = self.peer.closing().clone();
        let limit = async {
            // A client that has said all and waits for its answers gets them, however long they take.
            closing.cancelled().await;
            tokio::time::sleep(patience.calls_finish_max).await;
        };
        let last_words = async {
            finish(&mut self.calls).await;
            self.peer.fall_silent().await;
        };
        tokio::select! {
            biased;
            () = last_words => return true,
            result = &mut *writer => {
                report(self.peer.connection_id(), result);
                return false;
            }
            () = hung_up(socket) => return false,
            () = limit => {}
        }
        self.calls.cancel_all();
        finish(&mut self.calls).await;
        true
    }
}

async fn finish(calls: &mut Calls) {
    while !calls.is_idle() {
        calls.reap().await;
    }
}

fn report(connection: u64, result: Result<Result<(), WriteError>, tokio::task::JoinError>) {
    match result {
        Ok(Ok(())) => {}
        Ok(Err(error @ WriteError::Stalled(_))) => tracing::warn!(connection, %error, "the client is cut off"),
        Ok(Err(error)) => tracing::debug!(connection, %error, "the client is gone"),
        Err(error) => tracing::error!(connection, %error, "the writer ended abnormally"),
    }
}

/// Comes back when the other side has closed its socket altogether. Reading cannot tell that from a client that only
/// closed its sending side.
async fn hung_up(socket: io::Result<OwnedFd>) {
    let Ok(socket) = socket.map(std::os::unix::net::UnixStream::from).and_then(UnixStream::from_std) else {
        return std::future::pending().await;
    };
    while let Ok(ready) = socket.ready(Interest::WRITABLE).await {
        if ready.is_write_closed() {
            return;
        }
        // Forgets that the socket is writable, so that the next turn waits for news.
        let _ = socket.try_io(Interest::WRITABLE, || Err::<(), _>(io::ErrorKind::WouldBlock.into()));
    }
}
