//! SEARCH/REPLACE blocks.

use std::ops::Range;

use paird_base::limits::DIVIDERS_MAX;

use super::Reader;
use super::shell::{Passed, Shells};
use crate::block::{Block, BlockKind};
use crate::fence::{Fence, FenceLine, unwrapped};
use crate::gains::is_prose;
use crate::marker::{Dialect, Marker, marker};
use crate::name::LinesAbove;
use crate::parser::Found;

#[derive(Debug, Default)]
pub(crate) struct DiffReader {
    open: Option<Open>,
    shells: Shells,
    above: LinesAbove,
    last: Name,
    after: After,
    /// The fence around the last block is closed.
    fence_is_closed: bool,
    around: Around,
}

/// The open fence that is longer than others, so that what it holds may show fences, and blocks in them.
#[derive(Debug, Default)]
struct Around {
    /// Blocks before it.
    blocks_before: usize,
    /// The file that it is named for.
    path: Option<String>,
    /// The shorter fence that is open in it.
    inner: Option<FenceLine<'static>>,
    /// Nothing more in it is an edit.
    refused: bool,
}

/// The file of a block, and whether no line names it for certain.
#[derive(Debug, Clone, Default)]
struct Name {
    path: Option<String>,
    guessed: bool,
}

/// A block whose closing marker has not come.
#[derive(Debug)]
struct Open {
    line: usize,
    dialect: Dialect,
    name: Name,
    body: String,
    dividers: Vec<Range<usize>>,
    /// The long fence that it stands in. Blocks within this one are text then.
    fence: Option<FenceLine<'static>>,
    /// Blocks within this one that are open, and whether there was one.
    depth: usize,
    holds_blocks: bool,
}

/// What stands between the last closing marker and here.
#[derive(Debug, Default, PartialEq, Eq)]
enum After {
    /// There was no block, or the last one is no longer in doubt.
    #[default]
    Nothing,
    /// Fences and blank lines.
    Block,
    /// Text that could belong to the block's REPLACE.
    BlockAndText,
    /// The block's fence is closed and another is open. The number counts the divider lines in it.
    NextFence { dividers: usize },
}

impl Reader for DiffReader {
    fn line(&mut self, line: &str, found: &mut Found) {
        let marker = marker(line);
        if self.open.as_mut().is_some_and(|open| open.takes_inner(line, marker)) {
            return;
        }
        match (self.open.take(), marker) {
            (None, _) if self.around.refused => self.outside(line, found),
            (Some(open), _) if open.holds_blocks && open.fence_ends(line) => self.refuse_fence(&open, line, found),
            (None, Some(Marker::Head(dialect))) => self.begin(dialect, found),
            (None, Some(Marker::Closing(_))) => self.stray_closing(found),
            (None, _) => self.outside(line, found),
            (Some(open), Some(Marker::Head(dialect))) if open.dialect.minds(dialect) => {
                broken(&open, found);
                self.begin(dialect, found);
            }
            (Some(open), Some(Marker::Closing(dialect))) if open.dialect.minds(dialect) => self.close(open, found),
            (Some(mut open), marker) => {
                let start = open.push(line);
                if marker == Some(Marker::Divider) {
                    open.dividers.push(start..open.body.len());
                }
                // Should the closing marker be missing, the next block's name stands among these lines.
                self.above.push(line);
                self.open = Some(open);
            }
        }
    }

    fn in_text(&self) -> bool {
        self.open.is_some()
    }

    fn end(&mut self, _cut: bool, found: &mut Found) {
        match self.open.take() {
            Some(open) if open.holds_blocks => refused(&open, found),
            Some(open) => broken(&open, found),
            None => {}
        }
        self.shells.end(found);
    }
}

impl DiffReader {
    fn begin(&mut self, dialect: Dialect, found: &mut Found) {
        let name = self.name(found);
        let fence = self.shells.open().map(|(open, _)| open).filter(|open| is_long(*open));
        if fence.is_some() && self.around.shows_block(&name) {
            found.problem(found.line, "the block that begins here is shown inside a file's text; nothing of that text is taken");
            self.around.refused = true;
            return self.above.clear();
        }
        self.last.clone_from(&name);
        self.above.clear();
        self.after = After::Nothing;
        self.fence_is_closed = false;
        self.shells.holds_edit();
        self.open =
            Some(Open { line: found.line, dialect, name, body: String::new(), dividers: Vec::new(), fence, depth: 0, holds_blocks: false });
    }

    /// A long fence ends before the block in it that holds others does: which marker is whose is not clear.
    fn refuse_fence(&mut self, open: &Open, line: &str, found: &mut Found) {
        while found.count() > self.around.blocks_before {
            found.withdraw();
        }
        refused(open, found);
        self.above.clear();
        self.shells.line(line, found);
    }

    /// The name on a line of its own, else one that the prose right above mentions, else that of the block before.
    fn name(&self, found: &Found) -> Name {
        if let Some(path) = self.above.path(&found.known) {
            return Name { path: Some(path), guessed: false };
        }
        if let Some(path) = self.above.mentioned(&found.known, self.last.path.is_none()) {
            return Name { path: Some(path), guessed: true };
        }
        // Fences alone between two blocks do not lead to another file; prose may.
        let same_place = self.after == After::Block && !self.last.guessed;
        Name { path: self.last.path.clone(), guessed: !same_place && self.last.path.is_some() }
    }

