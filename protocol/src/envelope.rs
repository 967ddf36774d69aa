//! The JSON-RPC 2.0 envelope: which texts are calls, and the texts that answer them.
//!
//! Ids stay the JSON they came in. vscode-jsonrpc, Vim and Emacs compare them as numbers, lsp4j as strings, and a number
//! that went through a float would no longer be equal.

mod parse;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

pub use parse::parse;

use crate::types::{ErrorData, ErrorKind};

/// The text is not JSON.
pub const PARSE_ERROR: i32 = -32700;
/// The text is JSON but no call.
pub const INVALID_REQUEST: i32 = -32600;
/// The call names a method that does not exist.
pub const METHOD_NOT_FOUND: i32 = -32601;

/// What a frame holds.
#[derive(Debug)]
pub enum Parsed<'a> {
    One(Message<'a>),
    /// An array, each member judged alone.
    Batch(Vec<Result<Message<'a>, Refusal>>),
}

/// One message of the other side.
#[derive(Debug)]
pub enum Message<'a> {
    Call(Call<'a>),
    /// An answer. The daemon asks nothing in protocol version 1, so there is nothing it could answer.
    Reply,
}

/// A request, or a notification if it has no id.
#[derive(Debug)]
pub struct Call<'a> {
    /// A string, a number or `null`, as it was written.
    pub id: Option<&'a RawValue>,
    pub method: String,
    /// As it was written; see [`Call::object_params`].
    pub params: Option<&'a RawValue>,
}

impl Call<'_> {
    /// The params as the text of an object. Absent, `null`, `[]` and `{}` all mean none: Emacs cannot write `{}` easily.
    ///
    /// # Errors
    /// Params by position, or no structure at all: no method of ours takes them.
    pub fn object_params(&self) -> Result<&str, ErrorObject> {
        let text = self.params.map_or("{}", RawValue::get);
        let mut tokens = text.bytes().filter(|byte| !byte.is_ascii_whitespace());
        match tokens.next() {
            Some(b'{') => Ok(text),
            Some(b'n') => Ok("{}"),
            Some(b'[') if tokens.next() == Some(b']') => Ok("{}"),
            Some(b'[') => Err(ErrorObject::new(ErrorKind::InvalidParams, "params must be an object, by name, not a list")),
            _ => Err(ErrorObject::new(ErrorKind::InvalidParams, "params must be an object")),
        }
    }
}

/// A text that is not a call, and the answer to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The id as it was written, where it could be read; `null` is sent otherwise.
    pub id: Option<Box<str>>,
    pub error: ErrorObject,
}

impl Refusal {
    /// The answer's text.
    #[must_use]
    pub fn to_json(&self) -> String {
        error_reply(self.id.as_deref().unwrap_or("null"), &self.error)
    }
}

/// The `error` member of an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct ErrorObject {
    pub code: i32,
    /// A lowercase fragment without a full stop.
    pub message: String,
    pub data: ErrorData,
}

impl ErrorObject {
    /// An error with its kind's code; retryable if the kind is one that passes by itself.
    #[must_use]
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        let retryable = matches!(kind, ErrorKind::Overloaded | ErrorKind::RateLimited);
        Self { code: kind.code(), message: message.into(), data: ErrorData { kind, hint: None, retryable, paths: Vec::new() } }
    }

    /// Replaces the code where the specification has one of its own.
    #[must_use]
    pub fn with_code(mut self, code: i32) -> Self {
        self.code = code;
        self
    }

    /// Says what to do about it.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.data.hint = Some(hint.into());
        self
    }
}

/// The answer to a request that went well; `id` and `result` are JSON texts.
#[must_use]
pub fn reply(id: &str, result: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)
}

/// The answer to a request that did not; `id` is a JSON text.
#[must_use]
pub fn error_reply(id: &str, error: &ErrorObject) -> String {
    let error = serde_json::to_string(error).expect("strings, numbers and booleans always serialise");
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#)
}

/// A message that expects no answer; `params` is the JSON text of an object.
#[must_use]
pub fn notification(method: &str, params: &str) -> String {
    let method = serde_json::to_string(method).expect("a string always serialises");
    format!(r#"{{"jsonrpc":"2.0","method":{method},"params":{params}}}"#)
}
