//! But for a few lines that REPLACE keeps, and for blank lines.
//!
//! A place fits if all of this holds:
//! - (a) every line that REPLACE changes or removes, and the two lines around those it adds, stands there, in order; blanks
//!   at line ends and one indentation for most apart;
//! - (b) of the lines that REPLACE keeps at most one in five of SEARCH's differs, one in three of those that have most of
//!   their words in common with the file's, at most five in all, or blank lines are missing or more; every other line of
//!   the file has its line in SEARCH;
//! - (c) at least three lines that are not blank agree;
//! - (b2) none of them names what is edited, unless it differs in blanks, punctuation or a comment alone: then it is
//!   another function, rule or entry that is the same inside;
//! - (d) no second place fulfils the same;
//! - (e) no line that differs is elsewhere in the file, lines without words apart: then SEARCH was written from there, and
//!   what is the same here is a copy, or lines have come between.
//!
//! The lines that differ stay as the file has them. Several that differ in their indentation alone must be SEARCH's first or
//! last ones, with a kept line between them and what changes. A line that changes may differ, too, if it has a letter that is
//! nowhere in the file nor in what REPLACE adds where the file has a few others: that is no text that was meant.

use std::collections::BTreeSet;
use std::ops::Range;

use super::names::names_another;
use super::{Kind, Lines, Place, Span};
use crate::indent::Shift;
use crate::index::Level;
use crate::lines::{Text, is_blank};
use crate::sides::{Fate, Sides};
use crate::slips::{garbled, resembles};

/// One in so many lines may differ, of those that are not blank.
const LINES_PER_DIFFERENCE: usize = 5;
/// The same of lines that resemble the file's.
const LINES_PER_RESEMBLANCE: usize = 3;
const DIFFERENCES_MAX: usize = 5;
/// Lines that differ in their indentation alone, wherever they are. With more of them beside what changes, the depth of code
/// may be what the block is about.
const MISPLACED_MAX: usize = 1;
/// Lines that must agree, blank ones not counted.
const AGREEING_MIN: usize = 3;
/// Places of a line that are looked at; a line that stands more often says nothing about the place.
const PLACES_LOOKED_AT_MAX: usize = 32;
/// Blank lines that a place may have more than SEARCH.
const BLANKS_MORE_MAX: usize = 64;

/// Why a place is no close match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CloseMiss {
    /// Too few lines to compare.
    Short,
    /// A line of SEARCH that must agree and does not, and what stands in its place, if that is a line; both from 0.
    Must(usize, Option<usize>),
    /// So many lines differ, and so many may.
    Differing(usize, usize),
    /// A line of SEARCH that names what is edited, and the file's line that names another; both from 0.
    Names(usize, usize),
    /// Several lines are the same in another indentation.
    Indentation,
    /// A line of SEARCH that differs here, from 0, stands at this place of the file.
    Elsewhere(usize, usize),
}

pub(super) fn places(text: &mut Text<'_>, sides: &Sides<'_, '_>, _: usize) -> Vec<Place> {
    if too_much_is_nowhere(text, sides) {
        return Vec::new();
    }
    let Some(wanted) = Wanted::of(sides) else {
        return Vec::new();
    };
    let mut starts = BTreeSet::new();
    for anchor in wanted.anchors(text) {
        let line = sides.search[wanted.solid[anchor]];
        for place in text.places_of(Level::Trimmed, line, PLACES_LOOKED_AT_MAX).unwrap_or_default() {
            starts.extend(wanted.window(text, anchor, place).map(|window| window[0]));
        }
    }
    let found: Vec<Result<Place, CloseMiss>> = starts.into_iter().map(|start| wanted.place(text, start)).collect();
    // Where all but a name is the same, there is a second place, or the first one is meant.
    if found.iter().any(|place| matches!(place, Err(CloseMiss::Names(..)))) {
        return Vec::new();
    }
    let mut fitting: Vec<Place> = found.into_iter().flatten().collect();
    fitting.retain(|place| wanted.elsewhere(text, place).is_none());
    fitting
}

