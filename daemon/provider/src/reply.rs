use std::time::Duration;

use paird_base::Tokens;
use paird_base::limits::REPLY_QUEUE_EVENTS;
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;

use crate::{Error, Request};

/// Something that answers requests.
pub trait Provider: Send + Sync {
    /// Sends the request from a task of its own and returns at once. Failures arrive as [`ReplyEvent::Failed`].
    ///
    /// Must be called inside a tokio runtime.
    fn start(&self, request: Request) -> ReplyStream;
}

/// What happens to a request, in order. The last event is [`Finished`](Self::Finished) or [`Failed`](Self::Failed),
/// and there is exactly one of these.
#[derive(Debug, Clone)]
pub enum ReplyEvent {
    /// More of the reply's text; never empty.
    Delta(String),
    /// More of the model's reasoning, which is no part of the reply; never empty.
    Reasoning(String),
    /// A try failed, `cause` says how; the next one follows after `wait`.
    Retrying { wait: Duration, cause: String },
    /// Everything since the request was started is void: the text starts anew.
    Restarted,
    /// The reply is complete, as far as the stop reason says.
    Finished(Finish),
    /// There is no reply; deltas that came before are a fragment.
    Failed(Error),
}

impl ReplyEvent {
    const fn is_last(&self) -> bool {
        matches!(self, Self::Finished(_) | Self::Failed(_))
    }
}

/// How a reply ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finish {
    pub stop: StopReason,
    /// `None` if the provider did not say.
    pub usage: Option<Usage>,
}

/// Why the model stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StopReason {
    /// It had said everything.
    Stop,
    /// The output limit, or the window, was reached: the text is cut.
    Length,
    /// The provider withheld the rest.
    ContentFilter,
    /// Any other reason, in the provider's word.
    Other(String),
}

/// Tokens of one request, as the provider counted them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Usage {
    /// All of the prompt, what came from the cache included.
    pub input: Tokens,
    /// All of the output, reasoning included.
    pub output: Tokens,
    /// The part of `input` that was read from the provider's prompt cache.
    pub cached_read: Tokens,
    /// The part of `input` that was written to the provider's prompt cache.
    pub cached_write: Tokens,
    /// The part of `output` that was reasoning.
    pub reasoning: Tokens,
}

/// The events of one request. Dropping it cancels the request at once; its connection is closed.
#[derive(Debug)]
pub struct ReplyStream {
    events: mpsc::Receiver<ReplyEvent>,
    ended: bool,
}

impl ReplyStream {
    /// The next event; `None` after the last one. Safe to cancel: no event is lost.
    pub async fn next(&mut self) -> Option<ReplyEvent> {
        if self.ended {
            return None;
        }
        // A sender that goes away without a last event is a defect of the provider; whoever waits for the end gets one.
        let event = self
            .events
            .recv()
            .await
            .unwrap_or_else(|| ReplyEvent::Failed(Error::Broken { detail: "the provider's task ended without a result".to_owned() }));
        self.ended = event.is_last();
        Some(event)
    }
}

/// A bounded stream and the end that feeds it, for implementations of [`Provider`].
#[must_use]
pub fn channel() -> (mpsc::Sender<ReplyEvent>, ReplyStream) {
    let (sender, events) = mpsc::channel(REPLY_QUEUE_EVENTS);
    (sender, ReplyStream { events, ended: false })
}
