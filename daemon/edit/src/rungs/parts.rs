//! A hunk that leaves out lines between its own without a word.
//!
//! SEARCH is cut where the file goes on otherwise, into as few parts as can be. All of this must hold:
//! - each part stands in one place of the file, all in the order of SEARCH, with SEARCH's indentation;
//! - cut from its beginning and cut from its end, SEARCH gives each line that is changed, or has lines added beside it, the
//!   same place, blank lines among others apart; and so do the first and the last ways of all to find SEARCH's lines one
//!   after another in the file, however often they leave out something;
//! - a part that changes has two lines that are not blank, unless blank lines are all that is left out beside it;
//! - what is left out touches a kept line, and nothing is added there unless all of it is blank: on which side that goes is
//!   not said;
//! - nothing left out encloses what is below it, or begins another section: the lines below would be another block's;
//! - the lines left out do not begin or end like the part that would be there: then SEARCH tells of another state of them.

use std::ops::Range;

use super::names::begins_section;
use super::{Kind, Lines, Place, Span};
use crate::closest::likeness;
use crate::indent::leading;
use crate::index::Level;
use crate::lines::{Text, is_blank};
use crate::sides::{Fate, Sides};

/// A hunk in more parts tells of another file.
const PARTS_MAX: usize = 12;
/// Lines of a part that changes, blank ones not counted.
const PART_LINES_MIN: usize = 2;

/// Likeness, from 0 to 1, of a line left out with the one that would be there, from which on they are two states of one line.
const LIKENESS_MAX: f64 = 0.8;

/// Lines of SEARCH, and where the first of them stands.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Part {
    lines: Range<usize>,
    at: usize,
}

impl Part {
    fn end(&self) -> usize {
        self.at + self.lines.len()
    }

    fn place_of(&self, line: usize) -> usize {
        self.at + line - self.lines.start
    }
}

/// The place of a hunk in parts.
pub(super) fn places(text: &mut Text<'_>, sides: &Sides<'_, '_>, _: usize) -> Vec<Place> {
    place(text, sides).into_iter().collect()
}

fn place(text: &mut Text<'_>, sides: &Sides<'_, '_>) -> Option<Place> {
    let search = &sides.search;
    if search.iter().any(|line| text.count_of(Level::Trailing, line) == 0) {
        return None;
    }
    let parts = from_beginning(text, search)?;
    let others = from_end(text, search)?;
    let fates = sides.fates();
    let in_order = parts.windows(2).all(|pair| pair[0].end() < pair[1].at);
    if parts.len() < 2 || !in_order || !agree(text, sides, &fates, places_of(&parts), places_of(&others)) {
        return None;
    }
    let (first, last) = earliest_and_latest(text, search)?;
    if !agree(text, sides, &fates, first.into_iter(), last.into_iter()) {
        return None;
    }
    let mut spans: Vec<Span> = Vec::with_capacity(search.len());
    let first = parts[0].at;
    for part in &parts {
        spans.extend((part.at..part.end()).map(|at| Span { lines: at - first..at - first + 1, kind: Kind::Stated }));
    }
    let mut blank_above = false;
    for (nth, part) in parts.iter().enumerate() {
        let gap = parts.get(nth + 1).map(|below| part.end()..below.at);
        let blank_below = gap.clone().is_some_and(|gap| all_blank(text, gap));
        let solid = search[part.lines.clone()].iter().filter(|line| !is_blank(line)).count();
        let changes = fates[part.lines.clone()].iter().any(|fate| *fate != Fate::Kept);
        if changes && solid < PART_LINES_MIN && !blank_above && !blank_below {
            return None;
        }
        blank_above = blank_below;
        if let Some(gap) = gap {
            if !may_be_left_out(text, sides, &fates, part, &parts[nth + 1], gap.clone()) {
                return None;
            }
            let cut = part.lines.end;
            let gap = gap.start - first..gap.end - first;
            if stays_above(sides, &fates, cut, blank_below)? {
                spans[cut - 1] = Span { lines: spans[cut - 1].lines.start..gap.end, kind: Kind::LeftBelow };
            } else {
                spans[cut] = Span { lines: gap.start..spans[cut].lines.end, kind: Kind::LeftAbove };
            }
        }
    }
    let len = parts.last()?.end() - first;
    Some(Place { lines: Lines::Spans(spans), ..Place::plain(first, len) })
}

/// SEARCH in parts, each as long as it stands in the file from its first line on. `None` if one stands in several places.
fn from_beginning(text: &mut Text<'_>, search: &[&[u8]]) -> Option<Vec<Part>> {
    let mut parts = Vec::new();
    let mut start = 0;
    while start < search.len() {
        let len = longest(search.len() - start, |len| stands(text, &search[start..start + len]))?;
        parts.push(sole(text, search, start..start + len)?);
        start += len;
        if parts.len() > PARTS_MAX {
            return None;
        }
    }
    Some(parts)
}