/// Why SEARCH is no close match where its first line that is not blank would stand at `start`; `None` if it is one there.
pub(crate) fn close_at(text: &mut Text<'_>, sides: &Sides<'_, '_>, start: usize) -> Option<CloseMiss> {
    let Some(wanted) = Wanted::of(sides) else {
        return Some(CloseMiss::Short);
    };
    match wanted.place(text, start) {
        Ok(place) => wanted.elsewhere(text, &place),
        Err(miss) => Some(miss),
    }
}

/// Whether more lines of SEARCH are not in the file at all than may differ. Most texts that are not there are told so at once.
fn too_much_is_nowhere(text: &mut Text<'_>, sides: &Sides<'_, '_>) -> bool {
    let solid = sides.search.iter().filter(|line| !is_blank(line));
    solid.filter(|line| text.count_of(Level::Trimmed, line) == 0).nth(DIFFERENCES_MAX).is_some()
}

/// What a place must have.
struct Wanted<'s, 'b> {
    sides: &'s Sides<'s, 'b>,
    fates: Vec<Fate>,
    /// Lines of SEARCH that are not blank.
    solid: Vec<usize>,
    differences_max: usize,
}

impl<'s, 'b> Wanted<'s, 'b> {
    fn of(sides: &'s Sides<'s, 'b>) -> Option<Self> {
        let solid: Vec<usize> = (0..sides.search.len()).filter(|nth| !is_blank(sides.search[*nth])).collect();
        let differences_max = (solid.len() / LINES_PER_DIFFERENCE).min(DIFFERENCES_MAX);
        (solid.len() >= AGREEING_MIN).then(|| Self { sides, fates: sides.fates(), solid, differences_max })
    }

    fn must(&self, line: usize) -> bool {
        self.fates[line] != Fate::Kept
    }

    /// Whether a line is the same but for blanks at its ends.
    fn agrees(&self, text: &Text<'_>, nth: usize, place: usize) -> bool {
        Level::Trimmed.key(&text.line(place).text) == Level::Trimmed.key(self.sides.search[self.solid[nth]])
    }

    /// Lines of `solid` of which every place has at least one: the rarest that must agree, else one more than may differ.
    /// None if they stand too often or not at all.
    fn anchors(&self, text: &mut Text<'_>) -> Vec<usize> {
        let must: Vec<usize> = (0..self.solid.len()).filter(|nth| self.must(self.solid[*nth])).collect();
        let (of, needed) = if must.is_empty() { ((0..self.solid.len()).collect(), self.differences_max + 1) } else { (must, 1) };
        let mut counts: Vec<(usize, usize)> =
            of.into_iter().map(|nth| (text.count_of(Level::Trimmed, self.sides.search[self.solid[nth]]), nth)).collect();
        counts.sort_unstable();
        // Garbled ones are nowhere.
        counts.retain(|(count, nth)| *count > 0 || self.sides.search[self.solid[*nth]].is_ascii());
        counts.truncate(needed);
        if counts.iter().any(|(count, _)| *count > PLACES_LOOKED_AT_MAX) {
            return Vec::new();
        }
        counts.into_iter().map(|(_, nth)| nth).collect()
    }

    /// Where the lines of `solid` would stand if the `anchor`-th stood at `place`: one line each, blank ones passed over.
    fn window(&self, text: &Text<'_>, anchor: usize, place: usize) -> Option<Vec<usize>> {
        let solid = |place: &usize| !is_blank(&text.line(*place).text);
        let reach = self.sides.search.len() + BLANKS_MORE_MAX;
        text.spend(self.solid.len());
        let mut window: Vec<usize> = (place.saturating_sub(reach)..place).rev().filter(solid).take(anchor).collect();
        window.reverse();
        let after = self.solid.len() - anchor;
        window.extend((place..text.len().min(place + reach)).filter(solid).take(after));
        (window.len() == self.solid.len()).then_some(window)
    }

