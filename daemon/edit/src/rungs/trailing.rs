//! But for line ends and blanks at the end of lines, which models do not see.

use super::Place;
use crate::index::Level;
use crate::lines::Text;
use crate::sides::Sides;

pub(super) fn places(text: &mut Text<'_>, sides: &Sides<'_, '_>, max: usize) -> Vec<Place> {
    let len = sides.search.len();
    text.find(Level::Trailing, &sides.search, max).into_iter().map(|at| Place::plain(at, len)).collect()
}
