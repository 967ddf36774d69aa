//! One daemon a work tree, and one a socket: who holds both locks may serve.
//!
//! [`DaemonLock`] is a value that [`crate::transport::Listener::bind`] asks for, so nothing unlinks or binds a socket without
//! it. [`TreeLock`] keeps a second daemon from the same work tree when their sockets differ.

#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use paird_base::limits::CLAIM_LOOK_INTERVAL;
use paird_protocol::address::{self, Address, DirectoryError, SOCKET_PATH_BYTES_MAX};
use rustix::fs::{CWD, FlockOperation, Mode, OFlags};
use rustix::io::Errno;

/// The right to be the daemon of an address. Released when dropped, by the system at the latest.
#[derive(Debug)]
pub struct DaemonLock {
    /// The lock lives as long as the open file; the file itself is never removed, or two daemons could hold two locks.
    _file: File,
    path: PathBuf,
}

/// The right to be the daemon of a work tree. Released as a [`DaemonLock`] is.
#[derive(Debug)]
pub struct TreeLock {
    file: File,
    path: PathBuf,
}

/// Why this process may not be the daemon.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    #[error("another daemon serves {socket}")]
    AlreadyRunning { socket: PathBuf },
    #[error(
        "another daemon serves {root} on the socket {socket}; use that one (PAIRD_SOCKET={socket}), or end it with \
         `PAIRD_SOCKET={socket} pair stop` first"
    )]
    TreeServed { root: PathBuf, socket: PathBuf },
    #[error("another daemon of {root} is starting or stopping and comes to no end; it holds {path}")]
    TreeHeld { root: PathBuf, path: PathBuf },
    #[error(transparent)]
    Directory(DirectoryError),
    #[error("open the lock file {path}")]
    Open { path: PathBuf, source: io::Error },
    #[error("lock {path}")]
    Lock { path: PathBuf, source: io::Error },
    #[error("write {path}")]
    Write { path: PathBuf, source: io::Error },
    #[error("the lock file {path} is not a file of this user")]
    NotOurs { path: PathBuf },
}

impl DaemonLock {
    /// Takes the lock if it is free, without waiting. Makes the socket's directory first.
    ///
    /// # Errors
    /// [`LockError::AlreadyRunning`] if another process holds it.
    pub fn acquire(address: &Address) -> Result<Self, LockError> {
        address.prepare_directory(rustix::process::geteuid().as_raw()).map_err(LockError::Directory)?;
        let path = address.daemon_lock();
        let file = open(&path)?;
        if take(&file, &path)? { Ok(Self { _file: file, path }) } else { Err(LockError::AlreadyRunning { socket: address.socket.clone() }) }
    }

    /// Takes the lock, and while its holder does not serve (it is starting, or stopping) waits for it up to `patience`.
    ///
    /// # Errors
    /// As [`DaemonLock::acquire`]; `AlreadyRunning` at once if the holder answers.
    pub async fn claim(address: &Address, patience: Duration) -> Result<Self, LockError> {
        let deadline = tokio::time::Instant::now() + patience;
        loop {
            match Self::acquire(address) {
                Err(LockError::AlreadyRunning { socket }) => {
                    if UnixStream::connect(&socket).is_ok() || tokio::time::Instant::now() >= deadline {
                        return Err(LockError::AlreadyRunning { socket });
                    }
                }
                taken_or_broken => return taken_or_broken,
            }
            tokio::time::sleep(CLAIM_LOOK_INTERVAL).await;
        }
    }

    /// Whether this is the lock of `address`.
    #[must_use]
    pub fn covers(&self, address: &Address) -> bool {
        self.path == address.daemon_lock()
    }
}

impl TreeLock {
    /// Takes the lock of the work tree `root` in its state directory. While its holder does not serve, waits up to `patience`.
    ///
    /// # Errors
    /// [`LockError::TreeServed`] at once if the holder answers, [`LockError::TreeHeld`] when the patience is over.
    pub async fn claim(root: &Path, state_dir: &Path, patience: Duration) -> Result<Self, LockError> {
        let path = address::tree_lock(state_dir);
        let file = open(&path)?;
        let deadline = tokio::time::Instant::now() + patience;
        while !take(&file, &path)? {
            if let Some(socket) = told(&file).filter(|socket| UnixStream::connect(socket).is_ok()) {
                return Err(LockError::TreeServed { root: root.to_owned(), socket });
            }
            if tokio::time::Instant::now() >= deadline {
                return Err(LockError::TreeHeld { root: root.to_owned(), path });
            }
            tokio::time::sleep(CLAIM_LOOK_INTERVAL).await;
        }
        let lock = Self { file, path };
        lock.write(&[])?;
        Ok(lock)
    }

    /// Tells everybody who finds the lock taken where its holder serves.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn serves(&self, address: &Address) -> Result<(), LockError> {
        self.write(&[address.socket.as_os_str().as_bytes(), b"\n"].concat())
    }

    fn write(&self, text: &[u8]) -> Result<(), LockError> {
        let written = self.file.set_len(0).and_then(|()| self.file.write_all_at(text, 0));
        written.map_err(|source| LockError::Write { path: self.path.clone(), source })
    }
}

/// Opens a lock file of this user, making it if it is not there.
fn open(path: &Path) -> Result<File, LockError> {
    let fail = |source| LockError::Open { path: path.to_owned(), source };
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let fd = rustix::fs::openat(CWD, path, flags, Mode::RUSR | Mode::WUSR).map_err(|errno| fail(errno.into()))?;
    let file = File::from(fd);
    let found = file.metadata().map_err(fail)?;
    let ours = found.is_file() && found.uid() == rustix::process::geteuid().as_raw();
    if ours { Ok(file) } else { Err(LockError::NotOurs { path: path.to_owned() }) }
}

/// Locks the file if nobody else has; false if somebody has.
fn take(file: &File, path: &Path) -> Result<bool, LockError> {
    match rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(true),
        Err(Errno::WOULDBLOCK) => Ok(false),
        Err(errno) => Err(LockError::Lock { path: path.to_owned(), source: errno.into() }),
    }
}

/// The socket's path in a lock file; `None` while its holder does not serve.
fn told(file: &File) -> Option<PathBuf> {
    let mut text = [0; SOCKET_PATH_BYTES_MAX + 1];
    let length = file.read_at(&mut text, 0).ok()?;
    let path = text.get(..length)?.strip_suffix(b"\n")?;
    Some(PathBuf::from(OsString::from_vec(path.to_vec())))
}
