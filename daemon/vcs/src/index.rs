//! The real index, changed for a few paths: a private copy is changed by git, then put in its place.
//!
//! The copy is made and the lock is held before HEAD moves. Where another program holds the lock, nothing has happened yet;
//! a HEAD that moved without its index would show the commit as a staged revert, and the person's next commit would make it one.

use std::path::Path;

use git2::{IndexEntryExtendedFlag, Oid, Repository};
use paird_base::RepoPath;

use crate::entry::{Entry, Merged, Slot, in_index, in_tree, merge};
use crate::error::Trying;
use crate::lock::{Backoff, LockedIndex, PrivateIndex, Stamp, lock_of};
use crate::{Error, Repo, tree};

/// `GIT_INDEX_ENTRY_VALID`: the assume-unchanged bit of an entry's flags, which the library does not name.
const ASSUME_UNCHANGED: u16 = 0x8000;

/// What HEAD's steps mean for one path of the index.
pub(crate) struct IndexStep {
    pub(crate) path: RepoPath,
    /// From and to, in the order HEAD took them.
    pub(crate) steps: Vec<(Option<Entry>, Option<Entry>)>,
}

struct Planned {
    changes: Vec<NewEntry>,
    left: Vec<RepoPath>,
}

struct NewEntry {
    path: RepoPath,
    entry: Option<Entry>,
    skip_worktree: bool,
    assume_unchanged: bool,
}

/// The index as it shall be, its lock held. Dropped, it changes nothing.
pub(crate) struct NextIndex {
    /// `None` if the index is right as it is.
    locked: Option<LockedIndex>,
    /// Paths that could not be merged: their entries stay as they are.
    pub(crate) left: Vec<RepoPath>,
}

impl NextIndex {
    pub(crate) fn put(self) -> Result<(), Error> {
        self.locked.map_or(Ok(()), LockedIndex::put)
    }
}

impl Repo {
    /// Brings HEAD's steps into the index, so that nothing shows as a staged revert and staged hunks stay staged.
    /// Doing it again changes nothing.
    ///
    /// The index is locked but not changed until [`NextIndex::put`]. `head` is the commit that HEAD stands on by then.
    pub(crate) fn next_index(&self, head: Oid, steps: &[IndexStep]) -> Result<NextIndex, Error> {
        let real = self.git_dir().join("index");
        let mut backoff = Backoff::start();
        loop {
            let seen = Stamp::of(&real)?;
            let repo = self.open()?;
            let planned = self.plan_index(&repo, head, steps)?;
            if planned.changes.is_empty() {
                return Ok(NextIndex { locked: None, left: planned.left });
            }
            let private = PrivateIndex::copy(self.git_dir(), &real)?;
            self.fill(&repo, &private, &planned.changes)?;
            if let Some(locked) = private.lock(&real, seen, &mut backoff)? {
                return Ok(NextIndex { locked: Some(locked), left: planned.left });
            }
            if !backoff.wait() {
                return Err(Error::Locked(lock_of(&real)));
            }
        }
    }

    fn plan_index(&self, repo: &Repository, head: Oid, steps: &[IndexStep]) -> Result<Planned, Error> {
        let index = repo.index().trying("read the index")?;
        let tree = repo.find_commit(head).and_then(|commit| commit.tree()).trying("read the tree of HEAD")?;
        let mut planned = Planned { changes: Vec::new(), left: Vec::new() };
        let mut written = Vec::new();
        for step in steps {
            let Some(last) = step.steps.last().map(|(_, to)| *to) else {
                continue;
            };
            // Somebody went on from there: the index was theirs to keep.
            if in_tree(repo, Some(&tree), &step.path)? != Slot::File(last) {
                continue;
            }
            let Slot::File(staged) = in_index(&index, &step.path) else {
                planned.left.push(step.path.clone());
                continue;
            };
            if staged == last {
                continue;
            }
            let Merged::Clean(entry) = merge_steps(repo, staged, &step.steps)? else {
                planned.left.push(step.path.clone());
                continue;
            };
            if entry != staged {
                let (skip_worktree, assume_unchanged) = flags(&index, &step.path);
                written.extend(entry.map(|entry| entry.blob));
                planned.changes.push(NewEntry { path: step.path.clone(), entry, skip_worktree, assume_unchanged });
            }
        }
        tree::make_durable(self.common_dir(), written)?;
        Ok(planned)
    }

    /// Writes the entries into the private index and takes over the stat data of the files.
    fn fill(&self, repo: &Repository, private: &PrivateIndex, changes: &[NewEntry]) -> Result<(), Error> {
        let mut lines = Vec::new();
        for change in changes {
            let (mode, blob) = change.entry.map_or((0, Oid::ZERO_SHA1), |entry| (entry.mode(), entry.blob));
            lines.extend(format!("{mode:o} {blob}\t{}\0", change.path).bytes());
        }
        self.git(["update-index", "-z", "--index-info"]).index_file(&private.path).input(lines).run()?;
        for (option, keep) in [("--skip-worktree", NewEntry::skips as fn(&NewEntry) -> bool), ("--assume-unchanged", NewEntry::assumes)] {
            let names = names(changes.iter().filter(|change| keep(change)));
            if !names.is_empty() {
                self.git(["update-index", option, "-z", "--stdin"]).index_file(&private.path).input(names).run()?;
            }
        }
        let names = names(changes.iter().filter(|change| change.entry.is_some() && !change.skip_worktree));
        if !names.is_empty() {
            let mut refresh = vec!["--literal-pathspecs", "add", "--refresh", "--pathspec-from-file=-", "--pathspec-file-nul"];
            // Without this option git refuses paths outside a sparse checkout; before 2.34 it does not know it.
            if repo.config().is_ok_and(|config| config.get_bool("core.sparseCheckout").unwrap_or(false)) {
                refresh.push("--sparse");
            }
            // Without the stat data git only has to read the files once more.
            if let Err(error) = self.git(refresh).index_file(&private.path).input(names).run() {
                tracing::debug!(%error, "the index entries of a commit were not refreshed");
            }
        }
        Ok(())
    }
}

impl NewEntry {
    fn skips(&self) -> bool {
        self.skip_worktree
    }

    fn assumes(&self) -> bool {
        self.assume_unchanged
    }
}

fn names<'a>(changes: impl Iterator<Item = &'a NewEntry>) -> Vec<u8> {
    changes.flat_map(|change| format!("{}\0", change.path).into_bytes()).collect()
}

fn flags(index: &git2::Index, path: &RepoPath) -> (bool, bool) {
    index.get_path(Path::new(path.as_str()), 0).map_or((false, false), |entry| {
        (entry.flags_extended & IndexEntryExtendedFlag::SKIP_WORKTREE.bits() != 0, entry.flags & ASSUME_UNCHANGED != 0)
    })
}

/// The staged state after each of HEAD's steps.
pub(crate) fn merge_steps(repo: &Repository, staged: Option<Entry>, steps: &[(Option<Entry>, Option<Entry>)]) -> Result<Merged, Error> {
    let mut now = staged;
    for (from, to) in steps {
        match merge(repo, *from, now, *to)? {
            Merged::Clean(entry) => now = entry,
            Merged::Conflict => return Ok(Merged::Conflict),
        }
    }
    Ok(Merged::Clean(now))
}
