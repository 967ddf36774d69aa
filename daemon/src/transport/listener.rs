use std::fs::Metadata;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::UnixStream as BlockingStream;
use std::path::{Path, PathBuf};

use paird_protocol::address::Address;
use rustix::fs::Mode;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
use tokio::net::{UnixListener, UnixStream};

use crate::lifecycle::DaemonLock;

/// Connections that the system holds until they are accepted; more wait in `connect`.
const BACKLOG: i32 = 512;

/// The socket, bound. Its file is removed when this is dropped, if it is still the same.
#[derive(Debug)]
pub struct Listener {
    socket: UnixListener,
    _file: SocketFile,
}

/// Why the socket cannot be bound.
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    #[error("{path} exists and is not a socket; it is left alone")]
    NotASocket { path: PathBuf },
    #[error("the socket {path} belongs to user {uid}; it is left alone")]
    NotOurs { path: PathBuf, uid: u32 },
    #[error("somebody else answers on {path}")]
    Taken { path: PathBuf },
    #[error("the lock held is not the one of {path}")]
    OtherLock { path: PathBuf },
    #[error("look at {path}")]
    Look { path: PathBuf, source: io::Error },
    #[error("remove the stale socket {path}")]
    Remove { path: PathBuf, source: io::Error },
    #[error("bind {path}")]
    Bind { path: PathBuf, source: io::Error },
}

/// Why one connection was not accepted.
#[derive(Debug, thiserror::Error)]
pub(super) enum AcceptError {
    #[error("a connection of user {uid} was refused")]
    NotOurs { uid: u32 },
    #[error("accept a connection")]
    Io(#[source] io::Error),
}

impl Listener {
    /// Binds the address under its lock. A socket that a dead daemon of this user left is removed first, nothing else is.
    /// Needs a tokio runtime.
    ///
    /// # Errors
    /// Something that is not ours, or is alive, stands at the path.
    pub fn bind(address: &Address, lock: &DaemonLock) -> Result<Self, BindError> {
        let path = &address.socket;
        if !lock.covers(address) {
            return Err(BindError::OtherLock { path: path.clone() });
        }
        remove_stale(path)?;
        let fail = |source| BindError::Bind { path: path.clone(), source };
        let socket = private_socket(path).map_err(|errno| fail(errno.into()))?;
        let found = path.symlink_metadata().map_err(fail)?;
        let file = SocketFile { path: path.clone(), inode: inode(&found) };
        if found.mode() & 0o077 != 0 {
            std::fs::set_permissions(path, PermissionsExt::from_mode(0o600)).map_err(fail)?;
        }
        socket.set_nonblocking(true).map_err(fail)?;
        Ok(Self { socket: UnixListener::from_std(socket).map_err(fail)?, _file: file })
    }

    /// The next connection of this user.
    pub(super) async fn accept(&self) -> Result<UnixStream, AcceptError> {
        let (stream, _) = self.socket.accept().await.map_err(AcceptError::Io)?;
        let uid = stream.peer_cred().map_err(AcceptError::Io)?.uid();
        if may_connect(uid, rustix::process::geteuid().as_raw()) { Ok(stream) } else { Err(AcceptError::NotOurs { uid }) }
    }
}

/// Only the user whose files these are; not root either, who has other ways and no business here by accident.
pub(super) fn may_connect(peer: u32, own: u32) -> bool {
    peer == own
}

/// Binds and listens. On Linux the file gets the mode that the socket has before, so it is 0600 from its first moment.
fn private_socket(path: &Path) -> rustix::io::Result<std::os::unix::net::UnixListener> {
    let socket = rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    rustix::fs::fchmod(&socket, Mode::RUSR | Mode::WUSR)?;
    rustix::net::bind(&socket, &SocketAddrUnix::new(path)?)?;
    rustix::net::listen(&socket, BACKLOG)?;
    Ok(socket.into())
}

fn remove_stale(path: &Path) -> Result<(), BindError> {
    let found = match path.symlink_metadata() {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(source) => {
            return Err(BindError::Look { path: path.to_owned(), source });
        }
    };
    if !found.file_type().is_socket() {
        return Err(BindError::NotASocket { path: path.to_owned() });
    }
    if !may_connect(found.uid(), rustix::process::geteuid().as_raw()) {
        return Err(BindError::NotOurs { path: path.to_owned(), uid: found.uid() });
    }
    match BlockingStream::connect(path) {
        Ok(_) => Err(BindError::Taken { path: path.to_owned() }),
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
            std::fs::remove_file(path).map_err(|source| BindError::Remove { path: path.to_owned(), source })
        }
        Err(source) => Err(BindError::Look { path: path.to_owned(), source }),
    }
}

/// The file of a socket that was bound here.
#[derive(Debug)]
struct SocketFile {
    path: PathBuf,
    inode: (u64, u64),
}

fn inode(found: &Metadata) -> (u64, u64) {
    (found.dev(), found.ino())
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        if self.path.symlink_metadata().is_ok_and(|found| inode(&found) == self.inode)
            && let Err(error) = std::fs::remove_file(&self.path)
        {
            tracing::warn!(path = %self.path.display(), %error, "the socket could not be removed");
        }
    }
}
