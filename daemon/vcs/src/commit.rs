use paird_base::{Content, RepoPath};
use serde::{Deserialize, Serialize};

use crate::{Error, HeadRef};

/// One path's edit, as bytes on disk. `None` is "no file".
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    pub path: RepoPath,
    /// What stood there before the daemon wrote, less any AI comment that asked for the edit.
    pub before: Option<Content>,
    /// What stands there now.
    pub after: Option<Content>,
}

/// What becomes of a person's uncommitted lines in the files of an edit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum DirtyPolicy {
    /// Committed first, if the edit touches them.
    #[default]
    Overlap,
    /// Committed first, in every file of the edit.
    Always,
    /// Never committed; an edit that touches them stays uncommitted.
    Never,
}

/// A commit to be made of the daemon's own hunks.
#[derive(Debug, Clone, Copy)]
pub struct CommitRequest<'a> {
    /// A path that comes twice counts as one change, from its first `before` to its last `after`.
    pub changes: &'a [Change],
    /// Subject, and a body after a blank line.
    pub message: &'a str,
    /// `Key: value` lines at the end of the message. A dirty commit, which is the person's own work, gets none.
    pub trailers: &'a [(String, String)],
    pub dirty: DirtyPolicy,
}

/// Commits whose objects are written and to which nothing points yet. It can be kept in a journal and published
/// after a restart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Prepared {
    /// HEAD that the commits build on.
    pub head: HeadRef,
    pub outcome: Outcome,
    pub uncommitted: Vec<Uncommitted>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Outcome {
    /// Oldest first: at most one of kind `Dirty`, then at most one of kind `Edit`.
    Commits(Vec<PreparedCommit>),
    /// HEAD holds all of it already, or nothing of it could be committed.
    Nothing,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PreparedCommit {
    pub hash: String,
    /// `None` for the first commit of a branch.
    pub parent: Option<String>,
    pub tree: String,
    pub subject: String,
    pub paths: Vec<RepoPath>,
    pub kind: CommitKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum CommitKind {
    /// The daemon's own hunks.
    Edit,
    /// The person's changes to the same files, made before.
    Dirty,
}

/// A file whose edit is on disk and in no commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Uncommitted {
    pub path: RepoPath,
    /// Lower case, no full stop.
    pub reason: String,
}

/// What [`crate::Repo::publish`] or [`crate::Repo::undo_publish`] did.
#[derive(Debug)]
pub struct Published {
    /// HEAD was moved by this call; `false` if an earlier one did it.
    pub moved_head: bool,
    /// Files whose staged content overlaps the commit: their index entries were left as they were.
    pub index_left: Vec<RepoPath>,
    /// HEAD is moved, but the index could not follow: until it does, git shows the commit as a staged revert.
    /// Call again.
    pub behind: Option<Error>,
}
