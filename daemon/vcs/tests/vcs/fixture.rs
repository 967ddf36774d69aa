use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use paird_base::{Content, Found, RepoPath, Root};
use paird_vcs::{Change, CommitRequest, DirtyPolicy, Outcome, Prepared, PreparedCommit, Repo};

/// A repository of its own in a scratch directory, cut off from every other configuration.
pub(crate) struct Work {
    pub(crate) top: PathBuf,
    pub(crate) repo: Repo,
    /// Removes the directory at the end, if this value made it.
    _dir: Option<tempfile::TempDir>,
}

pub(crate) fn path(text: &str) -> RepoPath {
    RepoPath::parse(text).unwrap()
}

impl Work {
    /// A repository without commits.
    pub(crate) fn unborn() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap().join("work tree");
        fs::create_dir(&top).unwrap();
        git(&top, &["init", "-q", "-b", "main"]);
        git(&top, &["config", "user.name", "Ada Person"]);
        git(&top, &["config", "user.email", "ada@example.org"]);
        Self { repo: discover(&top), top, _dir: Some(dir) }
    }

    /// A repository with these files in its first commit.
    pub(crate) fn with(files: &[(&str, &str)]) -> Self {
        let work = Self::unborn();
        for (name, text) in files {
            work.write(name, text);
        }
        work.git(&["add", "-A"]);
        work.git(&["commit", "-q", "--allow-empty", "-m", "start"]);
        work
    }

    /// The same, seen from another directory.
    pub(crate) fn at(top: &Path) -> Self {
        Self { repo: discover(top), top: top.canonicalize().unwrap(), _dir: None }
    }

    pub(crate) fn git(&self, args: &[&str]) -> String {
        git(&self.top, args)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let full = self.top.join(name);
        fs::create_dir_all(full.parent().unwrap()).unwrap();
        fs::write(full, text).unwrap();
    }

    pub(crate) fn chmod(&self, name: &str, mode: u32) {
        fs::set_permissions(self.top.join(name), fs::Permissions::from_mode(mode)).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> Option<String> {
        self.content(name).map(|content| String::from_utf8(content.bytes.to_vec()).unwrap())
    }

    pub(crate) fn content(&self, name: &str) -> Option<Content> {
        match Root::open(&self.top).unwrap().read(&path(name), 1 << 20).unwrap() {
            Found::File(content) => Some(content),
            Found::Absent => None,
            Found::Other(what) => panic!("{name} is {what}"),
        }
    }

    /// Writes as the daemon does and says what changed.
    pub(crate) fn edit(&self, name: &str, after: Option<&str>) -> Change {
        let before = self.content(name);
        match after {
            Some(text) => self.write(name, text),
            None => fs::remove_file(self.top.join(name)).unwrap(),
        }
        Change { path: path(name), before, after: self.content(name) }
    }

    /// Puts `change` on disk.
    pub(crate) fn apply(&self, change: &Change) {
        let full = self.top.join(change.path.as_str());
        match &change.after {
            Some(content) => {
                fs::create_dir_all(full.parent().unwrap()).unwrap();
                fs::write(&full, &content.bytes).unwrap();
                self.chmod(change.path.as_str(), content.mode);
            }
            None => fs::remove_file(full).unwrap(),
        }
    }

    pub(crate) fn prepare(&self, changes: &[Change], dirty: DirtyPolicy) -> Prepared {
        self.repo.prepare(&request(changes, dirty)).unwrap()
    }

    /// Prepares, publishes, and checks what must hold after every commit.
    pub(crate) fn commit(&self, changes: &[Change], dirty: DirtyPolicy) -> Prepared {
        let prepared = self.prepare(changes, dirty);
        self.repo.publish(&prepared).unwrap();
        self.sound();
        prepared
    }

    /// Nothing is broken and nothing is left over.
    pub(crate) fn sound(&self) {
        let fsck = git(&self.top, &["fsck", "--strict", "--no-dangling"]);
        assert_eq!(fsck, "");
        assert!(!self.repo.git_dir().join("index.lock").exists());
        let left = fs::read_dir(self.repo.git_dir().join("paird")).map_or(0, Iterator::count);
        assert_eq!(left, 0, "files left in the git directory");
    }

    /// `XY path` lines of `git status`, after the plumbing command that trusts stat data agrees with it.
    pub(crate) fn status(&self) -> Vec<String> {
        let touched = git(&self.top, &["diff-files", "--name-only", "-z"]);
        let out = git(&self.top, &["status", "--porcelain=v2", "-z", "--no-renames", "--untracked-files=all"]);
        let lines: Vec<String> = out.split_terminator('\0').map(short).collect();
        for name in touched.split_terminator('\0') {
            assert!(lines.iter().any(|line| &line[1..2] != "." && line.ends_with(name)), "{name} is stat-dirty: {lines:?}");
        }
        lines
    }

    pub(crate) fn head(&self) -> String {
        self.git(&["rev-parse", "HEAD"]).trim().to_owned()
    }

    /// A file's text in a revision; `:0` is the index.
    pub(crate) fn at_rev(&self, rev: &str, name: &str) -> String {
        self.git(&["cat-file", "blob", &format!("{rev}:{name}")])
    }

    /// Subjects, newest first.
    pub(crate) fn subjects(&self) -> Vec<String> {
        self.git(&["log", "--format=%s"]).lines().map(str::to_owned).collect()
    }
}

pub(crate) fn request(changes: &[Change], dirty: DirtyPolicy) -> CommitRequest<'_> {
    CommitRequest { changes, message: "Edit by paird", trailers: &[], dirty }
}

pub(crate) fn commits(prepared: &Prepared) -> &[PreparedCommit] {
    match &prepared.outcome {
        Outcome::Commits(commits) => commits,
        Outcome::Nothing => &[],
    }
}

pub(crate) fn discover(dir: &Path) -> Repo {
    Repo::discover(dir).unwrap().unwrap().with_own_config_only()
}

/// `1 XY …  path` and `? path` as `XY path`.
fn short(line: &str) -> String {
    match line.split_once(' ') {
        Some(("?", name)) => format!("?? {name}"),
        _ => format!("{} {}", &line[2..4], line.splitn(9, ' ').last().unwrap()),
    }
}

/// The `git` program, with nothing of the environment but its place.
pub(crate) fn git(dir: &Path, args: &[&str]) -> String {
    let (status, out, err) = try_git(dir, args);
    assert!(status, "git {args:?}: {err}");
    out
}

pub(crate) fn try_git(dir: &Path, args: &[&str]) -> (bool, String, String) {
    let mut command = Command::new("git");
    command.args(args).current_dir(dir).env_clear().env("PATH", std::env::var_os("PATH").unwrap());
    command.envs([("GIT_CONFIG_NOSYSTEM", "1"), ("GIT_CONFIG_GLOBAL", "/dev/null"), ("GIT_OPTIONAL_LOCKS", "0"), ("LC_ALL", "C")]);
    let out = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (out.status.success(), text(out.stdout), text(out.stderr))
}
