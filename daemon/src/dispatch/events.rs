use std::sync::Arc;

use dashmap::DashMap;
use jsonrpsee::ResponsePayload;
use jsonrpsee::core::RegisterMethodError;
use jsonrpsee::types::ErrorObjectOwned;
use paird_base::limits::SUBSCRIPTIONS_PER_CONNECTION_MAX;
use paird_protocol::methods::{EventsSubscribe, EventsUnsubscribe};
use paird_protocol::{Done, EVENT_METHOD, ErrorKind, EventBody, Method, SubscribeParams, SubscribeResult};
use tokio_util::sync::CancellationToken;

use super::{Daemon, Fault, Module, fault, method, session, to_wire};
use crate::session::{Event, Filter, Listening, SessionId};
use crate::transport::Peer;

/// Subscriptions of all connections, by connection and name.
type Subscriptions = Arc<DashMap<(u64, String), CancellationToken>>;

pub(super) fn register(module: &mut Module) -> Result<(), RegisterMethodError> {
    let subscriptions: Subscriptions = Arc::default();
    let open = Arc::clone(&subscriptions);
    module.register_async_method(EventsSubscribe::NAME, move |params, daemon, extensions| {
        let params = fault::params(params.as_str());
        let (peer, open) = (extensions.get::<Peer>().cloned(), Arc::clone(&open));
        async move { subscribe(&daemon, peer, params, open).await }
    })?;
    method::<EventsUnsubscribe, _, _>(module, move |_, peer, params| {
        let subscriptions = Arc::clone(&subscriptions);
        async move {
            let key = (peer.connection_id(), params.subscription_id);
            let (_, ended) = subscriptions.remove(&key).ok_or_else(|| {
                Fault::new(ErrorKind::NotFound, format!("this connection has no subscription {:?}", key.1))
                    .hint("events/subscribe gives the id")
            })?;
            ended.cancel();
            Ok(Done {})
        }
    })
}

/// Not by [`method`], as its first event must not overtake its answer: the pump waits until that is on its way.
async fn subscribe(
    daemon: &Arc<Daemon>,
    peer: Option<Peer>,
    params: Result<SubscribeParams, Fault>,
    open: Subscriptions,
) -> ResponsePayload<'static, SubscribeResult> {
    let listening = async {
        let peer = peer.ok_or_else(|| Fault::internal("the call came without its connection"))?;
        daemon.takes(EventsSubscribe::NAME)?;
        listen(daemon, peer, params?).await
    };
    let (peer, params, listening, result) = match listening.await {
        Ok(listening) => listening,
        Err(fault) => return ResponsePayload::error(ErrorObjectOwned::from(fault)),
    };
    let id = result.subscription_id.clone();
    let (payload, sent) = ResponsePayload::success(result).notify_on_completion();
    let ended = CancellationToken::new();
    let key = (peer.connection_id(), id.clone());
    open.insert(key.clone(), ended.clone());
    let daemon = Arc::clone(daemon);
    peer.clone().speak(async move {
        if sent.await.is_ok() {
            pump(&daemon, &peer, &id, params.kinds, listening, &ended).await;
        }
        open.remove(&key);
        daemon.clients.subscriptions(&peer, -1);
    });
    payload
}

async fn listen(
    daemon: &Daemon,
    peer: Peer,
    params: SubscribeParams,
) -> Result<(Peer, SubscribeParams, Listening, SubscribeResult), Fault> {
    if let Some(kinds) = &params.kinds {
        check_kinds(kinds)?;
    }
    if let Some(id) = &params.session_id {
        session::find(daemon, id.clone()).await?;
    }
    if daemon.clients.subscriptions(&peer, 1) > SUBSCRIPTIONS_PER_CONNECTION_MAX {
        daemon.clients.subscriptions(&peer, -1);
        return Err(Fault::new(ErrorKind::Overloaded, "too many subscriptions on this connection").hint("unsubscribe some, or filter less"));
    }
    // Counters of another daemon's life mean nothing here: the client has to read the state anew.
    let of_now = params.epoch.as_ref().is_none_or(|epoch| *epoch == daemon.epoch);
    let since = params.since_seq.filter(|_| of_now);
    let listening = daemon.events.listen(Filter { session: params.session_id.clone().map(SessionId) }, since);
    let result = SubscribeResult {
        subscription_id: paird_base::random_id(8),
        epoch: daemon.epoch.clone(),
        seq: listening.seq,
        // A number that is yet to come is of another life, too.
        gap: listening.gap || (params.since_seq.is_some() && !of_now) || since.is_some_and(|since| since > listening.seq),
    };
    Ok((peer, params, listening, result))
}

/// A misspelt kind would be heard of never.
fn check_kinds(kinds: &[String]) -> Result<(), Fault> {
    if kinds.is_empty() {
        return Err(Fault::new(ErrorKind::InvalidParams, "kinds is empty, so no event could ever come")
            .hint("leave it out for all events, or name kinds or groups such as \"turn.\""));
    }
    let known = |kind: &String| EventBody::KINDS.iter().any(|known| is_meant(known, kind));
    match kinds.iter().find(|kind| !known(kind)) {
        None => Ok(()),
        Some(stranger) => Err(Fault::new(ErrorKind::InvalidParams, format!("there is no kind of event {stranger:?}"))
            .hint(format!("there are {}, and groups of them such as \"turn.\"", EventBody::KINDS.join(", ")))),
    }
}

/// Whether a filter's name, of a kind or a group, means this kind.
fn is_meant(kind: &str, name: &str) -> bool {
    kind == name || (name.ends_with('.') && kind.starts_with(name))
}

/// Sends events to one subscription until it ends, its client is gone, or it has fallen too far behind.
async fn pump(daemon: &Daemon, peer: &Peer, id: &str, kinds: Option<Vec<String>>, mut listening: Listening, ended: &CancellationToken) {
    let sending = async {
        for event in &listening.missed {
            if !send(daemon, peer, id, kinds.as_deref(), event).await {
                return;
            }
        }
        loop {
            let event = tokio::select! {
                // What has happened is told before the end.
                biased;
                event = listening.queue.recv() => event,
                () = peer.closing().cancelled() => return,
            };
            let Some(event) = event else { break };
            if !send(daemon, peer, id, kinds.as_deref(), &event).await {
                return;
            }
        }
        tracing::warn!(connection = peer.connection_id(), "a client fell behind its events and is cut off");
        peer.close_after_reply();
    };
    tokio::select! {
        () = ended.cancelled() => {}
        () = peer.closed() => {}
        () = sending => {}
    }
}

/// False when there is nobody to send to any more.
async fn send(daemon: &Daemon, peer: &Peer, id: &str, kinds: Option<&[String]>, event: &Event) -> bool {
    let event = to_wire::event(id, &daemon.epoch, event);
    let kind = event.body.kind();
    if kinds.is_some_and(|kinds| !kinds.iter().any(|name| is_meant(kind, name))) {
        return true;
    }
    match serde_json::value::to_raw_value(&event) {
        Ok(params) => peer.notify(EVENT_METHOD, &params).await.is_ok(),
        Err(error) => {
            tracing::error!(%error, kind, "an event cannot be written as JSON");
            true
        }
    }
}
