//! Hunks that say more than their lines where they belong: below an anchor, or at the end of the file.

use std::borrow::Cow;
use std::ops::Range;

use crate::anchors::{Anchors, Below};
use crate::block::{Block, Split};
use crate::fail::FailReason;
use crate::files::Refusal;
use crate::guard::guard;
use crate::ladder::{Claims, Fit, Miss, checked, fit};
use crate::lines::{Piece, Text, is_blank, split_lines, without_cr};
use crate::rungs::Rung;

/// A hunk's place, below its anchors and at the end of the file where it says so.
pub(crate) fn fit_hunk<'b>(
    text: &mut Text<'_>,
    block: &'b Block,
    path: &str,
    claims: Claims<'_>,
    anchors: &mut Anchors,
) -> Result<Fit<'b>, Refusal> {
    let refused = |miss: Miss| (miss.reason(), miss.message(path));
    if block.anchors.is_empty() && !block.at_end {
        return fit(text, block, path, claims).map_err(refused);
    }
    let below = anchors.below(text, &block.anchors);
    if block.at_end && !block.search.is_empty() {
        let end = [last_lines(text)];
        match fit(text, block, path, Claims { within: Some(&end), ..claims }) {
            Err(Miss::NoMatch) => {}
            decided => return decided.map_err(refused),
        }
    }
    match (&below, block.search.is_empty()) {
        (_, true) if block.at_end => append(text, block, path).map_err(refused),
        (Below::Missing(anchor), _) => Err((FailReason::NoMatch, format!("`{anchor}`, below which the hunk lies, is not in {path}"))),
        (Below::Anywhere, true) => Err(refused(Miss::NotEmpty)),
        (Below::Ranges(ranges), true) => insert(text, block, path, ranges).map_err(refused),
        (Below::Anywhere, false) => fit(text, block, path, claims).map_err(refused),
        (Below::Ranges(ranges), false) => fit(text, block, path, Claims { within: Some(ranges), ..claims }).map_err(|miss| {
            let place = if miss == Miss::NoMatch { format!(" below `{}`", block.anchors.join("` and `")) } else { String::new() };
            (miss.reason(), miss.message(path) + &place)
        }),
    }
}

/// The last line that is not blank and what follows it.
fn last_lines(text: &Text<'_>) -> Range<usize> {
    let last = (0..text.len()).rev().find(|at| !is_blank(&text.line(*at).text)).unwrap_or(0);
    last..text.len()
}

/// Lines that belong right below an anchor.
fn insert<'b>(text: &Text<'_>, block: &'b Block, path: &str, ranges: &[Range<usize>]) -> Result<Fit<'b>, Miss> {
    match ranges {
        [only] => beside(text, block, path, only.start),
        several => Err(Miss::Ambiguous(several.iter().map(|range| text.before_lines(range.start, 1).0).collect())),
    }
}

/// Lines that belong at the end of the file.
fn append<'b>(text: &mut Text<'_>, block: &'b Block, path: &str) -> Result<Fit<'b>, Miss> {
    if text.len() == 0 { fit(text, block, path, Claims::default()) } else { beside(text, block, path, text.len() - 1) }
}

/// Lines that belong below the line at a place.
fn beside<'b>(text: &Text<'_>, block: &'b Block, path: &str, at: usize) -> Result<Fit<'b>, Miss> {
    let line = String::from_utf8_lossy(&text.line(at).text).into_owned() + "\n";
    let said = guard(&Split { search: Cow::Borrowed(&line), replace: &block.replace }, path);
    let added = split_lines(block.replace.as_bytes()).map(|line| Piece::New(Cow::Borrowed(without_cr(line))));
    checked(text, said, Rung::Exact, at..at + 1, std::iter::once(Piece::Keep(0)).chain(added).collect())
}
