//! But for blank lines at SEARCH's beginning and end, of which the file has fewer there.
//!
//! Those that it has belong to the place. At the beginning REPLACE is written as it is: who begins both sides with a blank
//! line wants one there. At the end a blank line of both sides is what many put before the divider, and is not written.

use super::indent::shifted;
use super::{Kind, Lines, Place, Span};
use crate::lines::{Text, is_blank};
use crate::sides::Sides;

pub(super) fn places(text: &mut Text<'_>, sides: &Sides<'_, '_>, max: usize) -> Vec<Place> {
    let (search, solid) = (&sides.search, sides.solid_range());
    if solid.is_empty() || solid.len() == search.len() {
        return Vec::new();
    }
    let cores = shifted(text, &search[solid.clone()], max);
    cores.into_iter().map(|core| widened(text, core, solid.start, search.len() - solid.end)).collect()
}

/// The place with the blank lines of the file that are meant by the `before` and `after` ones of SEARCH: those next to it.
fn widened(text: &Text<'_>, core: Place, before: usize, after: usize) -> Place {
    let Place { at, len, shift, .. } = core;
    let blank = |place: &usize| is_blank(&text.line(*place).text);
    let above = (0..at).rev().take(before).take_while(blank).count();
    let below = (at + len..text.len()).take(after).take_while(blank).count();
    let mut spans = vec![Span { lines: 0..0, kind: Kind::Wanted }; before - above];
    spans.extend((0..above + len + below).map(|nth| Span { lines: nth..nth + 1, kind: Kind::Stated }));
    let whole = above + len + below;
    spans.resize(before + len + after, Span { lines: whole..whole, kind: Kind::Missing });
    Place { at: at - above, len: whole, shift, first: None, lines: Lines::Spans(spans) }
}
