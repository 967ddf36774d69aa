//! Going away when nobody needs the daemon. A client, a turn or an open question is a need.

use std::time::Duration;

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::session::Sessions;

/// Cancels `stop` once there has been no need for `after`. Looks again whenever the number of clients changes.
pub(super) async fn stop_when_idle(after: Duration, mut connections: watch::Receiver<usize>, sessions: Sessions, stop: CancellationToken) {
    loop {
        let alone = *connections.borrow_and_update() == 0;
        tokio::select! {
            changed = connections.changed() => match changed {
                Ok(()) => {}
                Err(_) => return,
            },
            () = tokio::time::sleep(after), if alone => {
                if !sessions.any_needed().await {
                    tracing::info!("nobody has needed this daemon for {after:?}");
                    return stop.cancel();
                }
            }
        }
    }
}
