use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use paird_base::{Clock, RepoPath, Root, SystemClock};
use rustix::fs::{OFlags, ResolveFlags};
use rustix::io::Errno;
use serde_json::Value;

use crate::record_file::io_error;
use crate::{Plan, Record, RecordId};

/// The directory of write records, one file each. A write begins here and can be undone from here, across restarts.
#[derive(Debug)]
pub struct Journal {
    dir: PathBuf,
    last_ms: AtomicU64,
}

/// Why a record could not be stored, found or used.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    #[error("{doing} {path}")]
    Io { doing: &'static str, path: PathBuf, source: io::Error },
    #[error("there is no write record {id}")]
    NoSuch { id: RecordId },
    /// A crash cut it short while it was stored: nothing had been written then.
    #[error("{path} was never stored completely")]
    Torn { path: PathBuf },
    /// It was complete once. What it holds cannot be trusted, so nothing is undone with it.
    #[error("{path} is damaged: {what}")]
    Damaged { path: PathBuf, what: &'static str },
    #[error("{path} has version {version}, which this program does not know")]
    Version { path: PathBuf, version: u32 },
    #[error("the write {id} is not in the tree, so it cannot be undone")]
    NotWritten { id: RecordId },
    #[error("the write {id} was begun before; it is recovered, not written")]
    NotFresh { id: RecordId },
    #[error("look for the directory of {path}")]
    Tree { path: RepoPath, source: io::Error },
}

const SUFFIX: &str = "rec";
const SUFFIX_DAMAGED: &str = "damaged";

impl Journal {
    /// Opens the directory, made if missing. Returns also the records that an earlier process left open, oldest first:
    /// each needs [`crate::recover`]. Records cut short are removed; damaged ones are set aside, with a warning.
    pub fn open(dir: &Path) -> Result<(Self, Vec<Record>), JournalError> {
        DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(io_error("make", dir))?;
        let journal = Self { dir: dir.to_owned(), last_ms: AtomicU64::new(0) };
        let mut open = Vec::new();
        for id in journal.ids()? {
            journal.last_ms.fetch_max(id.unix_ms(), Ordering::Relaxed);
            let loaded = journal.load(&id).and_then(|record| {
                if record.is_open() {
                    record.verify()?;
                }
                Ok(record)
            });
            match loaded {
                Ok(record) if record.is_open() => open.push(record),
                Ok(_) => {}
                Err(error) => journal.put_aside(&id, &error)?,
            }
        }
        Ok((journal, open))
    }

    fn put_aside(&self, id: &RecordId, error: &JournalError) -> Result<(), JournalError> {
        let path = self.path(id);
        match error {
            JournalError::Torn { .. } => {
                tracing::warn!(record = %id, "removed a write record that was never stored completely; nothing had been written");
                fs::remove_file(&path).map_err(io_error("remove", &path))
            }
            JournalError::Damaged { what, .. } => {
                tracing::warn!(record = %id, what, "set aside a damaged write record; what it wrote cannot be undone");
                fs::rename(&path, path.with_extension(SUFFIX_DAMAGED)).map_err(io_error("set aside", &path))
            }
            // A newer daemon's record, or one that cannot be read now, is no reason not to start.
            other => {
                tracing::warn!(record = %id, error = %other, "left a write record alone");
                Ok(())
            }
        }
    }

    /// Stores a plan durably, before anything of it is written. `meta` is the caller's own.
    pub fn begin(&self, root: &Root, plan: &Plan, meta: Value) -> Result<Record, JournalError> {
        let made_dirs = missing_dirs(root, plan)?;
        let id = RecordId::new(self.next_ms());
        Record::create(self.path(&id), id, plan, made_dirs, meta)
    }

    /// The present time, moved on where needed so that names rise strictly even if the clock steps back.
    fn next_ms(&self) -> u64 {
        let now = SystemClock.unix_ms();
        let previous = self.last_ms.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |last| Some(now.max(last + 1)));
        now.max(previous.unwrap_or(0) + 1)
    }

    pub fn load(&self, id: &RecordId) -> Result<Record, JournalError> {
        Record::load(self.path(id), id.clone())
    }

    /// All records, oldest first.
    pub fn ids(&self) -> Result<Vec<RecordId>, JournalError> {
        let mut ids = self.named(SUFFIX)?;
        ids.sort();
        Ok(ids)
    }

    /// Removes closed and damaged records that began more than `age` before `now_ms` (Unix milliseconds); returns how many.
    pub fn prune(&self, age: Duration, now_ms: u64) -> Result<usize, JournalError> {
        let oldest_kept = now_ms.saturating_sub(u64::try_from(age.as_millis()).unwrap_or(u64::MAX));
        let old = |id: &RecordId| id.unix_ms() < oldest_kept;
        let mut paths: Vec<PathBuf> =
            self.named(SUFFIX_DAMAGED)?.iter().filter(|id| old(id)).map(|id| self.path(id).with_extension(SUFFIX_DAMAGED)).collect();
        for id in self.ids()?.iter().filter(|id| old(id)) {
            if self.load(id).is_ok_and(|record| !record.is_open()) {
                paths.push(self.path(id));
            }
        }
        for path in &paths {
            fs::remove_file(path).map_err(io_error("remove", path))?;
        }
        Ok(paths.len())
    }

    fn named(&self, suffix: &str) -> Result<Vec<RecordId>, JournalError> {
        let fail = io_error("list", &self.dir);
        let mut ids = Vec::new();
        for item in fs::read_dir(&self.dir).map_err(&fail)? {
            let name = item.map_err(&fail)?.file_name();
            let id = name
                .to_str()
                .and_then(|name| name.split_once('.'))
                .filter(|(_, end)| *end == suffix)
                .and_then(|(id, _)| RecordId::parse(id));
            ids.extend(id);
        }
        Ok(ids)
    }

    fn path(&self, id: &RecordId) -> PathBuf {
        self.dir.join(format!("{id}.{SUFFIX}"))
    }
}

/// The directories that new files of the plan need and the tree does not have, outermost first.
fn missing_dirs(root: &Root, plan: &Plan) -> Result<Vec<RepoPath>, JournalError> {
    let mut missing: Vec<RepoPath> = Vec::new();
    for change in plan.changes().iter().filter(|c| c.before.is_none()) {
        let mut dir = change.path.parent();
        while let Some(path) = dir {
            if missing.contains(&path) {
                break;
            }
            match root.open_beneath(&path, OFlags::PATH | OFlags::DIRECTORY, ResolveFlags::NO_SYMLINKS) {
                Err(Errno::NOENT) => {}
                // What stands in the way instead is for the write to find and to name.
                Ok(_) | Err(Errno::NOTDIR | Errno::LOOP | Errno::XDEV) => break,
                Err(e) => {
                    return Err(JournalError::Tree { path: change.path.clone(), source: e.into() });
                }
            }
            dir = path.parent();
            missing.push(path);
        }
    }
    // A directory's name sorts before the names below it.
    missing.sort();
    Ok(missing)
}

#[cfg(test)]
mod tests;
