//! Finding SEARCH/REPLACE blocks and shell blocks in a reply, piece by piece.

use std::collections::{BTreeSet, VecDeque};
use std::ops::Range;

use paird_base::Problem;
use paird_base::limits::{BLOCKS_MAX, DIVIDERS_MAX, PROBLEMS_MAX, REPLY_BYTES_MAX, SHELL_BLOCKS_MAX};

use crate::block::{Block, Format, Parsed};
use crate::marker::{Dialect, Marker, marker};
use crate::name::{Above, Fence, path_from};
use crate::reasoning::Reasoning;

/// Info strings of fences whose text is a suggested command.
const SHELLS: &[&str] = &["bash", "sh", "shell", "zsh", "fish", "ksh", "csh", "tcsh", "cmd", "batch", "powershell", "ps1"];
/// Lines above a block that are remembered for its name, blank ones included.
const LINES_ABOVE: usize = 8;

/// Reads a whole reply.
#[must_use]
pub fn parse(format: Format, text: &str) -> Parsed {
    match format {
        Format::Diff => {
            let mut parser = DiffParser::new();
            parser.push(text);
            parser.finish()
        }
    }
}

/// Reads a reply as it arrives; any cut into pieces gives the same as the whole. Only `\n` ends a line.
#[derive(Debug, Default)]
pub struct DiffParser {
    known: BTreeSet<String>,
    /// The start of a line whose end has not arrived.
    pending: String,
    /// Bytes taken so far, up to [`REPLY_BYTES_MAX`].
    bytes: usize,
    too_long: bool,
    /// Lines seen so far.
    line: usize,
    reasoning: Reasoning,
    open: Option<Open>,
    fence: Option<OpenFence>,
    above: VecDeque<Above>,
    last_path: Option<String>,
    after: After,
    parsed: Parsed,
}

/// A block whose closing marker has not come.
#[derive(Debug)]
struct Open {
    line: usize,
    dialect: Dialect,
    path: Option<String>,
    body: String,
    dividers: Vec<Range<usize>>,
}

#[derive(Debug)]
struct OpenFence {
    sign: char,
    len: usize,
    line: usize,
    /// Its text, if it is a shell block that holds no edit.
    shell: Option<String>,
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
}

