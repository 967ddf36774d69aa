use std::io;
use std::path::PathBuf;

/// Why the repository could not do what was asked, by what the caller can do about it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{0} is no longer a git work tree")]
    NotARepository(PathBuf),
    #[error("{0} is a bare repository")]
    Bare(PathBuf),
    /// Git's `safe.directory` check.
    #[error("{0} belongs to another user")]
    Unsafe(PathBuf),
    #[error("no committer is configured: user.name or user.email is missing")]
    NoIdentity,
    #[error("a {0} is in progress")]
    InProgress(&'static str),
    /// A lock of another program stayed for the whole of `GIT_LOCK_WAIT`.
    #[error("{0} is held by another program")]
    Locked(PathBuf),
    /// HEAD is neither where the commit started nor where it leads.
    #[error("HEAD moved from {expected} to {found}")]
    Moved { expected: String, found: String },
    #[error("cannot undo {hash}: {reason}")]
    UndoRefused { hash: String, reason: String },
    #[error("no commit is named {0:?}")]
    NoSuchCommit(String),
    /// Something of this repository is not handled; edits stay uncommitted.
    #[error("{0}")]
    Unsupported(String),
    #[error("cannot run git for `{command}`")]
    NoGit { command: String, source: io::Error },
    #[error("`{command}` failed: {stderr}")]
    Git { command: String, stderr: String },
    #[error("`{command}` took longer than {seconds} s and was ended")]
    GitTimeout { command: String, seconds: u64 },
    #[error("`{command}` wrote more than {max} bytes")]
    GitOutput { command: String, max: usize },
    #[error("{what} {path}")]
    Io { what: &'static str, path: PathBuf, source: io::Error },
    #[error("{what}")]
    Lib { what: &'static str, source: git2::Error },
}

impl Error {
    /// What a person can do about it; one sentence.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self {
            Self::NotARepository(_) => "Start the daemon inside a git work tree, or run `git init`.",
            Self::Bare(_) => "A bare repository has no files to edit; use a clone or `git worktree add`.",
            Self::Unsafe(_) => "If you trust it, run `git config --global --add safe.directory PATH`.",
            Self::NoIdentity => "Set them with `git config user.name` and `git config user.email`; the edit is kept, uncommitted.",
            Self::InProgress(_) => "Finish or abort it with git; the edit is kept, uncommitted.",
            Self::Locked(_) => "Wait for the other git program; if none runs, remove the lock file by hand.",
            Self::Moved { .. } => "The edit is kept, uncommitted; commit it again on the new HEAD.",
            Self::UndoRefused { .. } => "Use `git revert`, or undo the edits without moving HEAD.",
            Self::NoSuchCommit(_) => "Give a commit hash, a branch, a tag or HEAD.",
            Self::Unsupported(_) => "Commit with git; the edit is kept, uncommitted.",
            Self::NoGit { .. } => "Install git, or put it on the daemon's PATH.",
            Self::GitTimeout { .. } => "A filter or hook of the repository may hang; run the command by hand.",
            Self::Git { .. } | Self::GitOutput { .. } | Self::Io { .. } | Self::Lib { .. } => return None,
        })
    }
}

/// Names what was tried when a call into libgit2 fails.
pub(crate) trait Trying<T> {
    fn trying(self, what: &'static str) -> Result<T, Error>;
}

impl<T> Trying<T> for Result<T, git2::Error> {
    fn trying(self, what: &'static str) -> Result<T, Error> {
        self.map_err(|source| Error::Lib { what, source })
    }
}

/// Names what was tried on which file when the file system fails.
pub(crate) fn io_error(what: &'static str, path: &std::path::Path) -> impl FnOnce(io::Error) -> Error {
    let path = path.to_owned();
    move |source| Error::Io { what, path, source }
}
