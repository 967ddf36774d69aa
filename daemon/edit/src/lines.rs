//! A file as lines that keep their bytes, so that an edit splices and never rewrites what it does not touch.

use std::borrow::Cow;

use paird_base::limits::LINES_MAX;

use crate::index::{Index, Level};

const BOM: &[u8] = b"\xef\xbb\xbf";

/// One line of a file.
#[derive(Debug, Clone)]
pub(crate) struct Line<'a> {
    /// Without the final `\n`; a `\r` before it is part of the text.
    pub(crate) text: Cow<'a, [u8]>,
    /// Whether a `\n` follows; only a file's last line may lack it.
    ended: bool,
    /// Lines of the file before all edits that it stands for, from 1, inclusive. Empty, as in `(1, 0)`, in a new file.
    pub(crate) from: (usize, usize),
    /// The last block that wrote it or found it; `None` while no block did.
    pub(crate) claimed_by: Option<usize>,
}

impl Line<'_> {
    fn bytes(&self) -> usize {
        self.text.len() + usize::from(self.ended)
    }
}

/// What takes the place of matched lines.
#[derive(Debug, Clone)]
pub(crate) enum Piece<'a> {
    /// The n-th of the matched lines, byte for byte.
    Keep(usize),
    /// Text without line end; it gets the ending of its surroundings.
    New(Cow<'a, [u8]>),
}

/// A file's lines while blocks are applied to it. Lines have an id for life; `order` says which stand where.
#[derive(Debug)]
pub(crate) struct Text<'a> {
    bom: bool,
    crlf: bool,
    bytes: usize,
    lines: Vec<Line<'a>>,
    order: Vec<u32>,
    index: Index,
}

/// Lines of a text: split at `\n` only, a last line without it counts.
pub(crate) fn split_lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split_inclusive(|b| *b == b'\n').map(|line| line.strip_suffix(b"\n").unwrap_or(line))
}

/// A line of a reply without its line end.
pub(crate) fn without_cr(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

pub(crate) fn is_blank(line: &[u8]) -> bool {
    line.trim_ascii().is_empty()
}

impl<'a> Text<'a> {
    /// Takes any bytes but those with NUL, which lines of text never hold (UTF-16 and binary files do). The error says why.
    pub(crate) fn read(bytes: &'a [u8]) -> Result<Self, String> {
        if bytes.contains(&0) {
            return Err("it holds NUL bytes, so it is not text in an encoding that can be edited".to_owned());
        }
        let (bom, body) = match bytes.strip_prefix(BOM) {
            Some(body) => (true, body),
            None => (false, bytes),
        };
        if body.iter().filter(|b| **b == b'\n').count() >= LINES_MAX {
            return Err(format!("it has more than {LINES_MAX} lines"));
        }
        let mut lines: Vec<Line<'a>> = Vec::new();
        for raw in body.split_inclusive(|b| *b == b'\n') {
            let number = lines.len() + 1;
            let (text, ended) = raw.strip_suffix(b"\n").map_or((raw, false), |text| (text, true));
            lines.push(Line { text: Cow::Borrowed(text), ended, from: (number, number), claimed_by: None });
        }
        let order: Vec<u32> = (0..).take(lines.len()).collect();
        let crlf = mostly_crlf(lines.iter()).unwrap_or(false);
        Ok(Self { bom, crlf, bytes: bytes.len(), index: Index::new(lines.len()), lines, order })
    }

    pub(crate) fn len(&self) -> usize {
        self.order.len()
    }

    /// The line at a place, from 0.
    pub(crate) fn line(&self, place: usize) -> &Line<'a> {
        &self.lines[self.order[place] as usize]
    }

    pub(crate) fn range(&self, at: usize, len: usize) -> impl Iterator<Item = &Line<'a>> {
        self.order[at..at + len].iter().map(|id| &self.lines[*id as usize])
    }

    /// Lines of the file before all edits that a range stands for, from 1, inclusive.
    pub(crate) fn before_lines(&self, at: usize, len: usize) -> (usize, usize) {
        let known = self.range(at, len).map(|line| line.from).filter(|(start, end)| start <= end);
        known.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))).unwrap_or((1, 0))
    }

    /// Places where the needle's lines stand one after another, compared as `level` says, in order; at most `max` of them.
    pub(crate) fn find(&mut self, level: Level, needle: &[&[u8]], max: usize) -> Vec<usize> {
        self.index.find(level, &self.lines, &self.order, needle, max)
    }

    /// Whether the needle stands at a place that [`Text::find`] gave. It compares hashes; this compares bytes.
    pub(crate) fn stands_at(&self, level: Level, at: usize, needle: &[&[u8]]) -> bool {
        self.range(at, needle.len()).zip(needle).all(|(line, wanted)| level.key(&line.text) == level.key(wanted))
    }

    /// Places of single lines equal to `line`, `None` if there are more than `max`.
    pub(crate) fn places_of(&mut self, level: Level, line: &[u8], max: usize) -> Option<Vec<usize>> {
        self.index.places_of(level, &self.lines, line, max)
    }

    /// Bytes the file would have after [`Text::splice`].
    pub(crate) fn bytes_after(&self, at: usize, len: usize, pieces: &[Piece<'a>]) -> usize {
        let removed: usize = self.range(at, len).map(Line::bytes).sum();
        let added: usize = pieces
            .iter()
            .map(|piece| match piece {
                Piece::Keep(nth) => self.line(at + nth).bytes(),
                Piece::New(text) => text.len() + 2,
            })
            .sum();
        self.bytes - removed + added
    }

    /// Puts `pieces` in the place of `len` lines.
    ///
    /// New lines end like the lines they replace, else like the file. Where the last line had no end, the line that takes
    /// its place has none, and a line that stops being last gets one. `block` claims all of them.
    pub(crate) fn splice(&mut self, at: usize, len: usize, pieces: Vec<Piece<'a>>, block: usize) {
        let crlf = mostly_crlf(self.range(at, len)).unwrap_or(self.crlf);
        let from = self.before_lines(at, len);
        let at_end = at + len == self.len();
        let unended = at_end && len > 0 && !self.line(at + len - 1).ended;
        let last = pieces.len().saturating_sub(1);
        let old: Vec<u32> = self.order[at..at + len].to_vec();
        let mut new = Vec::with_capacity(pieces.len());
        for (nth, piece) in pieces.into_iter().enumerate() {
            let (text, from) = match piece {
                Piece::Keep(kept) => {
                    let line = &mut self.lines[old[kept] as usize];
                    line.claimed_by = Some(block);
                    if line.ended || nth == last {
                        new.push(old[kept]);
                        continue;
                    }
                    (line.text.clone(), line.from)
                }
                Piece::New(text) => (text, from),
            };
            let ended = !(unended && nth == last);
            let text = if crlf && ended && !text.ends_with(b"\r") { Cow::Owned([&*text, b"\r"].concat()) } else { text };
            new.push(u32::try_from(self.lines.len()).expect("files and replies are far below 2^32 lines"));
            self.lines.push(Line { text, ended, from, claimed_by: Some(block) });
        }
        let size = |ids: &[u32]| ids.iter().map(|id| self.lines[*id as usize].bytes()).sum::<usize>();
        self.bytes = self.bytes - size(&old) + size(&new);
        self.index.add(&self.lines);
        self.order.splice(at..at + len, new.iter().copied());
        self.index.moved(&self.order, at, &old, new.len());
    }

    /// The file's bytes as it stands.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.bytes);
        if self.bom {
            bytes.extend_from_slice(BOM);
        }
        for line in self.range(0, self.len()) {
            bytes.extend_from_slice(&line.text);
            if line.ended {
                bytes.push(b'\n');
            }
        }
        bytes
    }
}

