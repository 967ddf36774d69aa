//! What a reply would do to the files.

use paird_base::{Content, Problem, RepoPath};
use serde::{Deserialize, Serialize};

use crate::block::Block;
use crate::change::{FileChange, Plan, PlanError};
use crate::fail::Failed;
use crate::ladder::Hunk;

/// What happens to a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Op {
    Add,
    Modify,
    Delete,
    /// The file gets another name; its text may change too.
    Move {
        to: RepoPath,
    },
}

/// One path's change by one reply.
#[derive(Debug, Clone, PartialEq)]
pub struct Edit {
    /// Of a move, the old name.
    pub path: RepoPath,
    pub op: Op,
    /// The file exists and is not one of the chat's.
    pub outside_chat: bool,
    /// The file does not exist yet.
    pub creates: bool,
    /// The name in the reply, if its blocks were found in this file instead.
    pub redirected_from: Option<RepoPath>,
    /// The blocks' places, in reply order.
    pub hunks: Vec<Hunk>,
    /// The blocks themselves: what waits for an answer is planned again on the file as it is then.
    pub blocks: Vec<Block>,
    /// What a person should look at before it is written: lower case, no full stop.
    pub suspicious: Vec<String>,
    /// A close match is among the hunks, and those are to be held as proposals; see [`crate::CloseMatch::Hold`].
    pub held: bool,
    pub before: Option<Content>,
    /// Equal to `before` if there was nothing to do; of a move, what stands under the new name.
    pub after: Option<Content>,
}

impl Edit {
    /// The new name of a file that is moved.
    #[must_use]
    pub fn to_path(&self) -> Option<&RepoPath> {
        match &self.op {
            Op::Move { to } => Some(to),
            Op::Add | Op::Modify | Op::Delete => None,
        }
    }

    /// What is to be written: one change, for a move two.
    #[must_use]
    pub fn changes(&self) -> Vec<FileChange> {
        let change = |path: &RepoPath, before: &Option<Content>, after: &Option<Content>| FileChange {
            path: path.clone(),
            before: before.clone(),
            after: after.clone(),
        };
        match self.to_path() {
            Some(to) => vec![change(&self.path, &self.before, &None), change(to, &None, &self.after)],
            None => vec![change(&self.path, &self.before, &self.after)],
        }
    }
}

/// What a reply would do. Nothing is written.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Proposal {
    /// One for each path, in the order of their first blocks.
    pub edits: Vec<Edit>,
    pub failed: Vec<Failed>,
    /// From parsing.
    pub problems: Vec<Problem>,
}

impl Proposal {
    /// The edits as changes that may be written together, whether or not other blocks failed; no-ops are left out.
    pub fn plan(&self) -> Result<Plan, PlanError> {
        Plan::new(self.edits.iter().flat_map(Edit::changes))
    }
}
