//! Proposals without a session: those of the newest few calls, for a few minutes. What was applied of them outlasts that
//! in the write records.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use paird_base::limits::{LOOSE_CALLS_MAX, LOOSE_PROPOSAL_AGE};
use paird_edit::{Block, Hunk, Journal, RecordId, State};

use super::entry::{EditEntry, EditStatus};
use super::error::Error;
use super::ground::Ground;
use super::ids::EditId;
use super::job::{Intent, What};

/// The edits of one reply. They are kept, and forgotten, together.
struct Call {
    /// In milliseconds since the Unix epoch.
    at_ms: u64,
    edits: Vec<EditEntry>,
}

/// The lock is held for a look or a push, never across an await.
#[derive(Default)]
pub struct Loose {
    /// Oldest first.
    calls: Mutex<VecDeque<Call>>,
}

impl Loose {
    fn calls(&self, now_ms: u64) -> MutexGuard<'_, VecDeque<Call>> {
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        let age_ms = u64::try_from(LOOSE_PROPOSAL_AGE.as_millis()).unwrap_or(u64::MAX);
        calls.retain(|call| now_ms.saturating_sub(call.at_ms) < age_ms);
        while calls.len() > LOOSE_CALLS_MAX {
            calls.pop_front();
        }
        calls
    }

    /// Keeps the edits of one call.
    pub fn keep(&self, now_ms: u64, edits: Vec<EditEntry>) {
        if !edits.is_empty() {
            self.calls(now_ms).push_back(Call { at_ms: now_ms, edits });
        }
    }

    /// Keeps what became of a part of an edit, as long as the rest of its call.
    pub fn keep_beside(&self, now_ms: u64, id: &EditId, part: EditEntry) {
        if let Some(call) = self.calls(now_ms).iter_mut().find(|call| call.edits.iter().any(|e| e.id == *id)) {
            call.edits.push(part);
        }
    }

    #[must_use]
    pub fn all(&self, now_ms: u64) -> Vec<EditEntry> {
        self.calls(now_ms).iter().flat_map(|call| call.edits.iter().cloned()).collect()
    }

    #[must_use]
    pub fn get(&self, now_ms: u64, id: &EditId) -> Option<EditEntry> {
        self.calls(now_ms).iter().flat_map(|call| &call.edits).find(|e| e.id == *id).cloned()
    }

    /// Leaves of a proposal what is undecided.
    pub fn narrow(&self, now_ms: u64, id: &EditId, hunks: &[Hunk], blocks: &[Block], ground: Option<Ground>) {
        for edit in self.calls(now_ms).iter_mut().flat_map(|call| &mut call.edits).filter(|e| e.id == *id) {
            edit.hunks = hunks.to_vec();
            edit.blocks = blocks.to_vec();
            edit.ground = ground;
        }
    }

    /// Notes what the write lane did with them.
    pub fn set(&self, now_ms: u64, ids: &[EditId], status: EditStatus, write: Option<&RecordId>) {
        for edit in self.calls(now_ms).iter_mut().flat_map(|call| &mut call.edits).filter(|e| ids.contains(&e.id)) {
            edit.status = status;
            if let Some(write) = write {
                edit.write = Some(write.clone());
            }
        }
    }
}

/// An edit without a session that was applied, as the write records have it: what the newest of them says of it is its status.
pub(super) fn recorded(journal: &Journal, id: &EditId) -> Result<Option<EditEntry>, Error> {
    let mut status = EditStatus::Applied;
    let mut flipped = false;
    for write in journal.ids()?.into_iter().rev() {
        // A record that cannot be read now tells of nothing that could be taken back.
        let Ok(record) = journal.load(&write) else { continue };
        if !matches!(record.state(), State::Written | State::Done) {
            continue;
        }
        let Ok(Intent { order, what }) = Intent::of(&record) else { continue };
        if order.session.is_some() {
            continue;
        }
        match what {
            What::Apply { edits } => {
                let applied = edits.into_iter().find(|e| e.id == *id && !e.paths().any(|path| record.foreign().contains(path)));
                if let Some(edit) = applied {
                    return Ok(Some(EditEntry { status, write: Some(write), ..edit }));
                }
            }
            What::Flip { edits, to } if !flipped && edits.iter().any(|(edit, _)| edit == id) => (status, flipped) = (to, true),
            What::Flip { .. } | What::UndoCommit { .. } => {}
        }
    }
    Ok(None)
}
