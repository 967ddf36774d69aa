//! Where a patch's hunk may stand: its anchors name the lines that it lies below.

use std::collections::BTreeSet;
use std::ops::Range;

use paird_base::limits::{ANCHOR_LINES_MAX, ANCHOR_PLACES_MAX};

use crate::index::Level;
use crate::lines::{Text, is_blank};

/// What the anchors of one hunk say.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Below {
    /// There are none, or more places for them than are told apart.
    Anywhere,
    /// Lines from 0: the innermost anchor's own and what belongs to it, for each of its places.
    Ranges(Vec<Range<usize>>),
    /// This anchor is no line of the file, or not below the one before it.
    Missing(String),
}

/// Looks for a reply's anchors, in at most [`ANCHOR_LINES_MAX`] lines; after that they narrow nothing.
#[derive(Debug, Default)]
pub(crate) struct Anchors {
    lines: usize,
}

/// Whether a trimmed line is an anchor's.
type Reading = fn(&[u8], &[u8]) -> bool;

/// The ways in which a line can be an anchor's, the first that any line has counts.
const READINGS: &[Reading] = &[
    |line, anchor| line == anchor,
    |line, anchor| without_sign(line) == without_sign(anchor),
    |line, anchor| line.starts_with(anchor),
    |line, anchor| line.windows(anchor.len()).any(|part| part == anchor),
];

impl Anchors {
    pub(crate) fn below(&mut self, text: &mut Text<'_>, anchors: &[String]) -> Below {
        let mut ranges: Option<Vec<Range<usize>>> = None;
        for anchor in anchors {
            let Some(places) = self.places(text, anchor.as_bytes(), ranges.as_deref()) else {
                return Below::Anywhere;
            };
            if places.is_empty() {
                return Below::Missing(anchor.clone());
            }
            ranges = places.into_iter().map(|at| self.end_of(text, at).map(|end| at..end)).collect();
            if ranges.is_none() {
                return Below::Anywhere;
            }
        }
        ranges.map_or(Below::Anywhere, Below::Ranges)
    }

    /// The anchor's lines, in order; below one of the lines that `outer` begins with, if there is an anchor around it.
    /// `None` if they are more than [`ANCHOR_PLACES_MAX`].
    fn places(&mut self, text: &mut Text<'_>, anchor: &[u8], outer: Option<&[Range<usize>]>) -> Option<Vec<usize>> {
        let Some(outer) = outer else {
            let mut exact = text.places_of(Level::Trimmed, anchor, ANCHOR_PLACES_MAX)?;
            if exact.is_empty() {
                return self.scan(text, anchor, std::slice::from_ref(&(0..text.len())), &READINGS[1..]);
            }
            exact.sort_unstable();
            return Some(exact);
        };
        let inner: Vec<Range<usize>> = outer.iter().map(|range| range.start + 1..range.end).collect();
        self.scan(text, anchor, &inner, READINGS)
    }

    fn scan(&mut self, text: &Text<'_>, anchor: &[u8], ranges: &[Range<usize>], readings: &[Reading]) -> Option<Vec<usize>> {
        for fits in readings {
            let mut places = BTreeSet::new();
            for range in ranges {
                for (nth, line) in text.range(range.start, range.len()).enumerate() {
                    self.count()?;
                    if fits(line.text.trim_ascii(), anchor) && places.insert(range.start + nth) && places.len() > ANCHOR_PLACES_MAX {
                        return None;
                    }
                }
            }
            if !places.is_empty() {
                return Some(places.into_iter().collect());
            }
        }
        Some(Vec::new())
    }

    /// The end of what belongs to a line: what is indented below it, with the brackets and the line that close it. A line
    /// that nothing belongs to only says that the place is further down.
    fn end_of(&mut self, text: &Text<'_>, at: usize) -> Option<usize> {
        let own = indent(&text.line(at).text);
        let mut has_body = false;
        let mut end = at + 1;
        for (nth, line) in text.range(at + 1, text.len() - at - 1).enumerate() {
            self.count()?;
            let here = at + 1 + nth;
            let trimmed = line.text.trim_ascii();
            if is_blank(&line.text) {
                continue;
            }
            if indent(&line.text) > own {
                has_body = true;
            } else if indent(&line.text) < own || !is_bracket(trimmed) {
                break;
            } else if has_body && !trimmed.ends_with(b":") && !trimmed.ends_with(b"{") {
                return Some(here + 1);
            }
            end = here + 1;
        }
        Some(if has_body { end } else { text.len() })
    }

    fn count(&mut self) -> Option<()> {
        self.lines += 1;
        (self.lines <= ANCHOR_LINES_MAX).then_some(())
    }
}

/// A line without the sign that opens what belongs to it, which models leave out or add.
fn without_sign(line: &[u8]) -> &[u8] {
    line.strip_suffix(b":").or_else(|| line.strip_suffix(b"{")).unwrap_or(line).trim_ascii_end()
}

fn indent(line: &[u8]) -> usize {
    line.len() - line.trim_ascii_start().len()
}

/// Whether a line as far out as the anchor still belongs to it.
fn is_bracket(line: &[u8]) -> bool {
    matches!(line.first(), Some(b'{' | b'}' | b')' | b']')) || line == b"end" || line == b"begin"
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "import os\n\nclass A:\n    def f(self):\n        return 1\n\n    def g(\n        self,\n    ):\n        return 1\n\nclass B:\n    def f(self):\n        return 1\n";

    fn below(file: &str, anchors: &[&str]) -> Below {
        let mut text = Text::read(file.as_bytes()).unwrap();
        Anchors::default().below(&mut text, &anchors.iter().map(|a| (*a).to_owned()).collect::<Vec<_>>())
    }

    fn at(ranges: &[(usize, usize)]) -> Below {
        Below::Ranges(ranges.iter().map(|(start, end)| *start..*end).collect())
    }

    #[test]
    fn what_belongs_to_a_line() {
        assert_eq!(below(FILE, &[]), Below::Anywhere);
        assert_eq!(below(FILE, &["class A:"]), at(&[(2, 10)]));
        assert_eq!(below(FILE, &["def f(self):"]), at(&[(3, 5), (12, 14)]));
        assert_eq!(below(FILE, &["class B:", "def f(self):"]), at(&[(12, 14)]));
        assert_eq!(below(FILE, &["class A", "def g"]), at(&[(6, 10)]));
        assert_eq!(below(FILE, &["import os"]), at(&[(0, 14)]));
        assert_eq!(below(FILE, &["class B:", "def g"]), Below::Missing("def g".to_owned()));
        assert_eq!(below(FILE, &["class C:"]), Below::Missing("class C:".to_owned()));
    }

    #[test]
    fn brackets_belong_to_it() {
        let file = "void f()\n{\n    a();\n}\nvoid g() {\n    a();\n}\n";
        assert_eq!(below(file, &["void f()"]), at(&[(0, 4)]));
        assert_eq!(below(file, &["void g() {"]), at(&[(4, 7)]));
    }
}
