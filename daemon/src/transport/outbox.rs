use std::io;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use paird_base::limits::WRITE_GATHERED_BYTES;
use paird_protocol::envelope;
use paird_protocol::framing::Framing;
use serde_json::value::RawValue;
use tokio::io::AsyncWriteExt;
use tokio::net::unix::OwnedWriteHalf;
use tokio::sync::mpsc;
use tokio_util::bytes::BytesMut;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Buffers above this are given back after they were written.
const BUFFER_KEPT_BYTES: usize = 1024 * 1024;

/// A client, as methods and subscriptions see it: found in the `Extensions` of every call, cheap to clone, and safe to
/// keep after the client is gone.
#[derive(Debug, Clone)]
pub struct Peer {
    id: u64,
    notifications: mpsc::Sender<String>,
    closing: CancellationToken,
    closed: CancellationToken,
    /// Those who send notifications; the connection's end waits for them.
    speakers: TaskTracker,
}

/// Why a notification was not queued.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotifyError {
    #[error("the client does not keep up")]
    Full,
    #[error("the client is gone")]
    Closed,
}

impl Peer {
    pub(super) fn new(id: u64, notifications: mpsc::Sender<String>, closing: CancellationToken) -> Self {
        Self { id, notifications, closing, closed: CancellationToken::new(), speakers: TaskTracker::new() }
    }

    /// Runs what sends notifications to this client. It must come to its end soon after [`Self::closing`], with all that is
    /// left to say, and at once after [`Self::closed`].
    pub fn speak(&self, speaker: impl Future<Output = ()> + Send + 'static) {
        self.speakers.spawn(speaker);
    }

    /// Tells those who speak that the end has come, and waits until they have said all.
    pub(super) async fn fall_silent(&self) {
        self.closing.cancel();
        self.speakers.close();
        self.speakers.wait().await;
    }

    /// Distinct among all connections since the daemon started.
    #[must_use]
    pub const fn connection_id(&self) -> u64 {
        self.id
    }

    /// Queues a notification, waiting while the client is behind; the client's stall bounds the wait.
    ///
    /// # Errors
    /// [`NotifyError::Closed`].
    pub async fn notify(&self, method: &str, params: &RawValue) -> Result<(), NotifyError> {
        self.notifications.send(envelope::notification(method, params.get())).await.map_err(|_| NotifyError::Closed)
    }

    /// Queues a notification if there is room.
    ///
    /// # Errors
    /// [`NotifyError::Full`] if the client is behind.
    pub fn try_notify(&self, method: &str, params: &RawValue) -> Result<(), NotifyError> {
        self.notifications.try_send(envelope::notification(method, params.get())).map_err(|error| match error {
            mpsc::error::TrySendError::Full(_) => NotifyError::Full,
            mpsc::error::TrySendError::Closed(_) => NotifyError::Closed,
        })
    }

    /// Ends the connection once the call that says so, and those still running, are answered.
    pub fn close_after_reply(&self) {
        self.closing.cancel();
    }

    /// Comes back when the connection is gone.
    pub async fn closed(&self) {
        self.closed.cancelled().await;
    }

    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.closed.is_cancelled()
    }

    /// Cancelled when the connection takes no more calls and is about to end.
    #[must_use]
    pub const fn closing(&self) -> &CancellationToken {
        &self.closing
    }

    pub(super) const fn closed_token(&self) -> &CancellationToken {
        &self.closed
    }
}

/// What goes out ahead of notifications.
pub(super) enum Outgoing {
    /// One JSON-RPC message.
    Message(String),
    /// Text for a client that speaks no framing of ours.
    Plain(String),
    /// The last thing: what is queued is written, then the connection ends.
    End,
}

/// Why the writer stopped early.
#[derive(Debug, thiserror::Error)]
pub(super) enum WriteError {
    #[error("the client took nothing for {0:?}")]
    Stalled(Duration),
    #[error("write to the client")]
    Io(#[source] io::Error),
}

/// The only one who writes to the connection.
pub(super) struct Writer {
    pub(super) half: OwnedWriteHalf,
    pub(super) replies: mpsc::Receiver<Outgoing>,
    pub(super) notifications: mpsc::Receiver<String>,
    /// Set by the reader before anything can be queued.
    pub(super) framing: Arc<OnceLock<Framing>>,
    pub(super) stall_max: Duration,
}

impl Writer {
    /// Writes until [`Outgoing::End`], replies before notifications, many of them in one write.
    pub(super) async fn run(mut self) -> Result<(), WriteError> {
        let mut buffer = BytesMut::new();
        let mut ended = false;
        while !ended {
            ended = tokio::select! {
                biased;
                reply = self.replies.recv() => reply.is_none_or(|reply| self.put(reply, &mut buffer)),
                Some(notification) = self.notifications.recv() => self.put_notification(&notification, &mut buffer),
            };
            while !ended && buffer.len() < WRITE_GATHERED_BYTES {
                if let Ok(reply) = self.replies.try_recv() {
                    ended = self.put(reply, &mut buffer);
                } else if let Ok(notification) = self.notifications.try_recv() {
                    ended = self.put_notification(&notification, &mut buffer);
                } else {
                    break;
                }
            }
            if ended {
                self.notifications.close();
                while let Ok(notification) = self.notifications.try_recv() {
                    self.put_notification(&notification, &mut buffer);
                }
            }
            self.flush(&mut buffer).await?;
        }
        self.half.shutdown().await.map_err(WriteError::Io)
    }

    /// True if this was the end.
    fn put(&self, reply: Outgoing, buffer: &mut BytesMut) -> bool {
        match reply {
            Outgoing::Message(text) => self.framing.get().copied().unwrap_or(Framing::Lines).encode(&text, buffer),
            Outgoing::Plain(text) => buffer.extend_from_slice(text.as_bytes()),
            Outgoing::End => return true,
        }
        false
    }

    /// A reply that was queued before a notification goes out before it: the answer to a subscription must precede its
    /// first event, and the event may have been taken from its queue before the reply was looked for.
    fn put_notification(&mut self, notification: &str, buffer: &mut BytesMut) -> bool {
        let mut ended = false;
        while let Ok(reply) = self.replies.try_recv() {
            ended |= self.put(reply, buffer);
        }
        self.framing.get().copied().unwrap_or(Framing::Lines).encode(notification, buffer);
        ended
    }

    async fn flush(&mut self, buffer: &mut BytesMut) -> Result<(), WriteError> {
        while !buffer.is_empty() {
            match tokio::time::timeout(self.stall_max, self.half.write_buf(buffer)).await {
                Ok(Ok(_)) => {}
                Ok(Err(error)) => return Err(WriteError::Io(error)),
                Err(_) => return Err(WriteError::Stalled(self.stall_max)),
            }
        }
        if buffer.capacity() > BUFFER_KEPT_BYTES {
            *buffer = BytesMut::new();
        }
        Ok(())
    }
}
