//! Taking the place of the index under `index.lock`.
//!
//! The lock is a hard link to the private copy. It is held while HEAD moves and no longer, and after a kill the next
//! start can tell by the inode that a lock left behind is ours.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use paird_base::limits::GIT_LOCK_WAIT;
use paird_base::{fault, random_id};
use rustix::fs::{FlockOperation, flock};

use crate::error::io_error;
use crate::{Error, Repo};

/// First wait for a lock; doubled each time.
const BACKOFF_FIRST: Duration = Duration::from_millis(5);
const BACKOFF_MAX: Duration = Duration::from_millis(200);

/// Growing waits up to `GIT_LOCK_WAIT` in all.
pub(crate) struct Backoff {
    end: Instant,
    next: Duration,
}

impl Backoff {
    pub(crate) fn start() -> Self {
        Self { end: Instant::now() + GIT_LOCK_WAIT, next: BACKOFF_FIRST }
    }

    /// Waits a little; `false` when the time is up.
    pub(crate) fn wait(&mut self) -> bool {
        let rest = self.end.saturating_duration_since(Instant::now());
        thread::sleep(self.next.min(rest));
        self.next = (self.next * 2).min(BACKOFF_MAX);
        !rest.is_zero()
    }
}

impl Repo {
    /// Removes what a killed daemon left: its private index files, and an `index.lock` that is one of them. To be
    /// called at the start of the daemon, of which there is one for a work tree. Returns whether a lock was removed.
    pub fn recover_lock(&self) -> Result<bool, Error> {
        let lock = lock_of(&self.git_dir().join("index"));
        let dir = self.git_dir().join(PRIVATE_DIR);
        let entries = match fs::read_dir(&dir) {
            Ok(entries) => entries,
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(false),
            Err(e) => return Err(io_error("read", &dir)(e)),
        };
        let mut removed = false;
        for entry in entries {
            let entry = entry.map_err(io_error("read", &dir))?;
            if !entry.file_name().as_encoded_bytes().starts_with(PRIVATE_PREFIX.as_bytes()) {
                continue;
            }
            let path = entry.path();
            let file = File::open(&path).map_err(io_error("open", &path))?;
            // A living owner holds it locked.
            if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
                continue;
            }
            let ours = file.metadata().map_err(io_error("read", &path))?;
            if lock.symlink_metadata().is_ok_and(|meta| meta.dev() == ours.dev() && meta.ino() == ours.ino()) {
                fs::remove_file(&lock).map_err(io_error("remove", &lock))?;
                removed = true;
            }
            fs::remove_file(&path).map_err(io_error("remove", &path))?;
        }
        Ok(removed)
    }
}

/// Where the daemon's files of a git directory are.
const PRIVATE_DIR: &str = "paird";
const PRIVATE_PREFIX: &str = "index.";

/// A copy of the index that only this process knows. Removed when dropped.
pub(crate) struct PrivateIndex {
    pub(crate) path: PathBuf,
}

impl PrivateIndex {
    pub(crate) fn copy(git_dir: &Path, real: &Path) -> Result<Self, Error> {
        let dir = git_dir.join(PRIVATE_DIR);
        fs::create_dir_all(&dir).map_err(io_error("create", &dir))?;
        let private = Self { path: dir.join(format!("{PRIVATE_PREFIX}{}", random_id(10))) };
        let copy = || -> io::Result<()> {
            let mut from = match File::open(real) {
                Ok(file) => file,
                Err(e) if e.kind() == ErrorKind::NotFound => return Ok(()),
                Err(e) => return Err(e),
            };
            let mut to = File::create_new(&private.path)?;
            io::copy(&mut from, &mut to)?;
            // Git takes an entry for unchanged only if its file is older than the index: with a younger copy, a file
            // that was changed right after the index was written would look clean.
            to.set_modified(from.metadata()?.modified()?)
        };
        copy().map_err(io_error("copy the index to", &private.path))?;
        Ok(private)
    }

    /// Takes the lock of the real index for this file; `None` if the index changed since `seen`.
    pub(crate) fn lock(self, real: &Path, seen: Option<Stamp>, backoff: &mut Backoff) -> Result<Option<LockedIndex>, Error> {
        let file = File::open(&self.path).map_err(io_error("open", &self.path))?;
        flock(&file, FlockOperation::NonBlockingLockExclusive).map_err(|e| io_error("lock", &self.path)(e.into()))?;
        file.sync_all().map_err(io_error("flush", &self.path))?;
        let lock = loop {
            match HeldLock::take(&self.path, &lock_of(real)) {
                Ok(lock) => break lock,
                Err(e) if e.kind() == ErrorKind::AlreadyExists => {
                    if !backoff.wait() {
                        return Err(Error::Locked(lock_of(real)));
                    }
                }
                Err(e) => return Err(io_error("create", &lock_of(real))(e)),
            }
        };
        if Stamp::of(real)? != seen {
            return Ok(None);
        }
        fault::point("commit.index_locked");
        Ok(Some(LockedIndex { lock, real: real.to_owned(), _owned: file, _private: self }))
    }
}

/// A private index that holds the lock of the real one, and may take its place.
pub(crate) struct LockedIndex {
    lock: HeldLock,
    real: PathBuf,
    /// Says to other daemons that the lock's owner lives.
    _owned: File,
    _private: PrivateIndex,
}

impl LockedIndex {
    pub(crate) fn put(self) -> Result<(), Error> {
        self.lock.become_index(&self.real)
    }
}

impl Drop for PrivateIndex {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
        // Left by a git process that was ended in the middle of writing.
        let _ = fs::remove_file(lock_of(&self.path));
    }
}

/// `index.lock`, made by us and removed when dropped.
struct HeldLock {
    path: Option<PathBuf>,
}

impl HeldLock {
    fn take(private: &Path, lock: &Path) -> io::Result<Self> {
        match fs::hard_link(private, lock) {
            // A file system without hard links: the lock is a copy, and after a kill nobody can tell whose it is.
            Err(e) if matches!(e.kind(), ErrorKind::PermissionDenied | ErrorKind::Unsupported | ErrorKind::TooManyLinks) => {
                let mut to = File::create_new(lock)?;
                let held = Self { path: Some(lock.to_owned()) };
                io::copy(&mut File::open(private)?, &mut to)?;
                to.set_permissions(private.metadata()?.permissions())?;
                to.sync_all()?;
                Ok(held)
            }
            linked => linked.map(|()| Self { path: Some(lock.to_owned()) }),
        }
    }

    fn become_index(mut self, real: &Path) -> Result<(), Error> {
        if let Some(path) = &self.path {
            fs::rename(path, real).map_err(io_error("replace", real))?;
            self.path = None;
        }
        Ok(())
    }
}

impl Drop for HeldLock {
    fn drop(&mut self) {
        if let Some(path) = &self.path {
            let _ = fs::remove_file(path);
        }
    }
}

/// Git's name for the lock of a file.
pub(crate) fn lock_of(file: &Path) -> PathBuf {
    let mut name = OsString::from(file);
    name.push(".lock");
    name.into()
}

/// Tells one state of a file from another: git replaces its index by renaming.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    inode: u64,
    size: u64,
    modified: (i64, i64),
}

impl Stamp {
    pub(crate) fn of(path: &Path) -> Result<Option<Self>, Error> {
        match path.metadata() {
            Ok(meta) => Ok(Some(Self { inode: meta.ino(), size: meta.size(), modified: (meta.mtime(), meta.mtime_nsec()) })),
            Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
            Err(e) => Err(io_error("read", path)(e)),
        }
    }
}
