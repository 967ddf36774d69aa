use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a question is about. Clients show kinds they do not know by prompt and options.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum QuestionKind {
    AddFiles,
    RunCommand,
    KeepOutput,
    ApplyPartial,
    HandToEditor,
    CreateFile,
    EditOutsideChat,
    SuspiciousEdit,
    ContextOverflow,
    Spend,
    TrustRepository,
    /// A kind of a newer daemon.
    #[serde(other)]
    Unknown,
}

/// One answer to choose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct QuestionOption {
    pub option_id: String,
    pub label: String,
}

/// A decision that a person must make.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Question {
    pub question_id: String,
    pub session_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<String>,
    pub kind: QuestionKind,
    pub prompt: String,
    /// The first always changes least on disk.
    pub options: Vec<QuestionOption>,
    /// The option that Enter takes.
    pub default: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct QuestionListParams {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct QuestionListResult {
    pub questions: Vec<Question>,
    pub seq: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct QuestionAnswerParams {
    pub question_id: String,
    pub option_id: String,
}
