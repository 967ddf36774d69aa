//! The lines of a file that come closest to a SEARCH text that is not in it, and why they are not taken for it. For messages
//! only; nothing is edited by it.

use std::collections::HashMap;

use paird_base::limits::{CLOSEST_LINE_CHARS_MAX, CLOSEST_LINES_MAX};

use crate::block::Block;
use crate::fail::Closest;
use crate::index::Level;
use crate::lines::{Text, is_blank, without_cr};
use crate::rungs::{CloseMiss, Rung, close_at, elision_miss};
use crate::sides::Sides;

/// Lines of SEARCH that are looked up.
const PROBES_MAX: usize = 400;
/// A line that stands in the file more often says nothing about the place.
const PLACES_PER_LINE_MAX: usize = 50;
/// Starts that are compared line by line.
const CANDIDATES: usize = 5;
/// Lines of SEARCH, the longest ones, that are compared with every line of the file if none of them is in it.
const LOOSE_PROBES: usize = 4;
/// Lines of the file that are looked through for that.
const LOOSE_LINES_MAX: usize = 50_000;
/// Likeness, from 0 to 1, below which nothing is shown; [`LOOSE_PROBES`] ask for more.
const LIKENESS_MIN: f64 = 0.4;
const LOOSE_LIKENESS_MIN: f64 = 0.5;
/// Lines shown around the place where its first or last line differs.
const AROUND: usize = 3;

/// What can be said of a SEARCH text that is not in a file.
#[derive(Debug)]
pub(crate) struct Near {
    pub(crate) closest: Option<Closest>,
    /// Sentences for the message, each after a semicolon.
    pub(crate) why: Vec<String>,
    /// The rung that would have found it but for what `why` says.
    pub(crate) rung: Option<Rung>,
}

/// Looks for the place that resembles a block's SEARCH most.
pub(crate) fn near(text: &mut Text<'_>, block: &Block) -> Near {
    let split = block.first_split();
    let sides = Sides::of(&split);
    let search: Vec<&[u8]> = sides.search.iter().map(|line| without_cr(line)).collect();
    let mut why = Vec::new();
    let mut rung = None;
    let mut closest = None;
    if let Some(miss) = elision_miss(text, &sides) {
        why.push(miss);
        rung = Some(Rung::Elision);
    }
    if let Some(start) = best_start(text, &search) {
        closest = Some(window(text, start, &search));
        let miss = search.iter().position(|line| !is_blank(line)).and_then(|first| Some((first, close_at(text, &sides, start + first)?)));
        let (said, near) = said(text, start, &search, miss);
        why.extend(said);
        rung = rung.or(near);
    }
    if !text.is_utf8() && !split.search.is_ascii() {
        why.push("the file is not UTF-8: only lines of ASCII can be found in it".to_owned());
    }
    Near { closest, why, rung }
}

/// What is different at a place, and the rung that missed it.
fn said(text: &Text<'_>, start: usize, search: &[&[u8]], miss: Option<(usize, CloseMiss)>) -> (Vec<String>, Option<Rung>) {
    let shifted = difference(text, start, search);
    let differing = || {
        shifted.clone().unwrap_or_else(|| match text.stands_at(Level::Trailing, start, search) {
            true => format!("the lines stand from line {} on", text.before_lines(start, 1).0),
            false => "the lines agree, but not in one indentation for all".to_owned(),
        })
    };
    match miss {
        Some((_, CloseMiss::Must(line, Some(place)))) => (
            vec![compared(text, line, search, Some(place)), "REPLACE changes that line, or adds lines beside it".to_owned()],
            Some(Rung::Close),
        ),
        Some((_, CloseMiss::Names(line, place))) => {
            (vec![compared(text, line, search, Some(place)), "that line names what is edited".to_owned()], Some(Rung::Close))
        }
        Some((_, CloseMiss::Must(line, None))) => {
            (vec![differing(), format!("blank lines at line {} differ", line + 1)], Some(Rung::Close))
        }
        Some((_, CloseMiss::Differing(count, max))) if count * 2 <= search.len() => {
            let few = match (count, max) {
                (_, 0) => format!("a text of {} lines may differ in none", search.len()),
                (1, _) => "too few of its lines agree".to_owned(),
                _ => format!("{count} lines differ, and at most {max} of so many may"),
            };
            (vec![differing(), few], Some(Rung::Close))
        }
        Some((_, CloseMiss::Indentation)) => (vec![differing()], Some(Rung::Indent)),
        Some((_, CloseMiss::Elsewhere(line, place))) => {
            let at = text.before_lines(place, 1).0;
            (vec![differing(), format!("line {} of SEARCH is at line {at} of the file", line + 1)], Some(Rung::Close))
        }
        Some((_, CloseMiss::Differing(..) | CloseMiss::Short)) => {
            let rung = shifted.is_none().then_some(Rung::Indent);
            (vec![differing()], rung)
        }
        // All that is asked of the lines is so: the block says that they are elsewhere.
        None => shifted.map_or((Vec::new(), None), |differing| (vec![differing], Some(Rung::Close))),
    }
}

