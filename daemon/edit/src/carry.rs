//! One path from one of its two contents to the other, whatever an earlier, killed attempt has left.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::os::fd::{AsFd, OwnedFd};

use paird_base::{RepoPath, Root, fault};
use rustix::io::Errno;

use crate::record_file::Entry;
use crate::temp::TempNames;
use crate::tree::{self, Spot, Standing, Version};
use crate::{Record, TempArea, WriteError};

/// A record's work on the tree.
pub(crate) struct Work<'a> {
    root: &'a Root,
    temp: &'a TempArea,
    record: &'a Record,
    /// Told each fault point as it is passed, so that a test can do something there.
    observer: &'a dyn Fn(&'static str),
    syncs: Cell<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    Forward,
    Back,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The path holds what it shall hold.
    Done,
    /// The path holds something else; it was left, or put back.
    Foreign,
}

impl Direction {
    fn ends(self) -> (Version, Version) {
        match self {
            Self::Forward => (Version::Before, Version::After),
            Self::Back => (Version::After, Version::Before),
        }
    }
}

impl<'a> Work<'a> {
    pub(crate) fn new(root: &'a Root, temp: &'a TempArea, record: &'a Record, observer: &'a dyn Fn(&'static str)) -> Self {
        Self { root, temp, record, observer, syncs: Cell::new(0) }
    }

    pub(crate) fn pass(&self, point: &'static str) {
        (self.observer)(point);
        fault::point(point);
    }

    /// The order in which paths are carried forward: what is deleted comes last, so that a file that is moved is never
    /// nowhere.
    pub(crate) fn order(&self) -> Vec<usize> {
        let entries = self.record.entries();
        let (deleted, written): (Vec<usize>, Vec<usize>) = (0..entries.len()).partition(|index| entries[*index].after.is_none());
        [written, deleted].concat()
    }

    /// Calls of fsync so far.
    pub(crate) fn syncs(&self) -> usize {
        self.syncs.get()
    }

    /// Looks at every path before anything is written, since most conflicts show here.
    pub(crate) fn check(&self) -> Result<(), WriteError> {
        let mut paths = Vec::new();
        for entry in self.record.entries() {
            let standing = match tree::open_dir(self.root, entry.path.parent().as_ref()) {
                Ok(parent) => {
                    Spot { dir: parent.as_fd(), name: entry.path.file_name() }.look(entry).map_err(failed("read", &entry.path))?
                }
                Err(Errno::NOENT) => Standing::Absent,
                Err(Errno::NOTDIR) => Standing::Other("below a file"),
                Err(Errno::LOOP | Errno::XDEV) => Standing::Other("below a link"),
                Err(e) => return Err(failed("open the directory of", &entry.path)(e)),
            };
            match standing {
                Standing::Other(what) => {
                    return Err(WriteError::Unsupported { path: entry.path.clone(), what });
                }
                standing if entry.is(standing, Version::Before) => {}
                _ => paths.push(entry.path.clone()),
            }
        }
        if paths.is_empty() { Ok(()) } else { Err(WriteError::Conflict { paths }) }
    }

    /// Makes directories and writes every new content aside, so that a full disk shows before the tree has changed.
    pub(crate) fn prepare(&self) -> Result<(), WriteError> {
        for entry in self.record.entries().iter().filter(|entry| entry.before.is_none()) {
            self.open_parent(entry, true)?;
        }
        self.pass("write.directories");
        for (index, entry) in self.record.entries().iter().enumerate() {
            if entry.after.is_some()
                && let Some(parent) = self.open_parent(entry, false)?
            {
                let names = TempNames::new(self.record.id(), index);
                let target = Spot { dir: parent.as_fd(), name: entry.path.file_name() };
                self.prepare_one(entry, Version::After, target, self.temp.spot(parent.as_fd(), &names))?;
            }
        }
        Ok(())
    }

    fn prepare_one(&self, entry: &Entry, version: Version, target: Spot<'_>, temp: Spot<'_>) -> Result<(), WriteError> {
        if let Some(side) = entry.side(version) {
            let content = self.record.content(side)?;
            self.syncs.set(self.syncs.get() + 1);
            temp.prepare(target, &content, &|| self.pass("write.part")).map_err(failed("write a temporary file for", &entry.path))?;
            self.pass("write.temp");
        }
        Ok(())
    }

    /// The directory of the entry's path, made if `make`; `None` if it is missing or something else stands there.
    fn open_parent(&self, entry: &Entry, make: bool) -> Result<Option<OwnedFd>, WriteError> {
        let parent = entry.path.parent();
        if make && let Some(dir) = &parent {
            match tree::make_dirs(self.root, dir) {
                Ok(()) | Err(Errno::NOTDIR | Errno::LOOP | Errno::XDEV) => {}
                Err(e) => return Err(failed("make the directory of", &entry.path)(e)),
            }
        }
        match tree::open_dir(self.root, parent.as_ref()) {
            Ok(fd) => Ok(Some(fd)),
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::XDEV) => Ok(None),
            Err(e) => Err(failed("open the directory of", &entry.path)(e)),
        }
    }

