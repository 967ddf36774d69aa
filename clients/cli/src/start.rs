//! Starts the daemon of a work tree if none answers. Of any number of clients that do so at once, one starts one daemon.

#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use paird_protocol::address::{Address, DirectoryError, Environment, tree_lock};
use rustix::fs::{CWD, FlockOperation, Mode, OFlags};
use rustix::io::Errno;

/// Time for a started daemon to answer; it may have to wait for one that is just stopping.
pub(crate) const START_TIMEOUT: Duration = Duration::from_secs(30);
/// How often it is looked for: no event tells that another process has bound a socket.
const LOOK_INTERVAL: Duration = Duration::from_millis(10);
/// Bytes of what a failing daemon said that are shown.
const SAID_BYTES_MAX: u64 = 4096;
/// Names the daemon's program outright.
const PROGRAM_VARIABLE: &str = "PAIRD_BIN";

/// Why no daemon answers.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StartError {
    #[error("the program `paird` is neither beside this one nor on PATH; set {PROGRAM_VARIABLE} to it")]
    NoProgram,
    #[error("{PROGRAM_VARIABLE} is {path}, which is no program with an absolute path")]
    NotAProgram { path: PathBuf },
    #[error(transparent)]
    Directory(DirectoryError),
    #[error("open {path}")]
    Open { path: PathBuf, source: io::Error },
    #[error("another client has been starting the daemon for {seconds} s (it holds {path})")]
    Busy { path: PathBuf, seconds: u64 },
    #[error("start {program}")]
    Spawn { program: PathBuf, source: io::Error },
    #[error("the daemon ended at its start ({status}): {said}")]
    Ended { status: ExitStatus, said: String },
    #[error("the daemon did not answer within {seconds} s: {said}")]
    Silent { seconds: u64, said: String },
}

/// Where `paird` is: as the environment says, else beside this program, else on `PATH`.
pub(crate) fn find_paird(current_exe: Option<&Path>, environment: Environment<'_>) -> Result<PathBuf, StartError> {
    if let Some(path) = environment(PROGRAM_VARIABLE).filter(|value| !value.is_empty()).map(PathBuf::from) {
        return if is_program(&path) { Ok(path) } else { Err(StartError::NotAProgram { path }) };
    }
    let beside = current_exe.and_then(Path::parent).map(Path::to_owned);
    let on_path: Vec<PathBuf> = std::env::split_paths(&environment("PATH").unwrap_or_default()).collect();
    beside.into_iter().chain(on_path).map(|dir| dir.join("paird")).find(|path| is_program(path)).ok_or(StartError::NoProgram)
}

fn is_program(path: &Path) -> bool {
    path.is_absolute() && path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

/// Comes back when a daemon answers at `address`, starting one for the work tree `root` if there is none. Blocks the thread.
///
/// # Errors
/// Why none answers; if the daemon said something before it ended, that is in the error.
pub(crate) fn ensure_daemon(paird: &Path, root: &Path, address: &Address) -> Result<(), StartError> {
    ensure_within(paird, root, address, START_TIMEOUT)
}

fn ensure_within(paird: &Path, root: &Path, address: &Address, timeout: Duration) -> Result<(), StartError> {
    if answers(address) {
        return Ok(());
    }
    let deadline = Instant::now() + timeout;
    address.check_place(root).map_err(StartError::Directory)?;
    address.prepare_directory(rustix::process::geteuid().as_raw()).map_err(StartError::Directory)?;
    let _only_starter = lock(address.start_lock(), deadline, timeout)?;
    // Whoever held the lock has most likely started it.
    if answers(address) {
        return Ok(());
    }
    let mut log = open(address.start_log(), OFlags::RDWR | OFlags::CREATE | OFlags::TRUNC)?;
    let fail = |source| StartError::Spawn { program: paird.to_owned(), source };
    let stderr = log.try_clone().map_err(fail)?;
    let mut child = Command::new(paird)
        .args([OsString::from("serve"), "--repo".into(), root.into(), "--socket".into(), address.socket.clone().into(), "--detach".into()])
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(stderr)
        .spawn()
        .map_err(fail)?;
    wait_for(&mut child, address, deadline, &mut log, timeout)
}

fn wait_for(child: &mut Child, address: &Address, deadline: Instant, log: &mut File, timeout: Duration) -> Result<(), StartError> {
    loop {
        let status = child.try_wait().ok().flatten();
        // Looked at after the child: if it ended because another daemon serves, that one answers.
        if answers(address) {
            return Ok(());
        }
        if let Some(status) = status {
            return Err(StartError::Ended { status, said: said(log) });
        }
        if Instant::now() >= deadline {
            // Nobody would know of it.
            let _ = child.kill();
            let _ = child.wait();
            return Err(StartError::Silent { seconds: timeout.as_secs(), said: said(log) });
        }
        std::thread::sleep(LOOK_INTERVAL);
    }
}

/// Whether somebody listens there.
pub(crate) fn answers(address: &Address) -> bool {
    UnixStream::connect(&address.socket).is_ok()
}

/// Where the daemon that has this state directory serves. Only one that lives is believed: what a dead one wrote may name a
/// path that is somebody else's by now.
pub(crate) fn served_at(state_dir: &Path) -> Option<Address> {
    let mut file = File::from(
        rustix::fs::openat(
            CWD,
            tree_lock(state_dir),
            OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC,
            Mode::empty(),
        )
        .ok()?,
    );
    if rustix::fs::flock(&file, FlockOperation::NonBlockingLockShared) != Err(Errno::WOULDBLOCK) {
        return None;
    }
    let mut text = Vec::new();
    Read::by_ref(&mut file).take(SAID_BYTES_MAX).read_to_end(&mut text).ok()?;
    let path = text.strip_suffix(b"\n")?;
    Address::named(PathBuf::from(OsString::from_vec(path.to_vec()))).ok()
}

/// Held by the open file; the system frees it if this process dies.
fn lock(path: PathBuf, deadline: Instant, timeout: Duration) -> Result<File, StartError> {
    let file = open(path.clone(), OFlags::RDWR | OFlags::CREATE)?;
    loop {
        match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(file),
            Err(Errno::WOULDBLOCK | Errno::INTR) if Instant::now() < deadline => std::thread::sleep(LOOK_INTERVAL),
            Err(Errno::WOULDBLOCK | Errno::INTR) => {
                return Err(StartError::Busy { path, seconds: timeout.as_secs() });
            }
            Err(errno) => {
                return Err(StartError::Open { path, source: errno.into() });
            }
        }
    }
}

fn open(path: PathBuf, flags: OFlags) -> Result<File, StartError> {
    rustix::fs::openat(CWD, &path, flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::RUSR | Mode::WUSR)
        .map(File::from)
        .map_err(|errno| StartError::Open { path, source: errno.into() })
}

/// The end of what the daemon wrote, on one line and without anything that a terminal would obey.
fn said(log: &mut File) -> String {
    let mut bytes = Vec::new();
    let length = log.metadata().map_or(0, |found| found.len());
    let read =
        log.seek(SeekFrom::Start(length.saturating_sub(SAID_BYTES_MAX))).and_then(|_| log.take(SAID_BYTES_MAX).read_to_end(&mut bytes));
    let text = String::from_utf8_lossy(&bytes);
    let text: String = text.chars().map(|c| if c.is_whitespace() { ' ' } else { c }).filter(|c| !c.is_control()).collect();
    match (read, text.trim()) {
        (Ok(_), "") | (Err(_), _) => "it said nothing".to_owned(),
        (Ok(_), text) => text.to_owned(),
    }
}
