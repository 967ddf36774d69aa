//! Reading a reply: from pieces of text to lines, and from lines to what the format's reader finds in them.

use std::collections::BTreeSet;

use paird_base::Problem;
use paird_base::limits::{BLOCKS_MAX, PROBLEMS_MAX, REPLY_BYTES_MAX, SHELL_BLOCKS_MAX};

use crate::block::{Block, Parsed};
use crate::format::Format;
use crate::formats::{Reader, reader};
use crate::other_format::OtherFormat;
use crate::reasoning::Reasoning;

/// Reads a whole reply.
#[must_use]
pub fn parse(format: Format, text: &str) -> Parsed {
    let mut parser = Parser::new(format);
    parser.push(text);
    parser.finish()
}

/// Reads a reply as it arrives; any cut into pieces gives the same as the whole. Only `\n` ends a line.
#[derive(Debug)]
pub struct Parser {
    reader: Box<dyn Reader>,
    found: Found,
    /// The start of a line whose end has not arrived.
    pending: String,
    /// Bytes taken so far, up to [`REPLY_BYTES_MAX`].
    bytes: usize,
    too_long: bool,
    reasoning: Reasoning,
    other_format: OtherFormat,
    /// Blocks that [`Parser::take_new`] has given.
    given: usize,
}

impl Parser {
    #[must_use]
    pub fn new(format: Format) -> Self {
        Self {
            reader: reader(format),
            found: Found { format, ..Found::default() },
            pending: String::new(),
            bytes: 0,
            too_long: false,
            reasoning: Reasoning::default(),
            other_format: OtherFormat::default(),
            given: 0,
        }
    }

    /// Takes these names for paths even where they look like words (`configure`) or prose (`My notes.md`): pass the chat files.
    #[must_use]
    pub fn with_known<S: AsRef<str>>(mut self, paths: impl IntoIterator<Item = S>) -> Self {
        self.found.known.extend(paths.into_iter().map(|path| path.as_ref().to_owned()));
        self
    }

    /// Takes the next piece of the reply. Text beyond [`REPLY_BYTES_MAX`] is left out with a problem.
    pub fn push(&mut self, piece: &str) {
        if self.too_long {
            return;
        }
        let mut rest = piece;
        let room = REPLY_BYTES_MAX - self.bytes;
        if rest.len() > room {
            let cut = (0..=room).rev().find(|at| rest.is_char_boundary(*at)).unwrap_or(0);
            rest = &rest[..cut];
            self.too_long = true;
        }
        self.bytes += rest.len();
        while let Some((line, more)) = rest.split_once('\n') {
            if self.pending.is_empty() {
                self.take_line(line);
            } else {
                let mut whole = std::mem::take(&mut self.pending);
                whole.push_str(line);
                self.take_line(&whole);
            }
            rest = more;
        }
        self.pending.push_str(rest);
    }

    /// The blocks that are complete by now. What follows in the reply may still withdraw one; only what
    /// [`Parser::finish`] returns is to be applied.
    #[must_use]
    pub fn blocks(&self) -> &[Block] {
        &self.found.parsed.blocks
    }

    /// Those of [`Parser::blocks`] that were not given before. One with an index that was given before stands for it.
    pub fn take_new(&mut self) -> Vec<Block> {
        let from = self.given.min(self.found.withdrawn_to.take().unwrap_or(usize::MAX));
        let new = self.blocks().get(from..).unwrap_or_default().to_vec();
        self.given = self.blocks().len();
        new
    }

    /// The reply is over.
    #[must_use]
    pub fn finish(mut self) -> Parsed {
        let cut = !self.pending.is_empty();
        if cut {
            let last = std::mem::take(&mut self.pending);
            self.take_line(&last);
        }
        self.reader.end(cut || self.too_long, &mut self.found);
        if self.too_long {
            self.found.problem(self.found.line, format!("the reply is longer than {REPLY_BYTES_MAX} bytes; the rest is left out"));
        }
        if let Some(line) = self.reasoning.open_since() {
            self.found.parsed.blocks.clear();
            self.found.parsed.shell_commands.clear();
            self.found.problem(line, "the reasoning that begins here has no end; no edits are taken from this reply");
        } else if self.found.count() == 0
            && !self.found.told_format
            && let Some((line, message)) = self.other_format.problem(self.found.format)
        {
            self.found.problem(line, message);
        }
        self.found.parsed
    }

    fn take_line(&mut self, line: &str) {
        self.found.line += 1;
        if self.reader.in_text() {
            return self.answer(line);
        }
        if self.reasoning.ends_unopened(line) {
            self.drop_drafts();
        }
        if let Some(answer) = self.reasoning.answer_in(line, self.found.line) {
            self.answer(answer);
        }
    }

    /// Takes a line that is no reasoning.
    fn answer(&mut self, line: &str) {
        self.other_format.line(line, self.found.line, self.found.format);
        self.reader.line(line, &mut self.found);
    }

    /// Some servers send the end of the reasoning without its start.
    fn drop_drafts(&mut self) {
        if !self.found.parsed.blocks.is_empty() {
            self.found.problem(self.found.line, "blocks above this end of reasoning are taken for drafts and left out");
        }
        self.found.parsed.blocks.clear();
        self.found.parsed.shell_commands.clear();
        self.found.withdrawn_to = Some(0);
        self.reader = reader(self.found.format);
        self.other_format = OtherFormat::default();
    }
}

/// What was found so far, within the bounds of one reply.
#[derive(Debug, Default)]
pub(crate) struct Found {
    format: Format,
    /// Names that are paths whatever they look like.
    pub(crate) known: BTreeSet<String>,
    /// The present line of the reply, from 1.
    pub(crate) line: usize,
    parsed: Parsed,
    /// A problem says already that the reply is written in another format.
    pub(crate) told_format: bool,
    /// The lowest index of a block withdrawn since new blocks were last asked for.
    withdrawn_to: Option<usize>,
}

impl Found {
    /// Takes a block, but for its index and format.
    pub(crate) fn block(&mut self, block: Block) {
        if self.has_room() {
            self.parsed.blocks.push(Block { index: self.parsed.blocks.len(), format: self.format, ..block });
        } else {
            self.problem(block.line, format!("more than {BLOCKS_MAX} blocks in one reply; this one is left out"));
        }
    }

    /// Whether one more block will be taken.
    pub(crate) fn has_room(&self) -> bool {
        self.parsed.blocks.len() < BLOCKS_MAX
    }

    /// Blocks so far.
    pub(crate) fn count(&self) -> usize {
        self.parsed.blocks.len()
    }

    /// Takes the last block back: it was not what it seemed.
    pub(crate) fn withdraw(&mut self) -> Option<Block> {
        let block = self.parsed.blocks.pop()?;
        self.withdrawn_to = Some(self.withdrawn_to.unwrap_or(usize::MAX).min(block.index));
        Some(block)
    }

    pub(crate) fn shell(&mut self, line: usize, text: &str) {
        if text.trim().is_empty() {
        } else if self.parsed.shell_commands.len() == SHELL_BLOCKS_MAX {
            self.problem(line, format!("more than {SHELL_BLOCKS_MAX} shell blocks in one reply; this one is left out"));
        } else {
            self.parsed.shell_commands.push(text.trim_end().to_owned());
        }
    }

    pub(crate) fn problem(&mut self, line: usize, message: impl Into<String>) {
        if self.parsed.problems.len() < PROBLEMS_MAX {
            self.parsed.problems.push(Problem::at(line, message));
        }
    }
}
