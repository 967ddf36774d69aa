//! One file of a unified diff: its names, and what its hunks make of it.

use super::hunk::HunkLines;
use crate::block::{Block, BlockKind};
use crate::name::{looks_like_a_file, written_path};
use crate::parser::Found;

/// Lines that a hunk's numbers promise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Counts {
    old: u64,
    new: u64,
}

impl Counts {
    /// Reads `@@ -1,2 +1,3 @@`; a missing count is one.
    pub(crate) fn read(line: &str) -> Option<Self> {
        let mut words = line.strip_prefix("@@")?.split_whitespace();
        let mut count = |sign: char| {
            let (start, count) = words.next()?.strip_prefix(sign).map(|range| range.split_once(',').unwrap_or((range, "1")))?;
            start.parse::<u64>().ok()?;
            count.parse::<u64>().ok()
        };
        Some(Self { old: count('-')?, new: count('+')? })
    }

    pub(crate) fn without(self, line: &str) -> Self {
        let (old, new) = match line.as_bytes().first() {
            Some(b'-') => (1, 0),
            Some(b'+') => (0, 1),
            _ => (1, 1),
        };
        Self { old: self.old.saturating_sub(old), new: self.new.saturating_sub(new) }
    }

    pub(crate) fn is_zero(self) -> bool {
        self.old == 0 && self.new == 0
    }
}

/// Whether `--- old` and `+++ new`, or the first alone, begin a file. `left` is what the open hunk's numbers still promise.
///
/// A hunk that removes `-- old` and adds `++ new` looks the same, so inside a hunk it needs proof: a hunk below and names
/// of files, or two names of one file. Numbers that promise exactly these lines are proof of the contrary.
pub(crate) fn is_header(lines: &[&str], below: &str, left: Option<Option<Counts>>) -> bool {
    let hunk_below = below.starts_with("@@");
    let alone = !lines.is_empty() && (lines.len() == 2 || hunk_below);
    let Some(left) = left.filter(|left| !left.is_some_and(Counts::is_zero)) else {
        return alone;
    };
    if !alone || left == Some(Counts { old: 1, new: u64::from(lines.len() == 2) }) {
        return false;
    }
    let names: Vec<Option<String>> = lines.iter().map(|line| header_name(&line[4..])).collect();
    let are_files = names.iter().all(|name| name.as_deref().is_none_or(looks_like_a_file));
    match &names[..] {
        [Some(old), Some(new)] if without_prefix(old) == without_prefix(new) => hunk_below || are_files,
        [Some(_), Some(_)] | [_] => hunk_below && are_files,
        _ => are_files,
    }
}

#[derive(Debug, Default)]
pub(crate) struct FileDiff {
    line: usize,
    /// `None` for `/dev/null` or if the name is not known yet.
    old: Option<String>,
    new: Option<String>,
    added: bool,
    deleted: bool,
    /// The file is made of another, which stays.
    copied: bool,
    /// What the hunks can be asked to set beside the text: git's mode of the file.
    mode: Option<u32>,
    /// Names from `--- ` and `+++ ` lines, not only from git's.
    has_header: bool,
    /// The rename has been told.
    moved: bool,
    /// Hunks so far.
    hunks: usize,
    /// What the hunks of a deletion show of the file.
    shown: String,
    /// The hunks of a deletion add lines.
    contradicts: bool,
}

impl FileDiff {
    /// From `--- old` and `+++ new`, or one of them.
    pub(crate) fn from_header(line: usize, lines: &[&str]) -> Self {
        let name = |start: &str| lines.iter().find_map(|line| line.strip_prefix(start)).map(header_name);
        let (old, new) = (name("--- "), name("+++ "));
        let mut file = Self { line, added: old == Some(None), deleted: new == Some(None), has_header: true, ..Self::default() };
        match (old.flatten(), new.flatten()) {
            (Some(old), Some(new)) => file.set_names(old, new),
            (Some(old), None) => file.old = Some(if file.deleted { prefixed(&old, "a/") } else { old }),
            (None, Some(new)) => file.new = Some(if file.added { prefixed(&new, "b/") } else { new }),
            (None, None) => {}
        }
        file
    }

    /// From `diff --git a/old b/new`.
    pub(crate) fn from_git(line: &str, number: usize) -> Option<Self> {
        let names = line.strip_prefix("diff --git ")?.trim();
        let mut file = Self { line: number, ..Self::default() };
        if let Some((old, new)) = names.split_once(" b/") {
            file.set_names(written_path(old), format!("b/{}", written_path(new)));
        }
        Some(file)
    }

    fn set_names(&mut self, old: String, new: String) {
        let (old, new) = match (old.strip_prefix("a/"), new.strip_prefix("b/")) {
            (Some(old), Some(new)) => (old.to_owned(), new.to_owned()),
            (None, Some(stripped)) if stripped == old => (old.clone(), old),
            (Some(stripped), None) if stripped == new => (new.clone(), new),
            _ => (old, new),
        };
        // `--- original` and the like name nothing.
        self.old = Some(if old != new && !looks_like_a_file(&old) { new.clone() } else { old });
        self.new = Some(new);
    }

