use std::collections::BTreeMap;

use jsonrpsee::core::RegisterMethodError;
use paird_protocol::methods::{DaemonStatus, DaemonStop, Discover, Initialize, Shutdown};
use paird_protocol::{DaemonStatusResult, Done, ErrorKind, InitializeResult, PROTOCOL_VERSION};

use super::{Fault, Module, method, openrpc};

const VERSION: &str = env!("CARGO_PKG_VERSION");

pub(super) fn register(module: &mut Module) -> Result<(), RegisterMethodError> {
    method::<Initialize, _, _>(module, |daemon, peer, params| async move {
        let able = params.capabilities.is_some_and(|c| c.questions);
        daemon.clients.greet(&peer, able, params.env.unwrap_or_else(BTreeMap::new)).map_err(|names| {
            Fault::new(ErrorKind::InvalidParams, format!("env may not hold {}", names.join(", ")))
                .hint("only names ending in _API_KEY or _API_BASE are taken")
        })?;
        if let Some(client) = params.client_name {
            tracing::info!(connection = peer.connection_id(), client, able, "client");
        }
        Ok(InitializeResult {
            protocol_version: PROTOCOL_VERSION,
            daemon_version: VERSION.to_owned(),
            epoch: daemon.epoch.clone(),
            root: daemon.root(),
        })
    })?;
    method::<Shutdown, _, _>(module, |_, peer, _| async move {
        peer.close_after_reply();
        Ok(Done {})
    })?;
    method::<Discover, _, _>(module, |_, _, _| async move { Ok(openrpc::document(VERSION)) })?;
    method::<DaemonStatus, _, _>(module, |daemon, _, _| async move {
        let seq = daemon.events.seq();
        let (mut busy, mut questions) = (0, 0);
        for session in daemon.sessions.in_memory() {
            let (is_busy, open) = session.call(|o| (o.is_busy(), o.state.questions.len() as u64)).await?;
            busy += u64::from(is_busy);
            questions += open;
        }
        Ok(DaemonStatusResult {
            daemon_version: VERSION.to_owned(),
            protocol_version: PROTOCOL_VERSION,
            pid: std::process::id(),
            epoch: daemon.epoch.clone(),
            root: daemon.root(),
            socket: daemon.socket.to_string_lossy().into_owned(),
            repository: daemon.tree.repository,
            uptime_ms: u64::try_from(daemon.started.elapsed().as_millis()).unwrap_or(u64::MAX),
            connections: *daemon.connections.borrow() as u64,
            sessions: daemon.sessions.count() as u64,
            busy_sessions: busy,
            questions,
            seq,
            notices: daemon.notices.clone(),
        })
    })?;
    method::<DaemonStop, _, _>(module, |daemon, _, _| async move {
        daemon.stop.cancel();
        Ok(Done {})
    })
}
