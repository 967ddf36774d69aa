use serde::{Deserialize, Serialize};

/// Something odd in data that a parser met and could not use. Parsers describe, they do not fail.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// Lower case, no full stop.
    pub message: String,
    /// Line of the text it is about, from 1.
    pub line: Option<usize>,
}

impl Problem {
    #[must_use]
    pub fn at(line: usize, message: impl Into<String>) -> Self {
        Self { message: message.into(), line: Some(line) }
    }

    #[must_use]
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), line: None }
    }
}
