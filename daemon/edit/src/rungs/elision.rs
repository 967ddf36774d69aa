//! Lines of dots on both sides that stand for lines left out.
//!
//! Both sides must have the same dots in the same order, so that every gap has its partner. Each piece of SEARCH between
//! them must stand in one place of the file alone, in the order of SEARCH, all with one indentation. What is in the gaps is
//! kept. Where SEARCH has no piece (before a first or after a last line of dots), REPLACE must have none either: where it
//! would go is not said.

use std::ops::Range;

use super::indent::shifted;
use super::{Kind, Lines, Place, Span};
use crate::gains::is_gap;
use crate::indent::Shift;
use crate::index::Level;
use crate::lines::{Text, is_blank};
use crate::sides::Sides;

/// Places of a piece that are counted for the message.
const PLACES_COUNTED_MAX: usize = 20;

pub(super) fn places(text: &mut Text<'_>, sides: &Sides<'_, '_>, _: usize) -> Vec<Place> {
    place(text, sides).into_iter().collect()
}

fn place(text: &mut Text<'_>, sides: &Sides<'_, '_>) -> Option<Place> {
    let gaps = gaps(&sides.search);
    let partners = self::gaps(&sides.replace);
    if gaps.is_empty() || gaps.len() != partners.len() {
        return None;
    }
    let kept = sides.kept();
    if gaps.iter().zip(&partners).any(|pair| kept.binary_search(&(*pair.0, *pair.1)).is_err()) {
        return None;
    }
    let pieces = between(&gaps, sides.search.len());
    let others = between(&partners, sides.replace.len());
    if pieces.iter().zip(&others).any(|(piece, other)| piece.is_empty() && !other.is_empty()) {
        return None;
    }
    let (shift, starts) = found(text, sides, &pieces)?;
    let first = starts.iter().flatten().next().copied()?;
    let mut spans: Vec<Span> = Vec::with_capacity(sides.search.len());
    let mut end = first;
    for (nth, (piece, start)) in pieces.iter().zip(&starts).enumerate() {
        let start = start.unwrap_or(end);
        if start < end {
            return None;
        }
        if nth > 0 {
            spans.push(Span { lines: end - first..start - first, kind: Kind::LeftOut });
        }
        spans.extend((start..start + piece.len()).map(|at| Span { lines: at - first..at - first + 1, kind: Kind::Stated }));
        end = start + piece.len();
    }
    Some(Place { at: first, len: end - first, shift, first: None, lines: Lines::Spans(spans) })
}

/// Why SEARCH's pieces are not found, if it has several: a sentence for messages.
pub(crate) fn elision_miss(text: &mut Text<'_>, sides: &Sides<'_, '_>) -> Option<String> {
    let (gaps, partners) = (gaps(&sides.search), gaps(&sides.replace));
    if gaps.is_empty() {
        return None;
    }
    if gaps.len() != partners.len()
        || gaps.iter().zip(&partners).any(|(gap, other)| sides.search[*gap].trim_ascii() != sides.replace[*other].trim_ascii())
    {
        return Some("the `...` lines of SEARCH and REPLACE are not the same, so what they stand for is not told".to_owned());
    }
    let pieces = between(&gaps, sides.search.len());
    for piece in pieces.iter().filter(|piece| !piece.is_empty()) {
        let places = text.find(Level::Trimmed, &sides.search[piece.clone()], PLACES_COUNTED_MAX).len();
        if places != 1 || text.is_spent() {
            let count = match places {
                0 => "nowhere".to_owned(),
                PLACES_COUNTED_MAX => format!("in {places} places or more"),
                _ => format!("in {places} places"),
            };
            return Some(format!(
                "the lines between its `...` lines must each be in one place; those from line {} on are {count}",
                piece.start + 1
            ));
        }
    }
    Some("the lines between its `...` lines are in another order or indentation there".to_owned())
}

/// Lines that consist of dots, in a comment or not.
fn gaps(lines: &[&[u8]]) -> Vec<usize> {
    lines.iter().enumerate().filter(|(_, line)| is_gap(line)).map(|(nth, _)| nth).collect()
}

/// The ranges before, between and after the gaps.
fn between(gaps: &[usize], len: usize) -> Vec<Range<usize>> {
    let starts = std::iter::once(0).chain(gaps.iter().map(|gap| gap + 1));
    starts.zip(gaps.iter().copied().chain([len])).map(|(start, end)| start..end).collect()
}

/// The one place of each piece, `None` for empty ones, and the indentation they share.
fn found(text: &mut Text<'_>, sides: &Sides<'_, '_>, pieces: &[Range<usize>]) -> Option<(Shift, Vec<Option<usize>>)> {
    let lines = |piece: &Range<usize>| &sides.search[piece.clone()];
    if pieces.iter().any(|piece| !piece.is_empty() && lines(piece).iter().all(|line| is_blank(line))) {
        return None;
    }
    if let Some(starts) = straight(text, pieces, lines)? {
        return Some((Shift::None, starts));
    }
    let mut shift = None;
    let mut starts = Vec::new();
    for piece in pieces {
        let places = shifted(text, lines(piece), 2);
        if places.iter().any(|place| *shift.get_or_insert_with(|| place.shift.clone()) != place.shift) {
            return None;
        }
        starts.push(sole(piece.is_empty(), &places.iter().map(|place| place.at).collect::<Vec<_>>())?);
    }
    Some((shift?, starts))
}

/// The one place of each piece without any indentation to be made good, if all have one: `Some(None)` if one has none,
/// `None` if one has several, which indentation does not change.
fn straight<'l>(
    text: &mut Text<'_>,
    pieces: &[Range<usize>],
    lines: impl Fn(&Range<usize>) -> &'l [&'l [u8]],
) -> Option<Option<Vec<Option<usize>>>> {
    let mut starts = Vec::new();
    for piece in pieces {
        let places = text.find(Level::Trailing, lines(piece), 2);
        if places.is_empty() && !piece.is_empty() {
            return Some(None);
        }
        starts.push(sole(piece.is_empty(), &places)?);
        if text.is_spent() {
            return None;
        }
    }
    Some(Some(starts))
}

/// The only one of a piece's places; nothing for an empty piece.
fn sole(empty: bool, places: &[usize]) -> Option<Option<usize>> {
    match places {
        [] if empty => Some(None),
        [only] => Some(Some(*only)),
        _ => None,
    }
}
