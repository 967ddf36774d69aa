use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The closed list of what can go wrong; it decides what a client does, the message explains, the hint advises.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ErrorKind {
    InvalidParams,
    NotFound,
    Conflict,
    Overloaded,
    Untrusted,
    UnsupportedPath,
    UnsupportedFile,
    NotARepository,
    Vcs,
    HookFailed,
    Config,
    Provider,
    RateLimited,
    ContextOverflow,
    Io,
    Internal,
}

impl ErrorKind {
    pub const ALL: [Self; 16] = [
        Self::InvalidParams,
        Self::NotFound,
        Self::Conflict,
        Self::Overloaded,
        Self::Untrusted,
        Self::UnsupportedPath,
        Self::UnsupportedFile,
        Self::NotARepository,
        Self::Vcs,
        Self::HookFailed,
        Self::Config,
        Self::Provider,
        Self::RateLimited,
        Self::ContextOverflow,
        Self::Io,
        Self::Internal,
    ];

    /// The JSON-RPC code. `invalid_params` and `internal` have the standard ones, `conflict` is LSP's "content modified",
    /// the rest lie outside the reserved range, from 1001 in the order of the list.
    #[must_use]
    pub const fn code(self) -> i32 {
        match self {
            Self::InvalidParams => -32602,
            Self::Internal => -32603,
            Self::Conflict => -32801,
            Self::NotFound => 1002,
            Self::Overloaded => 1004,
            Self::Untrusted => 1005,
            Self::UnsupportedPath => 1006,
            Self::UnsupportedFile => 1007,
            Self::NotARepository => 1008,
            Self::Vcs => 1009,
            Self::HookFailed => 1010,
            Self::Config => 1011,
            Self::Provider => 1012,
            Self::RateLimited => 1013,
            Self::ContextOverflow => 1014,
            Self::Io => 1015,
        }
    }

    /// As on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InvalidParams => "invalid_params",
            Self::NotFound => "not_found",
            Self::Conflict => "conflict",
            Self::Overloaded => "overloaded",
            Self::Untrusted => "untrusted",
            Self::UnsupportedPath => "unsupported_path",
            Self::UnsupportedFile => "unsupported_file",
            Self::NotARepository => "not_a_repository",
            Self::Vcs => "vcs",
            Self::HookFailed => "hook_failed",
            Self::Config => "config",
            Self::Provider => "provider",
            Self::RateLimited => "rate_limited",
            Self::ContextOverflow => "context_overflow",
            Self::Io => "io",
            Self::Internal => "internal",
        }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// `error.data` of a failed call, and the error of a failed turn with its message beside it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ErrorData {
    pub kind: ErrorKind,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The same call may succeed later without anybody doing anything.
    pub retryable: bool,
    /// The paths it is about, where it is about paths.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
}

/// Why a turn failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TurnFailure {
    pub message: String,
    pub kind: ErrorKind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    pub retryable: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_a_code_of_its_own_outside_the_reserved_range() {
        let mut codes: Vec<i32> = ErrorKind::ALL.iter().map(|k| k.code()).collect();
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), ErrorKind::ALL.len());
        for kind in ErrorKind::ALL {
            let standard = matches!(kind, ErrorKind::InvalidParams | ErrorKind::Internal);
            assert_eq!(standard, (-32768..=-32000).contains(&kind.code()), "{kind}");
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.as_str());
        }
    }
}
