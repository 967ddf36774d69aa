use std::io;

use paird_base::{RepoPath, Root};

use crate::carry::{Direction, Outcome, Work};
use crate::record_file::Mark;
use crate::{JournalError, Record, RecordId, State, TempArea};

/// Where a test may kill the process, in the order in which an undisturbed write passes them; those from
/// `write.part` to `write.temp` and from `write.ready` to `write.checked` once for each file. The last four are passed
/// only when a write is taken back.
pub const FAULT_POINTS: &[&str] = &[
    "write.record",
    "write.intent",
    "write.directories",
    "write.part",
    "write.temp",
    "write.ready",
    "write.exchanged",
    "write.checked",
    "write.files",
    "write.synced",
    "write.marked",
    "write.cleaned",
    "write.done",
    "write.returning",
    "write.returned",
    "write.rolling",
    "write.rolled",
];

/// Why a write did not happen. Unless it is [`WriteError::Unfinished`], the tree is as it was.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// Plan again on the files as they are now.
    #[error("changed since the edit was planned: {}", list(.paths))]
    Conflict { paths: Vec<RepoPath> },
    /// Never written, however often it is tried.
    #[error("{path} is {what}, which is not written")]
    Unsupported { path: RepoPath, what: &'static str },
    #[error("{doing} {path}")]
    Io { doing: &'static str, path: RepoPath, source: io::Error },
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// Taking back failed too, so the record stays open: [`crate::recover`] must succeed before anything else is written.
    #[error("the write {id} stopped ({reason}) and could not be taken back")]
    Unfinished { id: RecordId, reason: Box<WriteError>, source: Box<WriteError> },
}

/// A write that is in the tree, durably.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Written {
    /// Calls of fsync it took, the record's own included.
    pub fsyncs: usize,
}

fn list(paths: &[RepoPath]) -> String {
    paths.iter().map(RepoPath::as_str).collect::<Vec<_>>().join(", ")
}

/// Writes all of a record that was just begun, or nothing.
///
/// A path that does not hold its recorded `before`, however late that shows, stops the write and is left as it is;
/// the paths already written are taken back. Readers see each file old or new, never between.
pub fn write(root: &Root, temp: &TempArea, record: &mut Record) -> Result<Written, WriteError> {
    write_observed(root, temp, record, &|_| {})
}

pub(crate) fn write_observed(
    root: &Root,
    temp: &TempArea,
    record: &mut Record,
    observer: &dyn Fn(&'static str),
) -> Result<Written, WriteError> {
    if record.state() != State::Intended {
        return Err(JournalError::NotFresh { id: record.id().clone() }.into());
    }
    if let Err(reason) = Work::new(root, temp, record, observer).check() {
        return Err(match record.close_rolled_back() {
            Ok(()) => reason,
            Err(source) => unfinished(record, reason, source.into()),
        });
    }
    match forward(root, temp, record, observer) {
        Ok(written) => {
            settle(root, temp, record, observer);
            Ok(written)
        }
        Err(reason) => Err(take_back(root, temp, record, observer, reason)),
    }
}

fn forward(root: &Root, temp: &TempArea, record: &mut Record, observer: &dyn Fn(&'static str)) -> Result<Written, WriteError> {
    let work = Work::new(root, temp, record, observer);
    work.prepare()?;
    for index in work.order() {
        if work.carry(index, Direction::Forward)? == Outcome::Foreign {
            return Err(WriteError::Conflict { paths: vec![record.entries()[index].path.clone()] });
        }
    }
    work.pass("write.files");
    work.sync_dirs()?;
    work.pass("write.synced");
    let fsyncs = work.syncs() + 1;
    record.mark(Mark::Written { foreign: Vec::new() })?;
    Ok(Written { fsyncs })
}

/// What remains once the record says that all is written: a failure here leaves litter, no harm.
pub(crate) fn settle(root: &Root, temp: &TempArea, record: &Record, observer: &dyn Fn(&'static str)) {
    let work = Work::new(root, temp, record, observer);
    work.pass("write.marked");
    if let Err(error) = work.clean() {
        tracing::warn!(record = %record.id(), %error, "temporary files of a finished write are left");
    }
    work.remove_empty_dirs(record.emptied_dirs());
    work.pass("write.cleaned");
}

fn take_back(root: &Root, temp: &TempArea, record: &mut Record, observer: &dyn Fn(&'static str), reason: WriteError) -> WriteError {
    match (roll_back(root, temp, record, observer), reason) {
        (Ok(foreign), WriteError::Conflict { mut paths }) => {
            paths.extend(foreign);
            paths.sort();
            paths.dedup();
            WriteError::Conflict { paths }
        }
        (Ok(_), reason) => reason,
        (Err(source), reason) => unfinished(record, reason, source),
    }
}

fn unfinished(record: &Record, reason: WriteError, source: WriteError) -> WriteError {
    WriteError::Unfinished { id: record.id().clone(), reason: Box::new(reason), source: Box::new(source) }
}

/// Takes every path back to what it was; returns those that somebody else has changed since, which are left.
pub(crate) fn roll_back(
    root: &Root,
    temp: &TempArea,
    record: &mut Record,
    observer: &dyn Fn(&'static str),
) -> Result<Vec<RepoPath>, WriteError> {
    // On a full disk this mark may be missing. Then a crash right here makes the next start finish the write instead:
    // not between either.
    if record.state() != State::RollingBack
        && let Err(error) = record.mark(Mark::RollingBack)
    {
        tracing::warn!(record = %record.id(), %error, "a write is taken back without a mark of it");
    }
    let work = Work::new(root, temp, record, observer);
    work.pass("write.rolling");
    let mut foreign = Vec::new();
    for index in work.order().into_iter().rev() {
        if work.carry(index, Direction::Back)? == Outcome::Foreign {
            foreign.push(record.entries()[index].path.clone());
        }
    }
    work.clean()?;
    work.remove_empty_dirs(record.made_dirs());
    work.sync_dirs()?;
    work.pass("write.rolled");
    record.close_rolled_back()?;
    foreign.sort();
    Ok(foreign)
}

#[cfg(test)]
mod tests;
