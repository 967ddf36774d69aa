use git2::{Index, Repository, Tree};
use paird_base::{Content, RepoPath};
use std::path::Path;

use crate::commit::{Change, CommitKind, CommitRequest, DirtyPolicy, Outcome, Prepared, Uncommitted};
use crate::entry::{Entry, Merged, Slot, in_index, in_tree, merge};
use crate::error::Trying;
use crate::head::in_progress;
use crate::index::merge_steps;
use crate::tree::Chain;
use crate::{Error, HeadRef, Repo, message};

impl Repo {
    /// Writes the blobs, trees and commits of a request; no branch and no index changes. All merging is done on the
    /// clean side of git's filters.
    pub fn prepare(&self, request: &CommitRequest<'_>) -> Result<Prepared, Error> {
        let repo = self.open()?;
        if let Some(reason) = self.unsupported_in(&repo)? {
            return Err(Error::Unsupported(reason));
        }
        if let Some(what) = in_progress(&repo) {
            return Err(Error::InProgress(what));
        }
        let identity = message::identity(&repo)?;
        let head = HeadRef::read(&repo)?;
        let tip = head.oid()?.map(|oid| repo.find_commit(oid)).transpose().trying("read HEAD's commit")?;
        let mut chain = Chain::new(&repo, tip, identity);
        let sorter = Sorter::new(self, &repo, chain.tree()?, request.dirty)?;
        let (mut dirty, mut edits, mut uncommitted) = (Vec::new(), Vec::new(), Vec::new());
        for change in joined(request.changes) {
            match sorter.sort(&change)? {
                Sorted::Commit { saved, edit } => {
                    dirty.extend(saved.map(|entry| (change.path.clone(), entry)));
                    edits.push((change.path, edit));
                }
                Sorted::Uncommitted(reason) => uncommitted.push(Uncommitted { path: change.path, reason: reason.to_owned() }),
            }
        }
        chain.add(&dirty, CommitKind::Dirty, |paths| message::compose(&message::dirty_message(paths), &[]))?;
        chain.add(&edits, CommitKind::Edit, |_| message::compose(request.message, request.trailers))?;
        chain.make_durable(self.common_dir())?;
        let outcome = if chain.commits.is_empty() { Outcome::Nothing } else { Outcome::Commits(chain.commits) };
        Ok(Prepared { head, outcome, uncommitted })
    }
}

/// One change for each path, in the order they first come.
fn joined(changes: &[Change]) -> Vec<Change> {
    let mut joined: Vec<Change> = Vec::new();
    for change in changes {
        match joined.iter_mut().find(|seen| seen.path == change.path) {
            Some(seen) => seen.after = change.after.clone(),
            None => joined.push(change.clone()),
        }
    }
    joined
}

/// What becomes of one path.
enum Sorted {
    Commit {
        /// The file's state before the edit, if that goes into a dirty commit.
        saved: Option<Option<Entry>>,
        /// The file's state in the commit of the edit.
        edit: Option<Entry>,
    },
    Uncommitted(&'static str),
}

/// Tells the daemon's hunks from the person's.
struct Sorter<'r> {
    vcs: &'r Repo,
    repo: &'r Repository,
    tree: Option<Tree<'r>>,
    index: Index,
    policy: DirtyPolicy,
    /// `core.fileMode`: the file system keeps the executable bit.
    trusts_mode: bool,
}

impl<'r> Sorter<'r> {
    fn new(vcs: &'r Repo, repo: &'r Repository, tree: Option<Tree<'r>>, policy: DirtyPolicy) -> Result<Self, Error> {
        let index = repo.index().trying("read the index")?;
        let trusts_mode = repo.config().trying("read the configuration")?.get_bool("core.filemode").unwrap_or(true);
        Ok(Self { vcs, repo, tree, index, policy, trusts_mode })
    }

    fn sort(&self, change: &Change) -> Result<Sorted, Error> {
        if let Some(reason) = self.elsewhere(&change.path) {
            return Ok(Sorted::Uncommitted(reason));
        }
        let head = match in_tree(self.repo, self.tree.as_ref(), &change.path)? {
            Slot::File(entry) => entry,
            Slot::Other(reason) => return Ok(Sorted::Uncommitted(reason)),
        };
        let staged = match in_index(&self.index, &change.path) {
            Slot::File(entry) => entry,
            Slot::Other(reason) => return Ok(Sorted::Uncommitted(reason)),
        };
        let ignored = || self.repo.status_should_ignore(Path::new(change.path.as_str())).trying("read the ignore rules");
        if head.is_none() && staged.is_none() && ignored()? {
            return Ok(Sorted::Uncommitted("it is ignored by git"));
        }
        let before = self.entry(&change.path, change.before.as_ref(), head, staged)?;
        let after = self.entry(&change.path, change.after.as_ref(), head, staged)?;

        let untracked = head.is_none() && before.is_some();
        let alone = if untracked { Merged::Conflict } else { merge(self.repo, before, head, after)? };
        // Part of the person's changes is staged and part is not: a commit of the file would mix what they keep apart.
        let mixed = staged != head && staged != before;
        let (saved, edit) = match alone {
            Merged::Clean(_) if self.policy == DirtyPolicy::Always && head != before && !mixed => (Some(before), after),
            Merged::Clean(edit) => (None, edit),
            Merged::Conflict if self.policy == DirtyPolicy::Never => {
                return Ok(Sorted::Uncommitted("the edit overlaps uncommitted changes of the file"));
            }
            Merged::Conflict if mixed => return Ok(Sorted::Uncommitted("the edit overlaps changes of the file that are staged in part")),
            Merged::Conflict => (Some(before), after),
        };
        // The same merges as will be done on the index: what is staged must survive the commit.
        let steps: Vec<_> = saved.map(|before| (head, before)).into_iter().chain([(saved.unwrap_or(head), edit)]).collect();
        if merge_steps(self.repo, staged, &steps)? == Merged::Conflict {
            return Ok(Sorted::Uncommitted("the edit overlaps staged changes of the file"));
        }
        Ok(Sorted::Commit { saved, edit })
    }

    /// Content from disk as git would store it.
    fn entry(
        &self,
        path: &RepoPath,
        content: Option<&Content>,
        head: Option<Entry>,
        staged: Option<Entry>,
    ) -> Result<Option<Entry>, Error> {
        let Some(content) = content else { return Ok(None) };
        let blob = self.vcs.clean(self.repo, path, &content.bytes, staged.map(|entry| entry.blob))?;
        let exec = if self.trusts_mode { content.mode & 0o100 != 0 } else { head.or(staged).is_some_and(|entry| entry.exec) };
        Ok(Some(Entry { blob, exec }))
    }

    /// The path is in another repository, or only reached through a link.
    fn elsewhere(&self, path: &RepoPath) -> Option<&'static str> {
        let mut dir = path.parent();
        while let Some(here) = dir {
            let full = self.vcs.top().join(here.as_str());
            if full.join(".git").symlink_metadata().is_ok() {
                return Some("it belongs to another repository inside this one");
            }
            if full.symlink_metadata().is_ok_and(|meta| meta.is_symlink()) {
                return Some("it is beyond a link");
            }
            dir = here.parent();
        }
        None
    }
}
