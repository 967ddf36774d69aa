use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use super::{Address, SOCKET_VARIABLE};

/// Why the socket's directory cannot be trusted with a socket.
#[derive(Debug, thiserror::Error)]
pub enum DirectoryError {
    #[error("create the socket directory {path}; without XDG_RUNTIME_DIR one below /tmp is used")]
    Create { path: PathBuf, source: io::Error },
    #[error("look at the socket directory {path}")]
    Look { path: PathBuf, source: io::Error },
    #[error("the socket directory {path} {why}; remove it or set {SOCKET_VARIABLE}")]
    Unsafe { path: PathBuf, why: String },
    #[error("{path} exists and is not a socket; it is left alone, and {SOCKET_VARIABLE} or --socket must name another path")]
    NotASocket { path: PathBuf },
    #[error("the socket {path} would lie in the work tree {root}, where nothing but edits is written; name a path outside of it")]
    InWorkTree { path: PathBuf, root: PathBuf },
}

impl Address {
    /// Checks that a socket of the work tree `root`, a real path, may lie here. To be asked before anything is made beside it.
    ///
    /// # Errors
    /// Something other than a socket stands there, or it lies in the work tree.
    pub fn check_place(&self, root: &Path) -> Result<(), DirectoryError> {
        let path = self.socket.clone();
        let directory = self.socket.parent().and_then(|dir| dir.canonicalize().ok());
        if directory.is_some_and(|dir| dir.starts_with(root)) {
            return Err(DirectoryError::InWorkTree { path, root: root.to_owned() });
        }
        match path.symlink_metadata() {
            Ok(found) if !found.file_type().is_socket() => Err(DirectoryError::NotASocket { path }),
            _ => Ok(()),
        }
    }

    /// Makes the socket's directory, mode 0700, if it is paird's own, and checks that nobody else can put anything in its
    /// place: the socket is then private from the moment it exists. A directory that the user named is only looked at.
    ///
    /// # Errors
    /// It cannot be made, is a link or no directory, belongs to somebody else, or is open to others.
    pub fn prepare_directory(&self, uid: u32) -> Result<(), DirectoryError> {
        let path = self.socket.parent().unwrap_or(&self.socket).to_owned();
        if self.own_directory
            && let Err(source) = DirBuilder::new().mode(0o700).create(&path)
            && source.kind() != io::ErrorKind::AlreadyExists
        {
            return Err(DirectoryError::Create { path, source });
        }
        // A link would let whoever owns it choose the directory; one that the user named is the user's choice.
        let look = if self.own_directory { path.symlink_metadata() } else { path.metadata() };
        let found = match look {
            Ok(found) => found,
            Err(source) => return Err(DirectoryError::Look { path, source }),
        };
        let why = if !found.is_dir() {
            "is not a directory".to_owned()
        } else if self.own_directory && found.uid() != uid {
            format!("belongs to user {}", found.uid())
        } else if self.own_directory && found.mode() & 0o077 != 0 {
            format!("is open to others (mode {:o})", found.mode() & 0o7777)
        } else {
            return Ok(());
        };
        Err(DirectoryError::Unsafe { path, why })
    }
}
