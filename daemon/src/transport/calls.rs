use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::Poll;

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, join_all};
use jsonrpsee::types::Params;
use jsonrpsee::{ConnectionId, Extensions, MethodCallback, Methods};
use paird_base::limits::{BATCH_MAX, CALLS_PER_CONNECTION_MAX};
use paird_protocol::ErrorKind;
use paird_protocol::envelope::{self, Call, ErrorObject, METHOD_NOT_FOUND, Message, Parsed};
use paird_protocol::framing::{FRAME_BYTES_MAX, Framing};
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;

use super::answer::{Reply, finished, queue, run};
use super::outbox::{Outgoing, Peer};
use super::splice;

/// The calls of one connection. Owned by the connection's task; a call that waits runs in a task of its own.
pub(super) struct Calls {
    methods: Methods,
    peer: Peer,
    extensions: Extensions,
    replies: mpsc::Sender<Outgoing>,
    waiting: Vec<Waiting>,
    tasks: JoinSet<Vec<u64>>,
    started: u64,
}

/// A call that has not been answered.
struct Waiting {
    number: u64,
    /// `None` for a notification, which nobody can cancel.
    id: Option<Box<str>>,
    cancel: oneshot::Sender<()>,
}

/// What became of one message.
enum Step {
    /// It is not answered.
    Silent,
    Now(Reply),
    Later {
        number: u64,
        reply: BoxFuture<'static, Reply>,
    },
}

/// The params of both kinds of cancellation: LSP's `id`, the Agent Client Protocol's `requestId`.
#[derive(Deserialize)]
struct CancelParams<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow, rename = "requestId")]
    request_id: Option<&'a RawValue>,
}

impl Calls {
    pub(super) fn new(methods: Methods, peer: Peer, replies: mpsc::Sender<Outgoing>) -> Self {
        let mut extensions = Extensions::new();
        extensions.insert(connection_id(&peer));
        extensions.insert(peer.clone());
        Self { methods, peer, extensions, replies, waiting: Vec::new(), tasks: JoinSet::new(), started: 0 }
    }

    /// Takes one frame: answers what is ready, leaves the rest running. Waits while the client does not take its replies.
    pub(super) async fn take(&mut self, frame: &[u8], framing: Framing) {
        match envelope::parse(frame, (framing == Framing::Lines).then_some(BATCH_MAX)) {
            Err(refusal) => self.send(refusal.to_json()).await,
            Ok(Parsed::One(message)) => match self.step(message).await {
                Step::Silent => {}
                Step::Now(reply) => queue(&self.replies, reply).await,
                Step::Later { number, reply } => {
                    let replies = self.replies.clone();
                    self.tasks.spawn(async move {
                        queue(&replies, reply.await).await;
                        vec![number]
                    });
                }
            },
            Ok(Parsed::Batch(messages)) => {
                let mut steps = Vec::with_capacity(messages.len());
                for message in messages {
                    steps.push(match message {
                        Ok(message) => self.step(message).await,
                        Err(refusal) => Step::Now(refusal.to_json().into()),
                    });
                }
                self.answer_batch(steps).await;
            }
        }
    }

    /// One array for the whole batch, in its order, once all its calls are done; none if nothing in it is answered.
    async fn answer_batch(&mut self, steps: Vec<Step>) {
        let mut numbers = Vec::new();
        let answers: Vec<BoxFuture<'static, Reply>> = steps
            .into_iter()
            .filter_map(|step| match step {
                Step::Silent => None,
                Step::Now(reply) => Some(std::future::ready(reply).boxed()),
                Step::Later { number, reply } => {
                    numbers.push(number);
                    Some(reply)
                }
            })
            .collect();
        if answers.is_empty() {
            return;
        }
        let replies = self.replies.clone();
        let batch = async move {
            let answers = join_all(answers).await;
            let texts: Vec<&str> = answers.iter().map(|answer| answer.text.as_str()).collect();
            queue(&replies, format!("[{}]", texts.join(",")).into()).await;
            for (method, is_result) in answers.into_iter().filter_map(|answer| answer.queued) {
                method.notify(is_result);
            }
        };
        if numbers.is_empty() {
            batch.await;
        } else {
            self.tasks.spawn(async move {
                batch.await;
                numbers
            });
        }
    }

    async fn step(&mut self, message: Message<'_>) -> Step {
        let Message::Call(call) = message else {
            tracing::debug!("an answer came to a question that was not asked");
            return Step::Silent;
        };
        match (call.method.as_str(), call.id) {
            ("$/cancelRequest" | "$/cancel_request", _) => {
                self.cancel(&call);
                Step::Silent
            }
            ("exit", None) => {
                self.peer.close_after_reply();
                Step::Silent
            }
            // LSP: such notifications are optional, and unknown ones are passed over.
            (method, None) if method.starts_with("$/") => Step::Silent,
            _ => self.call(&call).await,
        }
    }

