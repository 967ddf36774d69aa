//! The git repository: its state, commits of the daemon's own hunks, their undo.
//!
//! Start with [`Repo`]. A commit is made in two steps: [`Repo::prepare`] writes objects that nothing points to,
//! [`Repo::publish`] moves HEAD by compare-and-swap and then merges the commit into the index, path by path, so that
//! what a person has staged stays staged. The second step can be repeated, so a journal of [`Prepared`] values is
//! enough to finish after a crash. git2 reads and writes objects; the `git` program runs filters, moves refs and
//! writes the index. Every function is synchronous.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod commit;
mod entry;
mod error;
mod filter;
mod git;
mod head;
mod index;
mod lock;
mod log;
mod message;
mod prepare;
mod publish;
mod repo;
mod status;
mod tree;
mod undo;

pub use commit::{Change, CommitKind, CommitRequest, DirtyPolicy, Outcome, Prepared, PreparedCommit, Published, Uncommitted};
pub use error::Error;
pub use head::{Head, HeadRef};
pub use log::{CommitInfo, CommitShow};
pub use repo::Repo;
pub use status::{DirtyPath, Status, TrackedFiles};
pub use undo::{UndoPlan, UndoPrepared};

/// Places between the steps of a commit and an undo where a test may kill the process.
pub const FAULT_POINTS: [&str; 5] = ["commit.prepared", "commit.index_locked", "commit.ref", "commit.index", "undo.ref"];
