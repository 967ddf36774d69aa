//! What the suites work with: scratch work trees, the daemon as a process, clients of it, replies to play.
//!
//! Everything is hermetic: each [`Scratch`] has a home, state and run-time directory of its own, and nothing of the
//! surrounding environment reaches the daemon or git. Nothing sleeps for a guess: a test waits for an event or a fact,
//! until [`DEADLINE`].
//!
//! ```text
//! let scratch = Scratch::repo(&[("a.py", "x = 1\n")]);
//! let model = scratch.replay(&[line(&block("a.py", "x = 1", "x = 2"))]);
//! let daemon = DaemonProcess::start(&scratch).await;
//! let client = daemon.client().await;
//! let session = client.session(&model, &["a.py"]).await;
//! let result = client.turn(&session, "make it two").await;
//! ```

pub mod client;
pub mod daemon_process;
pub mod fake_provider;
pub mod git;
pub mod pair_process;
pub mod replies;
pub mod scratch;
pub mod tree;
pub mod wire;

pub use client::{Client, EventStream};
pub use daemon_process::{DaemonProcess, Launch};
pub use pair_process::{Pair, PairProcess, Said};
pub use replies::{block, create, line, paced};
pub use scratch::Scratch;
pub use tree::Tree;
pub use wire::Wire;

use std::time::{Duration, Instant};

/// How long a test waits for something that should happen at once. Generous, as the machine may be busy.
pub const DEADLINE: Duration = Duration::from_secs(30);

/// How often a fact that nothing announces is looked at.
const LOOK_INTERVAL: Duration = Duration::from_millis(2);

/// Waits until `fact` gives a value.
///
/// # Panics
/// If it has given none by [`DEADLINE`].
pub async fn until<T>(what: &str, mut fact: impl AsyncFnMut() -> Option<T>) -> T {
    let start = Instant::now();
    let mut looks = tokio::time::interval(LOOK_INTERVAL);
    loop {
        if let Some(value) = fact().await {
            return value;
        }
        assert!(start.elapsed() < DEADLINE, "not in time: {what}");
        looks.tick().await;
    }
}
