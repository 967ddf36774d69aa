//! Wire to domain and back: every method of the protocol, registered from its one declaration.
//!
//! Params are checked here, errors get their wire form here (`fault.rs`), values are translated here (`to_wire.rs`,
//! `from_wire.rs`). Nothing is decided here.

mod clients;
mod commit;
mod context;
mod daemon;
mod edit;
mod events;
mod fault;
mod from_wire;
mod loose;
mod map;
mod openrpc;
mod question;
mod session;
mod to_wire;

use std::future::Future;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use jsonrpsee::RpcModule;
use jsonrpsee::core::RegisterMethodError;
use paird_base::Clock;
use paird_protocol::methods::{DaemonStop, EditGet, EventsUnsubscribe, SessionRead, Shutdown};
use paird_protocol::{ErrorKind, Method};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

pub use self::clients::Clients;
use self::fault::Fault;
use crate::session::{Error, Events, Lane, Loose, Models, Sessions, Tree};
use crate::transport::Peer;

/// What a client still needs when the daemon stops: to see how its turn ends, and to leave in order.
const ANSWERED_TO_THE_LAST: [&str; 5] = [Shutdown::NAME, DaemonStop::NAME, EventsUnsubscribe::NAME, EditGet::NAME, SessionRead::NAME];

/// What the methods work on.
pub struct Daemon {
    pub tree: Tree,
    pub socket: PathBuf,
    pub epoch: String,
    pub started: Instant,
    pub sessions: Sessions,
    pub events: Events,
    pub lane: Lane,
    pub loose: Loose,
    pub models: Arc<Models>,
    pub clients: Clients,
    pub clock: Arc<dyn Clock>,
    pub connections: watch::Receiver<usize>,
    pub stop: CancellationToken,
    pub notices: Vec<String>,
}

impl Daemon {
    fn now_ms(&self) -> u64 {
        self.clock.unix_ms()
    }

    fn root(&self) -> String {
        self.tree.root.path().to_string_lossy().into_owned()
    }
}

impl Daemon {
    /// Whether a call is taken. A work tree that was removed, or put anew, is none of this daemon's: it stops, and the next
    /// client starts one that has the new tree open.
    fn takes(&self, method: &str) -> Result<(), Fault> {
        if ANSWERED_TO_THE_LAST.contains(&method) {
            return Ok(());
        }
        if self.stop.is_cancelled() {
            return Err(Error::Stopping.into());
        }
        if self.tree.is_in_place() {
            return Ok(());
        }
        tracing::warn!(root = self.root(), "the work tree was removed or replaced");
        self.stop.cancel();
        Err(Fault::new(ErrorKind::Overloaded, format!("the work tree {} was removed or replaced; its daemon ends", self.root()))
            .hint("connect again: the next client starts a daemon for what is there now")
            .retryable())
    }
}

type Module = RpcModule<Daemon>;

/// The table of all methods. A method of the protocol that is not registered is found by a test.
///
/// # Errors
/// A name that is registered twice.
pub fn module(daemon: Arc<Daemon>) -> Result<Module, RegisterMethodError> {
    let mut module = RpcModule::from_arc(daemon);
    daemon::register(&mut module)?;
    events::register(&mut module)?;
    session::register(&mut module)?;
    question::register(&mut module)?;
    context::register(&mut module)?;
    edit::register(&mut module)?;
    map::register(&mut module)?;
    commit::register(&mut module)?;
    Ok(module)
}

/// Registers one method: its params as they are declared, its errors in their wire form.
fn method<M, F, Fut>(module: &mut Module, handler: F) -> Result<(), RegisterMethodError>
where
    M: Method,
    F: Fn(Arc<Daemon>, Peer, M::Params) -> Fut + Clone + Send + Sync + 'static,
    Fut: Future<Output = Result<M::Result, Fault>> + Send + 'static,
{
    module.register_async_method(M::NAME, move |params, daemon, extensions| {
        let parsed = fault::params::<M::Params>(params.as_str());
        let peer = extensions.get::<Peer>().cloned();
        let handler = handler.clone();
        async move {
            let peer = peer.ok_or_else(|| Fault::internal("the call came without its connection"))?;
            daemon.takes(M::NAME)?;
            handler(daemon, peer, parsed?).await
        }
    })?;
    Ok(())
}
