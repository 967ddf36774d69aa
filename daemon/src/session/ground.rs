//! What an edit of a whole file rests on: the content that the model was shown.
//!
//! A block with a search text is merged onto the file as it is. An edit that replaces, makes, deletes or moves a whole file
//! has nothing to merge by, and would take away what a person saved after the model had looked: it holds for the content
//! that was shown, and for no other.

use std::collections::BTreeMap;

use paird_base::{Content, ContentHash, RepoPath};
use paird_edit::{Block, BlockKind, Edit, FailReason, Failed, Op, Proposal};
use serde::{Deserialize, Serialize};

/// What stood at a path. Permission bits are not looked at: the file keeps those it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ground {
    NoFile,
    File(ContentHash),
}

/// What stood at each path that the model was shown.
pub(super) type Grounds = BTreeMap<RepoPath, Ground>;

impl Ground {
    #[must_use]
    pub fn of(content: Option<&Content>) -> Self {
        content.map_or(Self::NoFile, |content| Self::File(content.hash()))
    }

    /// What an edit rests on where it was placed; `None` if all of its blocks are merged.
    #[must_use]
    pub fn under(edit: &Edit) -> Option<Self> {
        edit.blocks.iter().any(is_of_whole_file).then(|| Self::of(edit.before.as_ref()))
    }
}

fn is_of_whole_file(block: &Block) -> bool {
    block.kind != BlockKind::Replace || block.creates()
}

/// What the model was shown before each reply of a turn.
#[derive(Debug, Default)]
pub(super) struct ShownBefore(Vec<(usize, Grounds)>);

impl ShownBefore {
    /// A reply whose blocks are numbered from `first` on.
    pub(super) fn add_reply(&mut self, first: usize, shown: Grounds) {
        self.0.push((first, shown));
    }

    /// Fails the edits of whole files that are not what was shown. A file that was not shown rests on what it is when its
    /// edit is first placed.
    pub(super) fn check(&mut self, proposal: &mut Proposal) {
        fail_changed(proposal, |edit, now| {
            edit.blocks.iter().filter(|block| is_of_whole_file(block)).all(|block| {
                let reply = self.0.iter_mut().rev().find(|(first, _)| *first <= block.index);
                reply.is_none_or(|(_, shown)| shown.entry(edit.path.clone()).or_insert(now) == &now)
            })
        });
    }
}

/// Fails the edits of whole files for which `stands` says that what they rest on is not there any more. Those that have
/// nothing to do take nothing away.
pub(super) fn fail_changed(proposal: &mut Proposal, mut stands: impl FnMut(&Edit, Ground) -> bool) {
    let mut holds = |edit: &Edit| {
        let idle = edit.op == Op::Modify && edit.before == edit.after;
        Ground::under(edit).is_none_or(|now| stands(edit, now) || idle)
    };
    let (kept, lost): (Vec<Edit>, Vec<Edit>) = std::mem::take(&mut proposal.edits).into_iter().partition(|edit| holds(edit));
    proposal.edits = kept;
    proposal.failed.extend(lost.iter().flat_map(|edit| edit.blocks.iter().map(|block| changed(&edit.path, block))));
    proposal.failed.sort_by_key(|failed| failed.block);
}

fn changed(path: &RepoPath, block: &Block) -> Failed {
    let message = format!("{path} changed since the model saw it, and an edit of the whole file would take that back");
    Failed { block: block.index, path: Some(path.to_string()), reason: FailReason::Differs, message, closest: None, nearly: None }
}
