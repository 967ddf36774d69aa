use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::CommitRef;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CommitStatusResult {
    /// The branch, or `null` when HEAD is detached.
    pub branch: Option<String>,
    /// The commit, or `null` before the first.
    pub head: Option<String>,
    /// `merge`, `rebase` and the like, while one is under way.
    pub in_progress: Option<String>,
    pub changed: Vec<ChangedFile>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChangedFile {
    pub path: String,
    pub staged: bool,
    pub unstaged: bool,
    pub untracked: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CommitListParams {
    /// Default 20, at most 500.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CommitInfo {
    pub hash: String,
    pub subject: String,
    pub author: String,
    /// Milliseconds since the Unix epoch.
    pub time_ms: u64,
    /// Made by paird, in a turn or for the person before one.
    pub by_paird: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CommitListResult {
    pub commits: Vec<CommitInfo>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CommitShowParams {
    /// A hash, `HEAD`, or the name of a branch or tag.
    pub commit: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CommitShowResult {
    pub commit: CommitInfo,
    pub message: String,
    pub paths: Vec<String>,
    /// Unified; cut at a bound.
    pub diff: String,
    pub truncated: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CommitUndoParams {
    /// Take back only a commit of this session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CommitUndoResult {
    /// The commit that was taken back.
    pub undone: CommitRef,
    /// Where HEAD is now.
    pub head: String,
    pub seq: u64,
}
