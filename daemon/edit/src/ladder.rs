//! Finding a block's place in a file. Rungs are tried from strict to loose; the first that finds anything decides.

use std::ops::Range;

use paird_base::limits::BLOCKS_MAX;
use serde::{Deserialize, Serialize};

use crate::block::{Block, Split};
use crate::guard::{Gain, Guard, guard, without_last_divider};
use crate::lines::{Piece, Text};
use crate::rungs::{CLOSE, Finder, LOOSE, PARTS, Place, Rung, STRICT, already, create};
use crate::sides::Sides;

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

/// What is done with a close match; see [`Rung::Close`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CloseMatch {
    /// The edit is like any other.
    #[default]
    Apply,
    /// The edit is marked to be held until a person lets it pass.
    Hold,
    /// The block has no match.
    Off,
}

/// Why a block has no place in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Miss {
    NoMatch,
    /// First lines of the places, in the file before the reply.
    Ambiguous(Vec<usize>),
    NotEmpty,
    Gain(Gain),
    /// The file is not UTF-8, and this line of REPLACE has more than ASCII.
    Encoding(String),
    /// Too many lines were compared already.
    Spent,
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
    /// Whether a close match is no match.
    pub(crate) close_is_off: bool,
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
    /// What a person should look at before it is written.
    pub(crate) suspicious: Option<String>,
}

/// Finds the block's place without changing the text. Of the ways to split it, the longest SEARCH that is found counts:
/// wherever a longer one stands, the shorter ones stand too. But what leaves something to be found comes after all that
/// does not, and which of several dividers is meant is for lines that agree to say.
pub(crate) fn fit<'b>(text: &mut Text<'_>, block: &'b Block, path: &str, claims: Claims<'_>) -> Result<Fit<'b>, Miss> {
    if text.is_spent() {
        return Err(Miss::Spent);
    }
    for rungs in [STRICT, LOOSE] {
        match fit_rungs(text, block, block.splits(), path, claims, rungs) {
            Err(Miss::NoMatch) => {}
            decided => return decided,
        }
    }
    // The first divider gives the longest REPLACE, so that it proves most.
    if let Some(place) = already(text, &block.first_split()) {
        return Ok(done(&place));
    }
    let claims = Claims { equal_later: None, must_be_sole: true, ..claims };
    if claims.close_is_off {
        return Err(Miss::NoMatch);
    }
    if let Some(kept) = &block.kept {
        let split = block.first_split();
        match fit_split(text, &split, &Sides::of(&split).keeping(kept), path, claims, PARTS) {
            Err(Miss::NoMatch) => {}
            decided => return decided,
        }
    }
    if block.has_later_dividers() {
        return Err(Miss::NoMatch);
    }
    fit_rungs(text, block, block.splits(), path, claims, CLOSE)
}

/// The same by the exact rung alone, for looking into files that the block does not name. Needs words in SEARCH: a lone
/// brace stands in any file.
pub(crate) fn fit_exactly<'b>(text: &mut Text<'_>, block: &'b Block, path: &str) -> Result<Fit<'b>, Miss> {
    if text.is_spent() {
        return Err(Miss::Spent);
    }
    let splits = block.splits().filter(|split| split.search.contains(char::is_alphanumeric));
    let found = fit_rungs(text, block, splits, path, Claims { must_be_sole: true, ..Claims::default() }, &STRICT[..1])?;
    if found.rung == Rung::Trailing { Err(Miss::NoMatch) } else { Ok(found) }
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

fn fit_rungs<'b>(
    text: &mut Text<'_>,
    block: &Block,
    splits: impl Iterator<Item = Split<'b>>,
    path: &str,
    claims: Claims<'_>,
    rungs: &[(Rung, Finder)],
) -> Result<Fit<'b>, Miss> {
    for split in splits.map(|split| without_last_divider(split, path)) {
        let mut sides = Sides::of(&split);
        if block.has_loose_ends() {
            sides.even_ends();
        }
        if let Some(kept) = block.ends_anew() {
            sides = sides.keeping(kept);
        }
        match fit_split(text, &split, &sides, path, claims, rungs) {
            Err(Miss::NoMatch) => {}
            decided => return decided,
        }
    }
    Err(Miss::NoMatch)
}

fn fit_split<'b>(
    text: &mut Text<'_>,
    split: &Split<'b>,
    sides: &Sides<'_, 'b>,
    path: &str,
    claims: Claims<'_>,
    rungs: &[(Rung, Finder)],
) -> Result<Fit<'b>, Miss> {
    if sides.searches_nothing() {
        return match create(text, sides).ok_or(Miss::NotEmpty)? {
            (Rung::Already, place) => Ok(done(&place)),
            (rung, place) => written(text, sides, split, path, rung, &place).unwrap_or(Err(Miss::NoMatch)),
        };
    }
    for (rung, find) in rungs {
        let max = places_max(text, sides);
        let mut places = find(text, sides, max);
        let may_be_more = places.len() >= max;
        places.retain(|place| claims.allow(place.at, place.len));
        if may_be_more && claims.within.is_some() {
            return Err(ambiguous(text, &places));
        }
        if places.is_empty() {
            continue;
        }
        if !sides.differ() && sides.kept().len() == sides.search.len() {
            return Ok(done(&places[0]));
        }
        let (place, is_done) = choose(text, &places, claims)?;
        if is_done {
            return Ok(done(place));
        }
        let rung = if *rung == Rung::Exact && !same_ends(text, sides, place.at) { Rung::Trailing } else { *rung };
        if let Some(decided) = written(text, sides, split, path, rung, place) {
            return decided;
        }
    }
    Err(Miss::NoMatch)
}

