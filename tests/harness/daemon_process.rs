//! The real `paird` program as a child process.

use std::fs::File;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::process::{Pid, PidfdFlags, Signal};

use crate::client::Client;
use crate::scratch::Scratch;
use crate::{DEADLINE, until};

/// The program beside the test's own: `target/<profile>/paird`.
///
/// # Panics
/// If it is not there.
#[must_use]
pub fn binary() -> PathBuf {
    let exe = std::env::current_exe().expect("a test is a program");
    let dir = exe.parent().and_then(Path::parent).expect("tests lie in target/<profile>/deps");
    let binary = dir.join("paird");
    assert!(binary.exists(), "{} is missing: run `cargo build -p paird` first", binary.display());
    binary
}

/// How a daemon is started, to be started again in the same way.
#[derive(Debug, Clone)]
pub struct Launch {
    environment: Vec<(String, String)>,
    args: Vec<String>,
    dir: PathBuf,
    socket: PathBuf,
    names_socket: bool,
    log: PathBuf,
}

impl Launch {
    /// For the scratch directory's work tree, on a private socket.
    #[must_use]
    pub fn new(scratch: &Scratch) -> Self {
        let repo = scratch.root().to_string_lossy().into_owned();
        Self::bare(scratch, &["--repo", &repo])
    }

    /// With these arguments after `serve --foreground --socket PATH`, in the work tree's directory.
    #[must_use]
    pub fn bare(scratch: &Scratch, args: &[&str]) -> Self {
        let environment = scratch.environment().into_iter().map(|(name, value)| (name.to_owned(), value));
        Self {
            environment: environment.collect(),
            args: args.iter().map(|&arg| arg.to_owned()).collect(),
            dir: scratch.root(),
            socket: scratch.base().join("paird.sock"),
            names_socket: true,
            log: scratch.base().join("paird.stderr"),
        }
    }

    #[must_use]
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    #[must_use]
    pub fn without_env(mut self, name: &str) -> Self {
        self.environment.retain(|(known, _)| known != name);
        self
    }

    #[must_use]
    pub fn arg(mut self, arg: &str) -> Self {
        self.args.push(arg.to_owned());
        self
    }

    /// Starts in another directory.
    #[must_use]
    pub fn in_dir(mut self, dir: PathBuf) -> Self {
        self.dir = dir;
        self
    }

    /// On another socket.
    #[must_use]
    pub fn on(mut self, socket: PathBuf) -> Self {
        self.socket = socket;
        self
    }

    #[must_use]
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// Without `--socket`; `socket` is where it is expected.
    #[must_use]
    pub fn on_default(mut self, socket: PathBuf) -> Self {
        self.names_socket = false;
        self.on(socket)
    }

    /// Starts the program without waiting for anything.
    #[must_use]
    pub fn spawn(&self) -> DaemonProcess {
        let log = File::options().create(true).append(true).open(&self.log).expect("a log in the scratch directory");
        let mut command = Command::new(binary());
        command
            .args(["serve", "--foreground"])
            .args(&self.args)
            .current_dir(&self.dir)
            .env_clear()
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .process_group(0);
        if self.names_socket {
            command.arg("--socket").arg(&self.socket);
        }
        DaemonProcess { child: Some(command.spawn().expect("the program starts")), launch: self.clone() }
    }

    /// Starts the program and waits until it answers.
    pub async fn start(&self) -> DaemonProcess {
        let mut daemon = self.spawn();
        daemon.ready().await;
        daemon
    }
}

/// A running daemon. Dropping it stops it and checks that it leaves neither its socket nor a child behind.
#[derive(Debug)]
pub struct DaemonProcess {
    child: Option<Child>,
    launch: Launch,
}

impl DaemonProcess {
    /// A daemon of the scratch directory's work tree, ready to answer.
    pub async fn start(scratch: &Scratch) -> Self {
        Launch::new(scratch).start().await
    }

    /// Waits until it takes connections.
    ///
    /// # Panics
    /// If it ends instead.
    pub async fn ready(&mut self) {
        let socket = self.launch.socket.clone();
        until("the daemon answers", async || {
            if let Some(status) = self.ended() {
                panic!("the daemon ended with {status}:\n{}", self.log());
            }
            tokio::net::UnixStream::connect(&socket).await.ok().map(drop)
        })
        .await;
    }

