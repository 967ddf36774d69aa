//! paird: a pair-programming daemon for one work tree.
//!
//! Data flows one way: `transport` (bytes and messages) -> `dispatch` (wire and domain) -> `session` (a chat and its
//! turns) -> the leaf crates (edit, provider, vcs) -> base. Calls go down; what comes back up is a value on a channel.
//! `daemon` puts the rooms together, `lifecycle` sees to it that there is one daemon. See `docs/architecture.md`.

#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod daemon;
pub mod dispatch;
pub mod lifecycle;
pub mod session;
pub mod transport;
