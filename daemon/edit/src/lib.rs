//! From a model's reply to changed files: reply text -> [`Block`]s -> [`Edit`]s -> [`Plan`] -> files.
//!
//! Parsing and planning are pure: they see text and a snapshot, and return what they understood plus what they did not.
//! Only a checked [`Plan`] can be written, by [`Journal`] and [`write()`], which finish or roll back.
//! Useful without the rest of paird: nothing here knows a session, a model or git.
//!
//! Read in this order: `block` (what a reply holds), `parser` and `formats` (finding it), `ladder` (finding its place in a file),
//! `snapshot` and `propose` (all blocks of a reply against one snapshot), `explain` (asking for the failed ones again), `change` (what will be written), `journal` and `write`.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod anchors;
mod block;
mod carry;
mod change;
mod closest;
mod encoding;
mod equal;
mod explain;
mod fail;
mod fence;
mod files;
mod format;
mod formats;
mod gains;
mod guard;
mod hunks;
mod indent;
mod index;
mod journal;
mod ladder;
mod lines;
mod located;
mod marker;
mod name;
mod operations;
mod other_format;
mod parser;
mod proposal;
mod propose;
mod reasoning;
mod record;
mod record_file;
mod record_id;
mod recover;
mod rungs;
mod sides;
mod slips;
mod snapshot;
mod temp;
mod tree;
mod write;

pub use block::*;
pub use change::*;
pub use explain::*;
pub use fail::*;
pub use fence::{FencePair, choose_fence};
pub use format::*;
pub use journal::*;
pub use ladder::*;
pub use located::*;
pub use parser::{Parser, parse};
pub use proposal::*;
pub use propose::*;
pub use record::{Record, State};
pub use record_id::*;
pub use recover::*;
pub use rungs::Rung;
pub use snapshot::*;
pub use temp::*;
pub use write::*;
