//! Finding a block's place in a file. Rungs are tried from strict to loose; the first that finds anything decides.

use std::borrow::Cow;
use std::ops::Range;

use paird_base::limits::BLOCKS_MAX;
use serde::{Deserialize, Serialize};

use crate::block::{Block, Split};
use crate::gains::{Gain, gain};
use crate::indent::Shift;
use crate::index::Level;
use crate::lines::{Piece, Text, is_blank, split_lines, without_cr};

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
    /// Nothing to do: SEARCH is gone and REPLACE stands there once, or the two are equal.
    Already,
    /// Nothing to find: a new file, or an empty one that is filled.
    Create,
}

impl Rung {
    /// How much the place is trusted, 1 at most. Fixed for each rung, so that scores compare across files.
    #[must_use]
    pub const fn score(self) -> f64 {
        match self {
            Self::Exact | Self::Already | Self::Create => 1.0,
            Self::Trailing => 0.98,
            Self::Indent => 0.9,
        }
    }
}

/// One block's place in a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Hunk {
    /// Index of the block in its reply.
    pub block: usize,
    pub rung: Rung,
    /// First line of the match in the file as it was before the reply, from 1.
    pub start_line: usize,
    /// Last line of it, inclusive; `start_line - 1` where the block adds to a file without lines.
    pub end_line: usize,
    /// See [`Rung::score`].
    pub score: f64,
}

/// Why a block has no place in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Miss {
    NoMatch,
    /// First lines of the places, in the file before the reply.
    Ambiguous(Vec<usize>),
    NotEmpty,
    Gain(Gain),
}

/// What the other blocks of a reply mean for this one.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Claims<'c> {
    /// Later blocks with the same path and text; `None` if an earlier one of them found no place, so that their number
    /// proves nothing.
    pub(crate) equal_later: Option<usize>,
    /// Indices of the earlier ones.
    pub(crate) equal_before: &'c [usize],
    /// Other places count even if earlier blocks claimed them.
    pub(crate) must_be_sole: bool,
    /// Ranges of lines, from 0, one of which the place must touch: a hunk's anchors name them. `None` is the whole file.
    pub(crate) within: Option<&'c [Range<usize>]>,
}

impl Claims<'_> {
    /// Whether `len` lines at `at` may be the block's place.
    pub(crate) fn allow(&self, at: usize, len: usize) -> bool {
        self.within.is_none_or(|ranges| ranges.iter().any(|range| at < range.end && range.start < at + len))
    }
}

/// Where a block goes and what it puts there.
#[derive(Debug)]
pub(crate) struct Fit<'b> {
    pub(crate) rung: Rung,
    pub(crate) at: usize,
    pub(crate) len: usize,
    /// `None` if nothing changes.
    pub(crate) pieces: Option<Vec<Piece<'b>>>,
}

/// Both sides of a split as lines: SEARCH as in the reply, REPLACE without line ends.
struct Sides<'s, 'b> {
    search: Vec<&'s [u8]>,
    replace: Vec<&'b [u8]>,
}

/// A place of one rung, and how REPLACE has to be shifted there.
struct Place {
    at: usize,
    len: usize,
    shift: Shift,
}

/// A rung: all its places in a text, in order, at most [`PLACES_MAX`].
type Finder = fn(&mut Text<'_>, &Sides<'_, '_>) -> Vec<Place>;

const LADDER: &[(Rung, Level, Finder)] =
    &[(Rung::Exact, Level::Exact, exact), (Rung::Trailing, Level::Trailing, trailing), (Rung::Indent, Level::Trimmed, indent)];

/// More places than this are not told apart; equal blocks need one place each.
const PLACES_MAX: usize = BLOCKS_MAX + 1;

/// Finds the block's place without changing the text. Of the ways to split it, the longest SEARCH that is found counts:
/// wherever a longer one stands, the shorter ones stand too.
pub(crate) fn fit<'b>(text: &mut Text<'_>, block: &'b Block, path: &str, claims: Claims<'_>) -> Result<Fit<'b>, Miss> {
    for split in block.splits() {
        match fit_split(text, &split, path, claims, LADDER) {
            Err(Miss::NoMatch) => {}
            decided => return decided,
        }
    }
    // The first divider gives the longest REPLACE, so that it proves most.
    already(text, &block.first_split()).ok_or(Miss::NoMatch)
}

