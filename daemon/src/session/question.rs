//! Decisions that a person must make, and what is decided when there is nobody to ask.

use paird_base::RepoPath;
use serde::{Deserialize, Serialize};

use super::ids::{QuestionId, SessionId, TurnId};
use super::settings::OnPartial;

/// What a question is about, with what it needs to be asked again after a restart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "about", rename_all = "snake_case")]
pub enum About {
    /// A reply makes a new file.
    CreateFile { path: RepoPath },
    /// A reply edits a file that is not in the chat.
    EditOutsideChat { path: RepoPath },
    /// An edit that may be a mistake of the model; why is said in lower case, without full stop.
    SuspiciousEdit { path: RepoPath, why: Vec<String> },
    /// Some blocks of a reply cannot be placed, the others wait as proposals.
    ApplyPartial { placed: usize, failed: usize },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    pub id: QuestionId,
    pub session: SessionId,
    pub turn: Option<TurnId>,
    pub about: About,
}

pub(super) const YES: &str = "yes";
pub(super) const NO: &str = "no";
pub(super) const HOLD: &str = "hold";
pub(super) const APPLY: &str = "apply";
pub(super) const DISCARD: &str = "discard";

impl About {
    #[must_use]
    pub fn prompt(&self) -> String {
        match self {
            Self::CreateFile { path } => format!("Create the new file {path}?"),
            Self::EditOutsideChat { path } => format!("{path} is not in the chat. Edit it all the same?"),
            Self::SuspiciousEdit { path, why } => format!("The edit of {path} looks wrong: {}. Make it all the same?", why.join("; ")),
            Self::ApplyPartial { placed, failed } => {
                format!("{failed} of {} edit blocks could not be placed. Apply the other {placed}?", placed + failed)
            }
        }
    }

    /// Option ids with their labels; the first changes least on disk.
    #[must_use]
    pub const fn options(&self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::CreateFile { .. } | Self::EditOutsideChat { .. } | Self::SuspiciousEdit { .. } => &[(NO, "No"), (YES, "Yes")],
            Self::ApplyPartial { .. } => &[(HOLD, "Hold as proposals"), (APPLY, "Apply what matched"), (DISCARD, "Discard")],
        }
    }

    /// What Enter takes.
    #[must_use]
    pub const fn default(&self) -> &'static str {
        match self {
            Self::CreateFile { .. } => YES,
            Self::EditOutsideChat { .. } | Self::SuspiciousEdit { .. } => NO,
            Self::ApplyPartial { .. } => HOLD,
        }
    }

    /// What is decided when no client can ask a person.
    #[must_use]
    pub const fn policy(&self, on_partial: OnPartial) -> &'static str {
        match self {
            Self::CreateFile { .. } => YES,
            Self::EditOutsideChat { .. } | Self::SuspiciousEdit { .. } => NO,
            Self::ApplyPartial { .. } => match on_partial {
                OnPartial::Hold => HOLD,
                OnPartial::Apply => APPLY,
            },
        }
    }

    #[must_use]
    pub fn has_option(&self, option: &str) -> bool {
        self.options().iter().any(|(id, _)| *id == option)
    }
}
