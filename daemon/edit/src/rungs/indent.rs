//! But for one indentation. All lines must lack the same blanks, or have the same too many: a prefix of bytes, never a width,
//! so that tabs are never taken for spaces.

use super::{Lines, Place};
use crate::indent::Shift;
use crate::index::Level;
use crate::lines::Text;
use crate::sides::Sides;

pub(super) fn places(text: &mut Text<'_>, sides: &Sides<'_, '_>, max: usize) -> Vec<Place> {
    shifted(text, &sides.search, max)
}

/// Places of lines that are equal but for one indentation and what is at their ends.
pub(super) fn shifted(text: &mut Text<'_>, search: &[&[u8]], max: usize) -> Vec<Place> {
    let found = text.find(Level::Trimmed, search, max);
    text.spend(found.len() * search.len());
    let places = found.into_iter().filter_map(|at| {
        let pairs = text.range(at, search.len()).map(|line| &*line.text).zip(search.iter().copied());
        Some(Place { at, len: search.len(), shift: Shift::between(pairs)?, lines: Lines::Each })
    });
    places.collect()
}