/// The same by the exact rung alone, for looking into files that the block does not name. Needs words in SEARCH: a lone
/// brace stands in any file.
pub(crate) fn fit_exactly<'b>(text: &mut Text<'_>, block: &'b Block, path: &str) -> Result<Fit<'b>, Miss> {
    for split in block.splits().filter(|split| split.search.contains(char::is_alphanumeric)) {
        match fit_split(text, &split, path, Claims { must_be_sole: true, ..Claims::default() }, &LADDER[..1]) {
            Err(Miss::NoMatch) => {}
            decided => return decided,
        }
    }
    Err(Miss::NoMatch)
}

/// Finds one block's place in a file's bytes, as if it were the only one of its reply.
///
/// The error is a reason for people and models, lower case and without full stop.
pub fn locate(block: &Block, bytes: &[u8]) -> Result<Hunk, String> {
    let mut text = Text::read(bytes)?;
    let path = block.path.as_deref().unwrap_or("the file");
    let found = fit(&mut text, block, path, Claims::default()).map_err(|miss| miss.message(path))?;
    Ok(found.hunk(&text, block.index))
}

fn fit_split<'b>(
    text: &mut Text<'_>,
    split: &Split<'b>,
    path: &str,
    claims: Claims<'_>,
    ladder: &[(Rung, Level, Finder)],
) -> Result<Fit<'b>, Miss> {
    let sides = Sides {
        search: split_lines(split.search.as_bytes()).collect(),
        replace: split_lines(split.replace.as_bytes()).map(without_cr).collect(),
    };
    if sides.search.iter().all(|line| is_blank(line)) {
        return create(text, &sides, split, path);
    }
    for (rung, level, find) in ladder {
        let mut places = find(text, &sides);
        places.retain(|place| claims.allow(place.at, place.len));
        if places.is_empty() {
            continue;
        }
        let changes = sides.search.iter().map(|line| without_cr(line)).ne(sides.replace.iter().copied());
        let (place, done) = if changes { choose(text, &places, claims)? } else { (&places[0], true) };
        if !text.stands_at(*level, place.at, &sides.search) {
            return Err(Miss::NoMatch);
        }
        if done {
            return Ok(Fit { rung: Rung::Already, at: place.at, len: place.len, pieces: None });
        }
        if let Some(gain) = gain(split, path) {
            return Err(Miss::Gain(gain));
        }
        let Some(replace) = place.shift.shifted(&sides.replace) else {
            continue;
        };
        return Ok(Fit { rung: *rung, at: place.at, len: place.len, pieces: Some(pieces(&sides, replace)) });
    }
    Err(Miss::NoMatch)
}

/// One of the places, and whether an equal block has done its work there already. Order alone never decides.
fn choose<'p>(text: &Text<'_>, places: &'p [Place], claims: Claims<'_>) -> Result<(&'p Place, bool), Miss> {
    let claimed_by =
        |place: &Place, by: &dyn Fn(usize) -> bool| text.range(place.at, place.len).any(|line| line.claimed_by.is_some_and(by));
    if let [only] = places {
        return Ok((only, claimed_by(only, &|block| claims.equal_before.contains(&block))));
    }
    let free: Vec<&Place> = places.iter().filter(|place| !claimed_by(place, &|_| true)).collect();
    let apart = free.windows(2).all(|pair| pair[0].at + pair[0].len <= pair[1].at);
    match free[..] {
        [only] if !claims.must_be_sole => Ok((only, false)),
        [first, ..] if apart && claims.equal_later.is_some_and(|later| later + 1 == free.len()) => Ok((first, false)),
        _ => Err(Miss::Ambiguous(places.iter().map(|place| text.before_lines(place.at, place.len).0).collect())),
    }
}

