//! The work tree as a session sees it: its files, read beneath the root, and which of them are off limits.

use std::collections::{BTreeMap, BTreeSet};

use paird_base::limits::FILE_BYTES_MAX;
use paird_base::{Content, Found, RepoPath, Root};
use paird_edit::Snapshot;
use paird_vcs::Repo;
use rustix::io::Errno;

use super::error::Error;

/// The file that lists, in git's ignore syntax, what is never shown to a model or edited (Aider's name for it).
const AIDERIGNORE: &str = ".aiderignore";

#[derive(Debug, Clone)]
pub struct Tree {
    pub root: Root,
    /// Whether there is a repository at all; it is opened anew for each job, as git's own programs do.
    pub repository: bool,
}

impl Tree {
    /// Whether the directory that is open is still the one at its path. Only a certain no is a no.
    #[must_use]
    pub fn is_in_place(&self) -> bool {
        let Ok(open) = rustix::fs::fstat(self.root.fd()) else { return true };
        match rustix::fs::stat(self.root.path()) {
            Ok(there) => (there.st_dev, there.st_ino) == (open.st_dev, open.st_ino),
            Err(error) => !matches!(error, Errno::NOENT | Errno::NOTDIR),
        }
    }

    pub fn open_repo(&self) -> Result<Repo, Error> {
        let not_there = || Error::NotARepository { root: self.root.path().to_owned() };
        if !self.repository {
            return Err(not_there());
        }
        Repo::discover(self.root.path())?.ok_or_else(not_there)
    }

    /// Reads what stands at each path.
    pub fn snapshot(&self, paths: impl IntoIterator<Item = RepoPath>) -> Result<Snapshot, Error> {
        let read = |path: RepoPath| Ok((path.clone(), paird_edit::Seen::from_read(self.root.read(&path, FILE_BYTES_MAX))?));
        paths.into_iter().map(read).collect()
    }

    /// A file's content, or why there is none to show.
    pub fn content(&self, path: &RepoPath) -> Result<Content, String> {
        match self.root.read(path, FILE_BYTES_MAX) {
            Ok(Found::File(content)) => Ok(content),
            Ok(Found::Absent) => Err("is not there".to_owned()),
            Ok(Found::Other(what)) => Err(format!("is {what}")),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Checks that a path may join the chat: a readable regular file that no rule keeps out.
    pub fn check_chat_file(&self, path: &RepoPath) -> Result<(), Error> {
        match self.root.read(path, FILE_BYTES_MAX)? {
            Found::File(_) => {}
            Found::Absent => {
                return Err(Error::NotFound { what: "file", id: path.to_string() });
            }
            Found::Other(what) => {
                return Err(Error::UnsupportedFile { path: path.clone(), what: what.to_owned() });
            }
        }
        match self.aiderignored(path) {
            true => Err(Error::UnsupportedFile { path: path.clone(), what: format!("kept out of the chat by {AIDERIGNORE}") }),
            false => Ok(()),
        }
    }

    /// Which of the paths a reply may not touch, and why: those that `.aiderignore` matches, and, unless they are in
    /// `wanted`, untracked ones that git ignores.
    pub fn refused(&self, paths: &BTreeSet<RepoPath>, wanted: &BTreeSet<RepoPath>) -> Result<BTreeMap<RepoPath, String>, Error> {
        let repo = if self.repository { Some(self.open_repo()?) } else { None };
        let mut refused = BTreeMap::new();
        for path in paths {
            if self.aiderignored(path) {
                refused.insert(path.clone(), format!("{path} is kept out by {AIDERIGNORE}"));
            } else if let Some(repo) = &repo
                && !wanted.contains(path)
                && repo.is_ignored(path)?
                && !repo.is_tracked(path)?
            {
                refused.insert(path.clone(), format!("{path} is ignored by git and not in the chat"));
            }
        }
        Ok(refused)
    }

    fn aiderignored(&self, path: &RepoPath) -> bool {
        let Ok(name) = RepoPath::parse(AIDERIGNORE) else { return false };
        let Ok(Found::File(content)) = self.root.read(&name, FILE_BYTES_MAX) else {
            return false;
        };
        let mut rules = ignore::gitignore::GitignoreBuilder::new("");
        for line in String::from_utf8_lossy(&content.bytes).lines() {
            // A line that is no pattern excludes nothing, as in git.
            let _ = rules.add_line(None, line);
        }
        rules.build().is_ok_and(|rules| rules.matched_path_or_any_parents(path.as_str(), false).is_ignore())
    }
}
