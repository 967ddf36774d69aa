//! From waiting blocks to a checked plan, on the files as they are now.

use std::collections::BTreeMap;

use paird_base::RepoPath;
use paird_edit::{Block, CloseMatch, Edit, Parsed, Plan, Proposal, Scope};

use super::entry::{EditEntry, EditStatus};
use super::error::Error;
use super::ground::{Ground, fail_changed};
use super::ids::{EditId, TurnId};
use super::job::Refused;
use super::tree::Tree;

/// Edits that all have their place.
pub(super) struct Placed {
    pub plan: Plan,
    /// The same edits, their hunks where the blocks are now.
    pub edits: Vec<EditEntry>,
}

/// Places the blocks of known edits anew. A block without a place refuses them all.
pub(super) fn place(tree: &Tree, edits: &[EditEntry], scope: &Scope) -> Result<Placed, Refused> {
    one_for_each_path(edits)?;
    let mut blocks: Vec<Block> = edits.iter().flat_map(|e| e.blocks.iter().cloned()).collect();
    blocks.sort_by_key(|b| b.index);
    let mut proposal = propose(tree, blocks, scope, true)?;
    fail_changed(&mut proposal, |edit, now| {
        // A file that it was not of when it was proposed, as after a rename, is not what it rests on either.
        edits.iter().find(|known| known.path == edit.path).is_some_and(|known| known.ground.is_none_or(|ground| ground == now))
    });
    if !proposal.failed.is_empty() {
        return Err(Refused::Blocks(proposal.failed));
    }
    let plan = proposal.plan().map_err(|error| Error::Conflict { message: error.to_string(), paths: Vec::new() })?;
    let edits = proposal.edits.into_iter().map(|edit| renewed(edits, edit)).collect();
    Ok(Placed { plan, edits })
}

/// Two proposals of one file are written one after the other: as one write they could not be told apart, nor taken back apart.
fn one_for_each_path(edits: &[EditEntry]) -> Result<(), Error> {
    let mut seen: BTreeMap<&RepoPath, &EditId> = BTreeMap::new();
    for (path, id) in edits.iter().flat_map(|e| e.paths().map(move |path| (path, &e.id))) {
        if let Some(other) = seen.insert(path, id) {
            let message = format!("edits {other} and {id} are both of {path}");
            return Err(Error::Invalid { message, hint: "nothing was written; apply one after the other" });
        }
    }
    Ok(())
}

/// Reads the files that the blocks name and finds each block's place. `asked` says that a person or the policy has
/// let the paths pass already, so that what git ignores is no obstacle; `.aiderignore` always is one.
pub fn propose(tree: &Tree, blocks: Vec<Block>, scope: &Scope, asked: bool) -> Result<Proposal, Error> {
    let parsed = Parsed { blocks, shell_commands: Vec::new(), problems: Vec::new() };
    let wanted = paird_edit::wanted_paths(&parsed, scope);
    let let_pass = if asked { &wanted } else { &scope.chat_files };
    let mut refused = tree.refused(&wanted, let_pass)?;
    refused.extend(scope.refused.clone());
    let scope = Scope { refused, ..scope.clone() };
    Ok(paird_edit::propose(&parsed, &tree.snapshot(wanted)?, &scope))
}

/// What a reply may touch in a chat: its files and new ones, but never those that are for reading.
#[must_use]
pub fn scope(files: &[RepoPath], read_only: &[RepoPath], close_match: CloseMatch) -> Scope {
    let reason = |path: &RepoPath| (path.clone(), format!("{path} is in the chat for reading only"));
    Scope { chat_files: files.iter().cloned().collect(), refused: read_only.iter().map(reason).collect(), close_match }
}

/// A new edit of a session.
#[must_use]
pub fn entry(edit: Edit, turn: Option<&TurnId>) -> EditEntry {
    let ground = Ground::under(&edit);
    EditEntry {
        id: EditId::fresh(),
        turn: turn.cloned(),
        path: edit.path,
        op: edit.op,
        status: EditStatus::Proposed,
        outside_chat: edit.outside_chat,
        creates: edit.creates,
        redirected_from: edit.redirected_from,
        hunks: edit.hunks,
        blocks: edit.blocks,
        suspicious: edit.suspicious,
        held: edit.held,
        ground,
        write: None,
        commit: None,
    }
}

/// The edit under the id that clients know, or a new one where a block found its place in another file than before.
fn renewed(known: &[EditEntry], edit: Edit) -> EditEntry {
    let old = known.iter().find(|k| k.path == edit.path);
    let left = Ground::of(edit.after.as_ref());
    let turn = old.or_else(|| known.first()).and_then(|k| k.turn.clone());
    let fresh = entry(edit, turn.as_ref());
    match old {
        Some(old) => EditEntry { id: old.id.clone(), outside_chat: old.outside_chat, ground: old.ground.map(|_| left), ..fresh },
        None => fresh,
    }
}
