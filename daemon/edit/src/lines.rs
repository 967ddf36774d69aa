//! A file as lines that keep their bytes, so that an edit splices and never rewrites what it does not touch.

use std::borrow::Cow;

use paird_base::limits::LINES_COMPARED_MAX;

use crate::encoding::{BOM, Encoding};
use crate::index::{Index, Level};

/// One line of a file.
#[derive(Debug, Clone)]
pub(crate) struct Line<'a> {
    /// Without the final `\n`; a `\r` before it is part of the text. In a file that has no `\n`, lines end in `\r`.
    pub(crate) text: Cow<'a, [u8]>,
    /// Whether a line end follows; only a file's last line may lack it.
    ended: bool,
    /// Lines of the file before all edits that it stands for, from 1, inclusive. Empty, as in `(1, 0)`, in a new file.
    from: (u32, u32),
    /// The last block that wrote it or found it; `None` while no block did.
    claimed_by: Option<u32>,
}

impl Line<'_> {
    /// The last block that wrote the line or found it.
    pub(crate) fn claimed_by(&self) -> Option<usize> {
        self.claimed_by.map(|block| block as usize)
    }

    fn bytes(&self) -> usize {
        self.text.len() + usize::from(self.ended)
    }
}

/// What takes the place of matched lines.
#[derive(Debug, Clone)]
pub(crate) enum Piece<'a> {
    /// The n-th of the matched lines, byte for byte.
    Keep(usize),
    /// The same, but SEARCH does not state it: the block does not claim it.
    Leave(usize),
    /// Text without line end; it gets the ending of its surroundings.
    New(Cow<'a, [u8]>),
}

