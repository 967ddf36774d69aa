//! Whole files between fences, each below its name.

use std::collections::BTreeSet;

use super::Reader;
use super::hunk::push_line;
use super::shell::{Passed, Shells, is_shell};
use crate::block::{Block, BlockKind};
use crate::fence::FenceLine;
use crate::gains::is_prose;
use crate::name::{Above, LinesAbove, known_path, mentioned_path, path_from, quoted_paths};
use crate::other_format::is_blocks;
use crate::parser::Found;

#[derive(Debug, Default)]
pub(crate) struct WholeReader {
    listing: Option<Listing>,
    shells: Shells,
    /// Lines since the last listing.
    above: LinesAbove,
    named: BTreeSet<String>,
    /// Listings without a name of their own, and where their bodies go if all the rest of the reply allows it.
    nameless: Vec<Nameless>,
    ended: Option<Ended>,
}

/// A file's text whose closing fence has not come.
#[derive(Debug)]
struct Listing {
    line: usize,
    open: FenceLine<'static>,
    /// Blanks before the opening fence; as many are no part of a line.
    indent: usize,
    name: Name,
    /// Fences inside the text that are open.
    depth: usize,
    body: String,
}

#[derive(Debug)]
enum Name {
    Certain(String),
    /// The one path that the prose above quotes or mentions.
    Quoted(String),
    Unknown,
}

#[derive(Debug)]
struct Nameless {
    line: usize,
    path: Option<String>,
    body: String,
}

/// The last listing, as long as its closing fence may have been a fence of its text.
#[derive(Debug)]
struct Ended {
    open: FenceLine<'static>,
    /// Fences belong in such a file.
    prose: bool,
    /// Text follows it.
    text: bool,
}

impl Reader for WholeReader {
    fn line(&mut self, line: &str, found: &mut Found) {
        match self.listing.take() {
            Some(listing) => self.inside(listing, line, found),
            None => self.outside(line, found),
        }
    }

    fn in_text(&self) -> bool {
        self.listing.is_some()
    }

    fn end(&mut self, _cut: bool, found: &mut Found) {
        if let Some(listing) = self.listing.take() {
            unclosed(&listing, found);
        }
        self.shells.end(found);
        self.settle(found);
    }
}

impl WholeReader {
    fn inside(&mut self, mut listing: Listing, line: &str, found: &mut Found) {
        let indent = line.len() - line.trim_start_matches(' ').len();
        let text = &line[indent.min(listing.indent)..];
        let fence = FenceLine::read(line).filter(|_| indent <= listing.indent + 3);
        match fence {
            Some(fence) if listing.open.is_closed_by(fence) && listing.depth == 0 => return self.close(listing, found),
            Some(fence) if listing.open.is_closed_by(fence) => listing.depth -= 1,
            Some(fence) if listing.is_nested(fence) => {
                if !listing.may_nest() && self.has_name(found) {
                    unclosed(&listing, found);
                    return self.outside(line, found);
                }
                listing.depth += 1;
            }
            _ => {}
        }
        push_line(&mut listing.body, text);
        // Should the closing fence be missing, the next listing's name stands among these lines.
        self.above.push(line);
        self.listing = Some(listing);
    }

    fn close(&mut self, listing: Listing, found: &mut Found) {
        self.above.clear();
        let Listing { line, open, name, body, .. } = listing;
        let path = match name {
            Name::Certain(path) => {
                let prose = is_prose(&path);
                self.named.insert(path.clone());
                if is_blocks(&body) {
                    return is_no_file(line, &path, found);
                }
                self.ended = found.has_room().then_some(Ended { open, prose, text: false });
                return found.block(Block::new(0, Some(path), "", body, line).of_kind(BlockKind::Whole { certain: true }));
            }
            Name::Quoted(path) => Some(path),
            Name::Unknown => None,
        };
        self.nameless.push(Nameless { line, path, body });
    }

    fn outside(&mut self, line: &str, found: &mut Found) {
        let fence = FenceLine::read(line);
        self.look_back(line, fence, found);
        let opens = matches!(fence, Some(FenceLine::Signs(_) | FenceLine::TagOpen(_))) && self.shells.open().is_none();
        if !opens {
            if self.shells.line(line, found) != Passed::Text {
                self.above.clear();
            }
            return self.above.push(line);
        }
        self.above.push(line);
        let name = self.name(found);
        let is_command = fence.is_some_and(|fence| is_shell(fence.info())) && !matches!(name, Name::Certain(_));
        match fence {
            Some(fence) if !is_command => {
                let indent = line.len() - line.trim_start_matches(' ').len();
                self.above.clear();
                self.listing = Some(Listing { line: found.line, open: fence.bare(), indent, name, depth: 0, body: String::new() });
            }
            _ => drop(self.shells.line(line, found)),
        }
    }

