//! Proposals without a session: the newest few, for a few minutes.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use paird_base::limits::{LOOSE_PROPOSAL_AGE, LOOSE_PROPOSALS_MAX};

use paird_edit::{Block, Hunk, RecordId};

use super::entry::{EditEntry, EditStatus};
use super::ground::Ground;
use super::ids::EditId;

/// The lock is held for a look or a push, never across an await.
#[derive(Default)]
pub struct Loose {
    /// With the time of each, in milliseconds since the Unix epoch; oldest first.
    edits: Mutex<VecDeque<(u64, EditEntry)>>,
}

impl Loose {
    fn edits(&self, now_ms: u64) -> MutexGuard<'_, VecDeque<(u64, EditEntry)>> {
        let mut edits = self.edits.lock().unwrap_or_else(PoisonError::into_inner);
        let age_ms = u64::try_from(LOOSE_PROPOSAL_AGE.as_millis()).unwrap_or(u64::MAX);
        edits.retain(|(at, _)| now_ms.saturating_sub(*at) < age_ms);
        while edits.len() > LOOSE_PROPOSALS_MAX {
            edits.pop_front();
        }
        edits
    }

    pub fn keep(&self, now_ms: u64, new: &[EditEntry]) {
        self.edits(now_ms).extend(new.iter().map(|e| (now_ms, e.clone())));
    }

    #[must_use]
    pub fn all(&self, now_ms: u64) -> Vec<EditEntry> {
        self.edits(now_ms).iter().map(|(_, e)| e.clone()).collect()
    }

    #[must_use]
    pub fn get(&self, now_ms: u64, id: &EditId) -> Option<EditEntry> {
        self.edits(now_ms).iter().find(|(_, e)| e.id == *id).map(|(_, e)| e.clone())
    }

    /// Leaves of a proposal what is undecided.
    pub fn narrow(&self, now_ms: u64, id: &EditId, hunks: &[Hunk], blocks: &[Block], ground: Option<Ground>) {
        for (_, edit) in self.edits(now_ms).iter_mut().filter(|(_, e)| e.id == *id) {
            edit.hunks = hunks.to_vec();
            edit.blocks = blocks.to_vec();
            edit.ground = ground;
        }
    }

    /// Notes what the write lane did with them.
    pub fn set(&self, now_ms: u64, ids: &[EditId], status: EditStatus, write: Option<&RecordId>) {
        for (_, edit) in self.edits(now_ms).iter_mut().filter(|(_, e)| ids.contains(&e.id)) {
            edit.status = status;
            if let Some(write) = write {
                edit.write = Some(write.clone());
            }
        }
    }
}