/// Whether the place's lines end in `\r` where SEARCH's do.
fn same_ends(text: &Text<'_>, sides: &Sides<'_, '_>, at: usize) -> bool {
    text.range(at, sides.search.len()).zip(&sides.search).all(|(line, wanted)| line.text.ends_with(b"\r") == wanted.ends_with(b"\r"))
}

fn done<'b>(place: &Place) -> Fit<'b> {
    Fit { rung: Rung::Already, at: place.at, len: place.len, pieces: None, suspicious: None }
}

/// What the block writes at its place, unless it must not. `None` if REPLACE cannot be brought to the place's indentation.
fn written<'b>(
    text: &Text<'_>,
    sides: &Sides<'_, 'b>,
    split: &Split<'b>,
    path: &str,
    rung: Rung,
    place: &Place,
) -> Option<Result<Fit<'b>, Miss>> {
    let said = guard(split, path);
    if let Guard::Refuse(gain) = said {
        return Some(Err(Miss::Gain(gain)));
    }
    Some(checked(text, said, rung, place.at..place.at + place.len, place.pieces(sides)?))
}

/// What is written in the place of these lines, unless the guard or the file's encoding forbids it.
pub(crate) fn checked<'b>(text: &Text<'_>, said: Guard, rung: Rung, lines: Range<usize>, pieces: Vec<Piece<'b>>) -> Result<Fit<'b>, Miss> {
    let suspicious = match said {
        Guard::Pass => None,
        Guard::Ask(why) => Some(why),
        Guard::Refuse(gain) => return Err(Miss::Gain(gain)),
    };
    let foreign = |piece: &Piece<'_>| match piece {
        Piece::New(line) if !line.is_ascii() => Some(String::from_utf8_lossy(line).trim().to_owned()),
        _ => None,
    };
    if !text.is_utf8()
        && let Some(line) = pieces.iter().find_map(foreign)
    {
        return Err(Miss::Encoding(line));
    }
    Ok(Fit { rung, at: lines.start, len: lines.len(), pieces: Some(pieces), suspicious })
}

/// More places are not told apart: so many cannot stand beside each other, or there are not so many blocks for them.
fn places_max(text: &Text<'_>, sides: &Sides<'_, '_>) -> usize {
    (text.len() / sides.solid_range().len().max(1) + 2).min(BLOCKS_MAX + 1)
}

/// One of the places, and whether an equal block has done its work there already. Order alone never decides.
fn choose<'p>(text: &Text<'_>, places: &'p [Place], claims: Claims<'_>) -> Result<(&'p Place, bool), Miss> {
    if let [only] = places {
        let by_equal = |block| claims.equal_before.contains(&block);
        return Ok((only, text.range(only.at, only.len).any(|line| line.claimed_by().is_some_and(by_equal))));
    }
    let free = free(text, places);
    let apart = free.windows(2).all(|pair| pair[0].at + pair[0].len <= pair[1].at);
    match free[..] {
        [only] if !claims.must_be_sole => Ok((only, false)),
        [first, ..] if apart && claims.equal_later.is_some_and(|later| later + 1 == free.len()) => Ok((first, false)),
        _ => Err(ambiguous(text, places)),
    }
}

/// Those of which no block has claimed a line.
fn free<'p>(text: &Text<'_>, places: &'p [Place]) -> Vec<&'p Place> {
    let (Some(first), Some(end)) = (places.first(), places.iter().map(|place| place.at + place.len).max()) else {
        return Vec::new();
    };
    text.spend(end - first.at);
    // How many lines are claimed up to each one, so that places which overlap are not gone through again and again.
    let mut claimed = Vec::with_capacity(end - first.at + 1);
    claimed.push(0);
    for line in text.range(first.at, end - first.at) {
        claimed.push(claimed[claimed.len() - 1] + usize::from(line.claimed_by().is_some()));
    }
    let is_free = |place: &&Place| claimed[place.at + place.len - first.at] == claimed[place.at - first.at];
    places.iter().filter(is_free).collect()
}

fn ambiguous(text: &Text<'_>, places: &[Place]) -> Miss {
    Miss::Ambiguous(places.iter().map(|place| text.before_lines(place.at, place.len).0).collect())
}

impl Fit<'_> {
    /// The place in numbers of the file before the reply. To be called before the text is changed.
    pub(crate) fn hunk(&self, text: &Text<'_>, block: usize) -> Hunk {
        let (start_line, end_line) = text.before_lines(self.at, self.len);
        Hunk { block, rung: self.rung, start_line, end_line, score: self.rung.score() }
    }
}

#[cfg(test)]
mod tests;
