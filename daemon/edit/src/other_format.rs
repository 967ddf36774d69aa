//! Replies that are written in another format than the one that was asked for.

use crate::format::Format;
use crate::marker::{Marker, marker};

/// Looks for the marks of another format, so that a reply without a block can be told from one that edits nothing.
#[derive(Debug, Default)]
pub(crate) struct OtherFormat {
    found: Option<(Format, usize)>,
    /// Where a file's header of a unified diff begins, as long as each line goes on with it, and its lines so far.
    header: Option<(usize, usize)>,
    /// Where a SEARCH/REPLACE block begins, and whether its divider was there.
    block: Option<(usize, bool)>,
}

impl OtherFormat {
    pub(crate) fn line(&mut self, line: &str, number: usize, asked: Format) {
        if self.found.is_some() {
            return;
        }
        let begins = if line.trim() == "*** Begin Patch" { Some(number) } else { None };
        let marks = [(Format::Patch, begins), (Format::Udiff, self.in_udiff(line, number)), (Format::Diff, self.in_block(line, number))];
        let other = marks.into_iter().find_map(|(format, begins)| Some((format, begins?)));
        self.found = other.filter(|(format, _)| *format != family(asked));
    }

    /// The problem of a reply that holds no block in the format that was asked for, and the line that it is about.
    pub(crate) fn problem(&self, asked: Format) -> Option<(usize, String)> {
        let (format, line) = self.found?;
        Some((line, format!("this looks like {}, but {} asked for; nothing of it is taken", looks(format), is_asked(asked))))
    }

    /// The line where a diff begins, once its header and the start of a hunk are there.
    fn in_udiff(&mut self, line: &str, number: usize) -> Option<usize> {
        let line = line.trim_start();
        let header = self.header.take();
        self.header = match header {
            _ if line.starts_with("--- ") => Some((number, 1)),
            Some((begin, 1)) if line.starts_with("+++ ") => Some((begin, 2)),
            Some((begin, 2)) if line.starts_with("@@") => return Some(begin),
            _ => None,
        };
        None
    }

    /// The line where a block begins, once all its markers are there.
    fn in_block(&mut self, line: &str, number: usize) -> Option<usize> {
        match (marker(line)?, self.block) {
            (Marker::Head(_), _) => self.block = Some((number, false)),
            (Marker::Divider, Some((begin, _))) => self.block = Some((begin, true)),
            (Marker::Closing(_), Some((begin, true))) => return Some(begin),
            _ => {}
        }
        None
    }
}

/// Whether all of a text, but for a name above it, is one or more SEARCH/REPLACE blocks and not a file.
pub(crate) fn is_blocks(text: &str) -> bool {
    let solid = || text.lines().filter(|line| !line.trim().is_empty());
    let is_head = |line| matches!(marker(line), Some(Marker::Head(_)));
    solid().take(2).any(is_head)
        && matches!(solid().next_back().and_then(marker), Some(Marker::Closing(_)))
        && solid().any(|line| marker(line) == Some(Marker::Divider))
}

fn family(format: Format) -> Format {
    match format {
        Format::Diff | Format::DiffFenced | Format::EditorDiff | Format::EditorDiffFenced => Format::Diff,
        Format::Whole | Format::EditorWhole => Format::Whole,
        Format::Udiff | Format::Patch => format,
    }
}

fn looks(format: Format) -> &'static str {
    match family(format) {
        Format::Udiff => "a unified diff",
        Format::Patch => "a patch (*** Begin Patch)",
        Format::Whole => "a whole file",
        _ => "a SEARCH/REPLACE block",
    }
}

fn is_asked(format: Format) -> &'static str {
    match family(format) {
        Format::Udiff => "a unified diff is",
        Format::Patch => "a patch (*** Begin Patch) is",
        Format::Whole => "whole files are",
        _ => "SEARCH/REPLACE blocks are",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_reply_looks_like() {
        let looks = |asked, text: &str| {
            let mut other = OtherFormat::default();
            text.lines().zip(1..).for_each(|(line, number)| other.line(line, number, asked));
            other.found
        };
        let block = "a.py\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n";
        let udiff = "--- a/a.py\n+++ b/a.py\n@@ @@\n-a\n+b\n";
        let patch = "Here:\n\n*** Begin Patch\n*** Delete File: a.py\n";
        assert_eq!(looks(Format::Udiff, block), Some((Format::Diff, 2)));
        assert_eq!(looks(Format::EditorWhole, block), Some((Format::Diff, 2)));
        assert_eq!(looks(Format::EditorDiffFenced, block), None);
        assert_eq!(looks(Format::DiffFenced, udiff), Some((Format::Udiff, 1)));
        assert_eq!(looks(Format::Udiff, udiff), None);
        assert_eq!(looks(Format::Whole, patch), Some((Format::Patch, 3)));
        assert_eq!(looks(Format::Patch, patch), None);
        for text in ["--- a\ntext\n+++ b\n@@\n", "--- a\n+++ b\n", "<<<<<<< SEARCH\n>>>>>>> REPLACE\n", "=======\n>>>>>>> REPLACE\n", ""] {
            assert_eq!(looks(Format::Whole, text), None, "{text:?}");
        }
    }

    #[test]
    fn texts_that_are_blocks() {
        let block = "<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n";
        assert!(is_blocks(block));
        assert!(is_blocks(&format!("\na.py\n{block}\n")));
        assert!(!is_blocks(&format!("# Format\nUse:\n{block}")));
        assert!(!is_blocks(&format!("{block}That is all.\n")));
        assert!(!is_blocks("<<<<<<< SEARCH\na\n>>>>>>> REPLACE\n"));
        assert!(!is_blocks(""));
    }
}