fn best_start(text: &mut Text<'_>, search: &[&[u8]]) -> Option<usize> {
    let mut starts = voted(text, search);
    if starts.is_empty() {
        starts = resembling(text, search);
    }
    let scored = starts.into_iter().map(|start| (likeness_at(text, start, search), start));
    let (score, start) = scored.reduce(|best, next| if next.0 > best.0 { next } else { best })?;
    (score >= LIKENESS_MIN).then_some(start)
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

/// Starts at which one of SEARCH's longest lines, of those that are not in the file, resembles a line of it.
fn resembling(text: &mut Text<'_>, search: &[&[u8]]) -> Vec<usize> {
    let mut probes: Vec<(usize, &[u8])> = Vec::with_capacity(LOOSE_PROBES + 1);
    for (nth, line) in search.iter().enumerate().map(|(nth, line)| (nth, line.trim_ascii())) {
        let longer = probes.len() < LOOSE_PROBES || probes.last().is_some_and(|(_, last)| line.len() > last.len());
        if longer && !line.is_empty() && text.count_of(Level::Trimmed, line) == 0 {
            let at = probes.partition_point(|(_, other)| other.len() >= line.len());
            probes.insert(at, (nth, line));
            probes.truncate(LOOSE_PROBES);
        }
    }
    let mut best: Vec<(f64, usize)> = Vec::with_capacity(CANDIDATES + 1);
    for (place, line) in text.range(0, text.len()).take(LOOSE_LINES_MAX).enumerate() {
        let line = line.text.trim_ascii();
        for (nth, probe) in &probes {
            let least = best.get(CANDIDATES - 1).map_or(LOOSE_LIKENESS_MIN, |(least, _)| *least);
            // No likeness is above the share of the shorter line.
            if 2.0 * line.len().min(probe.len()) as f64 / ((line.len() + probe.len()) as f64) < least {
                continue;
            }
            let likeness = likeness(line, probe);
            if likeness >= least {
                let at = best.partition_point(|(other, _)| *other >= likeness);
                best.insert(at, (likeness, place.saturating_sub(*nth)));
                best.truncate(CANDIDATES);
            }
        }
    }
    best.into_iter().map(|(_, start)| start).collect()
}

/// Mean likeness of SEARCH's lines with the file's from `start` on.
fn likeness_at(text: &Text<'_>, start: usize, search: &[&[u8]]) -> f64 {
    let len = search.len().min(text.len() - start);
    let sum: f64 = text.range(start, len).zip(search).map(|(line, wanted)| likeness(line.text.trim_ascii(), wanted.trim_ascii())).sum();
    sum / search.len() as f64
}

/// The share of two lines that is one beginning and one end; cheap, and high where a word was mistaken.
pub(crate) fn likeness(a: &[u8], b: &[u8]) -> f64 {
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

/// The first line that differs, both texts. Lines that differ in blanks only are named last. `None` if all agree but for
/// their indentation.
fn difference(text: &Text<'_>, start: usize, search: &[&[u8]]) -> Option<String> {
    let differs = |level: Level| {
        let differs = |nth: &usize| start + nth >= text.len() || level.key(&text.line(start + nth).text) != level.key(search[*nth]);
        (0..search.len()).find(differs)
    };
    let nth = differs(Level::Trimmed)?;
    Some(compared(text, nth, search, (start + nth < text.len()).then_some(start + nth)))
}

/// A line of SEARCH beside the file's.
fn compared(text: &Text<'_>, nth: usize, search: &[&[u8]], place: Option<usize>) -> String {
    let wanted = shown(search[nth]);
    let Some(place) = place else {
        return format!("line {} differs: SEARCH has `{wanted}`, the file ends at line {}", nth + 1, text.len());
    };
    let there = shown(&text.line(place).text);
    let letters = look_alikes(&wanted, &there).unwrap_or_default();
    format!("line {} differs: SEARCH has `{wanted}`, line {} of the file is `{there}`{letters}", nth + 1, place + 1)
}

/// The first letters that differ, by number, where readers may not see that they do.
fn look_alikes(wanted: &str, there: &str) -> Option<String> {
    let differ = wanted.trim().chars().zip(there.trim().chars()).find(|(a, b)| a != b)?;
    let unclear = |letter: char| !letter.is_ascii() || letter == '\t';
    (unclear(differ.0) || unclear(differ.1))
        .then(|| format!(" (U+{:04X} in SEARCH, U+{:04X} in the file)", u32::from(differ.0), u32::from(differ.1)))
}

/// A line as text for a message.
fn shown(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(without_cr(line));
    match text.char_indices().nth(CLOSEST_LINE_CHARS_MAX) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text.into_owned(),
    }
}
