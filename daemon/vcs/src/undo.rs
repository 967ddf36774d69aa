use git2::{Commit, Oid, Repository};
use paird_base::limits::FILE_BYTES_MAX;
use paird_base::{Content, Found, RepoPath, Root, fault};
use serde::{Deserialize, Serialize};

use crate::commit::{Change, CommitKind, Published};
use crate::entry::{Slot, in_index, in_tree};
use crate::error::Trying;
use crate::head::{in_progress, oid};
use crate::index::IndexStep;
use crate::log::changed_paths;
use crate::publish::changed;
use crate::{Error, HeadRef, Repo, message};

/// An undo that passed every guard. The caller writes `changes` and then calls [`Repo::undo_publish`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UndoPlan {
    pub prepared: UndoPrepared,
    /// `before` is what is on disk now, `after` what its parent commit had there. Empty for a dirty commit, whose undo
    /// leaves the files as they are.
    pub changes: Vec<Change>,
}

/// What moves HEAD back; it can be kept in a journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UndoPrepared {
    /// HEAD, at the commit to be undone.
    pub head: HeadRef,
    pub hash: String,
    pub parent: String,
    pub subject: String,
    pub paths: Vec<RepoPath>,
}

/// Says no, and why.
fn refuse<T>(hash: &str, reason: impl Into<String>) -> Result<T, Error> {
    Err(Error::UndoRefused { hash: hash.to_owned(), reason: reason.into() })
}

impl Repo {
    /// Checks that a commit of the daemon can be taken back without loss: it is HEAD, has one parent, is on no
    /// remote-tracking branch, and (for an edit) its files are as it left them, on disk and in the index. Whether the
    /// daemon made the commit is for the caller to know, by hash.
    pub fn undo_check(&self, hash: &str, kind: CommitKind) -> Result<UndoPlan, Error> {
        let repo = self.open()?;
        if let Some(what) = in_progress(&repo) {
            return Err(Error::InProgress(what));
        }
        let commit = repo.find_commit(oid(hash)?).map_err(|_| Error::NoSuchCommit(hash.to_owned()))?;
        let head = HeadRef::read(&repo)?;
        if head.oid()? != Some(commit.id()) {
            return refuse(hash, format!("it is not HEAD, which is {}", head.shown()));
        }
        let parent = match commit.parent_count() {
            1 => commit.parent(0).trying("read the parent commit")?,
            0 => return refuse(hash, "it is the first commit of its branch"),
            _ => return refuse(hash, "it is a merge"),
        };
        if let Some(remote) = remote_with(&repo, commit.id())? {
            return refuse(hash, format!("it is on {remote} already"));
        }
        let (paths, odd) = changed_paths(&repo, &commit)?;
        if odd > 0 {
            return refuse(hash, "it changes names that cannot be written");
        }
        let changes = match kind {
            CommitKind::Dirty => Vec::new(),
            CommitKind::Edit => self.changes_back(&repo, &commit, &parent, &paths)?,
        };
        let subject = message::subject(&String::from_utf8_lossy(commit.message_bytes()));
        let prepared = UndoPrepared { head, hash: commit.id().to_string(), parent: parent.id().to_string(), subject, paths };
        Ok(UndoPlan { prepared, changes })
    }

    /// The edits that bring the parent's files back, if nobody touched them since.
    fn changes_back(&self, repo: &Repository, commit: &Commit<'_>, parent: &Commit<'_>, paths: &[RepoPath]) -> Result<Vec<Change>, Error> {
        let hash = commit.id().to_string();
        let root = Root::open(self.top()).map_err(|e| Error::Unsupported(e.to_string()))?;
        let index = repo.index().trying("read the index")?;
        let trusts_mode = repo.config().trying("read the configuration")?.get_bool("core.filemode").unwrap_or(true);
        let (new, old) = (commit.tree().trying("read a tree")?, parent.tree().trying("read a tree")?);
        let mut changes = Vec::new();
        for path in paths {
            let (Slot::File(new), Slot::File(old)) = (in_tree(repo, Some(&new), path)?, in_tree(repo, Some(&old), path)?) else {
                return refuse(&hash, format!("{path} is not a regular file in it"));
            };
            if in_index(&index, path) != Slot::File(new) {
                return refuse(&hash, format!("{path} has staged changes"));
            }
            let before = match root.read(path, FILE_BYTES_MAX) {
                Ok(Found::File(content)) => Some(content),
                Ok(Found::Absent) => None,
                Ok(Found::Other(what)) => return refuse(&hash, format!("{path} is {what} now")),
                Err(e) => return refuse(&hash, e.to_string()),
            };
            let on_disk = match &before {
                None => None,
                Some(content) => Some(self.clean(repo, path, &content.bytes, new.map(|entry| entry.blob))?),
            };
            let mode_kept = match (&before, new) {
                (Some(content), Some(new)) => !trusts_mode || (content.mode & 0o100 != 0) == new.exec,
                _ => true,
            };
            if on_disk != new.map(|entry| entry.blob) || !mode_kept {
                return refuse(&hash, format!("{path} was changed since"));
            }
            let after = match old {
                None => None,
                Some(old) => {
                    let bytes = self.smudged(repo, path, old.blob)?;
                    // Bits other than the executable one stay as they are on disk.
                    let mode = before.as_ref().map_or(0o644, |content| content.mode);
                    let read = (mode & 0o444) >> 2;
                    Some(Content::new(bytes, if old.exec { mode | read } else { mode & !0o111 }))
                }
            };
            changes.push(Change { path: path.clone(), before, after });
        }
        Ok(changes)
    }

    /// Moves HEAD to the parent by compare-and-swap and takes the commit out of the index for its paths. Calling it
    /// again, after a crash at any point, does what is missing. An error means that HEAD did not move.
    pub fn undo_publish(&self, undo: &UndoPrepared) -> Result<Published, Error> {
        let repo = self.open()?;
        let now = HeadRef::read(&repo)?;
        let parent = oid(&undo.parent)?;
        let moved = if now == undo.head {
            None
        } else if now.reference == undo.head.reference && now.oid()? == Some(parent) {
            Some(parent)
        } else {
            return Err(Error::Moved { expected: undo.head.shown(), found: now.shown() });
        };
        let back = changed(&repo, Some(oid(&undo.hash)?), parent, &undo.paths)?;
        let steps: Vec<IndexStep> = back.into_iter().map(|(path, step)| IndexStep { path, steps: vec![step] }).collect();
        self.publish_with(moved, parent, &steps, || {
            self.move_head(&repo, &undo.head, &undo.parent, &format!("undo {}", undo.subject))?;
            fault::point("undo.ref");
            Ok(())
        })
    }
}

/// A remote-tracking branch that has the commit.
fn remote_with(repo: &Repository, commit: Oid) -> Result<Option<String>, Error> {
    for reference in repo.references().trying("list the branches")? {
        let reference = reference.trying("list the branches")?;
        if !reference.is_remote() {
            continue;
        }
        let Ok(tip) = reference.peel_to_commit() else { continue };
        if tip.id() == commit || repo.graph_descendant_of(tip.id(), commit).trying("walk the history")? {
            return Ok(Some(String::from_utf8_lossy(reference.shorthand_bytes()).into_owned()));
        }
    }
    Ok(None)
}
