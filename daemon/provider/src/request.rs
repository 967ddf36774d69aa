use paird_base::Tokens;
use serde::{Deserialize, Serialize};

/// Who says a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MessageRole {
    System,
    User,
    Assistant,
}

/// One message of a request; written to the wire as it stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    pub role: MessageRole,
    pub content: String,
}

impl Message {
    #[must_use]
    pub fn new(role: MessageRole, content: impl Into<String>) -> Self {
        Self { role, content: content.into() }
    }
}

/// Which of a session's models a request is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The model that the person talks to.
    Main,
    /// Commit messages and summaries.
    Weak,
    /// Turns an architect's reply into edits.
    Editor,
}

impl Role {
    /// The name used in replay files and logs.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Main => "main",
            Self::Weak => "weak",
            Self::Editor => "editor",
        }
    }
}

/// One call to a provider. What is sent is a function of these values and of nothing else, so that the same prompt
/// has the same bytes and the provider's prompt cache holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    pub messages: Vec<Message>,
    /// The model's name at its provider, without the prefix that chose the provider.
    pub model: String,
    /// Most tokens of the reply; `None` leaves it to the provider.
    pub max_output: Option<Tokens>,
    /// Left out of the request when `None`, for models that refuse it.
    pub temperature: Option<f32>,
    pub role: Role,
}
