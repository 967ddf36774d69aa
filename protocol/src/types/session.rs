use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Edit, Question, TurnResult, TurnState};

/// What a session's turns do with the model's reply.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Edits are found and made.
    #[default]
    Code,
    /// The reply is an answer; nothing is edited.
    Ask,
}

/// Whether applied edits are committed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CommitMode {
    #[default]
    Auto,
    None,
}

/// What happens to a turn's edits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ApplyMode {
    /// Written at once.
    #[default]
    Auto,
    /// Kept as proposals until a person applies or rejects them.
    Review,
    /// Shown and forgotten.
    Dry,
}

/// What happens when some blocks of a reply cannot be placed and nobody can be asked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnPartial {
    /// The matched ones stay proposals.
    #[default]
    Hold,
    /// The matched ones are written.
    Apply,
}

/// When the person's own uncommitted changes of a file are committed before an edit of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DirtyCommits {
    /// Only where the edit overlaps them.
    #[default]
    Overlap,
    /// For every file that is edited, as Aider does.
    Always,
    /// Never: such an edit stays uncommitted.
    Never,
}

/// How a reply writes its edits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EditFormat {
    /// SEARCH/REPLACE blocks, the path above the fence.
    #[default]
    Diff,
    /// The same, the path inside the fence.
    DiffFenced,
    /// Whole files.
    Whole,
    /// Unified diffs.
    Udiff,
    /// Patches that add, update, delete and move files.
    Patch,
    /// As their namesakes, from a model that only writes down what is planned.
    EditorDiff,
    EditorDiffFenced,
    EditorWhole,
}

/// What is done with a search text that the file has but for a few lines which the edit keeps.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CloseMatch {
    /// The edit is made.
    #[default]
    Apply,
    /// It waits as a proposal.
    Hold,
    /// The block has no place.
    Off,
}

/// The params of `session/new` and of `session/configure`: one list of settings, the second with the session they are for.
macro_rules! settings_params {
    ($(#[doc = $doc:literal])+ $name:ident $(, $id:ident)?) => {
        $(#[doc = $doc])+
        #[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "camelCase", deny_unknown_fields)]
        pub struct $name {
            $(pub $id: String,)?
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub mode: Option<Mode>,
            /// `replay:PATH`, `openai/NAME` or another provider's prefix.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub model: Option<String>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub weak_model: Option<String>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub editor_model: Option<String>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub edit_format: Option<EditFormat>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub files: Option<Vec<String>>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub read_only: Option<Vec<String>>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub commit_mode: Option<CommitMode>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub apply_mode: Option<ApplyMode>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub on_partial: Option<OnPartial>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub dirty_commits: Option<DirtyCommits>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub close_match: Option<CloseMatch>,
        }
    };
}

settings_params! {
    /// Params of `session/new`. A member that is absent takes the daemon's default.
    SessionNewParams
}
settings_params! {
    /// Params of `session/configure`: what is absent stays as it is.
    SessionConfigureParams, session_id
}

impl SessionConfigureParams {
    /// The session, and what to change in it.
    #[must_use]
    pub fn split(self) -> (String, SessionNewParams) {
        let settings = SessionNewParams {
            mode: self.mode,
            model: self.model,
            weak_model: self.weak_model,
            editor_model: self.editor_model,
            edit_format: self.edit_format,
            files: self.files,
            read_only: self.read_only,
            commit_mode: self.commit_mode,
            apply_mode: self.apply_mode,
            on_partial: self.on_partial,
            dirty_commits: self.dirty_commits,
            close_match: self.close_match,
        };
        (self.session_id, settings)
    }
}

/// A session's settings as they hold for its next turn.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Settings {
    pub mode: Mode,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weak_model: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub editor_model: Option<String>,
    pub edit_format: EditFormat,
    pub commit_mode: CommitMode,
    pub apply_mode: ApplyMode,
    pub on_partial: OnPartial,
    pub dirty_commits: DirtyCommits,
    #[serde(default)]
    pub close_match: CloseMatch,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionNewResult {
    pub session_id: String,
    pub seq: u64,
}

/// Params that name a session and nothing else.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SessionParams {
    pub session_id: String,
}

/// One line of the list of sessions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionInfo {
    pub session_id: String,
    /// The first words of its first message.
    pub title: String,
    pub closed: bool,
    pub busy: bool,
    pub turns: u64,
    /// Milliseconds since the Unix epoch.
    pub created_ms: u64,
    pub used_ms: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionListResult {
    pub sessions: Vec<SessionInfo>,
    pub seq: u64,
}

/// One turn as a client shows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TurnView {
    pub turn_id: String,
    /// The user's message.
    pub text: String,
    pub state: TurnState,
    /// The reply so far, of a turn that runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<TurnResult>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionReadResult {
    pub session: SessionInfo,
    pub settings: Settings,
    pub files: Vec<String>,
    pub read_only: Vec<String>,
    /// Oldest first; the newest few hundred.
    pub turns: Vec<TurnView>,
    pub edits: Vec<Edit>,
    pub questions: Vec<Question>,
    pub seq: u64,
    pub epoch: String,
}

/// A piece of a file that a message is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Selection {
    pub path: String,
    pub start_line: u32,
    pub end_line: u32,
}

/// Longest text of a prompt, in bytes: far more than any model takes.
pub const PROMPT_BYTES_MAX: usize = 4 * 1024 * 1024;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PromptParams {
    pub session_id: String,
    /// At most 4 MiB.
    pub text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selection: Option<Selection>,
    /// Cancels the running turn and answers its open question with the option that changes least.
    #[serde(default)]
    pub interrupt: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PromptResult {
    pub turn_id: String,
    /// `running` or `queued`.
    pub state: TurnState,
    pub seq: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CancelParams {
    pub session_id: String,
    /// This turn alone, running or queued; all of the session's if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CancelResult {
    /// The turns that were cancelled: the running one and those queued behind it, or the one that was named; none that had
    /// ended already.
    pub cancelled: Vec<String>,
    pub seq: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WaitParams {
    pub turn_id: String,
    /// Default 1000, at most 60000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WaitResult {
    pub state: TurnState,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<TurnResult>,
    pub seq: u64,
}
