//! Unified diffs. A hunk is found by its lines; its numbers only help to tell where it ends.

use super::Reader;
use super::hunk::HunkLines;
use super::shell::{Passed, Shells};
use super::udiff_file::{Counts, FileDiff, is_header};
use crate::fence::FenceLine;
use crate::name::LinesAbove;
use crate::parser::Found;

/// Info strings of fences whose text is a diff even without a header.
const DIFFS: &[&str] = &["diff", "udiff", "patch"];

#[derive(Debug, Default)]
pub(crate) struct UdiffReader {
    shells: Shells,
    /// The open fence says that it holds a diff.
    in_diff_fence: bool,
    /// Blanks before the open fence, as many as are no part of a line.
    indent: usize,
    above: LinesAbove,
    last_path: Option<String>,
    file: Option<FileDiff>,
    hunk: Option<Hunk>,
    /// `--- old`, perhaps with `+++ new` below it: headers of a file or lines of a hunk, as the next line shows.
    held: Vec<(usize, String)>,
    /// A fence has ended a hunk on the line above; whether a block came of that.
    fenced_off: Option<bool>,
}

#[derive(Debug)]
struct Hunk {
    lines: HunkLines,
    /// Lines that are still to come, if the hunk's numbers are to be believed.
    left: Option<Counts>,
}

impl Reader for UdiffReader {
    fn line(&mut self, line: &str, found: &mut Found) {
        let line = self.without_indent(line);
        match (self.held.len(), line) {
            (0, line) if line.starts_with("--- ") => self.held.push((found.line, line.to_owned())),
            (1, line) if line.starts_with("+++ ") => self.held.push((found.line, line.to_owned())),
            (0, line) => self.take(line, found.line, found),
            _ => {
                self.release(line, found);
                self.line(line, found);
            }
        }
    }

    fn in_text(&self) -> bool {
        self.hunk.is_some()
    }

    fn end(&mut self, cut: bool, found: &mut Found) {
        self.release("", found);
        if self.is_cut(cut) {
            let path = self.file.as_ref().and_then(FileDiff::path).unwrap_or_else(|| "the last file".to_owned());
            found.problem(found.line, format!("the diff of {path} has no end; the last piece of it is not taken"));
            self.hunk = None;
            self.file = None;
        }
        self.end_file(found);
        self.shells.end(found);
    }
}

