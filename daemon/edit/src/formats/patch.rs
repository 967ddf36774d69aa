//! `*** Begin Patch`: operations on files, with hunks that anchors place instead of numbers.

use paird_base::RepoPath;

use super::Reader;
use super::hunk::{HunkLines, push_line};
use super::shell::Shells;
use crate::block::{Block, BlockKind};
use crate::fence::FenceLine;
use crate::name::written_path;
use crate::parser::Found;

#[derive(Debug, Default)]
pub(crate) struct PatchReader {
    shells: Shells,
    /// The end marker has come: nothing counts before the next begin marker.
    ended: bool,
    section: Option<Section>,
}

/// One operation whose end has not come.
#[derive(Debug)]
struct Section {
    line: usize,
    path: String,
    body: Body,
}

#[derive(Debug)]
enum Body {
    Update(Update),
    Add {
        text: String,
        /// Empty lines since the last other one.
        blanks: usize,
        /// The first line without a plus sign.
        stray: Option<usize>,
    },
    Delete {
        shown: HunkLines,
    },
}

#[derive(Debug, Default)]
struct Update {
    hunk: Option<HunkLines>,
    anchors: Vec<String>,
    /// The last line was an anchor, so that the next one stands inside it.
    anchoring: bool,
    /// There was a hunk or a move.
    asks: bool,
}

/// A line that begins with three stars.
#[derive(Debug, PartialEq, Eq)]
enum Star {
    Begin,
    End,
    Update(String),
    Add(String),
    Delete(String),
    MoveTo(String),
    EndOfFile,
}

impl Reader for PatchReader {
    fn line(&mut self, line: &str, found: &mut Found) {
        match star(line) {
            Some(star) if !self.ended || star == Star::Begin => return self.star(star, found),
            _ => {}
        }
        let closes = || FenceLine::read(line).filter(|_| !line.starts_with(' '));
        match (&mut self.section, self.shells.open()) {
            (Some(_), Some((open, _))) if closes().is_some_and(|fence| open.is_closed_by(fence)) => {
                self.end_section(true, found);
                self.shells.line(line, found);
            }
            (Some(section), _) => section.line(line, found),
            (None, _) => drop(self.shells.line(line, found)),
        }
    }

    fn in_text(&self) -> bool {
        self.section.is_some()
    }

    fn end(&mut self, _cut: bool, found: &mut Found) {
        self.end_section(false, found);
        self.shells.end(found);
    }
}

impl PatchReader {
    fn star(&mut self, star: Star, found: &mut Found) {
        let body = match &star {
            Star::MoveTo(to) => return self.move_to(to, found),
            Star::EndOfFile => return self.end_of_file(found),
            Star::Begin | Star::End => None,
            Star::Update(_) => Some(Body::Update(Update::default())),
            Star::Add(_) => Some(Body::Add { text: String::new(), blanks: 0, stray: None }),
            Star::Delete(_) => Some(Body::Delete { shown: HunkLines::new(found.line) }),
        };
        self.end_section(true, found);
        self.ended = star == Star::End;
        self.shells.holds_edit();
        if let (Some(body), Star::Update(path) | Star::Add(path) | Star::Delete(path)) = (body, star) {
            self.section = Some(Section { line: found.line, path, body });
        }
    }

    fn move_to(&mut self, to: &str, found: &mut Found) {
        let Some(Section { path, body: Body::Update(update), .. }) = &mut self.section else {
            return found.problem(found.line, format!("the move to {to} is not part of an update; it is left out"));
        };
        // A move to the file itself is a line too many, not a wish.
        let same = RepoPath::parse(path).is_ok_and(|from| RepoPath::parse(to) == Ok(from));
        if !same {
            update.asks = true;
            found.block(Block::new(0, Some(path.clone()), "", "", found.line).of_kind(BlockKind::Move { to: to.to_owned() }));
        }
    }

    fn end_of_file(&mut self, found: &mut Found) {
        if let Some(Section { path, body: Body::Update(update), .. }) = &mut self.section {
            update.end_hunk(path, true, found);
        }
    }

