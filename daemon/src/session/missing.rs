//! What a reply was asked for again: blocks without a place, and parts that could not be read.

use std::collections::BTreeSet;

use paird_base::Problem;
use paird_edit::{Block, FailReason, Failed};

/// One thing that is still wanted of the model.
#[derive(Debug, Clone)]
pub(super) struct Missing {
    pub failed: Failed,
    /// `None` for what could not be read.
    block: Option<Block>,
}

impl Missing {
    pub(super) fn of(failed: Failed, blocks: &[Block]) -> Self {
        let block = blocks.iter().find(|block| block.index == failed.block).cloned();
        Self { failed, block }
    }

    pub(super) fn unread(problem: &Problem, index: usize) -> Self {
        let message = match problem.line {
            Some(line) => format!("line {line} of the reply: {}", problem.message),
            None => problem.message.clone(),
        };
        let failed = Failed { block: index, path: None, reason: FailReason::Unreadable, message, closest: None, nearly: None };
        Self { failed, block: None }
    }

    /// Whether a further reply took it up: one of its blocks has a line of it, or, of what could not be read, there is any block.
    /// A reply about something else leaves it open.
    pub(super) fn is_answered_by(&self, reply: &[Block]) -> bool {
        let Some(block) = &self.block else { return !reply.is_empty() };
        let wanted = lines(block);
        reply.iter().any(|new| lines(new).intersection(&wanted).next().is_some())
    }

    pub(super) fn block(&self) -> Option<&Block> {
        self.block.as_ref()
    }
}

/// Lines with words of both sides. A block without any stands for its path.
fn lines(block: &Block) -> BTreeSet<&str> {
    let lines = block.search.lines().chain(block.replace.lines()).map(str::trim);
    let lines: BTreeSet<&str> = lines.filter(|line| line.contains(char::is_alphanumeric)).collect();
    if lines.is_empty() { block.path.as_deref().into_iter().collect() } else { lines }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_about_something_else_leaves_a_block_open() {
        let block = |search: &str, replace: &str| Block::new(0, Some("a.py".to_owned()), search, replace, 1);
        let failed = Failed { block: 0, path: None, reason: FailReason::NoMatch, message: String::new(), closest: None, nearly: None };
        let missing = Missing::of(failed, &[block("x = 1\n", "x = 2\n")]);
        assert!(missing.is_answered_by(&[block("  x = 0\n", "  x = 2\n")]));
        assert!(!missing.is_answered_by(&[block("class A:\n", "class B:\n")]));
        assert!(!missing.is_answered_by(&[]));
        let unread = Missing::unread(&Problem::at(3, "no divider"), 0);
        assert!(unread.is_answered_by(&[block("a\n", "b\n")]) && !unread.is_answered_by(&[]));
    }
}
