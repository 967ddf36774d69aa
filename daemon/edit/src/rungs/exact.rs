//! Byte for byte. Line ends decide nothing here: where they differ, the place is one of the next rung.

use super::Place;
use crate::index::Level;
use crate::lines::Text;
use crate::sides::Sides;

pub(super) fn places(text: &mut Text<'_>, sides: &Sides<'_, '_>, max: usize) -> Vec<Place> {
    let len = sides.search.len();
    text.find(Level::Exact, &sides.search, max).into_iter().map(|at| Place::plain(at, len)).collect()
}
