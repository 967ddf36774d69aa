use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CommitRef, EditFormat};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EditOp {
    Add,
    Modify,
    Delete,
    Move,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EditStatus {
    /// Waits for a person.
    Proposed,
    Applied,
    Rejected,
    /// A newer edit overlaps it.
    Superseded,
    Undone,
}

/// How a search text was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Rung {
    Exact,
    /// Line ends and trailing blanks apart.
    Trailing,
    /// One difference of indentation for all lines.
    Indent,
    /// Blank lines at its beginning and end apart.
    BlankEdges,
    /// In pieces, between lines of `...`.
    Elision,
    /// The replacement is there already.
    Already,
    /// But for a few lines that stay.
    Close,
    /// A new or empty file.
    Create,
    /// The whole file: written anew, deleted or moved.
    Whole,
}

/// One place of a file that an edit changes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Hunk {
    pub hunk_id: String,
    /// The block it came from, counted from 0 in the reply.
    pub block: usize,
    pub rung: Rung,
    /// Lines of the file before the edit. An empty range has `endLine = startLine - 1`.
    pub start_line: usize,
    pub end_line: usize,
    pub score: f64,
}

/// What one reply changes in one file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Edit {
    pub edit_id: String,
    pub path: String,
    pub op: EditOp,
    pub status: EditStatus,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_path: Option<String>,
    pub outside_chat: bool,
    pub creates: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redirected_from: Option<String>,
    pub hunks: Vec<Hunk>,
    /// What a person should look at before it is written.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suspicious: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<String>,
    /// Hash of the commit that holds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
}

/// The closest real lines to a search text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Closest {
    pub start_line: usize,
    pub lines: Vec<String>,
}

/// A block that could not be placed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FailedBlock {
    pub block: usize,
    pub path: Option<String>,
    pub reason: String,
    pub message: String,
    pub closest: Option<Closest>,
}

/// Something odd in a reply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReplyProblem {
    pub message: String,
    /// Line of the reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
}

/// What a block of a reply asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BlockOp {
    /// `replace` takes the place of `search`; without `search` it makes a file, or fills an empty one.
    Replace,
    /// A file that must not exist.
    Add,
    /// A file's whole text.
    Whole,
    Delete,
    Move,
}

/// One edit block of a reply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EditBlock {
    pub block: usize,
    pub path: Option<String>,
    pub op: BlockOp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_path: Option<String>,
    pub search: String,
    pub replace: String,
    /// Lines that the place lies below, outermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub anchors: Vec<String>,
    /// Line of the reply where it starts.
    pub line: usize,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EditParseParams {
    pub text: String,
    pub format: EditFormat,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EditParseResult {
    pub blocks: Vec<EditBlock>,
    pub shell_commands: Vec<String>,
    pub problems: Vec<ReplyProblem>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EditMatchParams {
    pub text: String,
    pub format: EditFormat,
    /// The chat's files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<Vec<String>>,
    /// Contents that stand for the files on disk, an editor's unsaved text for example.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contents: Option<BTreeMap<String, String>>,
}

/// What became of one block.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BlockMatch {
    pub block: usize,
    pub path: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rung: Option<Rung>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_line: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_line: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// Why it was not placed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EditMatchResult {
    pub blocks: Vec<BlockMatch>,
    pub problems: Vec<ReplyProblem>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EditProposeParams {
    pub text: String,
    pub format: EditFormat,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<Vec<String>>,
    /// The session the proposals belong to; without one they are kept for ten minutes, the newest 64.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EditProposeResult {
    pub edits: Vec<Edit>,
    pub failed: Vec<FailedBlock>,
    pub shell_commands: Vec<String>,
    pub problems: Vec<ReplyProblem>,
    pub seq: u64,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EditListParams {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<EditStatus>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EditListResult {
    pub edits: Vec<Edit>,
    pub seq: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EditGetParams {
    pub edit_id: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EditGetResult {
    pub edit: Edit,
    /// Unified: of an applied edit what it did, of a proposal what it would do to the file as it is now.
    pub diff: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EditApplyParams {
    pub edit_ids: Vec<String>,
}

/// Decisions about the hunks of a proposal. A hunk that is not named goes on waiting.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EditResolveParams {
    pub edit_id: String,
    /// Ids of hunks to write.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accept: Option<Vec<String>>,
    /// Ids of hunks to drop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reject: Option<Vec<String>>,
    /// Hunks to write with another text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replace: Option<Vec<HunkText>>,
}

/// A person's own text for a hunk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HunkText {
    pub hunk_id: String,
    /// What stands in the hunk's place afterwards.
    pub text: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EditResolveResult {
    /// The edit as it is now: waiting with what is undecided, applied, or rejected.
    pub edit: Option<Edit>,
    /// What was written. While hunks are undecided it has an edit of its own.
    pub applied: Vec<AppliedEdit>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<CommitRef>,
    pub seq: u64,
}

/// Exactly one of the three members says what is meant.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EditUndoParams {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edit_ids: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<String>,
    /// Every applied edit of the session, newest first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AppliedEdit {
    pub edit_id: String,
    pub path: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EditApplyResult {
    pub applied: Vec<AppliedEdit>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<CommitRef>,
    pub seq: u64,
}
