//! What a session's log says: typed entries from which its whole state follows.
//!
//! These types are stored for ever: a new member gets a default, a changed meaning gets a new entry.

use paird_base::RepoPath;
use paird_edit::{Block, Failed, Hunk, Op, RecordId};
use paird_provider::Cursor;
use serde::{Deserialize, Serialize};

use super::error::Error;
use super::failure::Failure;
use super::ground::{Ground, Grounds};
use super::ids::{EditId, QuestionId, SessionId, TurnId};
use super::question::Question;
use super::settings::Settings;
use super::usage::Usage;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Entry {
    Created {
        session: SessionId,
        settings: Settings,
        files: Vec<RepoPath>,
        read_only: Vec<RepoPath>,
    },
    Configured {
        settings: Settings,
    },
    /// The chat's files as they are from here on.
    Context {
        files: Vec<RepoPath>,
        read_only: Vec<RepoPath>,
    },
    /// A user message, queued.
    Prompted {
        turn: TurnId,
        text: String,
        selection: Option<Selection>,
    },
    Started {
        turn: TurnId,
    },
    /// One request's whole reply. `asked` is the user side of the exchange as it was sent, `shown` what the chat's files held then.
    Replied {
        turn: TurnId,
        asked: String,
        text: String,
        usage: Usage,
        stop: String,
        #[serde(default)]
        shown: Grounds,
    },
    /// Where the replay file of this session stands.
    Replayed {
        path: String,
        cursor: Cursor,
    },
    /// Edits that are new to the session, in whatever state they came.
    Edits {
        edits: Vec<EditEntry>,
    },
    /// What is left of a proposal after a person decided about some of its hunks.
    Narrowed {
        edit: EditId,
        hunks: Vec<Hunk>,
        blocks: Vec<Block>,
        #[serde(default)]
        ground: Option<Ground>,
    },
    EditsAre {
        edits: Vec<EditId>,
        status: EditStatus,
        write: Option<RecordId>,
    },
    /// `made` is what the commits made of the turn's edits: applied, or undone.
    Committed {
        turn: Option<TurnId>,
        commits: Vec<Commit>,
        made: EditStatus,
    },
    CommitUndone {
        commit: Commit,
    },
    Asked {
        question: Question,
    },
    Answered {
        question: QuestionId,
        option: String,
    },
    /// Something that the next request tells the model.
    Note {
        text: String,
    },
    Finished {
        turn: TurnId,
        report: Box<Report>,
    },
    Cleared,
    Closed,
}

/// A piece of a file that a message is about; lines from 1, inclusive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Selection {
    pub path: RepoPath,
    pub start_line: u32,
    pub end_line: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EditStatus {
    Proposed,
    Applied,
    Rejected,
    Superseded,
    Undone,
}

impl EditStatus {
    /// As the protocol has it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Proposed => "proposed",
            Self::Applied => "applied",
            Self::Rejected => "rejected",
            Self::Superseded => "superseded",
            Self::Undone => "undone",
        }
    }
}

/// One reply's change of one file. What waits in a proposal is its blocks, which are placed anew before writing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EditEntry {
    pub id: EditId,
    pub turn: Option<TurnId>,
    pub path: RepoPath,
    pub op: Op,
    pub status: EditStatus,
    pub outside_chat: bool,
    pub creates: bool,
    pub redirected_from: Option<RepoPath>,
    pub hunks: Vec<Hunk>,
    pub blocks: Vec<Block>,
    /// What a person should look at before it is written.
    #[serde(default)]
    pub suspicious: Vec<String>,
    /// A close match is among its places, and those are to wait for a person.
    #[serde(default)]
    pub held: bool,
    /// What a proposal of a whole file rests on; once it is applied, what it left. `None` if it is merged.
    #[serde(default)]
    pub ground: Option<Ground>,
    /// The write record that holds its file before and after, once it was applied.
    pub write: Option<RecordId>,
    /// Hash of the commit that holds it.
    #[serde(default)]
    pub commit: Option<String>,
}

impl EditEntry {
    /// Whether it is a proposal that may be written.
    pub fn check_waits(&self) -> Result<(), Error> {
        if self.status == EditStatus::Proposed {
            return Ok(());
        }
        Err(Error::Invalid {
            message: format!("edit {} is {}, not a proposal", self.id, self.status.word()),
            hint: "edit/list shows which edits wait",
        })
    }

    /// The file, and of a move its new name too.
    pub fn paths(&self) -> impl Iterator<Item = &RepoPath> {
        let to = match &self.op {
            Op::Move { to } => Some(to),
            Op::Add | Op::Modify | Op::Delete => None,
        };
        std::iter::once(&self.path).chain(to)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Commit {
    pub hash: String,
    pub subject: String,
    pub paths: Vec<RepoPath>,
    /// Of the person's own changes, made before an edit that overlaps them.
    #[serde(default)]
    pub dirty: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Done,
    Held,
    Cancelled,
    Failed,
}

/// How a turn ended. Exactly one for each.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    pub outcome: Outcome,
    pub error: Option<Failure>,
    pub reply: String,
    pub edits: Vec<EditEntry>,
    pub failed: Vec<Failed>,
    pub commits: Vec<Commit>,
    /// Files whose edits were written and are in no commit, and why.
    #[serde(default)]
    pub uncommitted: Vec<(RepoPath, String)>,
    pub shell_commands: Vec<String>,
    pub usage: Usage,
    /// Further requests that showed the model blocks it had to send again.
    pub reflections: u32,
    pub stop: Option<String>,
}

impl Report {
    /// Of a turn that has done nothing yet.
    #[must_use]
    pub const fn empty() -> Self {
        Self {
            outcome: Outcome::Done,
            error: None,
            reply: String::new(),
            edits: Vec::new(),
            failed: Vec::new(),
            commits: Vec::new(),
            uncommitted: Vec::new(),
            shell_commands: Vec::new(),
            usage: Usage { requests: 0, input: 0, output: 0, cached_read: 0, cached_write: 0, reported: false },
            reflections: 0,
            stop: None,
        }
    }
}
