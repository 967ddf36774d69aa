use std::any::Any;
use std::panic::AssertUnwindSafe;

use futures_util::FutureExt;
use jsonrpsee::{MethodResponse, MethodResponseNotifyTx};
use paird_protocol::ErrorKind;
use paird_protocol::envelope::{self, ErrorObject};
use tokio::sync::{mpsc, oneshot};

use super::outbox::Outgoing;
use super::splice;

/// A finished call.
pub(super) struct Reply {
    pub(super) text: String,
    /// Tells the method that its answer is queued, and whether it was a result.
    pub(super) queued: Option<(MethodResponseNotifyTx, bool)>,
}

impl From<String> for Reply {
    fn from(text: String) -> Self {
        Self { text, queued: None }
    }
}

/// If the writer is gone there is nobody to answer, and the connection's task ends by itself.
pub(super) async fn queue(replies: &mpsc::Sender<Outgoing>, reply: Reply) {
    let _ = replies.send(Outgoing::Message(reply.text)).await;
    if let Some((method, is_result)) = reply.queued {
        method.notify(is_result);
    }
}

/// One call from start to answer. The method's future is dropped before the answer to a cancellation is seen.
pub(super) async fn run(
    id: Option<Box<str>>,
    method: String,
    work: impl Future<Output = MethodResponse> + Send,
    cancelled: oneshot::Receiver<()>,
) -> Reply {
    let id = id.as_deref().unwrap_or("null");
    tokio::select! {
        biased;
        // The sender goes away unused when the call is forgotten; that is no cancellation.
        Ok(()) = cancelled => envelope::reply(id, r#"{"outcome":"cancelled"}"#).into(),
        outcome = AssertUnwindSafe(work).catch_unwind() => finished(id, &method, outcome),
    }
}

pub(super) fn finished(id: &str, method: &str, outcome: Result<MethodResponse, Box<dyn Any + Send>>) -> Reply {
    match outcome {
        Ok(response) => {
            let text = splice::answer(id, &response);
            let is_result = response.is_success();
            let (_, queued, _) = response.into_parts();
            Reply { text, queued: queued.map(|queued| (queued, is_result)) }
        }
        Err(panic) => {
            let message = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
            tracing::error!(method, panic = message.unwrap_or("without a text"), "a method panicked");
            let error = ErrorObject::new(ErrorKind::Internal, format!("{method} failed inside the daemon"))
                .with_hint("this is a mistake in paird; its log has the details, and everything else goes on");
            envelope::error_reply(id, &error).into()
        }
    }
}