    async fn call(&mut self, call: &Call<'_>) -> Step {
        let id: Option<Box<str>> = call.id.map(|id| id.get().into());
        let refuse = |error: &ErrorObject| match &id {
            Some(id) => Step::Now(envelope::error_reply(id, error).into()),
            None => {
                tracing::debug!(method = call.method, error = error.message, "a notification was refused");
                Step::Silent
            }
        };
        let params = match call.object_params() {
            Ok(params) => Params::new(Some(params)),
            Err(error) => return refuse(&error),
        };
        match self.methods.method(&call.method) {
            Some(MethodCallback::Sync(method)) => {
                let run = || method(splice::PLACEHOLDER, params, FRAME_BYTES_MAX, self.extensions.clone());
                let outcome = catch_unwind(AssertUnwindSafe(run));
                let reply = finished(id.as_deref().unwrap_or("null"), &call.method, outcome);
                if id.is_some() { Step::Now(reply) } else { Step::Silent }
            }
            Some(MethodCallback::Async(_)) if self.waiting.len() >= CALLS_PER_CONNECTION_MAX => refuse(
                &ErrorObject::new(
                    ErrorKind::Overloaded,
                    format!("{CALLS_PER_CONNECTION_MAX} calls of this connection are waiting already"),
                )
                .with_hint("send the call again when one of them is answered"),
            ),
            Some(MethodCallback::Async(method)) => {
                let method = method.clone();
                let (params, extensions, connection) = (params.into_owned(), self.extensions.clone(), connection_id(&self.peer));
                let work = async move { method(splice::PLACEHOLDER, params, connection, FRAME_BYTES_MAX, extensions).await };
                let (cancel, cancelled) = oneshot::channel();
                let reply = run(id.clone(), call.method.clone(), work, cancelled).boxed();
                self.start(id, reply, cancel).await
            }
            // Events are ordinary methods and notifications of ours, so the other two kinds are never registered.
            Some(MethodCallback::Subscription(_) | MethodCallback::Unsubscription(_)) | None => refuse(
                &ErrorObject::new(ErrorKind::NotFound, format!("there is no method {:?}", call.method))
                    .with_code(METHOD_NOT_FOUND)
                    .with_hint("rpc.discover lists the methods"),
            ),
        }
    }

    /// Most calls are done at their first poll and need no task.
    async fn start(&mut self, id: Option<Box<str>>, mut reply: BoxFuture<'static, Reply>, cancel: oneshot::Sender<()>) -> Step {
        let first = std::future::poll_fn(|context| Poll::Ready(reply.as_mut().poll(context))).await;
        let asked = id.is_some();
        if let Poll::Ready(reply) = first {
            return if asked { Step::Now(reply) } else { Step::Silent };
        }
        self.started += 1;
        let number = self.started;
        self.waiting.push(Waiting { number, id, cancel });
        if asked {
            return Step::Later { number, reply };
        }
        self.tasks.spawn(async move {
            reply.await;
            vec![number]
        });
        Step::Silent
    }

    /// Ends the call with the id in the params, or, as Vim documents it, at the top level. A call that is done stays done.
    fn cancel(&mut self, call: &Call<'_>) {
        let params = call.params.and_then(|params| serde_json::from_str::<CancelParams<'_>>(params.get()).ok());
        let target = params.and_then(|params| params.id.or(params.request_id)).or(call.id).map(RawValue::get);
        if let Some(at) = self.waiting.iter().position(|waiting| waiting.id.is_some() && waiting.id.as_deref() == target) {
            let _ = self.waiting.swap_remove(at).cancel.send(());
        }
    }

    /// Ends every call that is waiting.
    pub(super) fn cancel_all(&mut self) {
        for waiting in self.waiting.drain(..) {
            let _ = waiting.cancel.send(());
        }
    }

    pub(super) fn is_idle(&self) -> bool {
        self.tasks.is_empty()
    }

    /// Comes back when a task has ended; cancel-safe. At once if there is none.
    pub(super) async fn reap(&mut self) {
        match self.tasks.join_next().await {
            Some(Ok(numbers)) => self.waiting.retain(|waiting| !numbers.contains(&waiting.number)),
            Some(Err(error)) => tracing::error!(%error, "a call's task ended abnormally"),
            None => {}
        }
    }

    pub(super) async fn send(&self, text: String) {
        queue(&self.replies, text.into()).await;
    }
}

fn connection_id(peer: &Peer) -> ConnectionId {
    ConnectionId(usize::try_from(peer.connection_id()).unwrap_or(usize::MAX))
}
