//! What a person decided about single hunks of a proposal.

use paird_edit::{Block, Hunk};

use super::entry::EditEntry;
use super::error::Error;
use super::ids::EditId;

/// Decisions about hunks, by the index of their block. A hunk that is not named goes on waiting.
#[derive(Debug, Clone, Default)]
pub struct Verdicts {
    pub accept: Vec<usize>,
    pub reject: Vec<usize>,
    /// Accepted with another text in REPLACE's place.
    pub replace: Vec<(usize, String)>,
}

/// A proposal in its parts.
#[derive(Debug, Clone)]
pub struct Resolved {
    pub edit: EditId,
    /// To be written: under the proposal's own id if nothing of it goes on waiting.
    pub accepted: Option<EditEntry>,
    /// What goes on waiting under the proposal's id.
    pub rest: Option<(Vec<Hunk>, Vec<Block>)>,
}

/// Takes a proposal apart. The error says which hunk is not there, or is decided twice.
pub fn resolve(edit: &EditEntry, verdicts: &Verdicts) -> Result<Resolved, Error> {
    let named: Vec<usize> =
        verdicts.accept.iter().chain(&verdicts.reject).copied().chain(verdicts.replace.iter().map(|(block, _)| *block)).collect();
    let invalid = |message: String| Error::Invalid { message, hint: "edit/get shows the hunks; name each at most once" };
    if named.is_empty() {
        return Err(invalid("no hunk is named".to_owned()));
    }
    for (nth, block) in named.iter().enumerate() {
        if !edit.hunks.iter().any(|hunk| hunk.block == *block) {
            return Err(invalid(format!("edit {} has no hunk {}.{block}", edit.id, edit.id)));
        }
        if named[..nth].contains(block) {
            return Err(invalid(format!("hunk {}.{block} is decided twice", edit.id)));
        }
    }
    let mut taken = Vec::new();
    for block in &edit.blocks {
        match verdicts.replace.iter().find(|(index, _)| *index == block.index) {
            None if verdicts.accept.contains(&block.index) => taken.push(block.clone()),
            None => {}
            Some((index, text)) => taken.push(block.clone().with_replace(text).ok_or_else(|| {
                invalid(format!("where the text of hunk {}.{index} begins is not certain, so it cannot be replaced", edit.id))
            })?),
        }
    }
    let waits = |block: usize| !named.contains(&block);
    let hunks: Vec<Hunk> = edit.hunks.iter().filter(|hunk| waits(hunk.block)).cloned().collect();
    let blocks = edit.blocks.iter().filter(|block| waits(block.index)).cloned().collect();
    let rest = (!hunks.is_empty()).then_some((hunks, blocks));
    let id = if rest.is_none() { edit.id.clone() } else { EditId::fresh() };
    let hunks = edit.hunks.iter().filter(|hunk| taken.iter().any(|block| block.index == hunk.block)).cloned().collect();
    let accepted = (!taken.is_empty()).then(|| EditEntry { id, hunks, blocks: taken, ..edit.clone() });
    Ok(Resolved { edit: edit.id.clone(), accepted, rest })
}
