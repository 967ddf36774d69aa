//! But for one indentation. All lines must lack the same blanks, or have the same too many: a prefix of bytes, never a width.
//! Or one side is indented with tabs alone and the other with spaces alone, one number of spaces for a tab at all levels.
//!
//! The first line may lack all of its own: many begin to copy at the first letter. Then REPLACE's first line lacks it, too.

use super::Place;
use crate::indent::{Shift, leading};
use crate::index::Level;
use crate::lines::{Text, is_blank};
use crate::sides::Sides;

/// Lines below the first that must agree on the indentation if the first does not, blank ones not counted.
const OTHERS_MIN: usize = 2;

pub(super) fn places(text: &mut Text<'_>, sides: &Sides<'_, '_>, max: usize) -> Vec<Place> {
    let places = shifted(text, &sides.search, max);
    if places.is_empty() { without_first(text, sides, max) } else { places }
}

/// Places of lines that are equal but for one indentation and what is at their ends.
pub(super) fn shifted(text: &mut Text<'_>, search: &[&[u8]], max: usize) -> Vec<Place> {
    let found = text.find(Level::Trimmed, search, max);
    text.spend(found.len() * search.len());
    let places = found.into_iter().filter_map(|at| {
        let pairs = || text.range(at, search.len()).map(|line| &*line.text).zip(search.iter().copied());
        let shift = Shift::between(pairs()).or_else(|| Shift::of_units(pairs()))?;
        Some(Place { shift, ..Place::plain(at, search.len()) })
    });
    places.collect()
}

/// Places where only the first line's indentation is missing altogether.
fn without_first(text: &mut Text<'_>, sides: &Sides<'_, '_>, max: usize) -> Vec<Place> {
    let search = &sides.search;
    let begins = |lines: &[&[u8]]| lines.first().is_some_and(|line| !is_blank(line) && leading(line).is_empty());
    let others = search.iter().skip(1).filter(|line| !is_blank(line)).count();
    if !begins(search) || others < OTHERS_MIN || !(begins(&sides.replace) || sides.replace.is_empty()) {
        return Vec::new();
    }
    let found = text.find(Level::Trimmed, search, max);
    text.spend(found.len() * search.len());
    let places = found.into_iter().filter_map(|at| {
        let pairs = text.range(at, search.len()).map(|line| &*line.text).zip(search.iter().copied()).skip(1);
        let first = Shift::of(&text.line(at).text, search[0]);
        Some(Place { shift: Shift::between(pairs)?, first, ..Place::plain(at, search.len()) })
    });
    places.collect()
}
