//! Params, results and events, one file a subject.

mod commit;
mod context;
mod daemon;
mod edit;
mod error;
mod event;
mod map;
mod question;
mod session;
mod turn;

pub use commit::*;
pub use context::*;
pub use daemon::*;
pub use edit::*;
pub use error::*;
pub use event::*;
pub use map::*;
pub use question::*;
pub use session::*;
pub use turn::*;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Params of a method that takes none: absent, `null`, `{}` and `[]` are all accepted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoParams {}

/// A result that says only that it is done.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Done {}

/// An acknowledgement: events up to `seq` are in the state that it acknowledges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Ack {
    pub seq: u64,
}
