//! Where a work tree's daemon listens and keeps its files. Whoever asks passes the environment and the user id, so that
//! the daemon and every client come to the same answer; only `directory` touches the file system.

mod directory;
#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

pub use directory::DirectoryError;

/// Longest path of a socket, in bytes: `sun_path` of the smallest system (macOS) less the final zero.
pub const SOCKET_PATH_BYTES_MAX: usize = 103;
/// Names the socket outright, for clients and daemon alike.
pub const SOCKET_VARIABLE: &str = "PAIRD_SOCKET";

/// Looks up one variable of the environment.
pub type Environment<'a> = &'a dyn Fn(&str) -> Option<OsString>;

/// What tells the daemons of one user apart: 12 hex digits of the SHA-256 of the real path of the work tree's top.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct WorkTreeKey(String);

impl WorkTreeKey {
    /// `real_path` must be free of links, as `canonicalize` returns it.
    #[must_use]
    pub fn of(real_path: &Path) -> Self {
        let digest = Sha256::digest(real_path.as_os_str().as_bytes());
        Self(digest.iter().take(6).map(|byte| format!("{byte:02x}")).collect())
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for WorkTreeKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Why there is no address.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum AddressError {
    #[error(
        "the socket path {path} has {bytes} bytes, more than the {SOCKET_PATH_BYTES_MAX} a socket may have; set {SOCKET_VARIABLE} to a shorter one"
    )]
    TooLong { path: PathBuf, bytes: usize },
    #[error("{SOCKET_VARIABLE} is {path}; it must be an absolute path")]
    Relative { path: PathBuf },
    #[error("neither {variable} nor HOME is set to an absolute path")]
    NoHome { variable: &'static str },
}

/// Where a daemon is reached. The lock files of an address lie beside its socket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    pub socket: PathBuf,
    /// The directory is paird's own and must be private to the user; `false` if the user named the socket.
    pub own_directory: bool,
}

impl Address {
    /// The socket of the work tree `key` for the user `uid`: the override, else in the run-time directory, else,
    /// where that is not set or too long, in `/tmp/paird-UID/`.
    ///
    /// # Errors
    /// The override is relative or too long.
    pub fn of(key: &WorkTreeKey, environment: Environment<'_>, uid: u32) -> Result<Self, AddressError> {
        if let Some(path) = environment(SOCKET_VARIABLE).filter(|value| !value.is_empty()) {
            return Self::named(PathBuf::from(path));
        }
        let run_time = absolute(environment, "XDG_RUNTIME_DIR").map(|dir| dir.join("paird").join(format!("{key}.sock")));
        let socket = run_time.filter(|path| fits(path)).unwrap_or_else(|| PathBuf::from(format!("/tmp/paird-{uid}/{key}.sock")));
        Ok(Self { socket, own_directory: true })
    }

    /// A socket that the user named.
    ///
    /// # Errors
    /// The path is relative or too long.
    pub fn named(path: PathBuf) -> Result<Self, AddressError> {
        if !path.is_absolute() {
            return Err(AddressError::Relative { path });
        }
        if !fits(&path) {
            let bytes = path.as_os_str().len();
            return Err(AddressError::TooLong { path, bytes });
        }
        Ok(Self { socket: path, own_directory: false })
    }

    /// Held by the daemon for as long as it lives.
    #[must_use]
    pub fn daemon_lock(&self) -> PathBuf {
        self.socket.with_extension("lock")
    }

    /// Held by whoever is starting a daemon.
    #[must_use]
    pub fn start_lock(&self) -> PathBuf {
        self.socket.with_extension("start.lock")
    }

    /// What a daemon that is being started says on its standard error.
    #[must_use]
    pub fn start_log(&self) -> PathBuf {
        self.socket.with_extension("start.log")
    }
}

/// Sessions, journal and logs of one work tree: `$XDG_STATE_HOME/paird/KEY`.
///
/// # Errors
/// There is no home directory.
pub fn state_dir(key: &WorkTreeKey, environment: Environment<'_>) -> Result<PathBuf, AddressError> {
    Ok(base(environment, "XDG_STATE_HOME", ".local/state")?.join(key.as_str()))
}

/// Held by the daemon of the work tree for as long as it lives, whatever its socket. While it serves, the file holds the
/// socket's path and a line feed.
#[must_use]
pub fn tree_lock(state_dir: &Path) -> PathBuf {
    state_dir.join("daemon.lock")
}

/// Caches of all work trees, for linked ones share theirs: `$XDG_CACHE_HOME/paird`.
///
/// # Errors
/// There is no home directory.
pub fn cache_dir(environment: Environment<'_>) -> Result<PathBuf, AddressError> {
    base(environment, "XDG_CACHE_HOME", ".cache")
}

/// The user's configuration: `$XDG_CONFIG_HOME/paird`.
///
/// # Errors
/// There is no home directory.
pub fn config_dir(environment: Environment<'_>) -> Result<PathBuf, AddressError> {
    base(environment, "XDG_CONFIG_HOME", ".config")
}

fn base(environment: Environment<'_>, variable: &'static str, below_home: &str) -> Result<PathBuf, AddressError> {
    absolute(environment, variable)
        .or_else(|| absolute(environment, "HOME").map(|home| home.join(below_home)))
        .map(|dir| dir.join("paird"))
        .ok_or(AddressError::NoHome { variable })
}

/// The XDG rule: a relative or empty value counts as not set.
fn absolute(environment: Environment<'_>, variable: &str) -> Option<PathBuf> {
    environment(variable).map(PathBuf::from).filter(|path| path.is_absolute())
}

fn fits(path: &Path) -> bool {
    path.as_os_str().len() <= SOCKET_PATH_BYTES_MAX
}