/// A file's lines while blocks are applied to it. Lines have an id for life; `order` says which stand where.
#[derive(Debug)]
pub(crate) struct Text<'a> {
    encoding: Encoding,
    /// Whether most lines end in `\r\n`; `None` if as many do as do not.
    crlf: Option<bool>,
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
    /// Takes any bytes that [`Encoding::of`] takes; its error says why the others cannot be edited.
    pub(crate) fn read(bytes: &'a [u8]) -> Result<Self, String> {
        let encoding = Encoding::of(bytes)?;
        let mut lines: Vec<Line<'a>> = Vec::new();
        for (number, raw) in (1..).zip(encoding.body(bytes).split_inclusive(|b| *b == encoding.separator)) {
            let (text, ended) = raw.strip_suffix(&[encoding.separator]).map_or((raw, false), |text| (text, true));
            lines.push(Line { text: Cow::Borrowed(text), ended, from: (number, number), claimed_by: None });
        }
        let order: Vec<u32> = (0..).take(lines.len()).collect();
        let crlf = mostly_crlf(lines.iter());
        Ok(Self { encoding, crlf, bytes: bytes.len(), index: Index::new(lines.len()), lines, order })
    }

    /// A file without lines.
    pub(crate) fn empty() -> Self {
        let encoding = Encoding { bom: false, utf8: true, separator: b'\n' };
        Self { encoding, crlf: None, bytes: 0, lines: Vec::new(), order: Vec::new(), index: Index::new(0) }
    }

    /// Whether the file is valid UTF-8; see [`Encoding::utf8`].
    pub(crate) fn is_utf8(&self) -> bool {
        self.encoding.utf8
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
        let (start, end) = self.from(at, len);
        (start as usize, end as usize)
    }

    fn from(&self, at: usize, len: usize) -> (u32, u32) {
        let known = self.range(at, len).map(|line| line.from).filter(|(start, end)| start <= end);
        known.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))).unwrap_or((1, 0))
    }

    /// Counts lines that are compared for a purpose that may be had very often.
    pub(crate) fn spend(&self, lines: usize) {
        self.index.spend(lines);
    }

    /// Whether [`LINES_COMPARED_MAX`] is reached, so that no more should be looked for.
    pub(crate) fn is_spent(&self) -> bool {
        self.index.spent() > LINES_COMPARED_MAX
    }

    /// Lines compared so far, as counted.
    #[cfg(test)]
    pub(crate) fn spent(&self) -> u64 {
        self.index.spent()
    }

    /// Places where the needle's lines stand one after another, compared as `level` says, in order; at most `max` of them.
    pub(crate) fn find(&mut self, level: Level, needle: &[&[u8]], max: usize) -> Vec<usize> {
        self.index.find(level, &self.lines, &self.order, needle, max)
    }

    /// Whether the needle stands at a place that [`Text::find`] gave. It compares hashes; this compares bytes.
    pub(crate) fn stands_at(&self, level: Level, at: usize, needle: &[&[u8]]) -> bool {
        self.range(at, needle.len()).zip(needle).all(|(line, wanted)| level.key(&line.text) == level.key(wanted))
    }

    /// How many lines are equal to `line`, those counted too that blocks have removed.
    pub(crate) fn count_of(&mut self, level: Level, line: &[u8]) -> usize {
        self.index.count_of(level, &self.lines, line)
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
                Piece::Keep(nth) | Piece::Leave(nth) => self.line(at + nth).bytes(),
                Piece::New(text) => text.len() + 2,
            })
            .sum();
        self.bytes - removed + added
    }

    /// Puts `pieces` in the place of `len` lines.
    ///
    /// New lines end like most lines of the file, or of those they replace if the file is undecided. The last of the file
    /// has an end if a piece that states it is there: a reply's lines have ends, unless it says that this one has none
    /// (`unended`). `block` claims all.
    pub(crate) fn splice(&mut self, at: usize, len: usize, pieces: Vec<Piece<'a>>, block: usize, unended: bool) {
        let crlf = self.crlf.or_else(|| mostly_crlf(self.range(at, len))).unwrap_or(false);
        let from = self.from(at, len);
        let block = u32::try_from(block).unwrap_or(u32::MAX);
        let old: Vec<u32> = self.order[at..at + len].to_vec();
        let mut new = Vec::with_capacity(pieces.len());
        let last = if at + len == self.len() { pieces.len() } else { 0 };
        for (nth, piece) in (1..).zip(pieces) {
            let unended = nth == last && (unended || matches!(piece, Piece::Leave(_)));
            let (text, from) = match piece {
                Piece::Keep(kept) | Piece::Leave(kept) => {
                    let line = &mut self.lines[old[kept] as usize];
                    if matches!(piece, Piece::Keep(_)) {
                        line.claimed_by = Some(block);
                    }
                    if line.ended || unended {
                        new.push(old[kept]);
                        continue;
                    }
                    (line.text.clone(), line.from)
                }
                Piece::New(text) => (text, from),
            };
            let text = if crlf && !unended && !text.ends_with(b"\r") { Cow::Owned([&*text, b"\r"].concat()) } else { text };
            new.push(u32::try_from(self.lines.len()).expect("files and replies are far below 2^32 lines"));
            self.lines.push(Line { text, ended: !unended, from, claimed_by: Some(block) });
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
        if self.encoding.bom {
            bytes.extend_from_slice(BOM);
        }
        for line in self.range(0, self.len()) {
            bytes.extend_from_slice(&line.text);
            if line.ended {
                bytes.push(self.encoding.separator);
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
        text.splice(at, len, pieces, 0, false);
        let bytes = text.to_bytes();
        assert_eq!(text.bytes, bytes.len());
        bytes
    }

    fn new(text: &str) -> Piece<'_> {
        Piece::New(Cow::Borrowed(text.as_bytes()))
    }

    #[test]
    fn a_last_line_without_an_end_if_the_reply_says_so() {
        let unended = |file: &'static [u8], pieces| {
            let mut text = Text::read(file).unwrap();
            text.splice(text.len() - 1, 1, pieces, 0, true);
            let bytes = text.to_bytes();
            assert_eq!(text.bytes, bytes.len());
            bytes
        };
        assert_eq!(unended(b"a\nb\n", vec![new("c")]), b"a\nc");
        assert_eq!(unended(b"a\r\nb\r\n", vec![new("c"), new("d")]), b"a\r\nc\r\nd");
        assert_eq!(unended(b"a\nb", vec![new("c"), Piece::Keep(0)]), b"a\nc\nb");
        assert_eq!(unended(b"a\nb\n", vec![new("c"), Piece::Keep(0)]), b"a\nc\nb\n");
    }

    #[test]
    fn bytes_come_back() {
        for file in [&b""[..], b"a", b"a\n", b"\n\n", b"\xef\xbb\xbfa\r\nb", b"caf\xe9\n\x0c\x0b\n", b"a\rb\n", b"a\rb\r\r", b"\r"] {
            assert_eq!(Text::read(file).unwrap().to_bytes(), file);
        }
    }

    #[test]
    fn endings_follow_the_file_then_the_region() {
        assert_eq!(spliced(b"a\r\nb\r\n", 1, 1, vec![new("B"), new("C")]), b"a\r\nB\r\nC\r\n");
        assert_eq!(spliced(b"a\nb\r\nc\n", 1, 1, vec![new("B")]), b"a\nB\nc\n");
        assert_eq!(spliced(b"a\r\nb\nc\r\n", 1, 1, vec![new("x")]), b"a\r\nx\r\nc\r\n");
        assert_eq!(spliced(b"a\r\nb\n", 0, 1, vec![new("x")]), b"x\r\nb\n");
        assert_eq!(spliced(b"a\r\nb\n", 1, 1, vec![new("x")]), b"a\r\nx\n");
        assert_eq!(spliced(b"a\rb\r", 1, 1, vec![new("x"), new("y")]), b"a\rx\ry\r");
        assert_eq!(spliced(b"a\r\nb", 1, 1, vec![new("B"), new("C")]), b"a\r\nB\r\nC\r\n");
        assert_eq!(spliced(b"", 0, 0, vec![new("x")]), b"x\n");
    }

    #[test]
    fn the_last_line_has_an_end_if_a_block_states_it() {
        assert_eq!(spliced(b"a\nb", 0, 1, vec![new("A")]), b"A\nb");
        assert_eq!(spliced(b"a\nb", 1, 1, vec![new("B")]), b"a\nB\n");
        assert_eq!(spliced(b"a\nb", 1, 1, vec![Piece::Keep(0), new("c")]), b"a\nb\nc\n");
        assert_eq!(spliced(b"a\nb", 1, 1, vec![new("x"), Piece::Keep(0)]), b"a\nx\nb\n");
        assert_eq!(spliced(b"a\nb", 1, 1, vec![new("x"), Piece::Leave(0)]), b"a\nx\nb");
        assert_eq!(spliced(b"a\nb", 1, 1, vec![]), b"a\n");
        assert_eq!(spliced(b"a\nb", 0, 2, vec![Piece::Keep(0)]), b"a\n");
        assert_eq!(spliced(b"a\nb\n", 1, 1, vec![new("B")]), b"a\nB\n");
        assert_eq!(spliced(b"a\n", 0, 1, vec![]), b"");
    }
}