    /// The name that the lines up to an opening fence give it.
    fn name(&self, found: &Found) -> Name {
        let mut near = Vec::new();
        for line in self.above.nearest().take(3) {
            let above = Above::read(line, &found.known);
            // Prose about a file does not speak of a name further up.
            let is_last = above != Above::Text(None) || !quoted_paths(line, &found.known).is_empty();
            let is_fence = matches!(above, Above::Fence(_));
            near.push(above);
            if is_last && !is_fence {
                break;
            }
        }
        if let Some(path) = path_from(near.into_iter()) {
            return Name::Certain(path);
        }
        let prose = self.above.nearest().find(|line| FenceLine::read(line).is_none());
        let mentioned = prose.and_then(|line| mentioned_path(line, &found.known));
        match &prose.map(|line| quoted_paths(line, &found.known)).unwrap_or_default()[..] {
            [] => mentioned.map_or(Name::Unknown, Name::Quoted),
            [name] => Name::Quoted(known_path(name, &found.known).cloned().unwrap_or_default()),
            _ => Name::Quoted(String::new()),
        }
    }

    /// A fence without a name below a listing shows that the listing's end may have been a fence of its text. Below a
    /// blank line it does so only where fences belong in the file.
    fn look_back(&mut self, line: &str, fence: Option<FenceLine<'_>>, found: &mut Found) {
        let Some(mut ended) = self.ended.take() else {
            return;
        };
        let Some(fence) = fence else {
            let blank = line.trim().is_empty();
            ended.text |= !blank;
            self.ended = Some(ended).filter(|ended| ended.text || ended.prose);
            return;
        };
        if ended.open.is_closed_by(fence) && !self.has_name(found) {
            let block = found.withdraw();
            let line = block.as_ref().map_or(found.line, |block| block.line);
            let path = block.and_then(|block| block.path).unwrap_or_default();
            let why = "a fence of its text looks like the one around it; nothing of it is taken; use a longer fence";
            found.problem(line, format!("where {path} ends is not clear: {why}"));
        }
    }

    fn has_name(&self, found: &Found) -> bool {
        self.above.nearest().next().is_some_and(|line| matches!(Above::read(line, &found.known), Above::Text(Some(_))))
    }

    /// Listings without a name are the only file that they can be, or else examples.
    fn settle(&mut self, found: &mut Found) {
        let nameless = std::mem::take(&mut self.nameless);
        // Of several, one may show the file as it is.
        let sole = if found.known.len() == 1 { found.known.first().cloned() } else { None };
        let only_examples = !self.named.is_empty();
        for Nameless { line, path, body } in nameless {
            let quotes = path.is_some();
            let path = path.filter(|path| !path.is_empty()).or_else(|| sole.clone().filter(|_| !quotes));
            match path {
                _ if is_blocks(&body) => {
                    if !only_examples {
                        is_no_file(line, path.as_deref().unwrap_or("a file"), found);
                    }
                }
                Some(path) if !self.named.contains(&path) => {
                    found.block(Block::new(0, Some(path), "", body, line).of_kind(BlockKind::Whole { certain: false }));
                }
                _ if only_examples => {}
                _ => {
                    found.problem(line, "no file is named for the listing that begins here; put its path alone on the line above the fence")
                }
            }
        }
    }
}

impl Listing {
    /// Whether the fence begins something inside the text.
    fn is_nested(&self, fence: FenceLine<'_>) -> bool {
        match (self.open, fence) {
            (FenceLine::Signs(open), FenceLine::Signs(fence)) => fence.sign == open.sign && fence.len >= open.len && !fence.info.is_empty(),
            _ => false,
        }
    }

    /// Whether fences belong in such a file.
    fn may_nest(&self) -> bool {
        match &self.name {
            Name::Certain(path) | Name::Quoted(path) => is_prose(path),
            Name::Unknown => true,
        }
    }
}

/// Markers of blocks are no text that a file has from its first line to its last.
fn is_no_file(line: usize, path: &str, found: &mut Found) {
    found.told_format = true;
    found.problem(
        line,
        format!("the listing of {path} looks like a SEARCH/REPLACE block, but whole files are asked for; nothing of it is taken"),
    );
}

fn unclosed(listing: &Listing, found: &mut Found) {
    let name = match &listing.name {
        Name::Certain(path) | Name::Quoted(path) => path.as_str(),
        Name::Unknown => "a file",
    };
    found.problem(listing.line, format!("the listing of {name} has no closing fence; nothing of it is taken"));
}
