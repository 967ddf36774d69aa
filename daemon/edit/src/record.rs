use std::fs::{self, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use paird_base::{Content, RepoPath, fault};
use serde_json::Value;

use crate::record_file::{self, Entry, Mark, Side, Stored, io_error};
use crate::record_id::RecordId;
use crate::{FileChange, JournalError, Plan};

/// One write, as the journal's file of it says: what was to change, with every content before and after, and how far it got.
#[derive(Debug)]
pub struct Record {
    id: RecordId,
    path: PathBuf,
    stored: Stored,
    /// End of the last whole mark; what a crash left behind it is overwritten.
    end: u64,
    notes: Vec<Value>,
    state: State,
    foreign: Vec<RepoPath>,
}

/// How far a write got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Recorded; each path holds what it held before or what it shall hold.
    Intended,
    /// All paths written; what follows the write (a commit) is not finished.
    Written,
    /// Finished with everything.
    Done,
    /// Being taken back.
    RollingBack,
    /// Taken back; the tree is as it was.
    RolledBack,
}

impl Record {
    /// Stores a new record durably.
    pub(crate) fn create(path: PathBuf, id: RecordId, plan: &Plan, made_dirs: Vec<RepoPath>, meta: Value) -> Result<Self, JournalError> {
        let stored = record_file::store(&path, plan, made_dirs, meta)?;
        Ok(Self::of(path, id, stored))
    }

    /// Reads a record's head and marks; the contents stay in the file.
    pub(crate) fn load(path: PathBuf, id: RecordId) -> Result<Self, JournalError> {
        let (stored, marks) = record_file::load(&path)?.ok_or_else(|| JournalError::NoSuch { id: id.clone() })?;
        let mut record = Self::of(path, id, stored);
        record.read_marks(&marks);
        Ok(record)
    }

    fn of(path: PathBuf, id: RecordId, stored: Stored) -> Self {
        Self { id, path, end: stored.end, stored, notes: Vec::new(), state: State::Intended, foreign: Vec::new() }
    }

    /// Takes over the whole lines. One that makes no sense is skipped with a warning, an unfinished last one is forgotten.
    fn read_marks(&mut self, marks: &[u8]) {
        for line in marks.split_inclusive(|&b| b == b'\n') {
            let Some(text) = line.strip_suffix(b"\n") else { break };
            self.end += line.len() as u64;
            match serde_json::from_slice(text) {
                Ok(mark) => self.take_over(mark),
                Err(error) => tracing::warn!(record = %self.id, %error, "skipped a damaged line of a write record"),
            }
        }
    }

    fn take_over(&mut self, mark: Mark) {
        match mark {
            Mark::Note { value } => self.notes.push(value),
            Mark::Written { foreign } => {
                self.state = State::Written;
                self.foreign = foreign;
            }
            Mark::Done => self.state = State::Done,
            Mark::RollingBack => self.state = State::RollingBack,
            Mark::RolledBack => self.state = State::RolledBack,
        }
    }

    /// Adds a line to the file. Lost in a power cut it only makes the next start check more, except for a note,
    /// which says what has happened elsewhere and is therefore synced.
    pub(crate) fn mark(&mut self, mark: Mark) -> Result<(), JournalError> {
        let fail = |e| io_error("mark", &self.path)(e);
        let mut line = serde_json::to_vec(&mark).map_err(|e| fail(e.into()))?;
        line.push(b'\n');
        let mut file = OpenOptions::new().write(true).open(&self.path).map_err(fail)?;
        let written = file.set_len(self.end).and_then(|()| file.seek(SeekFrom::Start(self.end))).and_then(|_| file.write_all(&line));
        let written = if matches!(mark, Mark::Note { .. }) { written.and_then(|()| file.sync_data()) } else { written };
        if let Err(e) = written {
            let _ = file.set_len(self.end);
            return Err(fail(e));
        }
        self.end += line.len() as u64;
        self.take_over(mark);
        Ok(())
    }

    /// Adds what the caller wants to find here after a crash, durably.
    pub fn note(&mut self, value: Value) -> Result<(), JournalError> {
        self.mark(Mark::Note { value })
    }