impl UdiffReader {
    /// A line of an indented fence as it would be in another.
    fn without_indent<'l>(&self, line: &'l str) -> &'l str {
        line.get(..self.indent).filter(|start| start.trim().is_empty()).map_or(line, |start| &line[start.len()..])
    }

    /// Decides what the held lines are, now that the line below them is known.
    fn release(&mut self, below: &str, found: &mut Found) {
        let held = std::mem::take(&mut self.held);
        let lines: Vec<&str> = held.iter().map(|(_, line)| line.as_str()).collect();
        let left = self.hunk.as_ref().map(|hunk| hunk.left);
        if is_header(&lines, below, left) {
            self.begin_file(FileDiff::from_header(held[0].0, &lines), found);
        } else {
            for (number, line) in held {
                self.take(&line, number, found);
            }
        }
    }

    fn take(&mut self, line: &str, number: usize, found: &mut Found) {
        if let Some(is_block) = self.fenced_off.take()
            && line.starts_with(['+', '-', ' '])
            && !is_item(line)
        {
            // A kept line of the file that is a fence and lacks its blank.
            if is_block {
                found.withdraw();
            }
            found.problem(
                number,
                "a fence ends the hunk, but lines of a diff follow; nothing of it is taken; write a blank before each line that is kept",
            );
        }
        if self.hunk.is_some() && self.in_hunk(line, found) {
            return;
        }
        let in_diff = self.in_diff_fence || self.file.is_some();
        if in_diff && line.starts_with("@@") {
            self.begin_hunk(number, Counts::read(line));
        } else if line.starts_with("+++ ") && self.file.is_none() {
            self.begin_file(FileDiff::from_header(number, &[line]), found);
        } else if let Some(file) = FileDiff::from_git(line, number) {
            self.begin_file(file, found);
        } else if self.file.as_mut().is_some_and(|file| file.takes_git_line(line)) {
        } else if in_diff && self.shells.open().is_some() && line.starts_with(['+', '-', ' ']) && !line.trim().is_empty() {
            self.begin_hunk(number, None);
            self.in_hunk(line, found);
        } else {
            self.outside(line, found);
        }
    }

    /// Takes a line of the open hunk; `false` if the hunk is over and the line is something else.
    fn in_hunk(&mut self, line: &str, found: &mut Found) -> bool {
        let fence = self.shells.open().map(|(open, _)| open);
        let closes = fence.is_some_and(|open| FenceLine::read(line).is_some_and(|close| open.is_closed_by(close)));
        let Some(hunk) = &mut self.hunk else {
            return false;
        };
        let over = hunk.left.is_some_and(Counts::is_zero);
        let is_line = match line.as_bytes().first() {
            None | Some(b'\r') => true,
            Some(b'\\') if line.starts_with("\\ ") => {
                hunk.lines.no_end();
                return true;
            }
            Some(b' ' | b'+' | b'-') => fence.is_some() || !over,
            Some(b'@') if line.starts_with("@@") => false,
            Some(b'`' | b'~' | b'<') if closes => false,
            Some(_) => fence.is_some() && !over && FileDiff::from_git(line, 0).is_none() && !FileDiff::is_git_line(line),
        };
        if is_line {
            hunk.lines.take(line);
            hunk.left = hunk.left.map(|left| left.without(line));
        } else {
            let blocks = found.count();
            self.end_hunk(found);
            self.fenced_off = closes.then(|| found.count() > blocks);
            // Text below a diff that no fence ends.
            if fence.is_none() && !line.starts_with("@@") {
                self.end_file(found);
            }
        }
        is_line
    }

    fn outside(&mut self, line: &str, found: &mut Found) {
        let fence = FenceLine::read(line);
        match self.shells.line(line, found) {
            Passed::Opened => {
                self.end_file(found);
                self.indent = line.len() - line.trim_start_matches(' ').len();
                self.in_diff_fence =
                    fence.is_some_and(|fence| DIFFS.iter().any(|diff| fence.info().split_whitespace().next() == Some(diff)));
            }
            Passed::Closed | Passed::ClosedShell => {
                self.end_file(found);
                self.in_diff_fence = false;
                self.indent = 0;
                self.above.clear();
            }
            Passed::Text => {}
        }
        self.above.push(line);
    }

    fn begin_file(&mut self, file: FileDiff, found: &mut Found) {
        // The header's own lines follow those of git.
        if let Some(open) = self.file.as_mut().filter(|open| self.hunk.is_none() && open.awaits(&file)) {
            open.take_header(file);
        } else {
            self.end_file(found);
            self.file = Some(file);
        }
        self.shells.holds_edit();
        self.above.clear();
    }

    fn begin_hunk(&mut self, number: usize, left: Option<Counts>) {
        self.hunk = Some(Hunk { lines: HunkLines::new(number), left });
        self.shells.holds_edit();
    }

    fn end_hunk(&mut self, found: &mut Found) {
        let Some(Hunk { lines, .. }) = self.hunk.take().filter(|hunk| !hunk.lines.is_empty()) else {
            return;
        };
        match &mut self.file {
            Some(file) => file.take_hunk(lines, found),
            None => {
                let path = self.above.path(&found.known).or_else(|| self.last_path.clone());
                self.last_path.clone_from(&path);
                if let Some(block) = lines.block(path) {
                    found.block(block);
                }
            }
        }
    }

    fn end_file(&mut self, found: &mut Found) {
        self.end_hunk(found);
        if let Some(file) = self.file.take() {
            self.last_path = file.path().or(self.last_path.take());
            file.end(found);
        }
    }

    /// Whether the reply may end in the middle of a hunk or header: its fence is open, or its hunk's numbers want more.
    fn is_cut(&self, cut: bool) -> bool {
        let whole = self.hunk.as_ref().is_some_and(|hunk| hunk.left.is_some_and(Counts::is_zero));
        match (&self.hunk, self.shells.open()) {
            (None, None) => false,
            (None, Some(_)) => self.file.is_some(),
            (Some(_), None) => !whole,
            (Some(_), Some(_)) => !whole || cut,
        }
    }
}

/// A blank line, or what may be an item of a list in prose.
fn is_item(line: &str) -> bool {
    line.trim().is_empty() || line.strip_prefix("- ").is_some_and(|text| !text.starts_with(' '))
}
