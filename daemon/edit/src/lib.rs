//! From a model's reply to changed files: reply text -> [`Block`]s -> [`Edit`]s -> [`Plan`] -> files.
//!
//! Parsing and planning are pure: they see text and a snapshot, and return what they understood plus what they did not.
//! Only a checked [`Plan`] can be written, by [`Journal`] and [`write()`], which finish or roll back.
//! Useful without the rest of paird: nothing here knows a session, a model or git.
//!
//! Read in this order: `block` (what a reply holds), `diff` (finding it), `ladder` (finding its place in a file),
//! `snapshot` and `propose` (all blocks of a reply against one snapshot), `explain` (asking for the failed ones again), `change` (what will be written), `journal` and `write`.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod block;
mod carry;
mod change;
mod closest;
mod diff;
mod explain;
mod fail;
mod gains;
mod indent;
mod index;
mod journal;
mod ladder;
mod lines;
mod marker;
mod name;
mod proposal;
mod propose;
mod reasoning;
mod record;
mod record_file;
mod record_id;
mod recover;
mod snapshot;
mod temp;
mod tree;
mod write;

pub use block::*;
pub use change::*;
pub use diff::*;
pub use explain::*;
pub use fail::*;
pub use journal::*;
pub use ladder::*;
pub use proposal::*;
pub use propose::*;
pub use record::{Record, State};
pub use record_id::*;
pub use recover::*;
pub use snapshot::*;
pub use temp::*;
pub use write::*;
