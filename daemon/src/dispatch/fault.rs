//! A failed call on the wire: message, kind, hint, and whether trying again may help.

use jsonrpsee::types::ErrorObjectOwned;
use paird_protocol::{ErrorData, ErrorKind};
use serde::de::DeserializeOwned;

use crate::session::{Error, Kind, Refused};

#[derive(Debug, Clone)]
pub(super) struct Fault {
    message: String,
    data: ErrorData,
}

impl Fault {
    pub(super) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { message: message.into(), data: ErrorData { kind, hint: None, retryable: false, paths: Vec::new() } }
    }

    pub(super) fn internal(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Internal, message)
    }

    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.data.hint = Some(hint.into());
        self
    }

    /// Says that the same call may succeed later.
    pub(super) const fn retryable(mut self) -> Self {
        self.data.retryable = true;
        self
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        // A turn that a stop ends is `internal`; a call that comes too late is one too many, and welcome at the next daemon.
        let kind = if matches!(error, Error::Stopping) { ErrorKind::Overloaded } else { kind(error.kind()) };
        let data = ErrorData {
            kind,
            hint: error.hint(),
            retryable: error.retryable(),
            paths: error.paths().iter().map(ToString::to_string).collect(),
        };
        Self { message: error.chain(), data }
    }
}

impl From<Refused> for Fault {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::Error(error) => error.into(),
            Refused::Blocks(failed) => {
                let mut paths: Vec<String> = failed.iter().filter_map(|f| f.path.clone()).collect();
                paths.dedup();
                let message = failed.first().map_or_else(|| "the edit lost its place".to_owned(), |f| f.message.clone());
                let mut fault =
                    Self::new(ErrorKind::Conflict, message).hint("nothing was written; propose the edit anew on the file as it is");
                fault.data.paths = paths;
                fault
            }
        }
    }
}

impl From<Fault> for ErrorObjectOwned {
    fn from(fault: Fault) -> Self {
        Self::owned(fault.data.kind.code(), fault.message, Some(fault.data))
    }
}

pub(super) const fn kind(kind: Kind) -> ErrorKind {
    match kind {
        Kind::InvalidParams => ErrorKind::InvalidParams,
        Kind::NotFound => ErrorKind::NotFound,
        Kind::Conflict => ErrorKind::Conflict,
        Kind::Overloaded => ErrorKind::Overloaded,
        Kind::UnsupportedPath => ErrorKind::UnsupportedPath,
        Kind::UnsupportedFile => ErrorKind::UnsupportedFile,
        Kind::NotARepository => ErrorKind::NotARepository,
        Kind::Vcs => ErrorKind::Vcs,
        Kind::Config => ErrorKind::Config,
        Kind::Provider => ErrorKind::Provider,
        Kind::RateLimited => ErrorKind::RateLimited,
        Kind::ContextOverflow => ErrorKind::ContextOverflow,
        Kind::Io => ErrorKind::Io,
        Kind::Internal => ErrorKind::Internal,
    }
}

/// Reads params. Absent, `null`, `{}` and `[]` are all "none".
pub(super) fn params<P: DeserializeOwned>(text: Option<&str>) -> Result<P, Fault> {
    let text = match text.map(str::trim) {
        None | Some("" | "null") => "{}",
        Some(text) if text.strip_prefix('[').and_then(|t| t.strip_suffix(']')).is_some_and(|inner| inner.trim().is_empty()) => "{}",
        Some(text) => text,
    };
    if !text.starts_with('{') {
        return Err(Fault::new(ErrorKind::InvalidParams, "params must be an object").hint("name the members: {\"sessionId\": ...}"));
    }
    serde_json::from_str(text)
        .map_err(|error| Fault::new(ErrorKind::InvalidParams, error.to_string()).hint("rpc.discover has the shape of each method's params"))
}

#[cfg(test)]
mod tests {
    use paird_protocol::{NoParams, PromptParams};

    use super::*;

    #[test]
    fn no_params_in_every_spelling() {
        for text in [None, Some("null"), Some("[]"), Some("{}"), Some(" { } "), Some("[ ]")] {
            assert!(params::<NoParams>(text).is_ok(), "{text:?}");
        }
    }

    #[test]
    fn an_unknown_member_is_named() {
        let fault = params::<PromptParams>(Some(r#"{"sessionId":"s","text":"t","aplyMode":"dry"}"#)).unwrap_err();
        assert_eq!(fault.data.kind, ErrorKind::InvalidParams);
        assert!(fault.message.contains("aplyMode"), "{}", fault.message);
    }
}