    /// Whether somebody has changed a path that this record's killed attempt had not come to yet. What it has replaced
    /// tells: the old content lies aside then.
    pub(crate) fn is_overtaken(&self) -> Result<bool, WriteError> {
        let mut changed = Vec::new();
        let mut begun = false;
        for (index, entry) in self.record.entries().iter().enumerate() {
            let Some(parent) = self.open_parent(entry, false)? else {
                changed.extend(entry.before.is_some().then_some((entry, Standing::Absent)));
                continue;
            };
            let fail = failed("read", &entry.path);
            let names = TempNames::new(self.record.id(), index);
            let (target, temp) = (Spot { dir: parent.as_fd(), name: entry.path.file_name() }, self.temp.spot(parent.as_fd(), &names));
            if temp.is_same_file(target) {
                begun = true;
                continue;
            }
            let (standing, aside) = (target.look(entry).map_err(&fail)?, temp.look(entry).map_err(&fail)?);
            begun |= aside != Standing::Absent || (entry.is(standing, Version::After) && !entry.is(standing, Version::Before));
            let is_theirs = |standing| matches!(standing, Standing::Changed | Standing::Other(_));
            if is_theirs(aside) || !(entry.is(standing, Version::Before) || entry.is(standing, Version::After)) {
                changed.push((entry, aside));
            }
        }
        let reached = |entry: &Entry, aside: Standing| match entry.before {
            Some(_) => entry.is(aside, Version::Before),
            // A new file takes its temporary one with it.
            None => begun && aside == Standing::Absent,
        };
        Ok(changed.into_iter().any(|(entry, aside)| !reached(entry, aside)))
    }

    /// Takes one path to the end of `direction`. May be repeated after a kill at any point, with the same result.
    pub(crate) fn carry(&self, index: usize, direction: Direction) -> Result<Outcome, WriteError> {
        let entry = &self.record.entries()[index];
        let (from, to) = direction.ends();
        let Some(parent) = self.open_parent(entry, entry.side(from).is_none())? else {
            return Ok(if entry.side(to).is_none() { Outcome::Done } else { Outcome::Foreign });
        };
        let names = TempNames::new(self.record.id(), index);
        let target = Spot { dir: parent.as_fd(), name: entry.path.file_name() };
        let temp = self.temp.spot(parent.as_fd(), &names);
        if temp.is_same_file(target) {
            temp.unlink().map_err(failed("remove the temporary file of", &entry.path))?;
        }
        let aside = temp.look(entry).map_err(failed("read the temporary file of", &entry.path))?;
        if matches!(aside, Standing::Changed | Standing::Other(_)) {
            return self.put_back(entry, to, target, temp);
        }
        let standing = target.look(entry).map_err(failed("read", &entry.path))?;
        if entry.is(standing, to) {
            return Ok(Outcome::Done);
        }
        // The old content both here and aside: it was taken out before, so whoever put it here again was not this record.
        let is_again = standing != Standing::Absent && standing == aside;
        // A deletion to take back that left nothing aside: somebody else deleted the file.
        let is_gone = direction == Direction::Back && entry.after.is_none() && aside == Standing::Absent;
        if !entry.is(standing, from) || is_again || is_gone {
            return Ok(Outcome::Foreign);
        }
        if entry.side(to).is_some() && aside == Standing::Absent {
            self.prepare_one(entry, to, target, temp)?;
        }
        self.pass("write.ready");
        let outcome = match (entry.side(from), entry.side(to)) {
            (Some(_), Some(_)) => self.replace(entry, direction, target, temp),
            (None, _) => self.place(entry, target, temp),
            (Some(_), None) => self.take(entry, direction, target, temp),
        }?;
        self.pass("write.checked");
        Ok(outcome)
    }

    /// An existing file: swapped with the new one, then what came out is looked at.
    fn replace(&self, entry: &Entry, direction: Direction, target: Spot<'_>, temp: Spot<'_>) -> Result<Outcome, WriteError> {
        match temp.exchange(target) {
            Ok(true) => self.check_taken(entry, direction, target, temp),
            // Checked a moment ago: the best there is where files cannot be swapped.
            Ok(false) => {
                temp.replace(target).map_err(failed("replace", &entry.path))?;
                self.pass("write.exchanged");
                Ok(Outcome::Done)
            }
            Err(Errno::NOENT) => Ok(Outcome::Foreign),
            Err(e) => Err(failed("replace", &entry.path)(e)),
        }
    }

