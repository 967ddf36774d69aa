//! The lines of a hunk, as unified diffs and patches have them.

use crate::block::Block;

/// A hunk whose end has not come.
#[derive(Debug, Default)]
pub(crate) struct HunkLines {
    /// Line of the reply where it begins.
    line: usize,
    search: String,
    replace: String,
    /// How many lines these have, and which of them are one line.
    lines: (usize, usize),
    kept: Vec<(usize, usize)>,
    removes: bool,
    adds: bool,
    /// The last line is one of REPLACE's, and a sign below it says that it has no end.
    unended: bool,
    last_is_new: bool,
    tells_end: bool,
    /// Empty lines since the last other one. Between other lines they are kept lines without their blank; at the end they
    /// belong to the reply, not to the file.
    blanks: usize,
}

impl HunkLines {
    pub(crate) fn new(line: usize) -> Self {
        Self { line, ..Self::default() }
    }

    /// Takes a line by its first sign; a line without one counts as kept, since models forget its blank.
    pub(crate) fn take(&mut self, line: &str) {
        if matches!(line, "" | "\r") {
            self.blanks += 1;
            return;
        }
        for _ in 0..std::mem::take(&mut self.blanks) {
            self.keep("");
        }
        match (line.as_bytes()[0], line.get(1..)) {
            (b'+', Some(text)) => self.add(text),
            (b'-', Some(text)) => self.remove(text),
            (b' ', Some(text)) => self.keep(text),
            _ => self.keep(line),
        }
    }

    /// Takes the sign that the line above it has no end.
    pub(crate) fn no_end(&mut self) {
        self.unended = self.last_is_new;
        self.tells_end = true;
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.search.is_empty() && self.replace.is_empty()
    }

    /// Whether it has added lines and no others.
    pub(crate) fn only_adds(&self) -> bool {
        self.search.is_empty()
    }

    /// The kept and removed lines, if there is no added one.
    pub(crate) fn removed(self) -> Option<String> {
        (!self.adds).then_some(self.search)
    }

    /// The hunk as a block; `None` if it changes nothing.
    pub(crate) fn block(self, path: Option<String>) -> Option<Block> {
        (self.removes || self.adds).then(|| Block {
            unended: self.unended,
            tells_end: self.tells_end,
            kept: Some(self.kept),
            ..Block::new(0, path, self.search, self.replace, self.line)
        })
    }

    fn keep(&mut self, text: &str) {
        self.kept.push(self.lines);
        self.push_old(text);
        self.push_new(text);
    }

    fn remove(&mut self, text: &str) {
        self.push_old(text);
        self.removes = true;
        self.last_is_new = false;
    }

    fn add(&mut self, text: &str) {
        self.push_new(text);
        self.adds = true;
    }

    fn push_old(&mut self, text: &str) {
        push_line(&mut self.search, text);
        self.lines.0 += 1;
    }

    fn push_new(&mut self, text: &str) {
        push_line(&mut self.replace, text);
        self.lines.1 += 1;
        (self.last_is_new, self.unended) = (true, false);
    }
}

pub(crate) fn push_line(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}
