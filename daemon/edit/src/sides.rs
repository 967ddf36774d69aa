//! The two sides of a block as lines, and what REPLACE does to each line of SEARCH.

use std::cell::OnceCell;
use std::ops::Range;

use imara_diff::{Algorithm, Diff, InternedInput};

use crate::block::Split;
use crate::encoding::BOM;
use crate::lines::{is_blank, split_lines, without_cr};

/// SEARCH as in the reply, `\r` included; REPLACE without line ends.
pub(crate) struct Sides<'s, 'b> {
    pub(crate) search: Vec<&'s [u8]>,
    pub(crate) replace: Vec<&'b [u8]>,
    kept: OnceCell<Vec<(usize, usize)>>,
}

/// What REPLACE does to a line of SEARCH.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    Kept,
    /// Kept, and lines are added before or after it.
    Beside,
    /// Changed or removed.
    Gone,
}

impl<'s, 'b> Sides<'s, 'b> {
    pub(crate) fn of(split: &'s Split<'b>) -> Self {
        // Some copy a byte order mark as a character; it belongs to no line. In a new file it is what it is.
        let mark = |text: &[u8]| if text.starts_with(BOM) { BOM.len() } else { 0 };
        let (search, replace) = (split.search.as_bytes(), split.replace.as_bytes());
        let skipped = if search.is_empty() { 0 } else { mark(replace) };
        Self {
            search: split_lines(&search[mark(search)..]).collect(),
            replace: split_lines(&replace[skipped..]).map(without_cr).collect(),
            kept: OnceCell::new(),
        }
    }

    /// Leaves an empty line that only one side ends with as the file has it, unless that is all the block is about.
    pub(crate) fn even_ends(&mut self) {
        let ends_empty =
            |lines: &[&[u8]]| lines.last().is_some_and(|line| without_cr(line).is_empty()) && lines.iter().any(|line| !is_blank(line));
        let written = self.replace.clone();
        match (ends_empty(&self.search), ends_empty(&self.replace)) {
            (true, false) => self.replace.push(b""),
            (false, true) => drop(self.replace.pop()),
            _ => return,
        }
        if !self.differ() {
            self.replace = written;
        }
    }

    /// Takes a hunk's own word for which lines it keeps.
    pub(crate) fn keeping(self, kept: &[(usize, usize)]) -> Self {
        Self { kept: OnceCell::from(kept.to_vec()), ..self }
    }

    /// Whether SEARCH has nothing to look for.
    pub(crate) fn searches_nothing(&self) -> bool {
        self.search.iter().all(|line| is_blank(line))
    }

    /// Lines from the first of SEARCH that is not blank to the last; empty if there is none.
    pub(crate) fn solid_range(&self) -> Range<usize> {
        let first = self.search.iter().position(|line| !is_blank(line)).unwrap_or(0);
        let last = self.search.iter().rposition(|line| !is_blank(line));
        first..last.map_or(first, |last| last + 1)
    }

    /// Whether the two sides differ in more than line ends.
    pub(crate) fn differ(&self) -> bool {
        self.search.iter().map(|line| without_cr(line)).ne(self.replace.iter().copied())
    }

    /// Lines that both sides have, as pairs of their places in SEARCH and REPLACE, both rising.
    pub(crate) fn kept(&self) -> &[(usize, usize)] {
        self.kept.get_or_init(|| {
            let mut input = InternedInput::default();
            input.update_before(self.search.iter().map(|line| without_cr(line)));
            input.update_after(self.replace.iter().copied());
            let diff = Diff::compute(Algorithm::Myers, &input);
            let old = (0u32..).zip(0..self.search.len()).filter(|(token, _)| !diff.is_removed(*token));
            let new = (0u32..).zip(0..self.replace.len()).filter(|(token, _)| !diff.is_added(*token));
            old.zip(new).map(|((_, old), (_, new))| (old, new)).collect()
        })
    }

    /// Lines of REPLACE that SEARCH does not have there.
    pub(crate) fn added(&self) -> Vec<&'b [u8]> {
        let mut kept = self.kept().iter().map(|(_, new)| *new).peekable();
        let lines = self.replace.iter().enumerate();
        lines.filter(|(nth, _)| kept.next_if_eq(nth).is_none()).map(|(_, line)| *line).collect()
    }

    /// What becomes of each line of SEARCH.
    pub(crate) fn fates(&self) -> Vec<Fate> {
        let mut fates = vec![Fate::Gone; self.search.len()];
        let mut before = None;
        for (old, new) in self.kept() {
            // Lines are added right before this one if REPLACE has more between two kept lines and SEARCH nothing.
            let (from_old, from_new) = before.map_or((0, 0), |(old, new): (usize, usize)| (old + 1, new + 1));
            let added = *new > from_new && *old == from_old;
            fates[*old] = if added { Fate::Beside } else { Fate::Kept };
            if added && let Some((old, _)) = before {
                fates[old] = Fate::Beside;
            }
            before = Some((*old, *new));
        }
        if let Some((old, new)) = before
            && old + 1 == self.search.len()
            && new + 1 < self.replace.len()
        {
            fates[old] = Fate::Beside;
        }
        fates
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fates(search: &str, replace: &str) -> String {
        let split = Split { search: search.into(), replace };
        let sign = |fate| match fate {
            Fate::Kept => 'k',
            Fate::Beside => 'b',
            Fate::Gone => 'g',
        };
        Sides::of(&split).fates().into_iter().map(sign).collect()
    }

    #[test]
    fn fates_of_lines() {
        assert_eq!(fates("a\nb\nc\n", "a\nb\nc\n"), "kkk");
        assert_eq!(fates("a\nb\nc\n", "a\nB\nc\n"), "kgk");
        assert_eq!(fates("a\nb\nc\n", "a\nb\nx\nc\n"), "kbb");
        assert_eq!(fates("a\nb\nc\n", "x\na\nb\nc\n"), "bkk");
        assert_eq!(fates("a\nb\nc\n", "a\nb\nc\nx\n"), "kkb");
        assert_eq!(fates("a\nb\nc\n", "a\nc\n"), "kgk");
        assert_eq!(fates("a\nb\nc\n", "x\n"), "ggg");
        assert_eq!(fates("a\nb\nc\nd\n", "a\nx\ny\nd\n"), "kggk");
        assert_eq!(fates("a\nb\n", ""), "gg");
    }

    #[test]
    fn a_copied_byte_order_mark_is_no_text() {
        let split = Split { search: "\u{feff}a\n".into(), replace: "\u{feff}b\n" };
        let sides = Sides::of(&split);
        assert_eq!((&sides.search[..], &sides.replace[..]), (&[&b"a"[..]][..], &[&b"b"[..]][..]));
    }
}