    /// A new file: put under its name if that is free.
    fn place(&self, entry: &Entry, target: Spot<'_>, temp: Spot<'_>) -> Result<Outcome, WriteError> {
        match temp.move_to_free(target) {
            Ok(()) => {
                self.pass("write.exchanged");
                Ok(Outcome::Done)
            }
            Err(Errno::EXIST) => Ok(Outcome::Foreign),
            Err(e) => Err(failed("create", &entry.path)(e)),
        }
    }

    /// A file to delete: moved aside, then looked at.
    fn take(&self, entry: &Entry, direction: Direction, target: Spot<'_>, temp: Spot<'_>) -> Result<Outcome, WriteError> {
        // The name aside is this record's own and was seen to be free.
        match target.replace(temp) {
            Ok(()) => self.check_taken(entry, direction, target, temp),
            Err(Errno::NOENT) => Ok(Outcome::Foreign),
            Err(e) => Err(failed("delete", &entry.path)(e)),
        }
    }

    fn check_taken(&self, entry: &Entry, direction: Direction, target: Spot<'_>, temp: Spot<'_>) -> Result<Outcome, WriteError> {
        self.pass("write.exchanged");
        let (from, to) = direction.ends();
        match temp.look(entry) {
            Ok(standing) if entry.is(standing, from) => Ok(Outcome::Done),
            Ok(_) => self.put_back(entry, to, target, temp),
            Err(e) => {
                self.put_back(entry, to, target, temp)?;
                Err(failed("read what was replaced at", &entry.path)(e))
            }
        }
    }

    /// What was taken out is the person's: it goes back, unless they have saved again since.
    fn put_back(&self, entry: &Entry, to: Version, target: Spot<'_>, temp: Spot<'_>) -> Result<Outcome, WriteError> {
        let fail = failed("put back", &entry.path);
        match target.look(entry).map_err(&fail)? {
            Standing::Absent => match temp.move_to_free(target) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(e) => return Err(fail(e)),
            },
            Standing::Ours(version) if version == to || version == Version::After => {
                self.pass("write.returning");
                temp.exchange(target).map_err(&fail)?;
                // Saved between the look and the swap: the newer save is aside now and belongs in the tree.
                if matches!(temp.look(entry).map_err(&fail)?, Standing::Changed | Standing::Other(_)) {
                    temp.exchange(target).map_err(&fail)?;
                }
            }
            Standing::Ours(_) | Standing::Changed | Standing::Other(_) => {}
        }
        self.pass("write.returned");
        Ok(Outcome::Foreign)
    }

    /// Makes durable what the tree's directories list now: one fsync for each directory, and one for each above a new one.
    pub(crate) fn sync_dirs(&self) -> Result<(), WriteError> {
        let mut dirs: BTreeMap<Option<RepoPath>, &RepoPath> =
            self.record.entries().iter().map(|entry| (entry.path.parent(), &entry.path)).collect();
        dirs.extend(self.record.made_dirs().iter().map(|dir| (dir.parent(), dir)));
        for (dir, path) in dirs {
            match tree::open_dir(self.root, dir.as_ref()) {
                Ok(fd) => rustix::fs::fsync(&fd).map_err(failed("sync the directory of", path))?,
                Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::XDEV) => continue,
                Err(e) => return Err(failed("open the directory of", path)(e)),
            }
            self.syncs.set(self.syncs.get() + 1);
        }
        Ok(())
    }

    /// Removes temporary files. Bytes that the record does not hold are never removed: what a person saved within the
    /// same instant as they saved again stays aside, and the log says where.
    pub(crate) fn clean(&self) -> Result<(), WriteError> {
        for (index, entry) in self.record.entries().iter().enumerate() {
            let names = TempNames::new(self.record.id(), index);
            let parent = self.open_parent(entry, false)?;
            for temp in self.temp.spots(parent.as_ref().map(AsFd::as_fd), &names) {
                let fail = failed("remove the temporary file of", &entry.path);
                temp.unlink_part().map_err(&fail)?;
                match temp.look(entry).map_err(&fail)? {
                    Standing::Absent => {}
                    Standing::Ours(_) => temp.unlink().map_err(&fail)?,
                    Standing::Changed | Standing::Other(_) => {
                        tracing::warn!(path = %entry.path, kept = temp.name, "kept a temporary file with bytes of somebody else")
                    }
                }
            }
        }
        Ok(())
    }

    pub(crate) fn remove_empty_dirs(&self, dirs: &[RepoPath]) {
        tree::remove_empty_dirs(self.root, dirs);
    }
}

fn failed(doing: &'static str, path: &RepoPath) -> impl Fn(Errno) -> WriteError {
    let path = path.clone();
    move |e| WriteError::Io { doing, path: path.clone(), source: e.into() }
}
