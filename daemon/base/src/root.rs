use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags};

use crate::{ContentHash, RepoPath};

/// The work tree, held open: every file below it is reached from its descriptor, and no link leads out of it.
#[derive(Debug, Clone)]
pub struct Root {
    path: PathBuf,
    fd: Arc<OwnedFd>,
}

/// A file's bytes and permission bits, as one value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Content {
    pub bytes: Arc<[u8]>,
    /// Permission bits only, as in `0o644`.
    pub mode: u32,
}

impl Content {
    #[must_use]
    pub fn new(bytes: impl Into<Arc<[u8]>>, mode: u32) -> Self {
        Self { bytes: bytes.into(), mode: mode & 0o7777 }
    }

    #[must_use]
    pub fn hash(&self) -> ContentHash {
        ContentHash::of(&self.bytes)
    }
}

/// What stands at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// A regular file with one name.
    File(Content),
    /// Nothing; its directory may be missing too.
    Absent,
    /// Something that is never written: a directory, a link, a file with several names, a device.
    Other(&'static str),
}

/// Why a path below the root could not be read.
#[derive(Debug, thiserror::Error)]
pub enum RootError {
    #[error("open the work tree {path}")]
    Open { path: PathBuf, source: io::Error },
    #[error("read {path}")]
    Read { path: RepoPath, source: io::Error },
    #[error("{path} has {bytes} bytes, more than the {max} that are read")]
    TooLarge { path: RepoPath, bytes: u64, max: u64 },
}

impl Root {
    /// Opens the work tree's top directory; its real path is taken once, here.
    pub fn open(dir: &Path) -> Result<Self, RootError> {
        let fail = |source| RootError::Open { path: dir.to_owned(), source };
        let path = dir.canonicalize().map_err(fail)?;
        let fd = rustix::fs::openat(CWD, &path, OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::PATH, Mode::empty())
            .map_err(|e| fail(e.into()))?;
        Ok(Self { path, fd: Arc::new(fd) })
    }

    /// The real path of the top directory.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    #[must_use]
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    /// Opens beneath the root. Links inside the tree are followed only if `flags` allow it and they stay inside.
    pub fn open_beneath(&self, path: &RepoPath, flags: OFlags, resolve: ResolveFlags) -> rustix::io::Result<OwnedFd> {
        rustix::fs::openat2(
            &self.fd,
            path.as_str(),
            flags | OFlags::CLOEXEC,
            Mode::empty(),
            ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS | resolve,
        )
    }

    /// Reads the file at `path` for showing or planning. A link, or a name below one, reads as [`Found::Other`]: what it
    /// points at has a name of its own, and a write would refuse it.
    pub fn read(&self, path: &RepoPath, bytes_max: u64) -> Result<Found, RootError> {
        use rustix::io::Errno;
        let fd = match self.open_beneath(path, OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK, ResolveFlags::NO_SYMLINKS) {
            Ok(fd) => fd,
            Err(Errno::NOENT) => return Ok(Found::Absent),
            Err(Errno::NOTDIR) => return Ok(Found::Other("a name below something that is not a directory")),
            Err(Errno::LOOP) => return Ok(Found::Other("a link, or below one")),
            Err(Errno::NXIO) => return Ok(Found::Other("a socket or device")),
            Err(e) => return Err(RootError::Read { path: path.clone(), source: e.into() }),
        };
        let fail = |source| RootError::Read { path: path.clone(), source };
        let mut file = File::from(fd);
        let meta = file.metadata().map_err(fail)?;
        if meta.is_dir() {
            return Ok(Found::Other("a directory"));
        }
        if !meta.is_file() {
            return Ok(Found::Other("a socket or device"));
        }
        if meta.nlink() > 1 {
            return Ok(Found::Other("a file with several names"));
        }
        if meta.len() > bytes_max {
            return Err(RootError::TooLarge { path: path.clone(), bytes: meta.len(), max: bytes_max });
        }
        let mut bytes = Vec::with_capacity(usize::try_from(meta.len()).unwrap_or(0) + 1);
        Read::by_ref(&mut file).take(bytes_max + 1).read_to_end(&mut bytes).map_err(fail)?;
        if bytes.len() as u64 > bytes_max {
            return Err(RootError::TooLarge { path: path.clone(), bytes: bytes.len() as u64, max: bytes_max });
        }
        Ok(Found::File(Content::new(bytes, meta.mode())))
    }
}
