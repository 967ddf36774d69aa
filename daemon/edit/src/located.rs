//! Where each block of a reply belongs, or why it belongs nowhere, one answer for each.

use paird_base::RepoPath;

use crate::block::Parsed;
use crate::fail::Failed;
use crate::ladder::Hunk;
use crate::propose::propose;
use crate::rungs::Rung;
use crate::snapshot::{Scope, Snapshot};

/// What is known of one block.
#[derive(Debug, Clone, PartialEq)]
pub struct Located {
    /// Index of the block in its reply.
    pub block: usize,
    /// The file of its place, of a move the old name; for a failed one the file it was tried on, else the name in the reply.
    pub path: Option<String>,
    /// Its place, or why it has none.
    pub place: Result<Hunk, Failed>,
    /// The name in the reply, if the place is in another file.
    pub redirected_from: Option<RepoPath>,
    /// The rung that found the place, or would have but for what the failure says.
    pub nearest: Option<Rung>,
    /// The edit of the file is to be held, since a close match is among its places.
    pub held: bool,
}

/// Finds the place of every block in the files as they are in the snapshot, each seeing what the blocks before it did; in
/// reply order.
#[must_use]
pub fn locate_blocks(parsed: &Parsed, snapshot: &Snapshot, scope: &Scope) -> Vec<Located> {
    let proposal = propose(parsed, snapshot, scope);
    let mut located: Vec<Located> = Vec::with_capacity(parsed.blocks.len());
    for edit in proposal.edits {
        located.extend(edit.hunks.into_iter().map(|hunk| Located {
            block: hunk.block,
            path: Some(edit.path.to_string()),
            redirected_from: edit.redirected_from.clone(),
            nearest: Some(hunk.rung),
            held: edit.held && hunk.rung == Rung::Close,
            place: Ok(hunk),
        }));
    }
    located.extend(proposal.failed.into_iter().map(|failed| Located {
        block: failed.block,
        path: failed.path.clone(),
        redirected_from: None,
        nearest: failed.nearly,
        held: false,
        place: Err(failed),
    }));
    located.sort_by_key(|located| located.block);
    located
}
