use std::borrow::Cow;
use std::ops::Range;

use paird_base::Problem;
use serde::{Deserialize, Serialize};

use crate::fence::unwrapped;
use crate::format::Format;

/// What a block asks for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BlockKind {
    /// REPLACE takes the place of SEARCH. Without SEARCH it makes a file, or fills an empty one.
    #[default]
    Replace,
    /// A file that must not exist, with REPLACE as its text.
    Add,
    /// A file's whole text, in REPLACE, whether or not it exists. The name is not `certain` if prose gives it or if it was
    /// taken for the only file that it can be.
    Whole { certain: bool },
    /// The file goes. SEARCH is its text if the reply shows it.
    Delete,
    /// The file gets another name.
    Move { to: String },
}

/// One edit block of a reply, as the model wrote it: a SEARCH/REPLACE pair, a hunk, a listing, an operation on a file.
///
/// Files hold lines of `=` too (underlined headings, merge conflicts), so a block may have several lines that could be
/// the divider. `search` and `replace` are the two sides of the first one; [`Block::splits`] gives every possibility,
/// and the file decides between them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Block {
    /// Place in the reply, from 0.
    pub index: usize,
    /// The file's name without decoration; `None` if the reply names none, here or in an earlier block.
    pub path: Option<String>,
    /// No line names the file for this block: it is that of the block before, or one that the prose above mentions.
    #[serde(default)]
    pub guessed: bool,
    #[serde(default)]
    pub kind: BlockKind,
    /// What the block is written in.
    #[serde(default)]
    pub format: Format,
    /// Text before the first divider, of a hunk its kept and removed lines; ends with a line end unless it is empty.
    pub search: String,
    /// Text after the first divider, of a hunk its kept and added lines; ends with a line end unless it is empty.
    pub replace: String,
    /// Lines that the hunk's place lies below, outermost first.
    #[serde(default)]
    pub anchors: Vec<String>,
    /// The hunk says that it ends where the file ends.
    #[serde(default)]
    pub at_end: bool,
    /// REPLACE's last line has no end, where it becomes the last of the file.
    #[serde(default)]
    pub unended: bool,
    /// Line of the reply that holds the opening marker, from 1.
    pub line: usize,
    /// A sign of the hunk says that a line has no end.
    #[serde(default)]
    pub(crate) tells_end: bool,
    /// Permission bits that the file gets with it.
    #[serde(default)]
    pub(crate) mode: Option<u32>,
    /// Of a hunk, the lines that it keeps, as places in SEARCH and in REPLACE. Where lines repeat themselves, the texts alone
    /// do not tell.
    #[serde(default)]
    pub(crate) kept: Option<Vec<(usize, usize)>>,
    /// The first divider with its line end, needed when a later one is the divider.
    pub(crate) divider: String,
    /// Where further dividers stand in `replace`, line ends included.
    pub(crate) later_dividers: Vec<Range<usize>>,
}

/// One way to read a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split<'a> {
    pub search: Cow<'a, str>,
    pub replace: &'a str,
}

impl Block {
    /// A SEARCH/REPLACE pair with a single divider.
    #[must_use]
    pub fn new(index: usize, path: Option<String>, search: impl Into<String>, replace: impl Into<String>, line: usize) -> Self {
        Self {
            index,
            path,
            guessed: false,
            kind: BlockKind::Replace,
            format: Format::Diff,
            search: search.into(),
            replace: replace.into(),
            anchors: Vec::new(),
            at_end: false,
            unended: false,
            line,
            tells_end: false,
            mode: None,
            kept: None,
            divider: "=======\n".to_owned(),
            later_dividers: Vec::new(),
        }
    }

    /// The same text as another kind of block.
    #[must_use]
    pub fn of_kind(self, kind: BlockKind) -> Self {
        Self { kind, ..self }
    }

    /// The same place with another text for it. `None` if it is not certain where REPLACE begins.
    #[must_use]
    pub fn with_replace(self, text: &str) -> Option<Self> {
        let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        (!self.has_later_dividers()).then(|| Self { replace: format!("{text}{end}"), kept: None, ..self })
    }

    /// The pair whose lines are `body`, with its dividers at these ranges of it. `None` without a divider.
    pub(crate) fn from_body(path: Option<String>, body: &str, dividers: &[Range<usize>], line: usize) -> Option<Self> {
        let (first, later) = dividers.split_first()?;
        Some(Self {
            divider: body[first.clone()].to_owned(),
            later_dividers: later.iter().map(|d| d.start - first.end..d.end - first.end).collect(),
            ..Self::new(0, path, &body[..first.start], &body[first.end..], line)
        })
    }

    /// Every way to read the block, the longest SEARCH first. Sides that are wrapped in fences may be meant without them.
    pub fn splits(&self) -> impl Iterator<Item = Split<'_>> {
        let later = self.later_dividers.iter().rev().filter_map(|divider| {
            let search = format!("{}{}{}", self.search, self.divider, self.replace.get(..divider.start)?);
            Some(Split { search: Cow::Owned(search), replace: self.replace.get(divider.end..)? })
        });
        later.chain(std::iter::once(self.first_split())).chain(self.unwrapped())
    }

    /// The block read with its first divider.
    #[must_use]
    pub fn first_split(&self) -> Split<'_> {
        Split { search: Cow::Borrowed(&self.search), replace: &self.replace }
    }

    /// The block without the fences, and names above them, that each of its sides is wrapped in.
    fn unwrapped(&self) -> Option<Split<'_>> {
        let path = self.path.as_deref().unwrap_or_default();
        let search = unwrapped(&self.search, path)?;
        let replace = if self.replace.trim().is_empty() { &self.replace } else { unwrapped(&self.replace, path)? };
        (!search.trim().is_empty()).then_some(Split { search: Cow::Borrowed(search), replace })
    }

    /// Whether several lines could be the divider.
    #[must_use]
    pub fn has_later_dividers(&self) -> bool {
        !self.later_dividers.is_empty()
    }

    /// The lines that a hunk keeps, if all that it changes is the end of the last line.
    pub(crate) fn ends_anew(&self) -> Option<&[(usize, usize)]> {
        self.kept.as_deref().filter(|_| self.tells_end && self.search == self.replace)
    }

    /// Whether a blank line that only one side ends with is no part of it: many write one before a marker.
    pub(crate) fn has_loose_ends(&self) -> bool {
        self.kind == BlockKind::Replace && !self.format.has_hunks()
    }

    /// A block with nothing to search for makes a file, or fills an empty one.
    #[must_use]
    pub fn creates(&self) -> bool {
        match self.kind {
            BlockKind::Replace => self.search.trim().is_empty() && self.anchors.is_empty() && !self.at_end,
            BlockKind::Add | BlockKind::Whole { .. } => true,
            BlockKind::Delete | BlockKind::Move { .. } => false,
        }
    }
}

/// What a reply holds.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parsed {
    pub blocks: Vec<Block>,
    /// Texts of the shell blocks, in reply order. Nothing has run them.
    pub shell_commands: Vec<String>,
    /// What looked like an edit and is none; lines count in the reply.
    pub problems: Vec<Problem>,
}