    fn place(&self, text: &Text<'_>, start: usize) -> Result<Place, CloseMiss> {
        let window = self.window(text, 0, start).ok_or(CloseMiss::Short)?;
        let shift = self.shift(text, &window);
        let differing = self.differing(text, &window, &shift);
        let is_garbled = |nth: usize| garbled(text, window[nth], self.sides.search[self.solid[nth]], &self.sides.added());
        if let Some(must) = differing.iter().find(|nth| self.must(self.solid[**nth]) && !is_garbled(**nth)) {
            return Err(CloseMiss::Must(self.solid[*must], Some(window[*must])));
        }
        let (misplaced, others): (Vec<usize>, Vec<usize>) = differing.iter().partition(|nth| self.agrees(text, **nth, window[**nth]));
        if misplaced.len() > MISPLACED_MAX && !self.are_apart(&misplaced) {
            return Err(CloseMiss::Indentation);
        }
        let alike = others.iter().filter(|nth| resembles(&text.line(window[**nth]).text, self.sides.search[self.solid[**nth]])).count();
        let alike_max = (self.solid.len() / LINES_PER_RESEMBLANCE).min(DIFFERENCES_MAX);
        let too_many = differing.len() - alike > self.differences_max || differing.len() > alike_max.max(self.differences_max);
        if too_many || self.solid.len() - differing.len() < AGREEING_MIN {
            return Err(CloseMiss::Differing(differing.len(), self.differences_max));
        }
        let (at, spans) = self.spans(text, &window)?;
        let another = |nth: &&usize| {
            let (line, place) = (self.solid[**nth], window[**nth]);
            !self.must(line) && names_another(self.sides, &self.fates, line, self.solid[0], &text.line(place).text)
        };
        if let Some(nth) = others.iter().find(another) {
            return Err(CloseMiss::Names(self.solid[*nth], window[*nth]));
        }
        Ok(Place { at, len: spans.last().map_or(0, |span| span.lines.end), shift, first: None, lines: Lines::Spans(spans) })
    }

    /// Whether these of `solid` are the first or the last ones, and what is next to them is kept.
    fn are_apart(&self, run: &[usize]) -> bool {
        let (Some(first), Some(last)) = (run.first(), run.last()) else {
            return true;
        };
        let beside = match (*first, *last + 1) {
            _ if last - first + 1 != run.len() => None,
            (0, end) => self.solid.get(end).map(|next| self.solid[*last]..next + 1),
            (start, end) if end == self.solid.len() => Some(self.solid[start - 1]..self.solid[start] + 1),
            _ => None,
        };
        beside.is_some_and(|mut lines| lines.all(|line| self.fates[line] == Fate::Kept))
    }

    /// Those of `solid` that have another line in the window, or the same in another indentation.
    fn differing(&self, text: &Text<'_>, window: &[usize], shift: &Shift) -> Vec<usize> {
        let shifted = |nth: usize, place: usize| Shift::of(&text.line(place).text, self.sides.search[self.solid[nth]]);
        let differs = |(nth, place): &(usize, &usize)| !self.agrees(text, *nth, **place) || shifted(*nth, **place).as_ref() != Some(shift);
        window.iter().enumerate().filter(differs).map(|(nth, _)| nth).collect()
    }

    /// The indentation that the most lines have in common, of those that are the same.
    fn shift(&self, text: &Text<'_>, window: &[usize]) -> Shift {
        let mut counts: Vec<(Shift, usize)> = Vec::new();
        for (nth, place) in window.iter().enumerate().filter(|(nth, place)| self.agrees(text, *nth, **place)) {
            let Some(shift) = Shift::of(&text.line(*place).text, self.sides.search[self.solid[nth]]) else { continue };
            match counts.iter().position(|(known, _)| *known == shift) {
                Some(known) => counts[known].1 += 1,
                // More than a few are as good as none: too many lines differ then.
                None if counts.len() <= DIFFERENCES_MAX => counts.push((shift, 1)),
                None => {}
            }
        }
        counts.into_iter().max_by_key(|(_, count)| *count).map_or(Shift::None, |(shift, _)| shift)
    }

