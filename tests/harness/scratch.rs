//! A directory for one test: a home, XDG directories, a work tree, replay files.

use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;
use tempfile::TempDir;

use crate::git;
use crate::tree::Tree;

/// Removed when dropped; declare it before the daemon that works in it.
#[derive(Debug)]
pub struct Scratch {
    dir: TempDir,
    replays: AtomicUsize,
}

impl Scratch {
    /// A plain directory with these files, not a repository.
    #[must_use]
    pub fn plain(files: &[(&str, &str)]) -> Self {
        let dir = tempfile::Builder::new().prefix("paird-test-").tempdir().expect("a scratch directory");
        for name in ["home", "run", "state", "cache", "config", "replies", "work"] {
            std::fs::create_dir(dir.path().join(name)).expect("a new directory");
        }
        private(&dir.path().join("run"));
        let scratch = Self { dir, replays: AtomicUsize::new(0) };
        for (path, text) in files {
            scratch.write(path, text);
        }
        scratch
    }

    /// A git repository whose one commit holds these files.
    #[must_use]
    pub fn repo(files: &[(&str, &str)]) -> Self {
        let scratch = Self::plain(files);
        scratch.git(&["init", "--quiet", "--initial-branch=main"]);
        scratch.git(&["config", "user.name", "A Person"]);
        scratch.git(&["config", "user.email", "person@example.invalid"]);
        scratch.git(&["add", "--all"]);
        scratch.git(&["commit", "--quiet", "--allow-empty", "--message", "first"]);
        scratch
    }

    /// The directory that holds everything.
    #[must_use]
    pub fn base(&self) -> PathBuf {
        self.dir.path().canonicalize().expect("it is there")
    }

    /// The top of the work tree, without links.
    #[must_use]
    pub fn root(&self) -> PathBuf {
        self.base().join("work")
    }

    #[must_use]
    pub fn home(&self) -> PathBuf {
        self.base().join("home")
    }

    /// A path in the work tree.
    #[must_use]
    pub fn path(&self, path: &str) -> PathBuf {
        self.root().join(path)
    }

    /// Writes a file of the work tree, its directories with it.
    pub fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().expect("below the root")).expect("a directory of the work tree");
        std::fs::write(&path, text).unwrap_or_else(|error| panic!("write {}: {error}", path.display()));
    }

    /// A file's text.
    #[must_use]
    pub fn read(&self, path: &str) -> String {
        let path = self.path(path);
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("read {}: {error}", path.display()))
    }

    /// The work tree as it is now.
    #[must_use]
    pub fn tree(&self) -> Tree {
        Tree::read(&self.root())
    }

    /// Git's output, which must succeed.
    pub fn git(&self, args: &[&str]) -> String {
        let output = self.try_git(args);
        assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// The same in another directory.
    pub fn git_in(&self, dir: &Path, args: &[&str]) {
        let output = git::run(dir, &self.home(), args);
        assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    #[must_use]
    pub fn try_git(&self, args: &[&str]) -> Output {
        git::run(&self.root(), &self.home(), args)
    }

    /// The commit that HEAD is.
    #[must_use]
    pub fn head(&self) -> String {
        self.git(&["rev-parse", "HEAD"]).trim().to_owned()
    }

    /// What differs between HEAD, the index and the work tree; empty when nothing does.
    #[must_use]
    pub fn status(&self) -> String {
        self.git(&["status", "--porcelain=v2", "-z"]).replace('\0', "\n")
    }

    /// Writes a replay file and gives the model's name for it.
    #[must_use]
    pub fn replay(&self, lines: &[Value]) -> String {
        let number = self.replays.fetch_add(1, Ordering::Relaxed);
        let path = self.base().join("replies").join(format!("{number}.jsonl"));
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        std::fs::write(&path, text).expect("a replay file");
        format!("replay:{}", path.display())
    }

    /// The variables that a daemon of this scratch directory is started with, and no others.
    #[must_use]
    pub fn environment(&self) -> Vec<(&'static str, String)> {
        let at = |name: &str| self.base().join(name).to_string_lossy().into_owned();
        let mut environment = git::environment(&self.home());
        environment.extend([
            ("XDG_RUNTIME_DIR", at("run")),
            ("XDG_STATE_HOME", at("state")),
            ("XDG_CACHE_HOME", at("cache")),
            ("XDG_CONFIG_HOME", at("config")),
        ]);
        environment
    }

    /// Every file in the state directory whose bytes hold `needle`.
    #[must_use]
    pub fn files_holding(&self, needle: &str) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut dirs = vec![self.base()];
        while let Some(dir) = dirs.pop() {
            for entry in std::fs::read_dir(&dir).into_iter().flatten().flatten() {
                let path = entry.path();
                let Ok(meta) = path.symlink_metadata() else { continue };
                if meta.is_dir() {
                    dirs.push(path);
                } else if meta.is_file()
                    && std::fs::read(&path).is_ok_and(|bytes| bytes.windows(needle.len()).any(|window| window == needle.as_bytes()))
                {
                    found.push(path);
                }
            }
        }
        found
    }
}

/// As the system makes a run-time directory: for the user alone.
fn private(dir: &Path) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(dir, std::fs::Permissions::from_mode(0o700)).expect("a directory of ours");
}