    #[must_use]
    pub fn launch(&self) -> &Launch {
        &self.launch
    }

    #[must_use]
    pub fn socket(&self) -> &Path {
        &self.launch.socket
    }

    /// What it wrote to its standard error, since the first start.
    #[must_use]
    pub fn log(&self) -> String {
        std::fs::read_to_string(&self.launch.log).unwrap_or_default()
    }

    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.as_ref().expect("it was started").id()
    }

    /// A connection that has said nothing of itself.
    pub async fn client(&self) -> Client {
        Client::connect(&self.launch.socket).await
    }

    /// A connection that can put questions to a person.
    pub async fn able_client(&self) -> Client {
        let client = self.client().await;
        client.initialize(true, &[]).await;
        client
    }

    /// Its exit status, if it has ended.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        let child = self.child.as_mut()?;
        child.try_wait().expect("a child of ours can be waited for")
    }

    /// Waits for its end.
    pub async fn wait(&mut self) -> ExitStatus {
        until("the daemon ends", async || self.ended()).await
    }

    /// Kills it as the system does when memory runs out: without a word, and its socket stays.
    pub async fn kill9(&mut self) {
        self.signal(Signal::KILL);
        let status = self.wait().await;
        assert_eq!(status.signal(), Some(9), "it ended before it was killed: {status}\n{}", self.log());
        self.child = None;
    }

    /// Asks it to stop, and waits until it has.
    pub async fn terminate(&mut self) {
        self.signal(Signal::TERM);
        let status = self.wait().await;
        assert!(status.success(), "it ended with {status}:\n{}", self.log());
        self.child = None;
    }

    /// The same daemon again, after its end.
    pub async fn restart(&mut self) {
        assert!(self.child.is_none(), "it still runs");
        *self = self.launch.start().await;
    }

    /// The same, started in another way.
    pub async fn restart_as(&mut self, launch: Launch) {
        assert!(self.child.is_none(), "it still runs");
        *self = launch.start().await;
    }

    /// Waits for an end that the daemon brought about itself, as at a fault point.
    pub async fn killed_itself(&mut self) {
        let status = self.wait().await;
        assert_eq!(status.signal(), Some(9), "{}", self.log());
        self.child = None;
    }

    /// After an end that the test has looked at: there is nothing left to check.
    pub fn forget(&mut self) {
        assert!(self.ended().is_some(), "it still runs");
        self.child = None;
    }

    pub fn signal(&self, signal: Signal) {
        let child = self.child.as_ref().expect("it was started");
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw).expect("a process has an id");
        // One that has ended already is still ours to wait for.
        let _ = rustix::process::kill_process(pid, signal);
    }

    /// Blocks until it has ended, for a test that is over and has nothing else to do.
    fn end(child: &mut Child, pid: Pid) -> Option<ExitStatus> {
        let fd = rustix::process::pidfd_open(pid, PidfdFlags::empty()).ok()?;
        let patience = Timespec { tv_sec: i64::try_from(DEADLINE.as_secs()).unwrap_or(i64::MAX), tv_nsec: 0 };
        let ready = rustix::event::poll(&mut [PollFd::new(&fd, PollFlags::IN)], Some(&patience)).ok()?;
        (ready > 0).then(|| child.wait().ok()).flatten()
    }
}

impl Drop for DaemonProcess {
    fn drop(&mut self) {
        if std::thread::panicking() {
            if let Some(child) = &mut self.child {
                // The test has failed already.
                let _ = child.kill();
                let _ = child.wait();
            }
            eprintln!("--- the daemon's log:\n{}---", self.log());
            return;
        }
        let Some(mut child) = self.child.take() else { return };
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw).expect("a process has an id");
        if child.try_wait().expect("a child of ours can be waited for").is_none() {
            // One that ends just now is waited for all the same.
            let _ = rustix::process::kill_process(pid, Signal::TERM);
            let status = Self::end(&mut child, pid);
            if status.is_none() {
                let _ = child.kill();
                let _ = child.wait();
            }
            assert!(status.is_some_and(|status| status.success()), "it did not stop when asked: {status:?}\n{}", self.log());
            assert!(!self.launch.socket.exists(), "the socket is still there");
        }
        let left = rustix::process::test_kill_process_group(pid);
        assert!(left.is_err(), "a child process of the daemon is left");
    }
}
