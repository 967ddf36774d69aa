//! The ways of finding a SEARCH text, one file each.
//!
//! A rung gives every place that fits it; whether one of several may be taken is decided outside, the same for all. Where
//! a rung allows the file to differ from SEARCH, the difference stays: lines that REPLACE keeps are kept as the file has them.

use std::borrow::Cow;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::indent::Shift;
use crate::lines::{Piece, Text};
use crate::sides::Sides;

mod already;
mod blank_edges;
mod close;
mod create;
mod elision;
mod exact;
mod indent;
mod names;
mod parts;
mod trailing;

pub(crate) use already::already;
pub(crate) use close::{CloseMiss, close_at};
pub(crate) use create::create;
pub(crate) use elision::elision_miss;

/// How a SEARCH text was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rung {
    /// Byte for byte, line ends included.
    Exact,
    /// But for line ends and blanks at the end of lines.
    Trailing,
    /// But for one indentation that all lines have too much or too little; REPLACE is shifted alike.
    Indent,
    /// But for blank lines at SEARCH's beginning and end, which the file has not or fewer of.
    BlankEdges,
    /// The pieces between `...` lines, each in one place, in order; what `...` stands for is kept.
    Elision,
    /// Nothing to do: SEARCH is gone and REPLACE stands there once, or the two are equal.
    Already,
    /// But for a few lines that REPLACE keeps, and for blank lines; or in parts, between which a hunk leaves out lines.
    Close,
    /// Nothing to find: a new file, or an empty one that is filled.
    Create,
    /// Nothing to find: the whole file is written anew, deleted or moved.
    Whole,
}

impl Rung {
    /// How much the place is trusted, 1 at most. Fixed for each rung, so that scores compare across files.
    #[must_use]
    pub const fn score(self) -> f64 {
        match self {
            Self::Exact | Self::Already | Self::Create | Self::Whole => 1.0,
            Self::Trailing => 0.98,
            Self::BlankEdges => 0.95,
            Self::Indent => 0.9,
            Self::Elision => 0.85,
            Self::Close => 0.8,
        }
    }
}

/// A place of one rung.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) at: usize,
    pub(crate) len: usize,
    /// How REPLACE has to be shifted there.
    pub(crate) shift: Shift,
    /// The same of its first line, where that is another.
    pub(crate) first: Option<Shift>,
    pub(crate) lines: Lines,
}

/// Which lines of a place each line of SEARCH stands for.
#[derive(Debug)]
pub(crate) enum Lines {
    /// The n-th for the n-th.
    Each,
    /// One for each line of SEARCH; together they are the whole place, in order.
    Spans(Vec<Span>),
}

/// Lines of a place, counted from its first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) lines: Range<usize>,
    pub(crate) kind: Kind,
}

/// What a line of SEARCH is in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// These lines.
    Stated,
    /// A `...` for these lines.
    LeftOut,
    /// All but the last of these lines are left out above it.
    LeftAbove,
    /// All but the first of these lines are left out below it.
    LeftBelow,
    /// A blank line that the file lacks; nothing is written for it.
    Missing,
    /// A blank line that the file lacks and that is written where REPLACE has it too.
    Wanted,
}

/// The first places of a rung in a text, in order, at most so many.
pub(crate) type Finder = fn(&mut Text<'_>, &Sides<'_, '_>, usize) -> Vec<Place>;

/// Those that state every line in full. Of the ways to split a block, all are tried on these before any is on the others.
pub(crate) const STRICT: &[(Rung, Finder)] =
    &[(Rung::Exact, exact::places), (Rung::Trailing, trailing::places), (Rung::Indent, indent::places)];
/// Those that leave something to be found.
pub(crate) const LOOSE: &[(Rung, Finder)] = &[(Rung::BlankEdges, blank_edges::places), (Rung::Elision, elision::places)];
/// The last, after [`already`].
pub(crate) const CLOSE: &[(Rung, Finder)] = &[(Rung::Close, close::places)];
/// For hunks alone: whoever writes them leaves out what does not change.
pub(crate) const PARTS: &[(Rung, Finder)] = &[(Rung::Close, parts::places)];

impl Place {
    /// A place whose lines are SEARCH's, one by one.
    pub(crate) fn plain(at: usize, len: usize) -> Self {
        Self { at, len, shift: Shift::None, first: None, lines: Lines::Each }
    }

    /// REPLACE as it is written here: lines that SEARCH has too stay as the file has them, the others are shifted.
    /// `None` if they cannot be.
    pub(crate) fn pieces<'b>(&self, sides: &Sides<'_, 'b>) -> Option<Vec<Piece<'b>>> {
        let mut kept = sides.kept().iter().peekable();
        let mut pieces = Vec::with_capacity(sides.replace.len());
        for (nth, line) in sides.replace.iter().enumerate() {
            let Some((old, _)) = kept.next_if(|(_, new)| *new == nth) else {
                let shift = self.first.as_ref().filter(|_| nth == 0).unwrap_or(&self.shift);
                pieces.push(Piece::New(shift.shifted(line)?));
                continue;
            };
            match &self.lines {
                Lines::Each => pieces.push(Piece::Keep(*old)),
                Lines::Spans(spans) => match &spans[*old] {
                    Span { lines, kind: Kind::Stated } => pieces.extend(lines.clone().map(Piece::Keep)),
                    Span { lines, kind: Kind::LeftOut } => pieces.extend(lines.clone().map(Piece::Leave)),
                    Span { lines, kind: Kind::LeftAbove } => {
                        pieces.extend((lines.start..lines.end - 1).map(Piece::Leave));
                        pieces.push(Piece::Keep(lines.end - 1));
                    }
                    Span { lines, kind: Kind::LeftBelow } => {
                        pieces.push(Piece::Keep(lines.start));
                        pieces.extend((lines.start + 1..lines.end).map(Piece::Leave));
                    }
                    Span { kind: Kind::Missing, .. } => {}
                    Span { kind: Kind::Wanted, .. } => pieces.push(Piece::New(Cow::Borrowed(*line))),
                },
            }
        }
        Some(pieces)
    }
}
