use std::collections::BTreeSet;

use paird_base::{Content, RepoPath};

/// One path's change: what was read there and what shall stand there. `None` is "no file".
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    pub path: RepoPath,
    pub before: Option<Content>,
    pub after: Option<Content>,
}

impl FileChange {
    /// The same change backwards.
    #[must_use]
    pub fn reversed(self) -> Self {
        Self { path: self.path, before: self.after, after: self.before }
    }

    #[must_use]
    pub fn changes_nothing(&self) -> bool {
        self.before == self.after
    }
}

/// Changes that were checked together and may be written: each path once, none a no-op, none inside another.
/// A move is a deletion and a creation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    changes: Vec<FileChange>,
    emptied_dirs: Vec<RepoPath>,
}

/// Why changes do not make a plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    #[error("{0} is changed twice")]
    Twice(RepoPath),
    #[error("{inner} needs {outer} to be a directory, but to the same plan it is a file")]
    FileAndDirectory { outer: RepoPath, inner: RepoPath },
}

impl Plan {
    /// Checks the changes against each other, drops those that change nothing, and orders them by path.
    pub fn new(changes: impl IntoIterator<Item = FileChange>) -> Result<Self, PlanError> {
        let mut changes: Vec<FileChange> = changes.into_iter().filter(|c| !c.changes_nothing()).collect();
        changes.sort_by(|a, b| a.path.cmp(&b.path));
        if let Some(pair) = changes.windows(2).find(|pair| pair[0].path == pair[1].path) {
            return Err(PlanError::Twice(pair[0].path.clone()));
        }
        let files: BTreeSet<&RepoPath> = changes.iter().map(|c| &c.path).collect();
        for inner in &files {
            let mut dir = inner.parent();
            while let Some(outer) = dir {
                if files.contains(&outer) {
                    return Err(PlanError::FileAndDirectory { outer, inner: (*inner).clone() });
                }
                dir = outer.parent();
            }
        }
        Ok(Self { changes, emptied_dirs: Vec::new() })
    }

    /// In path order.
    #[must_use]
    pub fn changes(&self) -> &[FileChange] {
        &self.changes
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// The plan that takes this one back.
    #[must_use]
    pub fn reversed(self) -> Self {
        Self { changes: self.changes.into_iter().map(FileChange::reversed).collect(), emptied_dirs: Vec::new() }
    }

    /// Adds directories that are removed after the write if they are empty then: those an undone write had made.
    #[must_use]
    pub fn with_emptied_dirs(mut self, dirs: impl IntoIterator<Item = RepoPath>) -> Self {
        self.emptied_dirs.extend(dirs);
        self.emptied_dirs.sort();
        self.emptied_dirs.dedup();
        self
    }

    /// Directories to remove once they are empty, outermost first.
    #[must_use]
    pub fn emptied_dirs(&self) -> &[RepoPath] {
        &self.emptied_dirs
    }
}