impl DiffParser {
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A parser that takes these names for paths even where they look like words (`configure`) or prose (`My notes.md`):
    /// pass the chat files.
    #[must_use]
    pub fn with_known<S: AsRef<str>>(paths: impl IntoIterator<Item = S>) -> Self {
        Self { known: paths.into_iter().map(|p| p.as_ref().to_owned()).collect(), ..Self::default() }
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

    /// The reply is over.
    #[must_use]
    pub fn finish(mut self) -> Parsed {
        if !self.pending.is_empty() {
            let last = std::mem::take(&mut self.pending);
            self.take_line(&last);
        }
        if self.too_long {
            self.problem(self.line, format!("the reply is longer than {REPLY_BYTES_MAX} bytes; the rest is left out"));
        }
        if let Some(open) = self.open.take() {
            self.broken(&open);
        }
        if let Some(OpenFence { line, shell: Some(_), .. }) = self.fence {
            self.problem(line, "shell block without its closing fence; it is not offered");
        }
        if let Some(line) = self.reasoning.open_since() {
            self.parsed.blocks.clear();
            self.parsed.shell_commands.clear();
            self.problem(line, "the reasoning that begins here has no end; no edits are taken from this reply");
        }
        self.parsed
    }

    fn take_line(&mut self, line: &str) {
        self.line += 1;
        if self.open.is_some() {
            return self.answer_line(line);
        }
        if self.reasoning.ends_unopened(line) {
            self.drop_drafts();
        }
        if let Some(answer) = self.reasoning.answer_in(line, self.line) {
            self.answer_line(answer);
        }
    }

    fn answer_line(&mut self, line: &str) {
        match (self.open.take(), marker(line)) {
            (None, Some(Marker::Head(dialect))) => self.begin(dialect),
            (None, Some(Marker::Closing(_))) => self.stray_closing(),
            (None, _) => self.outside(line),
            (Some(open), Some(Marker::Head(dialect))) if open.dialect.minds(dialect) => {
                self.broken(&open);
                self.begin(dialect);
            }
            (Some(open), Some(Marker::Closing(dialect))) if open.dialect.minds(dialect) => self.close(open),
            (Some(mut open), marker) => {
                let start = open.body.len();
                open.body.push_str(line);
                open.body.push('\n');
                if marker == Some(Marker::Divider) {
                    open.dividers.push(start..open.body.len());
                }
                // Should the closing marker be missing, the next block's name stands among these lines.
                self.remember(line);
                self.open = Some(open);
            }
        }
    }

    fn begin(&mut self, dialect: Dialect) {
        let path = path_from(self.above.iter()).or_else(|| self.last_path.clone());
        self.last_path.clone_from(&path);
        self.above.clear();
        self.after = After::Nothing;
        if let Some(fence) = &mut self.fence {
            fence.shell = None;
        }
        self.open = Some(Open { line: self.line, dialect, path, body: String::new(), dividers: Vec::new() });
    }

    fn close(&mut self, open: Open) {
        self.above.clear();
        let index = self.parsed.blocks.len();
        if open.dividers.len() > DIVIDERS_MAX {
            self.problem(open.line, format!("the block has more than {DIVIDERS_MAX} divider lines; nothing of it is taken"));
        } else if index == BLOCKS_MAX {
            self.problem(open.line, format!("more than {BLOCKS_MAX} blocks in one reply; this one is left out"));
        } else if let Some(block) = Block::from_body(index, open.path.clone(), &open.body, &open.dividers, open.line) {
            self.parsed.blocks.push(block);
            self.after = After::Block;
        } else {
            self.broken(&open);
        }
    }

    fn broken(&mut self, open: &Open) {
        let missing = if open.dividers.is_empty() { "divider (=======)" } else { "closing marker (>>>>>>> REPLACE)" };
        let name = open.path.as_deref().map_or(String::new(), |path| format!(" for {path}"));
        self.problem(open.line, format!("the block{name} has no {missing}; nothing of it is taken"));
    }

    /// A closing marker outside a block. Directly after a block it is a repetition; after more text, the block's REPLACE
    /// held such a line itself and was cut there.
    fn stray_closing(&mut self) {
        match self.after {
            After::Block => {}
            After::Nothing => self.problem(self.line, "closing marker without a block"),
            After::BlockAndText => {
                let line = self.parsed.blocks.pop().map_or(self.line, |block| block.line);
                self.problem(line, "the block has two closing markers with text between them; nothing of it is taken");
                self.after = After::Nothing;
            }
        }
    }

    fn outside(&mut self, line: &str) {
        self.remember(line);
        if self.after == After::Block && matches!(self.above.back(), Some(Above::Text(_))) {
            self.after = After::BlockAndText;
        }
        let Some(fence) = Fence::read(line) else {
            return self.shell_line(line);
        };
        match &self.fence {
            Some(open) if open.sign != fence.sign || fence.len < open.len => self.shell_line(line),
            Some(_) if fence.info.is_empty() => self.close_fence(),
            // A fence of the same length inside another is taken for the start of the next: models forget closing fences.
            open => {
                if let Some(OpenFence { line, shell: Some(_), .. }) = open {
                    self.problem(*line, "shell block without its closing fence; it is not offered");
                }
                let shell = SHELLS.iter().any(|s| s.eq_ignore_ascii_case(fence.info)).then(String::new);
                self.fence = Some(OpenFence { sign: fence.sign, len: fence.len, line: self.line, shell });
            }
        }
    }

    fn shell_line(&mut self, line: &str) {
        if let Some(OpenFence { shell: Some(text), .. }) = &mut self.fence {
            text.push_str(line.strip_suffix('\r').unwrap_or(line));
            text.push('\n');
        }
    }

    fn close_fence(&mut self) {
        let Some(OpenFence { line, shell: Some(text), .. }) = self.fence.take() else {
            return;
        };
        // A path among a command's arguments names no block.
        self.above.clear();
        if text.trim().is_empty() {
            return;
        }
        if self.parsed.shell_commands.len() == SHELL_BLOCKS_MAX {
            self.problem(line, format!("more than {SHELL_BLOCKS_MAX} shell blocks in one reply; this one is left out"));
        } else {
            self.parsed.shell_commands.push(text.trim_end().to_owned());
        }
    }

    /// Some servers send the end of the reasoning without its start.
    fn drop_drafts(&mut self) {
        if !self.parsed.blocks.is_empty() {
            self.problem(self.line, "blocks above this end of reasoning are taken for drafts and left out");
        }
        self.parsed.blocks.clear();
        self.parsed.shell_commands.clear();
        self.above.clear();
        self.fence = None;
        self.last_path = None;
        self.after = After::Nothing;
    }

    fn remember(&mut self, line: &str) {
        if self.above.len() == LINES_ABOVE {
            self.above.pop_front();
        }
        self.above.push_back(Above::read(line, &self.known));
    }

    fn problem(&mut self, line: usize, message: impl Into<String>) {
        if self.parsed.problems.len() < PROBLEMS_MAX {
            self.parsed.problems.push(Problem::at(line, message));
        }
    }
}
