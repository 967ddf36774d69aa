//! How this program ends: the one place that says which exit code means what.

use std::process::ExitCode;

use paird_protocol::address::AddressError;
use paird_protocol::client::ClientError;
use paird_protocol::{ErrorKind, Outcome, TurnReport};

use crate::hints;
use crate::repo::RepoError;
use crate::start::StartError;

/// The exit codes, as `--help` lists them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done, whether or not anything was changed.
    Done = 0,
    Failure = 1,
    Usage = 2,
    /// Edits wait, or some could not be applied.
    NotApplied = 3,
    ChecksFail = 4,
    Model = 5,
    Refused = 6,
    NoDaemon = 7,
    Cancelled = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

impl Exit {
    /// Of a turn that has ended.
    pub(crate) fn of_turn(report: &TurnReport) -> Self {
        match report.outcome {
            Outcome::Cancelled => Self::Cancelled,
            Outcome::Failed => report.error.as_ref().map_or(Self::Failure, |error| Self::of_kind(error.kind)),
            Outcome::Held => Self::NotApplied,
            Outcome::Done if !report.failed.is_empty() => Self::NotApplied,
            Outcome::Done if report.checks.iter().any(|check| !check.passed) => Self::ChecksFail,
            Outcome::Done => Self::Done,
        }
    }

    /// Of a call or a turn that went wrong.
    pub(crate) const fn of_kind(kind: ErrorKind) -> Self {
        match kind {
            ErrorKind::InvalidParams => Self::Usage,
            ErrorKind::Conflict => Self::NotApplied,
            // `config`: the model is unknown, or its key or address is missing.
            ErrorKind::Provider | ErrorKind::RateLimited | ErrorKind::ContextOverflow | ErrorKind::Config => Self::Model,
            ErrorKind::Untrusted | ErrorKind::UnsupportedPath | ErrorKind::UnsupportedFile => Self::Refused,
            ErrorKind::NotFound
            | ErrorKind::Overloaded
            | ErrorKind::NotARepository
            | ErrorKind::Vcs
            | ErrorKind::HookFailed
            | ErrorKind::Io
            | ErrorKind::Internal => Self::Failure,
        }
    }
}

/// What becomes of a daemon that has ended, and of what it was doing.
const STARTED_AGAIN: &str = "the next command starts it again, and it finishes or takes back what was being written; `pair diff` shows what came of it, `pair` asks what is open";

/// Why this program does not end well, with the code it ends with.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    /// A lowercase fragment without a full stop.
    pub(crate) message: String,
    /// What to do about it.
    pub(crate) hint: Option<String>,
}

impl Failure {
    pub(crate) fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self { exit, message: message.into(), hint: None }
    }

    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(Exit::Usage, message)
    }

    #[must_use]
    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl From<ClientError> for Failure {
    fn from(error: ClientError) -> Self {
        match error {
            ClientError::Call(error) => Self {
                exit: Exit::of_kind(error.data.kind),
                message: error.message,
                hint: error.data.hint.as_deref().and_then(hints::for_person),
            },
            ClientError::Connect { .. } => Self::new(Exit::NoDaemon, chain(&error)),
            ClientError::Foreign { .. } => {
                Self::new(Exit::NoDaemon, chain(&error)).with_hint("nothing was sent; set XDG_RUNTIME_DIR to a directory of your own")
            }
            ClientError::Ended => Self::new(Exit::Failure, "the daemon ended before it had answered").with_hint(STARTED_AGAIN),
            ClientError::Closed { .. } => Self::new(Exit::Failure, chain(&error)).with_hint(STARTED_AGAIN),
            ClientError::Silent { pid, .. } => {
                let end = pid.map_or_else(|| "kill its process".to_owned(), |pid| format!("`kill -9 {pid}`"));
                Self::new(Exit::NoDaemon, chain(&error)).with_hint(format!(
                    "{end} where `pair stop` does not end it; the next command starts another, which finishes or takes back what was being written; its log is in $XDG_STATE_HOME/paird, else ~/.local/state/paird"
                ))
            }
            ClientError::Protocol { .. } => {
                Self::new(Exit::Failure, chain(&error)).with_hint("the daemon may be of another version; `pair stop`, then try again")
            }
        }
    }
}

