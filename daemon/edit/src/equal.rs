//! Blocks of one reply that ask for the same: as many of them as places take one place each.

use std::collections::HashMap;

use crate::block::{Block, BlockKind};
use crate::ladder::Claims;

/// Which blocks of a reply ask for the same.
pub(crate) struct Equal {
    groups: Vec<Vec<usize>>,
    /// Group and place in it of each block.
    of: Vec<(usize, usize)>,
}

impl Equal {
    pub(crate) fn of(blocks: &[Block]) -> Self {
        type Key<'b> = (Option<&'b str>, &'b BlockKind, &'b [String], &'b str, &'b str);
        let mut ids: HashMap<Key<'_>, usize> = HashMap::new();
        let mut equal = Self { groups: Vec::new(), of: Vec::new() };
        for (nth, block) in blocks.iter().enumerate() {
            let key = (block.path.as_deref(), &block.kind, &*block.anchors, &*block.search, &*block.replace);
            let group = *ids.entry(key).or_insert(equal.groups.len());
            if group == equal.groups.len() {
                equal.groups.push(Vec::new());
            }
            equal.of.push((group, equal.groups[group].len()));
            equal.groups[group].push(nth);
        }
        equal
    }

    pub(crate) fn claims(&self, nth: usize, lost: &[bool]) -> Claims<'_> {
        let (group, place) = self.of[nth];
        let (before, rest) = self.groups[group].split_at(place);
        let sound = before.iter().all(|block| !lost[*block]);
        Claims { equal_later: sound.then_some(rest.len() - 1), equal_before: before, ..Claims::default() }
    }
}