/// The same, each as long as it stands in the file up to its last line.
fn from_end(text: &mut Text<'_>, search: &[&[u8]]) -> Option<Vec<Part>> {
    let mut parts = Vec::new();
    let mut end = search.len();
    while end > 0 {
        let len = longest(end, |len| stands(text, &search[end - len..end]))?;
        parts.push(sole(text, search, end - len..end)?);
        end -= len;
        if parts.len() > PARTS_MAX {
            return None;
        }
    }
    parts.reverse();
    Some(parts)
}

fn stands(text: &mut Text<'_>, lines: &[&[u8]]) -> bool {
    !text.is_spent() && !text.find(Level::Trailing, lines, 1).is_empty()
}

fn sole(text: &mut Text<'_>, search: &[&[u8]], lines: Range<usize>) -> Option<Part> {
    match text.find(Level::Trailing, &search[lines.clone()], 2)[..] {
        [at] if !text.is_spent() => Some(Part { lines, at }),
        _ => None,
    }
}

/// The greatest length up to `max` that holds, if wherever one does all smaller ones do. `None` if not even one line does.
fn longest(max: usize, mut holds: impl FnMut(usize) -> bool) -> Option<usize> {
    let (mut least, mut over) = (0, max + 1);
    while least + 1 < over {
        let middle = least + (over - least) / 2;
        if holds(middle) {
            least = middle;
        } else {
            over = middle;
        }
    }
    (least > 0).then_some(least)
}

/// The first and the last place of each line of SEARCH, if the lines come in order.
fn earliest_and_latest(text: &Text<'_>, search: &[&[u8]]) -> Option<(Vec<usize>, Vec<usize>)> {
    let same = |place: &usize, line: &[u8]| Level::Trailing.key(&text.line(*place).text) == Level::Trailing.key(line);
    text.spend(2 * text.len());
    let (mut ahead, mut back) = (0..text.len(), (0..text.len()).rev());
    let first = search.iter().map(|line| ahead.find(|place| same(place, line))).collect::<Option<Vec<_>>>()?;
    let mut last = search.iter().rev().map(|line| back.find(|place| same(place, line))).collect::<Option<Vec<_>>>()?;
    last.reverse();
    Some((first, last))
}

/// Whether two ways to find SEARCH give the lines that matter one place. Of several blank lines together it does not matter
/// which.
fn agree(
    text: &Text<'_>,
    sides: &Sides<'_, '_>,
    fates: &[Fate],
    places: impl Iterator<Item = usize>,
    others: impl Iterator<Item = usize>,
) -> bool {
    places.zip(others).zip(fates).enumerate().all(|(line, ((one, other), fate))| {
        let blanks = || is_blank(sides.search[line]) && all_blank(text, one.min(other)..one.max(other) + 1);
        *fate == Fate::Kept || one == other || blanks()
    })
}

fn all_blank(text: &Text<'_>, lines: Range<usize>) -> bool {
    text.range(lines.start, lines.len()).all(|line| is_blank(&line.text))
}

fn places_of(parts: &[Part]) -> impl Iterator<Item = usize> {
    parts.iter().flat_map(|part| part.lines.clone().map(|line| part.place_of(line)))
}

/// Whether the line above a cut is kept, so that what is left out stays below it; else it stays above the line below.
/// `None` if neither is kept, or if lines are added at the cut: below blank lines, else nobody knows where.
fn stays_above(sides: &Sides<'_, '_>, fates: &[Fate], cut: usize, blank: bool) -> Option<bool> {
    let replaced_at = |line: usize| sides.kept().binary_search_by_key(&line, |(old, _)| *old).ok().map(|nth| sides.kept()[nth].1);
    match (fates[cut - 1], fates[cut]) {
        (Fate::Gone, Fate::Gone) => None,
        (Fate::Gone, _) => Some(false),
        (_, Fate::Gone) => Some(true),
        _ => (blank || replaced_at(cut - 1)? + 1 == replaced_at(cut)?).then_some(true),
    }
}

/// Whether the lines between two parts may be what the hunk leaves out.
fn may_be_left_out(text: &Text<'_>, sides: &Sides<'_, '_>, fates: &[Fate], above: &Part, below: &Part, gap: Range<usize>) -> bool {
    let left: Vec<&[u8]> = text.range(gap.start, gap.len()).map(|line| &*line.text).filter(|line| !is_blank(line)).collect();
    let (Some(first), Some(last)) = (left.first(), left.last()) else {
        return true;
    };
    text.spend(left.len());
    // The shallowest line down to the first that changes: who encloses it encloses that, or is stated.
    let changed = below.lines.clone().find(|line| fates[*line] != Fate::Kept).map_or(below.lines.end, |line| line + 1);
    let solid = |lines: Range<usize>| sides.search[lines].iter().copied().filter(|line| !is_blank(line));
    let depth = solid(below.lines.start..changed).map(|line| leading(line).len()).min().unwrap_or(0);
    let encloses = |line: &&[u8]| leading(line).len() < depth || begins_section(line);
    let resemble =
        |one: &[u8], other: Option<&[u8]>| other.is_some_and(|other| likeness(one.trim_ascii(), other.trim_ascii()) >= LIKENESS_MAX);
    !left.iter().any(encloses)
        && !resemble(first, solid(below.lines.clone()).next())
        && !resemble(last, solid(above.lines.clone()).next_back())
}
