use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use paird_base::Problem;
use serde::{Deserialize, Serialize};

/// How a reply writes its edits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// SEARCH/REPLACE blocks; the path stands above the fence, on it, or inside it.
    Diff,
}

impl Format {
    pub const ALL: &[Self] = &[Self::Diff];

    /// The name on the wire and in the configuration.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Diff => "diff",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A name that is no edit format.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not an edit format; known: {known}", known = Format::ALL.iter().map(|f| f.as_str()).collect::<Vec<_>>().join(", "))]
pub struct UnknownFormat(pub String);

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(name: &str) -> Result<Self, UnknownFormat> {
        Self::ALL.iter().copied().find(|f| f.as_str() == name).ok_or_else(|| UnknownFormat(name.to_owned()))
    }
}

/// One SEARCH/REPLACE pair of a reply, as the model wrote it.
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
    /// Text before the first divider; ends with a line end unless it is empty.
    pub search: String,
    /// Text after the first divider; ends with a line end unless it is empty.
    pub replace: String,
    /// Line of the reply that holds the opening marker, from 1.
    pub line: usize,
    /// The first divider with its line end, needed when a later one is the divider.
    divider: String,
    /// Where further dividers stand in `replace`, line ends included.
    later_dividers: Vec<Range<usize>>,
}

/// One way to read a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split<'a> {
    pub search: Cow<'a, str>,
    pub replace: &'a str,
}

impl Block {
    /// A block with a single divider.
    #[must_use]
    pub fn new(index: usize, path: Option<String>, search: impl Into<String>, replace: impl Into<String>, line: usize) -> Self {
        Self {
            index,
            path,
            search: search.into(),
            replace: replace.into(),
            line,
            divider: "=======\n".to_owned(),
            later_dividers: Vec::new(),
        }
    }

    /// The block whose lines are `body`, with its dividers at these ranges of it. `None` without a divider.
    pub(crate) fn from_body(index: usize, path: Option<String>, body: &str, dividers: &[Range<usize>], line: usize) -> Option<Self> {
        let (first, later) = dividers.split_first()?;
        Some(Self {
            index,
            path,
            search: body[..first.start].to_owned(),
            replace: body[first.end..].to_owned(),
            line,
            divider: body[first.clone()].to_owned(),
            later_dividers: later.iter().map(|d| d.start - first.end..d.end - first.end).collect(),
        })
    }

    /// Every way to read the block, the longest SEARCH first.
    pub fn splits(&self) -> impl Iterator<Item = Split<'_>> {
        let later = self.later_dividers.iter().rev().filter_map(|divider| {
            let search = format!("{}{}{}", self.search, self.divider, self.replace.get(..divider.start)?);
            Some(Split { search: Cow::Owned(search), replace: self.replace.get(divider.end..)? })
        });
        later.chain(std::iter::once(self.first_split()))
    }

    /// The block read with its first divider.
    #[must_use]
    pub fn first_split(&self) -> Split<'_> {
        Split { search: Cow::Borrowed(&self.search), replace: &self.replace }
    }

    /// Whether several lines could be the divider.
    #[must_use]
    pub fn has_later_dividers(&self) -> bool {
        !self.later_dividers.is_empty()
    }

    /// A block with nothing to search for makes a file, or fills an empty one.
    #[must_use]
    pub fn creates(&self) -> bool {
        self.search.trim().is_empty()
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
