use std::sync::Arc;

use dashmap::DashMap;
use jsonrpsee::ResponsePayload;
use jsonrpsee::core::RegisterMethodError;
use jsonrpsee::types::ErrorObjectOwned;
use paird_base::limits::SUBSCRIPTIONS_PER_CONNECTION_MAX;
use paird_protocol::methods::{EventsSubscribe, EventsUnsubscribe};
use paird_protocol::{Done, EVENT_METHOD, ErrorKind, Method, SubscribeParams, SubscribeResult};
use tokio_util::sync::CancellationToken;

use super::{Daemon, Fault, Module, fault, method, to_wire};
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
        async move { subscribe(&daemon, peer, params, open) }
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
fn subscribe(
    daemon: &Arc<Daemon>,
    peer: Option<Peer>,
    params: Result<SubscribeParams, Fault>,
    open: Subscriptions,
) -> ResponsePayload<'static, SubscribeResult> {
    let listening = params.and_then(|params| {
        let peer = peer.ok_or_else(|| Fault::internal("the call came without its connection"))?;
        listen(daemon, peer, params)
    });
    let (peer, params, listening, result) = match listening {
        Ok(listening) => listening,
        Err(fault) => return ResponsePayload::error(ErrorObjectOwned::from(fault)),
    };
    let id = result.subscription_id.clone();
    let (payload, sent) = ResponsePayload::success(result).notify_on_completion();
    let ended = CancellationToken::new();
    let key = (peer.connection_id(), id.clone());
    open.insert(key.clone(), ended.clone());
    let daemon = Arc::clone(daemon);
    tokio::spawn(async move {
        if sent.await.is_ok() {
            pump(&daemon, &peer, &id, params.kinds, listening, &ended).await;
        }
        open.remove(&key);
        daemon.clients.subscriptions(&peer, -1);
    });
    payload
}

fn listen(daemon: &Daemon, peer: Peer, params: SubscribeParams) -> Result<(Peer, SubscribeParams, Listening, SubscribeResult), Fault> {
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
        gap: listening.gap || (params.since_seq.is_some() && !of_now),
    };
    Ok((peer, params, listening, result))
}

/// Sends events to one subscription until it ends, its client is gone, or it has fallen too far behind.
async fn pump(daemon: &Daemon, peer: &Peer, id: &str, kinds: Option<Vec<String>>, mut listening: Listening, ended: &CancellationToken) {
    let sending = async {
        for event in &listening.missed {
            if !send(daemon, peer, id, kinds.as_deref(), event).await {
                return;
            }
        }
        while let Some(event) = listening.queue.recv().await {
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
    if kinds.is_some_and(|kinds| !kinds.iter().any(|k| kind == k || (k.ends_with('.') && kind.starts_with(k.as_str())))) {
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