    /// `complete` is false at the end of a reply that lacks the end marker: its last piece may have been cut.
    fn end_section(&mut self, complete: bool, found: &mut Found) {
        let Some(Section { line, path, body }) = self.section.take() else {
            return;
        };
        if !complete {
            let last = if matches!(body, Body::Update(_)) { "the last hunk of it is" } else { "it is" };
            return found.problem(line, format!("the patch of {path} has no end marker (*** End Patch); {last} not taken"));
        }
        match body {
            Body::Update(mut update) => {
                update.end_hunk(&path, false, found);
                if !update.asks {
                    found.problem(line, format!("the update of {path} has neither a hunk nor a move to another name"));
                }
            }
            Body::Add { stray: Some(stray), .. } => {
                found.problem(stray, format!("this line of the new file {path} has no plus sign; nothing of the file is taken"));
            }
            Body::Add { text, stray: None, .. } => found.block(Block::new(0, Some(path), "", text, line).of_kind(BlockKind::Add)),
            Body::Delete { shown } => match shown.removed() {
                Some(text) => found.block(Block::new(0, Some(path), text, "", line).of_kind(BlockKind::Delete)),
                None => found.problem(line, format!("the deletion of {path} adds lines; nothing of it is taken")),
            },
        }
    }
}

impl Section {
    fn line(&mut self, line: &str, found: &mut Found) {
        match &mut self.body {
            Body::Update(update) => update.line(&self.path, line, found),
            Body::Delete { shown } => shown.take(line),
            Body::Add { text, blanks, stray } => match line.strip_prefix('+') {
                Some(added) => {
                    text.extend(std::iter::repeat_n('\n', std::mem::take(blanks)));
                    push_line(text, added);
                }
                None if line.trim().is_empty() => *blanks += 1,
                None => *stray = stray.or(Some(found.line)),
            },
        }
    }
}

impl Update {
    fn line(&mut self, path: &str, line: &str, found: &mut Found) {
        let Some(anchor) = line.strip_prefix("@@") else {
            if line.trim().is_empty() && self.hunk.is_none() {
                return;
            }
            self.anchoring = false;
            return self.hunk.get_or_insert_with(|| HunkLines::new(found.line)).take(line);
        };
        self.end_hunk(path, false, found);
        if !self.anchoring {
            self.anchors.clear();
        }
        self.anchoring = true;
        let anchor = anchor.trim().trim_end_matches("@@").trim();
        if !anchor.is_empty() && !is_numbers(anchor) {
            self.anchors.push(anchor.to_owned());
        }
    }

    fn end_hunk(&mut self, path: &str, at_end: bool, found: &mut Found) {
        let Some(hunk) = self.hunk.take() else {
            return;
        };
        self.asks = true;
        if let Some(block) = hunk.block(Some(path.to_owned())) {
            found.block(Block { anchors: self.anchors.clone(), at_end, ..block });
        }
    }
}

/// Line numbers as unified diffs have them, perhaps with a heading: they place nothing.
fn is_numbers(anchor: &str) -> bool {
    let mut words = anchor.split_whitespace();
    let ranges = [words.next(), words.next()];
    let signs = ['-', '+'];
    ranges.iter().zip(signs).all(|(word, sign)| {
        word.and_then(|word| word.strip_prefix(sign)).is_some_and(|range| range.split(',').all(|n| n.parse::<u32>().is_ok()))
    })
}

fn star(line: &str) -> Option<Star> {
    let text = line.strip_prefix("***")?.trim();
    let after = |word: &str| text.get(..word.len()).filter(|start| start.eq_ignore_ascii_case(word)).map(|_| text[word.len()..].trim());
    let path = |word: &str| after(word).map(written_path).filter(|path| !path.is_empty());
    None.or_else(|| after("begin patch").map(|_| Star::Begin))
        .or_else(|| after("end patch").map(|_| Star::End))
        .or_else(|| after("end of file").map(|_| Star::EndOfFile))
        .or_else(|| path("update file:").map(Star::Update))
        .or_else(|| path("add file:").map(Star::Add))
        .or_else(|| path("delete file:").map(Star::Delete))
        .or_else(|| path("move to:").map(Star::MoveTo))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars() {
        assert_eq!(star("*** Begin Patch"), Some(Star::Begin));
        assert_eq!(star("*** End Patch\"'"), Some(Star::End));
        assert_eq!(star("*** end of file\r"), Some(Star::EndOfFile));
        assert_eq!(star("*** Update File: `src\\a b.py`\r"), Some(Star::Update("src/a b.py".into())));
        assert_eq!(star("***Move to:b.py"), Some(Star::MoveTo("b.py".into())));
        assert_eq!(star("*** Update File:"), None);
        assert_eq!(star("**bold**"), None);
        assert_eq!(star(" *** End Patch"), None);
        assert_eq!(star("*** ü"), None);
    }

    #[test]
    fn numbers_are_no_anchor() {
        assert!(is_numbers("-1,2 +1,3"));
        assert!(is_numbers("-1 +1 @@ fn f()"));
        assert!(!is_numbers("- a"));
        assert!(!is_numbers("fn f()"));
    }
}
