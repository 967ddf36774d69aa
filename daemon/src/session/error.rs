//! What can go wrong in a session, and the one place that says what kind of thing it is and what to do about it.

use std::path::PathBuf;

use paird_base::{PathError, RepoPath, RootError};

use super::failure::{Failure, Kind};
use super::log::LogError;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("there is no {what} {id:?}")]
    NotFound { what: &'static str, id: String },
    #[error("{message}")]
    Invalid { message: String, hint: &'static str },
    #[error(transparent)]
    Path(#[from] PathError),
    #[error(transparent)]
    Root(#[from] RootError),
    #[error("{path} is {what}")]
    UnsupportedFile { path: RepoPath, what: String },
    #[error("{message}")]
    Conflict { message: String, paths: Vec<RepoPath> },
    #[error("too many {what}")]
    Overloaded { what: &'static str },
    #[error("{} is not in a git repository", root.display())]
    NotARepository { root: PathBuf },
    #[error("no model is set")]
    NoModel,
    /// The model cannot be talked to, found out before the turn began.
    #[error("{}", .0.message)]
    Model(Failure),
    #[error("the daemon stopped before the reply was complete")]
    Interrupted,
    #[error("the daemon is stopping")]
    Stopping,
    #[error(transparent)]
    Write(#[from] paird_edit::WriteError),
    #[error(transparent)]
    Journal(#[from] paird_edit::JournalError),
    #[error(transparent)]
    Vcs(#[from] paird_vcs::Error),
    #[error(transparent)]
    Provider(#[from] paird_provider::Error),
    #[error(transparent)]
    Log(#[from] LogError),
}

impl Error {
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self {
            Self::NotFound { .. } => Kind::NotFound,
            Self::Invalid { .. } => Kind::InvalidParams,
            Self::Path(_) => Kind::UnsupportedPath,
            Self::UnsupportedFile { .. } | Self::Root(RootError::TooLarge { .. }) => Kind::UnsupportedFile,
            Self::Conflict { .. } => Kind::Conflict,
            Self::Overloaded { .. } => Kind::Overloaded,
            Self::NotARepository { .. } => Kind::NotARepository,
            Self::NoModel => Kind::Config,
            Self::Model(failure) => failure.kind,
            Self::Interrupted | Self::Stopping => Kind::Internal,
            Self::Write(error) => match error {
                paird_edit::WriteError::Conflict { .. } => Kind::Conflict,
                paird_edit::WriteError::Unsupported { .. } => Kind::UnsupportedFile,
                _ => Kind::Io,
            },
            Self::Journal(_) | Self::Root(_) | Self::Log(_) => Kind::Io,
            Self::Vcs(_) => Kind::Vcs,
            Self::Provider(error) => match error {
                paird_provider::Error::RateLimited { .. } => Kind::RateLimited,
                paird_provider::Error::ContextOverflow { .. } => Kind::ContextOverflow,
                paird_provider::Error::NoKey { .. } | paird_provider::Error::UnknownModel { .. } => Kind::Config,
                _ => Kind::Provider,
            },
        }
    }

    #[must_use]
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Invalid { hint, .. } => hint,
            Self::NoModel => "name one with `model` in session/new or session/configure, with `pair --model`, or in PAIRD_MODEL",
            Self::Interrupted => "nothing was written; send the message again",
            Self::Stopping => "connect again: the next client starts a new daemon",
            Self::NotARepository { .. } => "edits, undo and redo work without git; run `git init` for commits",
            Self::Overloaded { .. } => "try again when some are done",
            Self::Conflict { .. } => "nothing was written; look at the files and decide",
            Self::Model(failure) => return failure.hint.clone(),
            Self::Vcs(error) => return error.hint().map(str::to_owned),
            Self::Provider(error) => return Some(error.hint()),
            _ => return None,
        };
        Some((*hint).to_owned())
    }

    #[must_use]
    pub fn retryable(&self) -> bool {
        match self {
            Self::Overloaded { .. } | Self::Interrupted | Self::Stopping => true,
            Self::Provider(error) => error.retryable(),
            Self::Model(failure) => failure.retryable,
            _ => false,
        }
    }

    /// The paths it is about.
    #[must_use]
    pub fn paths(&self) -> Vec<RepoPath> {
        match self {
            Self::Conflict { paths, .. } | Self::Write(paird_edit::WriteError::Conflict { paths }) => paths.clone(),
            Self::UnsupportedFile { path, .. } => vec![path.clone()],
            _ => Vec::new(),
        }
    }

    /// With its causes, outermost first.
    #[must_use]
    pub fn chain(&self) -> String {
        let mut text = self.to_string();
        let mut cause = std::error::Error::source(self);
        while let Some(error) = cause {
            let message = error.to_string();
            if !text.ends_with(&message) {
                text.push_str(": ");
                text.push_str(&message);
            }
            cause = error.source();
        }
        text
    }
}

impl From<&Error> for Failure {
    fn from(error: &Error) -> Self {
        Self { message: error.chain(), kind: error.kind(), hint: error.hint(), retryable: error.retryable() }
    }
}
