//! Why something failed, as a value that logs keep and the wire shows: kind, message, hint.

use serde::{Deserialize, Serialize};

/// The closed list of the protocol, in the session's own terms: stored in logs, mapped to the wire by dispatch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    InvalidParams,
    NotFound,
    Conflict,
    Overloaded,
    UnsupportedPath,
    UnsupportedFile,
    NotARepository,
    Vcs,
    Config,
    Provider,
    RateLimited,
    ContextOverflow,
    Io,
    Internal,
}

/// Why a turn failed, in the wire's terms but for the wire's types.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    pub message: String,
    pub kind: Kind,
    pub hint: Option<String>,
    pub retryable: bool,
}
