//! Where the demo takes place: a directory with a repository, a home and a socket of its own, and a daemon that sees
//! nothing else.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::Duration;

use paird_protocol::address::SOCKET_PATH_BYTES_MAX;
use paird_protocol::client::Client;
use tokio::process::{Child, Command};
use tokio::time::{Instant, sleep, timeout};

use crate::connection::{self, Connection};
use crate::exit::{Exit, Failure};
use crate::repo::WorkTree;

/// Time for the daemon to answer, and to end.
const DAEMON_TIMEOUT: Duration = Duration::from_secs(20);
/// How often it is looked for: no event tells that another process has bound a socket.
const LOOK_INTERVAL: Duration = Duration::from_millis(5);
/// Below the directory.
const SOCKET: &str = "run/paird.sock";

/// Every file outside `.git`, by its name.
pub(super) type Files = BTreeMap<String, Vec<u8>>;

/// Removed when dropped.
pub(super) struct Ground {
    top: PathBuf,
    _directory: tempfile::TempDir,
}

impl Ground {
    /// Makes the repository with one commit. `git` runs without the user's configuration.
    ///
    /// # Errors
    /// A file that cannot be written, or git.
    pub(super) async fn prepare(program: &[(&str, &str)], reply: &str) -> Result<Self, Failure> {
        let directory = directory().map_err(|error| fault("make a temporary directory", &error))?;
        let top = directory.path().canonicalize().map_err(|error| fault("make a temporary directory", &error))?;
        let ground = Self { top, _directory: directory };
        for name in ["home", "run", "repo"] {
            DirBuilder::new().mode(0o700).create(ground.top.join(name)).map_err(|error| fault(&format!("make {name}"), &error))?;
        }
        fs::write(ground.top.join("reply.jsonl"), reply).map_err(|error| fault("write reply.jsonl", &error))?;
        for (path, text) in program {
            fs::write(ground.repo().join(path), text).map_err(|error| fault(&format!("write {path}"), &error))?;
        }
        // The identity stands in this repository alone.
        for arguments in [
            &["init", "--quiet"][..],
            &["config", "user.name", "Demo"],
            &["config", "user.email", "demo@localhost"],
            &["add", "--all"],
            &["commit", "--quiet", "--message", "A to-do list"],
        ] {
            ground.git(arguments).await?;
        }
        Ok(ground)
    }

    fn repo(&self) -> PathBuf {
        self.top.join("repo")
    }

    /// The recorded model's name.
    pub(super) fn model(&self) -> String {
        format!("replay:{}", self.top.join("reply.jsonl").display())
    }

    /// What the work tree holds.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub(super) fn files(&self) -> Result<Files, Failure> {
        let mut files = Files::new();
        read_below(&self.repo(), "", &mut files).map_err(|error| fault("read the demo's files", &error))?;
        Ok(files)
    }

    /// Starts a daemon that knows only this place, and connects to it.
    ///
    /// # Errors
    /// It is not found, does not start, or does not answer.
    pub(super) async fn start_daemon(&self) -> Result<(Connection, Process), Failure> {
        let socket = self.top.join(SOCKET);
        let mut command = Command::new(connection::program()?);
        command.args([OsString::from("serve"), "--repo".into(), self.repo().into(), "--socket".into(), socket.clone().into()]);
        let child = self.alone(&mut command).stdin(Stdio::null()).stdout(Stdio::null()).kill_on_drop(true).spawn();
        let mut process = Process(child.map_err(|error| Failure::new(Exit::NoDaemon, format!("start paird: {error}")))?);
        let client = process.answered(&socket).await?;
        let tree = WorkTree::find(Some(&self.repo()), &self.repo(), None)?;
        Ok((Connection::greet(client, tree, false).await?, process))
    }

    async fn git(&self, arguments: &[&str]) -> Result<(), Failure> {
        let mut command = Command::new("git");
        command.arg("-C").arg(self.repo()).args(arguments);
        let Output { status, stderr, .. } = self
            .alone(&mut command)
            .stdin(Stdio::null())
            .output()
            .await
            .map_err(|error| fault("run git, which must be on PATH", &error))?;
        if status.success() {
            return Ok(());
        }
        Err(Failure::new(Exit::Failure, format!("git {} failed: {}", arguments.join(" "), String::from_utf8_lossy(&stderr).trim())))
    }

    /// Leaves the program nothing of the user's environment but where programs are.
    fn alone<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        let home = self.top.join("home");
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", &home)
            .env("XDG_CONFIG_HOME", home.join("config"))
            .env("XDG_STATE_HOME", home.join("state"))
            .env("XDG_CACHE_HOME", home.join("cache"))
            .env("XDG_RUNTIME_DIR", self.top.join("run"))
            .env("TMPDIR", &self.top)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
    }
}

/// The demo's daemon; killed when dropped.
pub(super) struct Process(Child);

impl Process {
    async fn answered(&mut self, socket: &Path) -> Result<Client, Failure> {
        let deadline = Instant::now() + DAEMON_TIMEOUT;
        loop {
            match Client::connect(socket).await {
                Ok(client) => return Ok(client),
                Err(error) if Instant::now() >= deadline => return Err(error.into()),
                Err(_) => {}
            }
            if let Ok(Some(status)) = self.0.try_wait() {
                return Err(Failure::new(Exit::NoDaemon, format!("the daemon ended at its start ({status})")));
            }
            sleep(LOOK_INTERVAL).await;
        }
    }

    /// Waits for its end.
    ///
    /// # Errors
    /// It does not end, or not well.
    pub(super) async fn end(mut self) -> Result<(), Failure> {
        match timeout(DAEMON_TIMEOUT, self.0.wait()).await {
            Ok(Ok(status)) if status.success() => Ok(()),
            Ok(Ok(status)) => Err(Failure::new(Exit::Failure, format!("the daemon ended badly ({status})"))),
            Ok(Err(error)) => Err(fault("wait for the daemon", &error)),
            Err(_) => Err(Failure::new(Exit::Failure, format!("the daemon did not end within {} s", DAEMON_TIMEOUT.as_secs()))),
        }
    }
}

/// In the usual place, or where that makes the socket's path too long, in `/tmp`.
fn directory() -> io::Result<tempfile::TempDir> {
    let usual = tempfile::Builder::new().prefix("pair-demo-").tempdir()?;
    let fits = |dir: &Path| dir.join(SOCKET).as_os_str().len() <= SOCKET_PATH_BYTES_MAX;
    if usual.path().canonicalize().is_ok_and(|dir| fits(&dir)) {
        Ok(usual)
    } else {
        tempfile::Builder::new().prefix("pair-demo-").tempdir_in("/tmp")
    }
}

fn read_below(dir: &Path, prefix: &str, files: &mut Files) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            if name != ".git" {
                read_below(&entry.path(), &format!("{name}/"), files)?;
            }
        } else {
            files.insert(name, fs::read(entry.path())?);
        }
    }
    Ok(())
}

fn fault(what: &str, error: &io::Error) -> Failure {
    Failure::new(Exit::Failure, format!("{what}: {error}"))
}
