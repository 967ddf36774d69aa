//! Nothing to find: right for a file without lines, done if the file is what the block would write.

use super::{Kind, Lines, Place, Rung, Span};
use crate::indent::Shift;
use crate::index::Level;
use crate::lines::Text;
use crate::sides::Sides;

/// The place of a block without SEARCH, `None` if the file has other content.
pub(crate) fn create(text: &Text<'_>, sides: &Sides<'_, '_>) -> Option<(Rung, Place)> {
    if text.len() == 0 {
        // Blank lines of SEARCH stand for nothing in an empty file, so that REPLACE is written in full.
        let wanted = sides.search.iter().map(|_| Span { lines: 0..0, kind: Kind::Wanted }).collect();
        return Some((Rung::Create, Place { at: 0, len: 0, shift: Shift::None, first: None, lines: Lines::Spans(wanted) }));
    }
    let same = text.len() == sides.replace.len() && text.stands_at(Level::Trailing, 0, &sides.replace);
    same.then(|| (Rung::Already, Place::plain(0, text.len())))
}
