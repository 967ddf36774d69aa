//! A session: a chat with its files, settings, history and edits, which outlives connections and restarts.
//!
//! The only room that uses more than one leaf. Read in this order: `entry` (what a log says), `state` (what follows from
//! it), `owner` (who changes it), `turn` (what happens between a message and its report), `lane` (who writes files).

mod commit_step;
mod context;
mod entry;
mod error;
mod events;
mod failure;
mod flip;
mod ground;
mod ids;
mod job;
mod lane;
mod line_changes;
mod listing;
mod log;
mod loose;
mod missing;
mod models;
mod owner;
mod place;
mod prompts;
mod question;
mod resolve;
mod settings;
mod state;
mod step;
mod store;
mod tree;
mod turn;
mod usage;

pub use entry::{Commit, EditEntry, EditStatus, Outcome, Report, Selection};
pub use error::Error;
pub use events::{Event, Events, Filter, Happening, LineChange, Listening};
pub use failure::{Failure, Kind};
pub use ids::{EditId, QuestionId, SessionId, TurnId};
pub use job::{Committed, Flip, Landed, Order, Refused, What};
pub use lane::{FAULT_POINTS, Lane};
pub use line_changes::unified;
pub use listing::Listing;
pub use loose::Loose;
pub use models::{Models, is_key_name};
pub use owner::{Owner, Session, Shared, Which};
pub use place::{entry as edit_entry, propose, scope};
pub use question::{About, Question};
pub use resolve::{Resolved, Verdicts, resolve};
pub use settings::{ApplyMode, CommitMode, DirtyCommits, Mode, OnPartial, Settings, SettingsPatch};
pub use state::{SessionState, Turn, TurnPhase};
pub use store::Sessions;
pub use tree::Tree;
pub use usage::Usage;
