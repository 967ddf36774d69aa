//! One daemon a work tree: who holds the lock may serve.
//!
//! The lock is a value that [`crate::transport::Listener::bind`] asks for, so nothing unlinks or binds a socket without it.

#[cfg(test)]
mod tests;

use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

use paird_base::limits::CLAIM_LOOK_INTERVAL;
use paird_protocol::address::{Address, DirectoryError};
use rustix::fs::{CWD, FlockOperation, Mode, OFlags};
use rustix::io::Errno;

/// The right to be the daemon of an address. Released when dropped, by the system at the latest.
#[derive(Debug)]
pub struct DaemonLock {
    /// The lock lives as long as the open file; the file itself is never removed, or two daemons could hold two locks.
    _file: File,
    path: PathBuf,
}

/// Why this process may not be the daemon.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    #[error("another daemon serves {socket}")]
    AlreadyRunning { socket: PathBuf },
    #[error(transparent)]
    Directory(DirectoryError),
    #[error("open the lock file {path}")]
    Open { path: PathBuf, source: io::Error },
    #[error("lock {path}")]
    Lock { path: PathBuf, source: io::Error },
    #[error("the lock file {path} is not a file of this user")]
    NotOurs { path: PathBuf },
}

impl DaemonLock {
    /// Takes the lock if it is free, without waiting. Makes the socket's directory first.
    ///
    /// # Errors
    /// [`LockError::AlreadyRunning`] if another process holds it.
    pub fn acquire(address: &Address) -> Result<Self, LockError> {
        let uid = rustix::process::geteuid().as_raw();
        address.prepare_directory(uid).map_err(LockError::Directory)?;
        let path = address.daemon_lock();
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = match rustix::fs::openat(CWD, &path, flags, Mode::RUSR | Mode::WUSR) {
            Ok(fd) => File::from(fd),
            Err(errno) => {
                return Err(LockError::Open { path, source: errno.into() });
            }
        };
        match file.metadata() {
            Ok(found) if found.is_file() && found.uid() == uid => {}
            Ok(_) => return Err(LockError::NotOurs { path }),
            Err(source) => return Err(LockError::Open { path, source }),
        }
        match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Self { _file: file, path }),
            Err(Errno::WOULDBLOCK) => Err(LockError::AlreadyRunning { socket: address.socket.clone() }),
            Err(errno) => Err(LockError::Lock { path, source: errno.into() }),
        }
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