    fn close(&mut self, open: Open, found: &mut Found) {
        self.above.clear();
        if open.dividers.len() > DIVIDERS_MAX {
            return found.problem(open.line, format!("the block has more than {DIVIDERS_MAX} divider lines; nothing of it is taken"));
        }
        match Block::from_body(open.name.path.clone(), &open.body, &open.dividers, open.line) {
            Some(block) => {
                let block = Block { guessed: open.name.guessed, ..block };
                self.after = if found.has_room() { After::Block } else { After::Nothing };
                found.block(without_wrapping(block));
            }
            None => broken(&open, found),
        }
    }

    /// A closing marker outside a block. Directly after a block it is a repetition; after more text, the block's REPLACE
    /// held such a line itself and was cut there.
    fn stray_closing(&mut self, found: &mut Found) {
        match self.after {
            After::Block => {}
            After::Nothing => found.problem(found.line, "closing marker without a block"),
            After::NextFence { dividers: 1 } => {
                found.problem(found.line, "the block that ends here has no opening marker (<<<<<<< SEARCH); nothing of it is taken");
                self.above.clear();
                self.after = After::Nothing;
            }
            After::BlockAndText | After::NextFence { .. } => {
                let line = found.withdraw().map_or(found.line, |block| block.line);
                found.problem(line, "the block has two closing markers with text between them; nothing of it is taken");
                self.after = After::Nothing;
            }
        }
    }

    fn outside(&mut self, line: &str, found: &mut Found) {
        self.above.push(line);
        if self.after == After::Block && !line.trim().is_empty() && FenceLine::read(line).is_none() {
            self.after = After::BlockAndText;
        }
        let passed = self.shells.line(line, found);
        self.follow_fences(line, passed, found);
        match passed {
            // A path among a command's arguments names no block.
            Passed::ClosedShell => self.above.clear(),
            Passed::Closed => self.fence_is_closed = true,
            Passed::Opened if self.fence_is_closed && self.after == After::BlockAndText => self.after = After::NextFence { dividers: 0 },
            Passed::Opened | Passed::Text => {}
        }
        if let After::NextFence { dividers } = &mut self.after {
            *dividers += usize::from(marker(line) == Some(Marker::Divider));
        }
    }

    /// Keeps [`Around`] in step with a line outside a block.
    fn follow_fences(&mut self, line: &str, passed: Passed, found: &Found) {
        let is_in_long = self.shells.open().is_some_and(|(open, _)| is_long(open));
        match passed {
            Passed::Text if is_in_long => {
                if let Some(fence) = FenceLine::read(line) {
                    self.around.inner = match self.around.inner {
                        Some(inner) if inner.is_closed_by(fence) => None,
                        inner => inner.or(Some(fence.bare())),
                    };
                }
            }
            Passed::Text => {}
            Passed::Opened | Passed::Closed | Passed::ClosedShell => {
                if self.around.refused {
                    self.above.clear();
                    self.above.push(line);
                }
                let path = if is_in_long { self.above.path(&found.known) } else { None };
                self.around = Around { blocks_before: found.count(), path, ..Around::default() };
            }
        }
    }
}

impl Around {
    /// Whether a block of this name is a sample in the text of another file.
    fn shows_block(&self, name: &Name) -> bool {
        self.inner.is_some() && self.path.is_some() && self.path != name.path
    }
}

impl Open {
    /// Takes a line of the block and gives the place where it begins.
    fn push(&mut self, line: &str) -> usize {
        if self.fence_ends(line) {
            self.fence = None;
        }
        let start = self.body.len();
        self.body.push_str(line);
        self.body.push('\n');
        start
    }

    fn fence_ends(&self, line: &str) -> bool {
        self.fence.is_some_and(|open| FenceLine::read(line).is_some_and(|close| open.is_closed_by(close)))
    }

    /// Takes a marker of a block that this one shows.
    fn takes_inner(&mut self, line: &str, marker: Option<Marker>) -> bool {
        let is_inner = self.fence.is_some()
            && match marker {
                Some(Marker::Head(dialect)) => self.dialect.minds(dialect),
                Some(Marker::Closing(dialect)) => self.depth > 0 && self.dialect.minds(dialect),
                Some(Marker::Divider) => self.depth > 0,
                None => false,
            };
        if is_inner {
            self.push(line);
            match marker {
                Some(Marker::Head(_)) => self.depth += 1,
                Some(Marker::Closing(_)) => self.depth -= 1,
                _ => {}
            }
            self.holds_blocks = true;
        }
        is_inner
    }
}

/// Whether a text that has usual fences can stand in this one.
fn is_long(fence: FenceLine<'_>) -> bool {
    !matches!(fence, FenceLine::Signs(Fence { len: ..4, .. }))
}

fn refused(open: &Open, found: &mut Found) {
    let name = open.name.path.as_deref().map_or(String::new(), |path| format!(" for {path}"));
    found.problem(
        open.line,
        format!("the block{name} holds markers of other blocks, and which are its own is not clear; nothing in its fence is taken"),
    );
}

fn broken(open: &Open, found: &mut Found) {
    let missing = if open.dividers.is_empty() { "divider (=======)" } else { "closing marker (>>>>>>> REPLACE)" };
    let name = open.name.path.as_deref().map_or(String::new(), |path| format!(" for {path}"));
    found.problem(open.line, format!("the block{name} has no {missing}; nothing of it is taken"));
}

/// A new file's text without the fence that it is wrapped in, unless it may have one of its own.
fn without_wrapping(block: Block) -> Block {
    match block.path.as_deref() {
        Some(path) if block.kind == BlockKind::Replace && block.creates() && !is_prose(path) => match unwrapped(&block.replace, path) {
            Some(text) if !block.has_later_dividers() => Block { replace: text.to_owned(), ..block },
            _ => block,
        },
        _ => block,
    }
}