fn exact(text: &mut Text<'_>, sides: &Sides<'_, '_>) -> Vec<Place> {
    unshifted(text, Level::Exact, sides)
}

fn trailing(text: &mut Text<'_>, sides: &Sides<'_, '_>) -> Vec<Place> {
    unshifted(text, Level::Trailing, sides)
}

fn unshifted(text: &mut Text<'_>, level: Level, sides: &Sides<'_, '_>) -> Vec<Place> {
    let len = sides.search.len();
    text.find(level, &sides.search, PLACES_MAX).into_iter().map(|at| Place { at, len, shift: Shift::None }).collect()
}

fn indent(text: &mut Text<'_>, sides: &Sides<'_, '_>) -> Vec<Place> {
    let len = sides.search.len();
    let places = text.find(Level::Trimmed, &sides.search, PLACES_MAX);
    let shifted = places.into_iter().filter_map(|at| {
        let pairs = text.range(at, len).map(|line| &*line.text).zip(sides.search.iter().copied());
        Some(Place { at, len, shift: Shift::between(pairs)? })
    });
    shifted.collect()
}

/// A block without SEARCH: right for a file without lines, done if the file is what it would write.
fn create<'b>(text: &mut Text<'_>, sides: &Sides<'_, 'b>, split: &Split<'b>, path: &str) -> Result<Fit<'b>, Miss> {
    if text.len() > 0 {
        let same = text.len() == sides.replace.len() && text.stands_at(Level::Trailing, 0, &sides.replace);
        return if same { Ok(Fit { rung: Rung::Already, at: 0, len: text.len(), pieces: None }) } else { Err(Miss::NotEmpty) };
    }
    if let Some(gain) = gain(split, path) {
        return Err(Miss::Gain(gain));
    }
    let pieces = sides.replace.iter().map(|line| Piece::New(Cow::Borrowed(*line))).collect();
    Ok(Fit { rung: Rung::Create, at: 0, len: 0, pieces: Some(pieces) })
}

/// SEARCH is nowhere; is it because the block's work is done? Only a REPLACE with words that is no part of SEARCH proves that.
fn already<'b>(text: &mut Text<'_>, split: &Split<'_>) -> Option<Fit<'b>> {
    let replace: Vec<&[u8]> = split_lines(split.replace.as_bytes()).collect();
    let part_of_search = || format!("\n{}", split.search).contains(&format!("\n{}", split.replace));
    if !split.replace.contains(char::is_alphanumeric) || part_of_search() {
        return None;
    }
    match text.find(Level::Trailing, &replace, 2)[..] {
        [at] => Some(Fit { rung: Rung::Already, at, len: replace.len(), pieces: None }),
        _ => None,
    }
}

/// REPLACE as it is written: lines that SEARCH has too stay as the file has them.
fn pieces<'b>(sides: &Sides<'_, 'b>, replace: Vec<Cow<'b, [u8]>>) -> Vec<Piece<'b>> {
    let search: Vec<&[u8]> = sides.search.iter().map(|line| without_cr(line)).collect();
    let mut pieces: Vec<Piece<'b>> = replace.into_iter().map(Piece::New).collect();
    for op in similar::capture_diff_slices(similar::Algorithm::Myers, &search, &sides.replace) {
        if let similar::DiffOp::Equal { old_index, new_index, len } = op {
            for nth in 0..len {
                pieces[new_index + nth] = Piece::Keep(old_index + nth);
            }
        }
    }
    pieces
}

impl Fit<'_> {
    /// The place in numbers of the file before the reply. To be called before the text is changed.
    pub(crate) fn hunk(&self, text: &Text<'_>, block: usize) -> Hunk {
        let (start_line, end_line) = text.before_lines(self.at, self.len);
        Hunk { block, rung: self.rung, start_line, end_line, score: self.rung.score() }
    }
}
