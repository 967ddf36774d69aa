//! What the write lane is asked to do, and what it answers. A job's intent is stored with its record, for the next daemon.

use paird_base::RepoPath;
use paird_base::limits::SUBJECT_CHARS_MAX;
use paird_edit::{Record, RecordId};
use paird_vcs::UndoPrepared;
use serde::{Deserialize, Serialize};

use super::entry::{Commit, EditEntry, EditStatus, Report};
use super::error::Error;
use super::events::LineChange;
use super::ids::{EditId, SessionId, TurnId};
use super::log::LogError;
use super::settings::DirtyCommits;

/// Who asked for a job, and whether it is committed.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Order {
    pub session: Option<SessionId>,
    pub turn: Option<TurnId>,
    pub commit: Option<CommitOrder>,
}

/// What a job means, stored with its record so that the next daemon can tell the session.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Intent {
    pub order: Order,
    pub what: What,
}

impl Intent {
    pub(super) fn of(record: &Record) -> Result<Self, Error> {
        Ok(serde_json::from_value(record.meta().clone()).map_err(|source| LogError::Encode { source })?)
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "job", rename_all = "snake_case")]
pub enum What {
    /// Proposals become files.
    Apply { edits: Vec<EditEntry> },
    /// Applied edits go back, or undone ones come again.
    Flip { edits: Vec<(EditId, RepoPath)>, to: EditStatus },
    /// A commit of ours is taken back.
    UndoCommit { commit: Commit, edits: Vec<EditId>, to: EditStatus, prepared: Box<UndoPrepared> },
}

/// What became of a job.
#[derive(Debug, Clone)]
pub struct Landed {
    /// The record to settle once the session's log has it; `None` when there was nothing to write.
    pub write: Option<RecordId>,
    pub intent: Intent,
    /// For each path that was written, the lines that changed.
    pub changes: Vec<(RepoPath, Vec<LineChange>)>,
    pub committed: Committed,
    /// Paths that a person changed before a crash was repaired; they were left alone.
    pub foreign: Vec<RepoPath>,
}

/// Why a job wrote nothing.
#[derive(Debug)]
pub enum Refused {
    /// Blocks that no longer find their place.
    Blocks(Vec<paird_edit::Failed>),
    Error(Error),
}

impl<E: Into<Error>> From<E> for Refused {
    fn from(error: E) -> Self {
        Self::Error(error.into())
    }
}

/// An applied edit to take back or bring again: where its file's two states are kept.
#[derive(Debug, Clone)]
pub struct Flip {
    pub edit: EditId,
    /// The file, and of a move its new name too.
    pub paths: Vec<RepoPath>,
    pub write: RecordId,
}

impl Flip {
    /// Of edits that are all in the state to be changed, in the order in which they must be changed: by the time of writing,
    /// the newest first for an undo. One that found its text in the file already has no record, and nothing to take back.
    pub fn of<'a>(edits: impl Iterator<Item = &'a EditEntry> + Clone, to: EditStatus) -> Result<Vec<Self>, Error> {
        let from = if to == EditStatus::Undone { EditStatus::Applied } else { EditStatus::Undone };
        if let Some(wrong) = edits.clone().find(|e| e.status != from) {
            let message = format!("edit {} is {}, not {}", wrong.id, wrong.status.word(), from.word());
            return Err(Error::Invalid { message, hint: "edit/list shows the state of each edit" });
        }
        let written = edits.clone().filter_map(|e| {
            e.write.as_ref().map(|write| Self { edit: e.id.clone(), paths: e.paths().cloned().collect(), write: write.clone() })
        });
        let mut flips: Vec<Self> = written.collect();
        if let (true, Some(idle)) = (flips.is_empty(), edits.clone().next()) {
            let message = format!("edit {} changed nothing: {} had its text already", idle.id, idle.path);
            return Err(Error::Invalid { message, hint: "there is nothing to take back" });
        }
        flips.sort_by(|a, b| a.write.cmp(&b.write));
        if to == EditStatus::Undone {
            flips.reverse();
        }
        Ok(flips)
    }
}

/// What a job's commit shall say.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CommitOrder {
    pub subject: String,
    pub trailers: Vec<(String, String)>,
    pub dirty: DirtyCommits,
}

impl CommitOrder {
    /// The subject is the first line of what was asked, cut at a word; the trailer names the model.
    #[must_use]
    pub fn new(asked: &str, model: &str, dirty: DirtyCommits) -> Self {
        let trailer = ("Co-authored-by".to_owned(), format!("paird ({}) <paird@localhost>", one_line(model)));
        Self { subject: subject(asked), trailers: vec![trailer], dirty }
    }
}

/// Control characters, which a model or a paste may bring, become blanks; a leading `-` could be read as an option.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect::<String>().trim().trim_start_matches('-').trim().to_owned()
}

fn subject(asked: &str) -> String {
    let line = one_line(asked.lines().find(|l| !l.trim().is_empty()).unwrap_or(""));
    if line.is_empty() {
        return "Edit files".to_owned();
    }
    if line.chars().count() <= SUBJECT_CHARS_MAX {
        return line;
    }
    let cut: String = line.chars().take(SUBJECT_CHARS_MAX - 1).collect();
    let words = cut.rsplit_once(' ').map_or(cut.as_str(), |(words, _)| words);
    format!("{words}…")
}

/// What became of a job's commit.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Committed {
    /// In order; a commit of the person's own changes may come first.
    pub commits: Vec<Commit>,
    /// Edits that stay uncommitted, and why.
    pub uncommitted: Vec<(RepoPath, String)>,
    /// Where HEAD is after a commit was taken back.
    pub head: Option<String>,
    /// Why git's index does not follow yet: HEAD is where it shall be, and the lane tries again before its next job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub behind: Option<String>,
}

impl Report {
    /// Takes in what a write did.
    pub fn land(&mut self, landed: &Landed) {
        if let What::Apply { edits } = &landed.intent.what {
            self.edits.extend(edits.iter().cloned());
        }
        self.commits.extend(landed.committed.commits.iter().cloned());
        self.uncommitted.extend(landed.committed.uncommitted.iter().cloned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subject_is_one_bounded_line_that_is_no_option() {
        assert_eq!(subject("\n  --amend the\tlist\nmore"), "amend the list");
        assert_eq!(subject(""), "Edit files");
        let long = subject(&"word ".repeat(40));
        assert!(long.chars().count() <= SUBJECT_CHARS_MAX && long.ends_with("word…"), "{long}");
    }
}
