//! Where lines stand in a text, found by hash: a block is placed in time linear in its own length and the file's.

use std::cell::Cell;
use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault, Hasher, RandomState};

use crate::lines::Line;

/// How two lines are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Level {
    /// Byte for byte, without a `\r` before the line end: a model does not see it, so it must not decide between two places.
    Exact,
    /// Without blanks and `\r` at the end.
    Trailing,
    /// Without blanks at both ends.
    Trimmed,
}

impl Level {
    pub(crate) fn key(self, line: &[u8]) -> &[u8] {
        match self {
            Self::Exact => line.strip_suffix(b"\r").unwrap_or(line),
            Self::Trailing => line.trim_ascii_end(),
            Self::Trimmed => line.trim_ascii(),
        }
    }
}

/// No place: the line was removed.
const GONE: u32 = u32::MAX;
/// No earlier line of the same hash.
const NONE: u32 = u32::MAX;
/// Up to this many candidates are compared one by one; beyond it the whole text is searched once.
const CANDIDATES_FEW: u32 = 16;

/// Searches of a text byte for byte that go through its lines; most files get no more, and need no hashes.
const SCANS_FIRST: u32 = 3;

/// Places of lines by content; the comparison levels are added when first asked for.
#[derive(Debug)]
pub(crate) struct Index {
    hasher: RandomState,
    scans: u32,
    /// Lines compared so far.
    spent: Cell<u64>,
    /// Place of each line by id.
    place: Vec<u32>,
    levels: [Option<Hashes>; 3],
}

/// Takes a hash, which is random already, for its own.
#[derive(Debug, Default)]
struct Given(u64);

impl Hasher for Given {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.0 = self.0.rotate_left(8) ^ u64::from(*byte));
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

#[derive(Debug)]
struct Hashes {
    /// Hash of each line by id.
    of: Vec<u64>,
    /// The last line with a hash, and how many there are.
    last: HashMap<u64, (u32, u32), BuildHasherDefault<Given>>,
    /// The line before it with the same hash, by id.
    earlier: Vec<u32>,
}

impl Hashes {
    fn for_lines(count: usize) -> Self {
        let last = HashMap::with_capacity_and_hasher(count, BuildHasherDefault::default());
        Self { of: Vec::with_capacity(count), last, earlier: Vec::with_capacity(count) }
    }

    fn add(&mut self, hash: u64) {
        let id = u32::try_from(self.of.len()).unwrap_or(NONE);
        self.of.push(hash);
        let (last, count) = self.last.entry(hash).or_insert((NONE, 0));
        self.earlier.push(*last);
        *last = id;
        *count += 1;
    }

    fn count(&self, hash: u64) -> u32 {
        self.last.get(&hash).map_or(0, |(_, count)| *count)
    }

    /// Ids of the lines with a hash, newest first.
    fn ids(&self, hash: u64) -> impl Iterator<Item = u32> {
        let start = self.last.get(&hash).map_or(NONE, |(last, _)| *last);
        std::iter::successors(Some(start), |id| self.earlier.get(*id as usize).copied()).take_while(|id| *id != NONE)
    }
}

impl Index {
    /// An index of a text whose line ids are its places.
    pub(crate) fn new(lines: usize) -> Self {
        Self { hasher: RandomState::new(), scans: 0, spent: Cell::new(0), place: (0..).take(lines).collect(), levels: [None, None, None] }
    }

    pub(crate) fn spend(&self, lines: usize) {
        self.spent.set(self.spent.get().saturating_add(lines as u64));
    }

    pub(crate) fn spent(&self) -> u64 {
        self.spent.get()
    }

