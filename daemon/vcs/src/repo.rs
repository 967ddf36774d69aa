use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use git2::{Config, ConfigLevel, ErrorClass, ErrorCode, Repository, RepositoryOpenFlags};

use crate::Error;
use crate::error::{Trying, io_error};

/// Hooks that git runs around a commit. A repository that has one is left to git itself.
const COMMIT_HOOKS: [&str; 4] = ["pre-commit", "prepare-commit-msg", "commit-msg", "post-commit"];

/// A git work tree. Holds no open handle: each call sees the repository and its configuration as they are then.
#[derive(Debug, Clone)]
pub struct Repo {
    top: PathBuf,
    git_dir: PathBuf,
    common_dir: PathBuf,
    pub(crate) own_config_only: bool,
    pub(crate) processes: Arc<AtomicU64>,
}

impl Repo {
    /// The work tree that `dir` is in; `None` where there is no repository. A bare repository and one that belongs to
    /// somebody else are errors.
    pub fn discover(dir: &Path) -> Result<Option<Self>, Error> {
        let dir = dir.canonicalize().map_err(io_error("resolve", dir))?;
        let found = match Repository::open_ext(&dir, RepositoryOpenFlags::empty(), &[] as &[&OsStr]) {
            Ok(found) => found,
            Err(e) if e.code() == ErrorCode::NotFound => return Ok(None),
            Err(e) => return Err(open_error(&dir, e)),
        };
        let real = |path: &Path| path.canonicalize().map_err(io_error("resolve", path));
        let git_dir = real(found.path())?;
        let common_dir = real(found.commondir())?;
        // The directory that holds `.git` is the truth: for a work tree of a submodule the library answers with the
        // submodule's own directory, and `core.worktree` may point anywhere.
        let Some(top) = dir.ancestors().find(|d| d.join(".git").symlink_metadata().is_ok()).map(Path::to_owned) else {
            return Err(Error::Bare(dir));
        };
        // A work tree may well be inside the directory of the bare repository it belongs to, but then it is the inner one.
        if dir.starts_with(&git_dir) && git_dir.starts_with(&top) {
            return Err(if found.is_bare() {
                Error::Bare(dir)
            } else {
                Error::Unsupported(format!("{} is inside a git directory", dir.display()))
            });
        }
        let repo = Self { top, git_dir, common_dir, own_config_only: false, processes: Arc::new(AtomicU64::new(0)) };
        let library = found.workdir().map(real).transpose()?;
        if library.as_ref() != Some(&repo.top) {
            if found.is_bare() && !found.is_worktree() {
                return Err(Error::Bare(repo.top));
            }
            let shown = repo.git(["rev-parse", "--show-toplevel"]).reading().run()?;
            let shown = Path::new(OsStr::from_bytes(shown.strip_suffix(b"\n").unwrap_or(&shown)));
            if real(shown)? != repo.top {
                return Err(Error::Unsupported(format!("the work tree of {} is elsewhere, at {}", repo.top.display(), shown.display())));
            }
        }
        Ok(Some(repo))
    }

    /// The same repository, read and written with nothing but its own configuration: the person's and the system's
    /// are left out, for git's processes too. Tests use it.
    #[must_use]
    pub fn with_own_config_only(mut self) -> Self {
        self.own_config_only = true;
        self
    }

    /// The real path of the work tree's top directory.
    #[must_use]
    pub fn top(&self) -> &Path {
        &self.top
    }

    /// This work tree's git directory, where its HEAD and index are.
    #[must_use]
    pub fn git_dir(&self) -> &Path {
        &self.git_dir
    }

    /// The git directory that linked work trees share, where objects, branches and configuration are.
    #[must_use]
    pub fn common_dir(&self) -> &Path {
        &self.common_dir
    }

    /// Runs of the `git` program so far, clones of this value included.
    #[must_use]
    pub fn processes_started(&self) -> u64 {
        self.processes.load(Ordering::Relaxed)
    }

    /// A fresh handle of the library.
    pub(crate) fn open(&self) -> Result<Repository, Error> {
        let repo =
            Repository::open_ext(&self.top, RepositoryOpenFlags::NO_SEARCH, &[] as &[&OsStr]).map_err(|e| open_error(&self.top, e))?;
        if self.own_config_only {
            let mut config = Config::new().trying("make a configuration")?;
            for (file, level) in
                [(self.common_dir.join("config"), ConfigLevel::Local), (self.git_dir.join("config.worktree"), ConfigLevel::Worktree)]
            {
                if file.is_file() {
                    config.add_file(&file, level, false).trying("read the repository's configuration")?;
                }
            }
            repo.set_config(&config).trying("set the configuration")?;
        }
        if repo.workdir() != Some(&self.top) {
            repo.set_workdir(&self.top, false).trying("set the work tree")?;
        }
        Ok(repo)
    }

    /// Why commits are not made here, if so: hooks and signing are git's own business. The caller leaves edits uncommitted.
    pub fn unsupported(&self) -> Result<Option<String>, Error> {
        self.unsupported_in(&self.open()?)
    }

    pub(crate) fn unsupported_in(&self, repo: &Repository) -> Result<Option<String>, Error> {
        let config = repo.config().trying("read the configuration")?;
        if config.get_bool("commit.gpgsign").unwrap_or(false) {
            return Ok(Some("commit.gpgSign is set; signed commits are not made".into()));
        }
        let hooks = match config.get_path("core.hooksPath") {
            Ok(path) => self.top.join(path),
            Err(_) => self.common_dir.join("hooks"),
        };
        if let Some(hook) = COMMIT_HOOKS.into_iter().find(|hook| is_executable(&hooks.join(hook))) {
            return Ok(Some(format!("the repository has a {hook} hook; hooks are not run")));
        }
        if let Err(e) = repo.index() {
            return Ok(Some(format!("the index cannot be read: {}", e.message())));
        }
        Ok(None)
    }
}

fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

fn open_error(dir: &Path, source: git2::Error) -> Error {
    match source.code() {
        ErrorCode::Owner => Error::Unsafe(dir.to_owned()),
        ErrorCode::BareRepo => Error::Bare(dir.to_owned()),
        ErrorCode::NotFound => Error::NotARepository(dir.to_owned()),
        _ if source.class() == ErrorClass::Repository => Error::Unsupported(source.message().to_owned()),
        _ => Error::Lib { what: "open the repository", source },
    }
}
