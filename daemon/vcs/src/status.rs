use git2::StatusOptions;
use paird_base::RepoPath;
use serde::Serialize;
use std::path::Path;

use crate::error::Trying;
use crate::head::{HeadRef, in_progress};
use crate::{Error, Head, Repo};

/// The state of the work tree against its index and HEAD.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    pub head: Head,
    /// `merge`, `rebase`, `cherry-pick`, `revert`, `bisect` or `am`.
    pub in_progress: Option<&'static str>,
    /// In path order. Ignored files and submodules are left out.
    pub dirty: Vec<DirtyPath>,
}

/// One file that differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DirtyPath {
    pub path: RepoPath,
    /// The index differs from HEAD.
    pub staged: bool,
    /// The work tree differs from the index.
    pub unstaged: bool,
    pub untracked: bool,
}

/// The files in the index.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TrackedFiles {
    /// In index order, each once. Submodules are left out.
    pub files: Vec<RepoPath>,
    /// Names that are not UTF-8 or cannot be shown on one line, made readable.
    pub skipped: Vec<String>,
}

impl Repo {
    /// Everything that differs, or only what is at or below `paths`.
    pub fn status(&self, paths: Option<&[RepoPath]>) -> Result<Status, Error> {
        let repo = self.open()?;
        let mut options = StatusOptions::new();
        options.include_untracked(true).recurse_untracked_dirs(true).exclude_submodules(true).include_ignored(false);
        options.disable_pathspec_match(true);
        for path in paths.unwrap_or_default() {
            options.pathspec(path.as_str());
        }
        let mut dirty = Vec::new();
        if paths.is_none_or(|paths| !paths.is_empty()) {
            for entry in repo.statuses(Some(&mut options)).trying("compare the work tree with HEAD")?.iter() {
                let status = entry.status();
                let Some(path) = entry.path().ok().and_then(|path| RepoPath::parse(path).ok()) else {
                    continue;
                };
                let staged = status.is_index_new()
                    || status.is_index_modified()
                    || status.is_index_deleted()
                    || status.is_index_renamed()
                    || status.is_index_typechange();
                let unstaged = status.is_wt_modified()
                    || status.is_wt_deleted()
                    || status.is_wt_renamed()
                    || status.is_wt_typechange()
                    || status.is_conflicted();
                let untracked = status.is_wt_new();
                if staged || unstaged || untracked {
                    dirty.push(DirtyPath { path, staged, unstaged, untracked });
                }
            }
        }
        dirty.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(Status { head: HeadRef::read(&repo)?.public(), in_progress: in_progress(&repo), dirty })
    }

    /// Untracked, and matched by an ignore rule.
    pub fn is_ignored(&self, path: &RepoPath) -> Result<bool, Error> {
        let repo = self.open()?;
        let index = repo.index().trying("read the index")?;
        Ok(!in_index(&index, path) && repo.status_should_ignore(Path::new(path.as_str())).trying("read the ignore rules")?)
    }

    /// In the index, in whatever state.
    pub fn is_tracked(&self, path: &RepoPath) -> Result<bool, Error> {
        Ok(in_index(&self.open()?.index().trying("read the index")?, path))
    }

    /// The names in the index; what is on disk may be more or less.
    pub fn tracked_files(&self) -> Result<TrackedFiles, Error> {
        const GITLINK: u32 = 0o160_000;
        let index = self.open()?.index().trying("read the index")?;
        let mut tracked = TrackedFiles::default();
        for entry in index.iter().filter(|entry| entry.mode != GITLINK) {
            match std::str::from_utf8(&entry.path).ok().and_then(|name| RepoPath::parse(name).ok()) {
                // The stages of a conflict stand next to each other.
                Some(path) if tracked.files.last() == Some(&path) => {}
                Some(path) => tracked.files.push(path),
                None => tracked.skipped.push(entry.path.escape_ascii().to_string()),
            }
        }
        Ok(tracked)
    }
}

fn in_index(index: &git2::Index, path: &RepoPath) -> bool {
    (0..4).any(|stage| index.get_path(Path::new(path.as_str()), stage).is_some())
}