    fn level(&mut self, level: Level, lines: &[Line<'_>]) -> &Hashes {
        let hasher = &self.hasher;
        self.levels[level as usize].get_or_insert_with(|| {
            let mut hashes = Hashes::for_lines(lines.len());
            lines.iter().for_each(|line| hashes.add(hasher.hash_one(level.key(&line.text))));
            hashes
        })
    }

    /// Takes in lines that were appended to `lines`. They have no place until [`Index::moved`].
    pub(crate) fn add(&mut self, lines: &[Line<'_>]) {
        let known = self.place.len();
        self.place.resize(lines.len(), GONE);
        for (slot, level) in self.levels.iter_mut().zip([Level::Exact, Level::Trailing, Level::Trimmed]) {
            if let Some(hashes) = slot {
                lines[known..].iter().for_each(|line| hashes.add(self.hasher.hash_one(level.key(&line.text))));
            }
        }
    }

    /// `old` lines at `at` were replaced by `new` ones; `order` is the text as it stands.
    pub(crate) fn moved(&mut self, order: &[u32], at: usize, old: &[u32], new: usize) {
        for id in old {
            self.place[*id as usize] = GONE;
        }
        let end = if old.len() == new { at + new } else { order.len() };
        for (place, id) in (at..end).zip(&order[at..end]) {
            self.place[*id as usize] = u32::try_from(place).unwrap_or(GONE);
        }
    }

    /// See [`crate::lines::Text::find`].
    pub(crate) fn find(&mut self, level: Level, lines: &[Line<'_>], order: &[u32], needle: &[&[u8]], max: usize) -> Vec<usize> {
        if needle.is_empty() || needle.len() > order.len() {
            return Vec::new();
        }
        if level == Level::Exact && self.levels[0].is_none() && self.scans < SCANS_FIRST {
            self.scans += 1;
            self.spend(order.len());
            let key = |line| Level::Exact.key(line);
            let same = |place: usize, nth: usize| key(&*lines[order[place] as usize].text) == key(needle[nth]);
            return search(order.len(), needle.len(), same, |a, b| key(needle[a]) == key(needle[b]), max);
        }
        self.level(level, lines);
        let Some(hashes) = &self.levels[level as usize] else {
            return Vec::new();
        };
        let mut wanted = Vec::with_capacity(needle.len());
        let mut rarest = (u32::MAX, 0);
        for (nth, line) in needle.iter().enumerate() {
            let hash = self.hasher.hash_one(level.key(line));
            let count = hashes.count(hash);
            if count == 0 {
                return Vec::new();
            }
            rarest = rarest.min((count, nth));
            wanted.push(hash);
        }
        let hash_at = |place: usize| hashes.of[order[place] as usize];
        if rarest.0 > CANDIDATES_FEW {
            self.spend(order.len());
            let same = |place: usize, nth: usize| hash_at(place) == wanted[nth];
            return search(order.len(), wanted.len(), same, |a, b| wanted[a] == wanted[b], max);
        }
        let mut found: Vec<usize> = hashes
            .ids(wanted[rarest.1])
            .map(|id| self.place[id as usize])
            .filter(|place| *place != GONE)
            .filter_map(|place| (place as usize).checked_sub(rarest.1))
            .filter(|at| at + wanted.len() <= order.len() && wanted.iter().enumerate().all(|(nth, hash)| hash_at(at + nth) == *hash))
            .collect();
        found.sort_unstable();
        found.truncate(max);
        found
    }

    /// See [`crate::lines::Text::count_of`].
    pub(crate) fn count_of(&mut self, level: Level, lines: &[Line<'_>], line: &[u8]) -> usize {
        let hash = self.hasher.hash_one(level.key(line));
        self.level(level, lines).count(hash) as usize
    }

    /// See [`crate::lines::Text::places_of`].
    pub(crate) fn places_of(&mut self, level: Level, lines: &[Line<'_>], line: &[u8], max: usize) -> Option<Vec<usize>> {
        let hash = self.hasher.hash_one(level.key(line));
        self.level(level, lines);
        let hashes = self.levels[level as usize].as_ref()?;
        if hashes.count(hash) as usize > max {
            return None;
        }
        Some(hashes.ids(hash).map(|id| self.place[id as usize]).filter(|place| *place != GONE).map(|place| place as usize).collect())
    }
}

/// Knuth-Morris-Pratt over lines: linear even where both texts repeat themselves. `same` compares a place with a line that
/// is wanted, `equal` two of those.
fn search(len: usize, wanted: usize, same: impl Fn(usize, usize) -> bool, equal: impl Fn(usize, usize) -> bool, max: usize) -> Vec<usize> {
    let mut back = vec![0; wanted];
    let mut matched = 0;
    for nth in 1..wanted {
        while matched > 0 && !equal(nth, matched) {
            matched = back[matched - 1];
        }
        matched += usize::from(equal(nth, matched));
        back[nth] = matched;
    }
    let mut found = Vec::new();
    matched = 0;
    for place in 0..len {
        while matched > 0 && !same(place, matched) {
            matched = back[matched - 1];
        }
        matched += usize::from(same(place, matched));
        if matched == wanted {
            found.push(place + 1 - matched);
            if found.len() == max {
                break;
            }
            matched = back[matched - 1];
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &[u64], wanted: &[u64], max: usize) -> Vec<usize> {
        search(text.len(), wanted.len(), |place, nth| text[place] == wanted[nth], |a, b| wanted[a] == wanted[b], max)
    }

    #[test]
    fn search_finds_overlaps() {
        let text = [1, 1, 1, 2, 1, 1];
        assert_eq!(found(&text, &[1, 1], usize::MAX), [0, 1, 4]);
        assert_eq!(found(&text, &[1, 1], 2), [0, 1]);
        assert_eq!(found(&text, &[1, 2, 1], usize::MAX), [2]);
        assert_eq!(found(&text, &[3], usize::MAX), [0; 0]);
    }
}