impl From<StartError> for Failure {
    fn from(error: StartError) -> Self {
        Self::new(Exit::NoDaemon, chain(&error))
    }
}

impl From<AddressError> for Failure {
    fn from(error: AddressError) -> Self {
        Self::new(Exit::NoDaemon, chain(&error))
    }
}

impl From<RepoError> for Failure {
    fn from(error: RepoError) -> Self {
        let exit = match error {
            // As the daemon refuses paths, so that it makes no difference who looks at one first.
            RepoError::TooWide { .. } | RepoError::Outside { .. } | RepoError::TheTree { .. } | RepoError::NotUtf8 { .. } => Exit::Refused,
            RepoError::NoRepository { .. } | RepoError::Look { .. } => Exit::Usage,
        };
        Self::new(exit, chain(&error))
    }
}

/// An error with its causes, outermost first; a cause that the text before it names already is left out.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
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

#[cfg(test)]
mod tests {
    use paird_protocol::{Check, FailedBlock, TurnFailure, Usage};

    use super::*;

    fn report(outcome: Outcome) -> TurnReport {
        TurnReport {
            outcome,
            error: None,
            reply: String::new(),
            edits: Vec::new(),
            failed: Vec::new(),
            commits: Vec::new(),
            uncommitted: Vec::new(),
            checks: Vec::new(),
            shell_commands: Vec::new(),
            usage: Usage::default(),
            cost_usd: None,
            reflections: Vec::new(),
            stop_reason: None,
        }
    }

    fn failed(kind: ErrorKind) -> TurnReport {
        let error = TurnFailure { message: String::new(), kind, hint: None, retryable: false };
        TurnReport { error: Some(error), ..report(Outcome::Failed) }
    }

    #[test]
    fn turns() {
        let block = FailedBlock { block: 0, path: None, reason: String::new(), message: String::new(), closest: None };
        let check = Check { name: String::new(), passed: false, output: String::new() };
        for (report, exit) in [
            (report(Outcome::Done), Exit::Done),
            (report(Outcome::Held), Exit::NotApplied),
            (report(Outcome::Cancelled), Exit::Cancelled),
            (report(Outcome::Failed), Exit::Failure),
            (failed(ErrorKind::Provider), Exit::Model),
            (failed(ErrorKind::RateLimited), Exit::Model),
            (failed(ErrorKind::ContextOverflow), Exit::Model),
            (failed(ErrorKind::Conflict), Exit::NotApplied),
            (failed(ErrorKind::Untrusted), Exit::Refused),
            (failed(ErrorKind::Config), Exit::Model),
            (TurnReport { failed: vec![block], ..report(Outcome::Done) }, Exit::NotApplied),
            (TurnReport { checks: vec![check], ..report(Outcome::Done) }, Exit::ChecksFail),
        ] {
            assert_eq!(Exit::of_turn(&report), exit, "{report:?}");
        }
    }

    #[test]
    fn failures() {
        let at_home = RepoError::TooWide { path: "/".into() };
        let outside = RepoError::NoRepository { path: "/x".into() };
        assert_eq!(Failure::from(at_home).exit, Exit::Refused);
        assert_eq!(Failure::from(outside).exit, Exit::Usage);
        assert_eq!(Failure::from(RepoError::TheTree { argument: ".".to_owned() }).exit, Exit::Refused);
        assert_eq!(Failure::from(StartError::NoProgram).exit, Exit::NoDaemon);
        let gone = std::io::Error::from(std::io::ErrorKind::ConnectionRefused);
        let failure = Failure::from(ClientError::Connect { path: "/s".into(), source: gone });
        assert_eq!((failure.exit, failure.message.as_str()), (Exit::NoDaemon, "connect to /s: connection refused"));
        let failure = Failure::from(ClientError::Silent { method: "daemon/status".to_owned(), pid: Some(7) });
        assert!(failure.exit == Exit::NoDaemon && failure.message.contains("does not answer"), "{failure:?}");
        assert!(failure.hint.is_some_and(|hint| hint.contains("`kill -9 7`") && hint.contains("`pair stop`")));
        let failure = Failure::from(ClientError::Ended);
        assert!(failure.exit == Exit::Failure && failure.hint.is_some(), "{failure:?}");
    }
}
