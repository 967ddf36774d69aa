//! The daemon's life: from a directory to a socket that answers, and back to nothing but files.

mod idle;
mod work_tree;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use paird_base::limits::{CLAIM_WAIT, STOP_TIMEOUT};
use paird_base::{Clock, Root, SystemClock};
use paird_protocol::address::{self, Address, WorkTreeKey};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

pub use self::work_tree::{WorkTreeError, find as find_work_tree};
use crate::dispatch::{self, Clients, Daemon};
use crate::lifecycle::{DaemonLock, LockError, TreeLock};
use crate::session::{Events, Lane, Loose, Models, Sessions, Shared, Tree};
use crate::transport::{BindError, Listener, Server};

/// How a daemon is started.
#[derive(Debug, Clone)]
pub struct Options {
    /// The work tree's top, as [`find_work_tree`] gives it.
    pub root: PathBuf,
    pub socket: Option<PathBuf>,
    /// Exit after this long without clients, turns and questions; never, if `None`.
    pub idle_exit: Option<Duration>,
}

/// Why the daemon does not serve.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    #[error(transparent)]
    Address(#[from] address::AddressError),
    #[error(transparent)]
    Place(#[from] address::DirectoryError),
    #[error(transparent)]
    Lock(#[from] LockError),
    #[error(transparent)]
    Bind(#[from] BindError),
    #[error(transparent)]
    Session(#[from] crate::session::Error),
    #[error(transparent)]
    WorkTree(#[from] WorkTreeError),
    #[error("register the methods")]
    Methods(#[from] jsonrpsee::core::RegisterMethodError),
    #[error("{doing}")]
    Io { doing: String, source: std::io::Error },
}

/// Where a work tree's sessions, journal and logs are kept. Made if it is not there, for the user alone.
///
/// # Errors
/// There is no home, or the directory cannot be made.
pub fn state_dir(root: &Path) -> Result<PathBuf, ServeError> {
    use std::os::unix::fs::DirBuilderExt;
    let dir = address::state_dir(&WorkTreeKey::of(root), &|name| std::env::var_os(name))?;
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(&dir)
        .map_err(|source| ServeError::Io { doing: format!("make {}", dir.display()), source })?;
    Ok(dir)
}

/// Serves until a client says stop, a signal comes, or nobody has needed it for long.
///
/// # Errors
/// Another daemon serves already, or something it needs cannot be had.
pub async fn serve(options: Options) -> Result<(), ServeError> {
    let started = Instant::now();
    let key = WorkTreeKey::of(&options.root);
    let address = match options.socket {
        Some(path) => Address::named(path)?,
        None => Address::of(&key, &|name| std::env::var_os(name), rustix::process::geteuid().as_raw())?,
    };
    address.check_place(&options.root)?;
    let lock = DaemonLock::claim(&address, CLAIM_WAIT).await?;
    let state_dir = state_dir(&options.root)?;
    let tree_lock = TreeLock::claim(&options.root, &state_dir, CLAIM_WAIT).await?;
    let root = Root::open(&options.root).map_err(crate::session::Error::from)?;
    let repository = paird_vcs::Repo::discover(root.path()).map_err(crate::session::Error::from)?.is_some();
    let tree = Tree { root, repository };
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);

    // First nothing new is begun; then, when every turn has ended, connections say their last and close.
    let (stop, closing) = (CancellationToken::new(), CancellationToken::new());
    let (able, able_now) = watch::channel(0);
    let events = Events::default();
    let (lane, lane_thread, repaired) = Lane::start(tree.clone(), &state_dir, clock.as_ref())?;
    let models = Arc::new(Models::new(tree.root.path().to_owned(), std::env::vars())?);
    let shared = Shared {
        tree: tree.clone(),
        lane: lane.clone(),
        events: events.clone(),
        models: Arc::clone(&models),
        clock: Arc::clone(&clock),
        able: able_now,
        stop: stop.clone(),
    };
    let sessions = Sessions::open(shared, &state_dir, repaired).await?;

    // The server wants the methods, and the methods tell the number of its connections.
    let (connections, connections_now) = watch::channel(0);
    let daemon = Arc::new(Daemon {
        notices: notices(&tree)?,
        tree,
        socket: address.socket.clone(),
        epoch: paird_base::random_id(8),
        started,
        sessions: sessions.clone(),
        events,
        lane: lane.clone(),
        loose: Loose::default(),
        models,
        clients: Clients::new(able),
        clock,
        connections: connections_now.clone(),
        stop: stop.clone(),
    });
    let server = Server::new(dispatch::module(daemon)?).counting(connections);
    stop_on_signals(&stop)?;
    if let Some(after) = options.idle_exit {
        tokio::spawn(idle::stop_when_idle(after, connections_now, sessions.clone(), stop.clone()));
    }
    let listener = Listener::bind(&address, &lock)?;
    tree_lock.serves(&address)?;
    tracing::info!(root = %options.root.display(), socket = %address.socket.display(), ready_ms = started.elapsed().as_millis() as u64, "serving");

    let serving = tokio::spawn(server.run(listener, stop.clone(), closing.clone()));
    stop.cancelled().await;
    sessions.cancel_all().await;
    closing.cancel();
    if let Err(error) = serving.await {
        tracing::error!(%error, "the server ended abnormally");
    }
    lane.stop().await;
    let joined = tokio::task::spawn_blocking(move || lane_thread.join());
    match tokio::time::timeout(STOP_TIMEOUT, joined).await {
        Ok(Ok(Ok(()))) => tracing::info!("stopped"),
        _ => tracing::error!("the write lane did not end; the next start completes what it was writing"),
    }
    // Held until nothing is written any more.
    drop((tree_lock, lock));
    Ok(())
}

/// What a person should know of this work tree from the start.
fn notices(tree: &Tree) -> Result<Vec<String>, ServeError> {
    if !tree.repository {
        return Ok(vec!["this is no git repository: edits, undo and redo work, commits do not".to_owned()]);
    }
    let why = tree.open_repo()?.unsupported().map_err(crate::session::Error::from)?;
    Ok(why.map(|why| format!("edits are written but not committed: {why}")).into_iter().collect())
}

/// SIGTERM and SIGINT stop the daemon as `daemon/stop` does: the write in progress is finished.
fn stop_on_signals(stop: &CancellationToken) -> Result<(), ServeError> {
    for kind in [SignalKind::terminate(), SignalKind::interrupt()] {
        let mut signals = signal(kind).map_err(|source| ServeError::Io { doing: "listen for signals".to_owned(), source })?;
        let stop = stop.clone();
        tokio::spawn(async move {
            if signals.recv().await.is_some() {
                stop.cancel();
            }
        });
    }
    Ok(())
}