/// Whether most of the lines that end do so with `\r\n`; `None` if that is undecided.
fn mostly_crlf<'l, 'a: 'l>(lines: impl Iterator<Item = &'l Line<'a>>) -> Option<bool> {
    let (mut lf, mut crlf) = (0usize, 0usize);
    for line in lines.filter(|line| line.ended) {
        if line.text.ends_with(b"\r") {
            crlf += 1;
        } else {
            lf += 1;
        }
    }
    (lf != crlf).then_some(crlf > lf)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spliced(file: &[u8], at: usize, len: usize, pieces: Vec<Piece<'_>>) -> Vec<u8> {
        let mut text = Text::read(file).unwrap();
        text.splice(at, len, pieces, 0);
        let bytes = text.to_bytes();
        assert_eq!(text.bytes, bytes.len());
        bytes
    }

    fn new(text: &str) -> Piece<'_> {
        Piece::New(Cow::Borrowed(text.as_bytes()))
    }

    #[test]
    fn bytes_come_back() {
        for file in [&b""[..], b"a", b"a\n", b"\n\n", b"\xef\xbb\xbfa\r\nb", b"caf\xe9\n\x0c\x0b\n", b"a\rb\n"] {
            assert_eq!(Text::read(file).unwrap().to_bytes(), file);
        }
    }

    #[test]
    fn nul_is_refused() {
        assert!(Text::read(b"a\0").unwrap_err().contains("NUL"));
    }

    #[test]
    fn endings_follow_the_region_then_the_file() {
        assert_eq!(spliced(b"a\r\nb\r\n", 1, 1, vec![new("B"), new("C")]), b"a\r\nB\r\nC\r\n");
        assert_eq!(spliced(b"a\nb\r\nc\n", 1, 1, vec![new("B")]), b"a\nB\r\nc\n");
        assert_eq!(spliced(b"a\r\nb\nc\r\n", 0, 2, vec![new("x")]), b"x\r\nc\r\n");
        assert_eq!(spliced(b"a\r\nb", 1, 1, vec![new("B"), new("C")]), b"a\r\nB\r\nC");
        assert_eq!(spliced(b"", 0, 0, vec![new("x")]), b"x\n");
    }

    #[test]
    fn final_newline_is_kept() {
        assert_eq!(spliced(b"a\nb", 0, 1, vec![new("A")]), b"A\nb");
        assert_eq!(spliced(b"a\nb", 1, 1, vec![new("B")]), b"a\nB");
        assert_eq!(spliced(b"a\nb", 1, 1, vec![Piece::Keep(0), new("c")]), b"a\nb\nc");
        assert_eq!(spliced(b"a\nb", 1, 1, vec![new("x"), Piece::Keep(0)]), b"a\nx\nb");
        assert_eq!(spliced(b"a\nb", 1, 1, vec![]), b"a\n");
        assert_eq!(spliced(b"a\nb", 0, 2, vec![Piece::Keep(0)]), b"a\n");
        assert_eq!(spliced(b"a\nb\n", 1, 1, vec![new("B")]), b"a\nB\n");
        assert_eq!(spliced(b"a\n", 0, 1, vec![]), b"");
    }
}