    /// A line that differs here and stands elsewhere in the file.
    fn elsewhere(&self, text: &mut Text<'_>, place: &Place) -> Option<CloseMiss> {
        let start = (place.at..place.at + place.len).find(|line| !is_blank(&text.line(*line).text))?;
        let window = self.window(text, 0, start)?;
        let others: Vec<usize> = (0..window.len()).filter(|nth| !self.agrees(text, *nth, window[*nth])).collect();
        for nth in others {
            let line = self.sides.search[self.solid[nth]];
            if !String::from_utf8_lossy(line).contains(char::is_alphanumeric) {
                continue;
            }
            // One that stands very often is somewhere else, too.
            let places = text.places_of(Level::Trimmed, line, PLACES_LOOKED_AT_MAX);
            if let Some(place) = places.map_or(Some(start), |places| places.first().copied()) {
                return Some(CloseMiss::Elsewhere(self.solid[nth], place));
            }
        }
        None
    }

    /// Each line of SEARCH with its lines of the file, counted from the first, which is the other value.
    fn spans(&self, text: &Text<'_>, window: &[usize]) -> Result<(usize, Vec<Span>), CloseMiss> {
        let blank = |place: &usize| is_blank(&text.line(*place).text);
        let (first, last) = (self.solid[0], self.solid[self.solid.len() - 1]);
        let (top, bottom) = (window[0], window[window.len() - 1]);
        let above = (0..top).rev().take(first).take_while(blank).count();
        let below = (bottom + 1..text.len()).take(self.sides.search.len() - last - 1).take_while(blank).count();
        let mut spans = Spans { wanted: self, lines: Vec::with_capacity(self.sides.search.len()), at: top - above };
        spans.blanks(first, top - above..top)?;
        for (nth, place) in window.iter().enumerate() {
            spans.push(*place + 1);
            let next = self.solid.get(nth + 1).copied().unwrap_or(self.sides.search.len());
            let end = window.get(nth + 1).copied().unwrap_or(bottom + 1 + below);
            spans.blanks(next, *place + 1..end)?;
        }
        Ok((spans.at, spans.lines))
    }
}

/// Spans under construction, one for each line of SEARCH so far.
struct Spans<'w, 's, 'b> {
    wanted: &'w Wanted<'s, 'b>,
    lines: Vec<Span>,
    at: usize,
}

impl Spans<'_, '_, '_> {
    fn end(&self) -> usize {
        self.lines.last().map_or(0, |span| span.lines.end)
    }

    /// The next line of SEARCH is the one before `end`. Blank lines in between that SEARCH lacks go with a line that is kept.
    fn push(&mut self, end: usize) {
        let (start, end) = (self.end(), end - self.at);
        let gone = |line: usize| self.wanted.fates[line] == Fate::Gone;
        let line = self.lines.len();
        let mut from = start;
        if gone(line) && line > 0 && !gone(line - 1) {
            from = end - 1;
            self.lines[line - 1].lines.end = from;
        }
        self.lines.push(Span { lines: from..end, kind: Kind::Stated });
    }

    /// The next lines of SEARCH, up to `next`, are blank, as are these of the file.
    fn blanks(&mut self, next: usize, file: Range<usize>) -> Result<(), CloseMiss> {
        let search = self.lines.len()..next;
        if let Some(line) = search.clone().find(|line| self.wanted.must(*line) && search.len() != file.len()) {
            return Err(CloseMiss::Must(line, None));
        }
        // Before the first line of text, those that are there are the last ones.
        let lacking = search.len().saturating_sub(file.len());
        let absent = if search.start == 0 { 0..lacking } else { search.end - lacking..search.end };
        for line in search {
            let end = self.end();
            if absent.contains(&line) {
                self.lines.push(Span { lines: end..end, kind: Kind::Missing });
            } else {
                self.push(self.at + end + 1);
            }
        }
        Ok(())
    }
}
