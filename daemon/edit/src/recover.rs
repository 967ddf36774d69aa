use paird_base::{RepoPath, Root};

use crate::carry::{Direction, Outcome, Work};
use crate::record_file::Mark;
use crate::write::{roll_back, settle};
use crate::{Record, State, TempArea, WriteError};

/// What became of a record that an earlier process left open.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Recovered {
    /// Paths that hold the write's content, or did when it was through. Empty if it was taken back.
    pub written: Vec<RepoPath>,
    /// Paths that somebody else has changed meanwhile; they were left, and the write is not in them.
    pub foreign: Vec<RepoPath>,
}

/// Finishes what a killed process left: a write under way is carried forward, or taken back where somebody has changed a
/// file before the write had come to it; one being taken back is taken back.
/// May itself be killed and repeated. After an error the record stays open, for another try.
pub fn recover(root: &Root, temp: &TempArea, record: &mut Record) -> Result<Recovered, WriteError> {
    recover_observed(root, temp, record, &|_| {})
}

pub(crate) fn recover_observed(
    root: &Root,
    temp: &TempArea,
    record: &mut Record,
    observer: &dyn Fn(&'static str),
) -> Result<Recovered, WriteError> {
    match record.state() {
        State::RollingBack => {
            let foreign = roll_back(root, temp, record, observer)?;
            return Ok(Recovered { written: Vec::new(), foreign });
        }
        State::RolledBack => return Ok(Recovered::default()),
        // Going on would leave the person's file without its edit beside others that have theirs.
        State::Intended if Work::new(root, temp, record, observer).is_overtaken()? => {
            let foreign = roll_back(root, temp, record, observer)?;
            return Ok(Recovered { written: Vec::new(), foreign });
        }
        State::Intended => roll_forward(root, temp, record, observer)?,
        State::Written | State::Done => {}
    }
    settle(root, temp, record, observer);
    let foreign = record.foreign().to_vec();
    let written = record.paths().filter(|path| !foreign.contains(path)).cloned().collect();
    Ok(Recovered { written, foreign })
}

fn roll_forward(root: &Root, temp: &TempArea, record: &mut Record, observer: &dyn Fn(&'static str)) -> Result<(), WriteError> {
    let work = Work::new(root, temp, record, observer);
    let mut foreign = Vec::new();
    for index in work.order() {
        if work.carry(index, Direction::Forward)? == Outcome::Foreign {
            foreign.push(record.entries()[index].path.clone());
        }
    }
    foreign.sort();
    work.pass("write.files");
    work.sync_dirs()?;
    work.pass("write.synced");
    record.mark(Mark::Written { foreign })?;
    Ok(())
}
