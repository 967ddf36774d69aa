use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CommitRef, FailedBlock, Question, TurnReport, TurnState, Usage};

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SubscribeParams {
    /// Events after this one are sent first, as far as they are kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since_seq: Option<u64>,
    /// The epoch that `sinceSeq` belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epoch: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// Kinds, or groups such as `turn.`, at least one; all if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kinds: Option<Vec<String>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SubscribeResult {
    pub subscription_id: String,
    pub epoch: String,
    pub seq: u64,
    /// Events after `sinceSeq` were lost: read the state anew.
    pub gap: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UnsubscribeParams {
    pub subscription_id: String,
}

/// Params of the notification `event`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Event {
    pub subscription_id: String,
    /// One counter for all sessions; a filter makes holes, which mean nothing.
    pub seq: u64,
    pub epoch: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<String>,
    #[serde(flatten)]
    pub body: EventBody,
}

/// Lines of a file that an edit replaced, so that an editor patches its buffer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LineChange {
    /// Lines before the edit; empty if `endLine = startLine - 1`.
    pub start_line: usize,
    pub end_line: usize,
    /// The lines that stand there now.
    pub lines: Vec<String>,
}

/// What happened, by `kind`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all_fields = "camelCase")]
pub enum EventBody {
    #[serde(rename = "turn.started")]
    TurnStarted { text: String },
    #[serde(rename = "turn.state")]
    TurnState {
        state: TurnState,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        detail: Option<String>,
    },
    #[serde(rename = "turn.finished")]
    TurnFinished {
        #[serde(flatten)]
        report: Box<TurnReport>,
    },
    /// `offset` counts bytes of the reply; a delta at offset 0 starts the text anew.
    #[serde(rename = "reply.delta")]
    ReplyDelta { offset: usize, text: String },
    #[serde(rename = "reasoning.delta")]
    ReasoningDelta { offset: usize, text: String },
    /// With `block` it was found in a reply that is still coming: the edit is in no list yet, and may be withdrawn.
    #[serde(rename = "edit.proposed")]
    EditProposed {
        edit_id: String,
        path: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        block: Option<usize>,
    },
    #[serde(rename = "edit.applied")]
    EditApplied { edit_id: String, path: String, changes: Vec<LineChange> },
    #[serde(rename = "edit.rejected")]
    EditRejected { edit_id: String, path: String },
    #[serde(rename = "edit.failed")]
    EditFailed {
        #[serde(flatten)]
        failed: FailedBlock,
    },
    #[serde(rename = "edit.superseded")]
    EditSuperseded { edit_id: String, path: String },
    #[serde(rename = "edit.undone")]
    EditUndone { edit_id: String, path: String, changes: Vec<LineChange> },
    #[serde(rename = "commit.created")]
    CommitCreated {
        #[serde(flatten)]
        commit: CommitRef,
    },
    #[serde(rename = "commit.undone")]
    CommitUndone {
        #[serde(flatten)]
        commit: CommitRef,
    },
    #[serde(rename = "commit.failed")]
    CommitFailed { paths: Vec<String>, reason: String },
    #[serde(rename = "context.changed")]
    ContextChanged { files: Vec<String>, read_only: Vec<String> },
    #[serde(rename = "question.asked")]
    QuestionAsked { question: Question },
    #[serde(rename = "question.answered")]
    QuestionAnswered { question_id: String, option_id: String },
    #[serde(rename = "usage.updated")]
    UsageUpdated { usage: Usage },
    #[serde(rename = "notice")]
    Notice { message: String },
}

impl EventBody {
    /// Every kind, in the order of the documentation.
    pub const KINDS: [&str; 19] = [
        "turn.started",
        "turn.state",
        "turn.finished",
        "reply.delta",
        "reasoning.delta",
        "edit.proposed",
        "edit.rejected",
        "edit.superseded",
        "edit.applied",
        "edit.undone",
        "edit.failed",
        "commit.created",
        "commit.undone",
        "commit.failed",
        "context.changed",
        "question.asked",
        "question.answered",
        "usage.updated",
        "notice",
    ];

    /// The `kind` member.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::TurnStarted { .. } => "turn.started",
            Self::TurnState { .. } => "turn.state",
            Self::TurnFinished { .. } => "turn.finished",
            Self::ReplyDelta { .. } => "reply.delta",
            Self::ReasoningDelta { .. } => "reasoning.delta",
            Self::EditProposed { .. } => "edit.proposed",
            Self::EditApplied { .. } => "edit.applied",
            Self::EditRejected { .. } => "edit.rejected",
            Self::EditFailed { .. } => "edit.failed",
            Self::EditSuperseded { .. } => "edit.superseded",
            Self::EditUndone { .. } => "edit.undone",
            Self::CommitCreated { .. } => "commit.created",
            Self::CommitUndone { .. } => "commit.undone",
            Self::CommitFailed { .. } => "commit.failed",
            Self::ContextChanged { .. } => "context.changed",
            Self::QuestionAsked { .. } => "question.asked",
            Self::QuestionAnswered { .. } => "question.answered",
            Self::UsageUpdated { .. } => "usage.updated",
            Self::Notice { .. } => "notice",
        }
    }

    /// Deltas are not kept for clients that come back: `session/read` has the text so far.
    #[must_use]
    pub const fn is_delta(&self) -> bool {
        matches!(self, Self::ReplyDelta { .. } | Self::ReasoningDelta { .. })
    }
}
