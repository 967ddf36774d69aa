use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Edit, FailedBlock, TurnFailure};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TurnState {
    Queued,
    Running,
    /// A question is open.
    Waiting,
    Finished,
}

/// A file that is not committed, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Uncommitted {
    pub path: String,
    pub reason: String,
}

/// How a turn ended; exactly one for each turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Everything that the reply asked for was done, which may be nothing.
    Done,
    /// Some or all edits wait as proposals.
    Held,
    Cancelled,
    Failed,
}

/// Tokens of a turn's requests, summed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    pub requests: u64,
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub cache_read_tokens: u64,
    pub cache_write_tokens: u64,
    /// False where the provider did not tell and the figures are estimates.
    pub reported: bool,
}

/// A commit that a turn made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CommitRef {
    pub hash: String,
    pub subject: String,
    pub paths: Vec<String>,
}

/// Why a further request of the same turn was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReflectionCause {
    /// A block did not parse or match.
    Blocks,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Reflection {
    pub cause: ReflectionCause,
}

/// A lint or test run of a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Check {
    pub name: String,
    pub passed: bool,
    pub output: String,
}

/// The whole of a finished turn: `session/wait` gives it, `turn.finished` carries it, `pair --json` prints it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TurnResult {
    pub turn_id: String,
    pub session_id: String,
    #[serde(flatten)]
    pub report: TurnReport,
}

/// A turn's result but for its ids, which an event has already.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TurnReport {
    pub outcome: Outcome,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<TurnFailure>,
    /// The last reply's text, whole or as far as it came.
    pub reply: String,
    pub edits: Vec<Edit>,
    pub failed: Vec<FailedBlock>,
    pub commits: Vec<CommitRef>,
    /// Files whose edits were written and are in no commit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub uncommitted: Vec<Uncommitted>,
    pub checks: Vec<Check>,
    /// Commands that the reply suggests; none was run.
    pub shell_commands: Vec<String>,
    pub usage: Usage,
    /// `null` where no price is known.
    pub cost_usd: Option<f64>,
    pub reflections: Vec<Reflection>,
    /// What the provider said of the end of its last reply: `stop`, `length`, `content_filter`, or its own word.
    pub stop_reason: Option<String>,
}