    /// Whether `header` has the names of the file that git's lines have begun.
    pub(crate) fn awaits(&self, header: &Self) -> bool {
        header.has_header && !self.has_header
    }

    pub(crate) fn take_header(&mut self, header: Self) {
        let (added, deleted) = (self.added || header.added, self.deleted || header.deleted);
        let old = header.old.filter(|_| !self.copied).or(self.old.take());
        *self = Self { line: self.line, added, deleted, copied: self.copied, mode: self.mode, old, ..header };
    }

    /// Takes one of the lines that git writes between `diff --git` and the header.
    pub(crate) fn takes_git_line(&mut self, line: &str) -> bool {
        if self.hunks > 0 || !Self::is_git_line(line) {
            return false;
        }
        if let Some(old) = line.strip_prefix("rename from ") {
            self.old = Some(written_path(old));
        } else if let Some(new) = line.strip_prefix("rename to ") {
            self.new = Some(written_path(new));
        }
        self.copied |= line.starts_with("copy ");
        self.mode = file_mode(line).or(self.mode);
        self.added |= line.starts_with("new file mode ");
        self.deleted |= line.starts_with("deleted file mode ");
        true
    }

    pub(crate) fn is_git_line(line: &str) -> bool {
        let starts = [
            "rename from ",
            "rename to ",
            "copy from ",
            "copy to ",
            "new file mode ",
            "deleted file mode ",
            "old mode ",
            "new mode ",
            "similarity index ",
            "dissimilarity index ",
        ];
        starts.iter().any(|start| line.starts_with(start)) || (line.starts_with("index ") && line.contains(".."))
    }

    /// The file that hunks are looked for in.
    pub(crate) fn path(&self) -> Option<String> {
        let known = if self.added { self.new.as_ref().or(self.old.as_ref()) } else { self.old.as_ref().or(self.new.as_ref()) };
        known.cloned()
    }

    pub(crate) fn take_hunk(&mut self, lines: HunkLines, found: &mut Found) {
        self.hunks += 1;
        if self.copied {
            return;
        }
        if self.deleted {
            match lines.removed() {
                Some(shown) => self.shown.push_str(&shown),
                None => self.contradicts = true,
            }
            return;
        }
        self.tell_move(found);
        let kind = if self.added && self.hunks == 1 && lines.only_adds() { BlockKind::Add } else { BlockKind::Replace };
        if let Some(block) = lines.block(self.path()) {
            found.block(Block { mode: self.mode.take(), ..block.of_kind(kind) });
        }
    }

    pub(crate) fn end(mut self, found: &mut Found) {
        let Some(path) = self.path() else {
            return;
        };
        if self.copied {
            let to = self.new.as_deref().unwrap_or("another file");
            found.problem(self.line, format!("the diff copies {path} to {to}, which is not done; add {to} with all of its text"));
        } else if self.contradicts {
            found.problem(self.line, format!("the deletion of {path} adds lines; nothing of it is taken"));
        } else if self.deleted {
            found.block(Block::new(0, Some(path), self.shown, "", self.line).of_kind(BlockKind::Delete));
        } else if self.hunks == 0 && self.added {
            let block = Block::new(0, Some(path), "", "", self.line).of_kind(BlockKind::Add);
            found.block(Block { mode: self.mode, ..block });
        } else {
            self.tell_move(found);
            if self.hunks == 0 && self.mode.is_some() {
                found.problem(self.line, format!("the diff changes the mode of {path} and no line; modes alone are not changed"));
            }
        }
    }

    fn tell_move(&mut self, found: &mut Found) {
        if let (false, Some(old), Some(new)) = (self.moved || self.added, &self.old, &self.new)
            && old != new
        {
            let kind = BlockKind::Move { to: new.clone() };
            found.block(Block::new(0, Some(old.clone()), "", "", self.line).of_kind(kind));
            self.moved = true;
        }
    }
}

/// The permission bits of a file that is to be made or to have another mode.
fn file_mode(line: &str) -> Option<u32> {
    match line.strip_prefix("new file mode ").or_else(|| line.strip_prefix("new mode "))?.trim() {
        "100755" => Some(0o755),
        "100644" => Some(0o644),
        _ => None,
    }
}

/// The name on a header line; `None` for `/dev/null`.
fn header_name(text: &str) -> Option<String> {
    let name = text.split('\t').next().unwrap_or(text).trim();
    let name = name.split_once(" (").filter(|_| name.ends_with(')')).map_or(name, |(name, _remark)| name);
    Some(written_path(name)).filter(|name| name != "/dev/null")
}

fn prefixed(name: &str, prefix: &str) -> String {
    name.strip_prefix(prefix).unwrap_or(name).to_owned()
}

fn without_prefix(name: &str) -> &str {
    name.strip_prefix("a/").or_else(|| name.strip_prefix("b/")).unwrap_or(name)
}
