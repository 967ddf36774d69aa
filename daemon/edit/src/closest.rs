//! The lines of a file that come closest to a SEARCH text that is not in it. For messages only; nothing is edited by it.

use std::collections::HashMap;

use paird_base::limits::{CLOSEST_LINE_CHARS_MAX, CLOSEST_LINES_MAX};

use crate::fail::Closest;
use crate::index::Level;
use crate::lines::{Text, is_blank, without_cr};

/// Lines of SEARCH that are looked up.
const PROBES_MAX: usize = 400;
/// A line that stands in the file more often says nothing about the place.
const PLACES_PER_LINE_MAX: usize = 50;
/// Starts that are compared line by line.
const CANDIDATES: usize = 5;
/// Lines of SEARCH, the longest ones, that are compared with every line of the file if none of them is in it.
const LOOSE_PROBES: usize = 8;
/// Lines of the file that are looked through for that.
const LOOSE_LINES_MAX: usize = 50_000;
/// Likeness, from 0 to 1, below which nothing is shown; [`LOOSE_PROBES`] ask for more.
const LIKENESS_MIN: f64 = 0.4;
const LOOSE_LIKENESS_MIN: f64 = 0.6;
/// Lines shown around the place where its first or last line differs.
const AROUND: usize = 3;

/// A place that resembles SEARCH and a sentence on the first line that differs.
pub(crate) fn closest(text: &mut Text<'_>, search: &[&[u8]]) -> Option<(Closest, String)> {
    let search: Vec<&[u8]> = search.iter().map(|line| without_cr(line)).collect();
    let mut starts = voted(text, &search);
    if starts.is_empty() {
        starts = resembling(text, &search);
    }
    let scored = starts.into_iter().map(|start| (likeness_at(text, start, &search), start));
    let (score, start) = scored.reduce(|best, next| if next.0 > best.0 { next } else { best })?;
    (score >= LIKENESS_MIN).then(|| (window(text, start, &search), difference(text, start, &search)))
}

/// Starts for which the most lines of SEARCH stand where they should; a rare line counts more.
fn voted(text: &mut Text<'_>, search: &[&[u8]]) -> Vec<usize> {
    let mut votes: HashMap<usize, f64> = HashMap::new();
    for (nth, line) in search.iter().enumerate().take(PROBES_MAX).filter(|(_, line)| !is_blank(line)) {
        let Some(places) = text.places_of(Level::Trimmed, line, PLACES_PER_LINE_MAX) else {
            continue;
        };
        for place in &places {
            *votes.entry(place.saturating_sub(nth)).or_default() += 1.0 / places.len() as f64;
        }
    }
    let mut votes: Vec<(usize, f64)> = votes.into_iter().collect();
    votes.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    votes.into_iter().take(CANDIDATES).map(|(start, _)| start).collect()
}

/// Starts at which one of SEARCH's longest lines resembles the file's line.
fn resembling(text: &Text<'_>, search: &[&[u8]]) -> Vec<usize> {
    let mut probes: Vec<(usize, &[u8])> =
        search.iter().enumerate().map(|(nth, line)| (nth, line.trim_ascii())).filter(|(_, line)| !line.is_empty()).collect();
    probes.sort_by_key(|(_, line)| std::cmp::Reverse(line.len()));
    probes.truncate(LOOSE_PROBES);
    let mut best: Vec<(f64, usize)> = Vec::new();
    for (place, line) in text.range(0, text.len()).take(LOOSE_LINES_MAX).enumerate() {
        let line = line.text.trim_ascii();
        for (nth, probe) in &probes {
            let likeness = likeness(line, probe);
            if likeness >= LOOSE_LIKENESS_MIN {
                best.push((likeness, place.saturating_sub(*nth)));
            }
        }
    }
    best.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    best.into_iter().take(CANDIDATES).map(|(_, start)| start).collect()
}

/// Mean likeness of SEARCH's lines with the file's from `start` on.
fn likeness_at(text: &Text<'_>, start: usize, search: &[&[u8]]) -> f64 {
    let len = search.len().min(text.len() - start);
    let sum: f64 = text.range(start, len).zip(search).map(|(line, wanted)| likeness(line.text.trim_ascii(), wanted.trim_ascii())).sum();
    sum / search.len() as f64
}

/// The share of two lines that is one beginning and one end; cheap, and high where a word was mistaken.
fn likeness(a: &[u8], b: &[u8]) -> f64 {
    if a == b {
        return 1.0;
    }
    let shorter = a.len().min(b.len());
    let start = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let end = a.iter().rev().zip(b.iter().rev()).take(shorter - start).take_while(|(a, b)| a == b).count();
    2.0 * (start + end) as f64 / (a.len() + b.len()) as f64
}

fn window(text: &Text<'_>, start: usize, search: &[&[u8]]) -> Closest {
    let end = (start + search.len()).min(text.len());
    let same = |place: usize, line: Option<&&[u8]>| line.is_some_and(|line| line.trim_ascii() == text.line(place).text.trim_ascii());
    let first = if same(start, search.first()) { start } else { start.saturating_sub(AROUND) };
    let last = if end == start + search.len() && same(end - 1, search.last()) { end } else { (end + AROUND).min(text.len()) };
    let lines = text.range(first, (last - first).min(CLOSEST_LINES_MAX)).map(|line| shown(&line.text)).collect();
    Closest { start_line: first + 1, lines }
}

/// The first line that differs, both texts. Lines that differ in blanks only are named last.
fn difference(text: &Text<'_>, start: usize, search: &[&[u8]]) -> String {
    let differs = |level: Level| {
        let differs = |nth: &usize| start + nth >= text.len() || level.key(&text.line(start + nth).text) != level.key(search[*nth]);
        (0..search.len()).find(differs)
    };
    match differs(Level::Trimmed).or_else(|| differs(Level::Trailing)) {
        Some(nth) if start + nth >= text.len() => {
            format!("line {} differs: SEARCH has `{}`, the file ends at line {}", nth + 1, shown(search[nth]), text.len())
        }
        Some(nth) => {
            format!(
                "line {} differs: SEARCH has `{}`, line {} of the file is `{}`",
                nth + 1,
                shown(search[nth]),
                start + nth + 1,
                shown(&text.line(start + nth).text)
            )
        }
        None => "the lines agree, but cannot be shifted as one".to_owned(),
    }
}

/// A line as text for a message.
fn shown(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(without_cr(line));
    match text.char_indices().nth(CLOSEST_LINE_CHARS_MAX) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text.into_owned(),
    }
}
