//! The real `pair` program as a child process, with pipes or at a terminal of its own.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

use rustix::process::{Pid, Signal};
use rustix::pty::OpenptFlags;

use crate::daemon_process;
use crate::scratch::Scratch;
use crate::until;

/// How `pair` is run: in the work tree, on the socket that [`crate::Launch`] names.
#[derive(Debug, Clone)]
pub struct Pair {
    environment: Vec<(String, String)>,
    dir: PathBuf,
}

/// What a `pair` has said, and its exit code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Pair {
    #[must_use]
    pub fn new(scratch: &Scratch) -> Self {
        let environment = scratch.environment().into_iter().map(|(name, value)| (name.to_owned(), value));
        let pair = Self { environment: environment.collect(), dir: scratch.root() };
        pair.env("PAIRD_BIN", &daemon_process::binary().display().to_string()).on(&scratch.base().join("paird.sock"))
    }

    #[must_use]
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.environment.retain(|(known, _)| known != name);
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Names the socket.
    #[must_use]
    pub fn on(self, socket: &Path) -> Self {
        self.env("PAIRD_SOCKET", &socket.display().to_string())
    }

    /// Names no socket.
    #[must_use]
    pub fn on_default(mut self) -> Self {
        self.environment.retain(|(name, _)| name != "PAIRD_SOCKET");
        self
    }

    /// Runs it to its end, with nothing on its standard input.
    pub async fn run(&self, args: &[&str]) -> Said {
        self.start(args).end().await
    }

    /// Starts it on pipes.
    #[must_use]
    pub fn start(&self, args: &[&str]) -> PairProcess {
        self.start_reading(Path::new("/dev/null"), args)
    }

    /// The same with a file on its standard input.
    #[must_use]
    pub fn start_reading(&self, input: &Path, args: &[&str]) -> PairProcess {
        let input = File::open(input).expect("a file to read");
        let mut child = self.command(args).stdin(input).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts");
        let out = Heard::listen(child.stdout.take().expect("a pipe"));
        let err = Heard::listen(child.stderr.take().expect("a pipe"));
        PairProcess { child, out, err, keys: None }
    }

    /// Starts it at a terminal, where both of its outputs are seen as one.
    #[must_use]
    pub fn start_at_terminal(&self, args: &[&str]) -> PairProcess {
        let master = rustix::pty::openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).expect("a terminal");
        rustix::pty::grantpt(&master).expect("a terminal of ours");
        rustix::pty::unlockpt(&master).expect("a terminal of ours");
        let name = rustix::pty::ptsname(&master, Vec::new()).expect("it has a name").into_string().expect("of plain characters");
        let slave = || Stdio::from(File::options().read(true).write(true).open(&name).expect("its other side"));
        let mut command = self.command(args);
        command.env("TERM", "dumb").stdin(slave()).stdout(slave()).stderr(slave());
        let child = command.spawn().expect("the program starts");
        drop(command);
        let keys = File::from(master);
        let screen = Heard::listen(keys.try_clone().expect("a second handle"));
        PairProcess { child, out: screen.clone(), err: screen, keys: Some(keys) }
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(daemon_process::binary().with_file_name("pair"));
        command
            .args(args)
            .current_dir(&self.dir)
            .env_clear()
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .process_group(0);
        command
    }
}

/// A running `pair`. Killed when dropped before its end.
#[derive(Debug)]
pub struct PairProcess {
    child: Child,
    out: Heard,
    err: Heard,
    keys: Option<File>,
}

impl PairProcess {
    /// Waits until its standard error, or its terminal, holds this text.
    pub async fn says(&self, text: &str) {
        until(&format!("{text:?} is said"), async || self.err.text().contains(text).then_some(())).await;
    }

    /// What its standard error, or its terminal, holds.
    #[must_use]
    pub fn said(&self) -> String {
        self.err.text()
    }

    /// Types at its terminal.
    pub fn types(&mut self, text: &str) {
        self.keys.as_mut().expect("it has a terminal").write_all(text.as_bytes()).expect("the terminal takes keys");
    }

    pub fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw).expect("a process has an id");
        // One that has ended already is still ours to wait for.
        let _ = rustix::process::kill_process(pid, signal);
    }

    /// Waits for its end.
    pub async fn end(mut self) -> Said {
        let status = until("pair ends", async || self.child.try_wait().expect("a child of ours can be waited for")).await;
        until("its outputs end", async || (self.out.ended() && self.err.ended()).then_some(())).await;
        Said { code: status.code(), out: self.out.text(), err: self.err.text() }
    }
}

impl Drop for PairProcess {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
        if std::thread::panicking() {
            eprintln!("--- pair said:\n{}{}---", self.out.text(), self.err.text());
        }
    }
}

/// An output as far as it has come.
#[derive(Debug, Clone, Default)]
struct Heard {
    text: Arc<Mutex<(Vec<u8>, bool)>>,
}

impl Heard {
    fn listen(from: impl Into<OwnedFd>) -> Self {
        let heard = Self::default();
        let (mut from, text) = (File::from(from.into()), Arc::clone(&heard.text));
        std::thread::spawn(move || {
            let mut piece = [0; 4096];
            // A terminal without another side is an error, not an end.
            while let Ok(count @ 1..) = from.read(&mut piece) {
                text.lock().expect("nobody panics with it").0.extend_from_slice(&piece[..count]);
            }
            text.lock().expect("nobody panics with it").1 = true;
        });
        heard
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.text.lock().expect("nobody panics with it").0).into_owned()
    }

    fn ended(&self) -> bool {
        self.text.lock().expect("nobody panics with it").1
    }
}