    /// Says that nothing is left to do. The record stays, for undo.
    pub fn finish(&mut self) -> Result<(), JournalError> {
        self.mark(Mark::Done)?;
        fault::point("write.done");
        Ok(())
    }

    /// Closes a record of which nothing is left in the tree. Should the disk be too full to say so, the record goes:
    /// an open one would be written after all at the next start.
    pub(crate) fn close_rolled_back(&mut self) -> Result<(), JournalError> {
        if self.mark(Mark::RolledBack).is_err() {
            fs::remove_file(&self.path).map_err(io_error("remove", &self.path))?;
            self.state = State::RolledBack;
        }
        Ok(())
    }

    #[must_use]
    pub fn id(&self) -> &RecordId {
        &self.id
    }

    /// What the caller stored with the plan.
    #[must_use]
    pub fn meta(&self) -> &Value {
        &self.stored.head.meta
    }

    /// Oldest first.
    #[must_use]
    pub fn notes(&self) -> &[Value] {
        &self.notes
    }

    #[must_use]
    pub fn state(&self) -> State {
        self.state
    }

    /// Whether a start has something to do for it.
    #[must_use]
    pub fn is_open(&self) -> bool {
        matches!(self.state, State::Intended | State::Written | State::RollingBack)
    }

    /// Paths that recovery left to the person: this record's change is not in them.
    #[must_use]
    pub fn foreign(&self) -> &[RepoPath] {
        &self.foreign
    }

    /// Directories that were missing and were made for new files, outermost first.
    #[must_use]
    pub fn made_dirs(&self) -> &[RepoPath] {
        &self.stored.head.made_dirs
    }

    pub(crate) fn emptied_dirs(&self) -> &[RepoPath] {
        &self.stored.head.emptied_dirs
    }

    /// All paths, in order.
    pub fn paths(&self) -> impl Iterator<Item = &RepoPath> {
        self.stored.head.entries.iter().map(|e| &e.path)
    }

    pub(crate) fn entries(&self) -> &[Entry] {
        &self.stored.head.entries
    }

    /// The recorded plan, contents included. A content that is not what it was is an error, never "no file".
    pub fn changes(&self) -> Result<Vec<FileChange>, JournalError> {
        self.load_changes(|_| true)
    }

    /// The plan that takes this write back, for `paths` or for all of it. It leaves out what was never written
    /// and removes the directories this record made, if they are empty then.
    pub fn reverse(&self, paths: Option<&[RepoPath]>) -> Result<Plan, JournalError> {
        if !matches!(self.state, State::Written | State::Done) {
            return Err(JournalError::NotWritten { id: self.id.clone() });
        }
        let changes = self.load_changes(|path| !self.foreign.contains(path) && paths.is_none_or(|paths| paths.contains(path)))?;
        let plan =
            Plan::new(changes).map_err(|_| JournalError::Damaged { path: self.path.clone(), what: "its changes contradict each other" })?;
        let holds = |dir: &&RepoPath| plan.changes().iter().any(|change| Path::new(change.path.as_str()).starts_with(dir.as_str()));
        let dirs: Vec<RepoPath> = self.made_dirs().iter().filter(holds).cloned().collect();
        Ok(plan.reversed().with_emptied_dirs(dirs))
    }

    fn load_changes(&self, wanted: impl Fn(&RepoPath) -> bool) -> Result<Vec<FileChange>, JournalError> {
        let content = |side: &Option<Side>| side.as_ref().map(|side| self.content(side)).transpose();
        let wanted = self.stored.head.entries.iter().filter(|entry| wanted(&entry.path));
        wanted
            .map(|entry| Ok(FileChange { path: entry.path.clone(), before: content(&entry.before)?, after: content(&entry.after)? }))
            .collect()
    }

    pub(crate) fn content(&self, side: &Side) -> Result<Content, JournalError> {
        self.stored.content(&self.path, side)
    }

    /// Reads every content once.
    pub(crate) fn verify(&self) -> Result<(), JournalError> {
        let mut sides = self.stored.head.entries.iter().flat_map(|entry| [&entry.before, &entry.after]).flatten();
        sides.try_for_each(|side| self.content(side).map(drop))
    }
}
