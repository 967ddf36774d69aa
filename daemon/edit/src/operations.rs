//! Blocks that take a file as a whole: it is added, rewritten, deleted or moved.

use std::borrow::Cow;
use std::collections::HashMap;

use paird_base::RepoPath;
use paird_base::limits::REWRITTEN_LINES_MAX;

use crate::block::{Block, BlockKind, Split};
use crate::fail::FailReason;
use crate::files::Refusal;
use crate::guard::guard_whole;
use crate::index::Level;
use crate::ladder::{Claims, Fit, Hunk, Miss, checked, fit};
use crate::lines::{Text, is_blank, split_lines, without_cr};
use crate::propose::Planner;
use crate::rungs::{Place, Rung};
use crate::sides::Sides;
use crate::snapshot::named_path;

impl<'a> Planner<'a> {
    pub(crate) fn add(&mut self, nth: usize, block: &'a Block, path: &RepoPath) -> Result<(), Refusal> {
        if !self.files.get(path)?.exists {
            self.may_create(path)?;
        }
        let found = fit_add(&mut self.files.get(path)?.text, block, path.as_str())?;
        self.apply(nth, block, path, found, None)
    }

    pub(crate) fn rewrite(
        &mut self,
        nth: usize,
        block: &'a Block,
        path: &RepoPath,
        certain: bool,
        from: Option<RepoPath>,
    ) -> Result<(), Refusal> {
        let work = self.files.get(path)?;
        if !work.exists || work.text.len() == 0 {
            return self.add(nth, block, path);
        }
        if self.rewritten_lines > REWRITTEN_LINES_MAX {
            return Err((
                FailReason::TooLarge,
                format!("the reply rewrites more than {REWRITTEN_LINES_MAX} lines before this listing of {path}"),
            ));
        }
        self.rewritten_lines += work.text.len();
        if !certain && self.is_one_of_several(block, path)? {
            let why =
                format!("more than one listing may be {path}, and no line above them names it; put its path alone above the one that is");
            return Err((FailReason::Doubtful, why));
        }
        let work = self.files.get(path)?;
        let found = fit_whole(&work.text, block, path.as_str(), certain)?;
        self.apply(nth, block, path, found, from)
    }

    /// Whether another listing that no line names may be the file as well. One that shows the file as it is may not.
    fn is_one_of_several(&mut self, block: &Block, path: &RepoPath) -> Result<bool, Refusal> {
        let texts = match block.path.as_deref().and_then(|name| self.listings.get(name)).map(Vec::as_slice) {
            Some([one, other]) => [*one, *other],
            Some([_, _, _, ..]) => return Ok(true),
            _ => return Ok(false),
        };
        let before = self.files.get(path)?.before.map(|content| String::from_utf8_lossy(&content.bytes)).unwrap_or_default();
        let is_shown = |text: &str| text.lines().map(str::trim_end).eq(before.trim_end().lines().map(str::trim_end));
        Ok(!texts.into_iter().any(|text| is_shown(text.trim_end())))
    }

    pub(crate) fn delete(&mut self, block: &Block, path: &RepoPath, from: Option<RepoPath>) -> Result<(), Refusal> {
        let work = self.files.get(path)?;
        if !work.exists {
            return Err(self.not_found(path));
        }
        if work.before.is_none() {
            return Err((FailReason::Contradiction, format!("{path} is made or moved here by an earlier block of the reply")));
        }
        check_delete(&work.text, block, path.as_str())?;
        let hunk = whole_hunk(block, work.before.map_or(0, |content| lines_of(&content.bytes)));
        self.files.remove(path)?;
        self.files.add_hunk(path, hunk, block)?.redirected_from = from;
        Ok(())
    }

    pub(crate) fn rename(&mut self, block: &Block, path: &RepoPath, to: &str, from: Option<RepoPath>) -> Result<(), Refusal> {
        let to = named_path(to).map_err(|error| (FailReason::BadPath, error.to_string()))?;
        if to == *path {
            return Err((FailReason::BadPath, format!("{path} is moved to itself")));
        }
        let (exists, was_there) = self.files.get(&to).map(|target| (target.exists, target.before.is_some()))?;
        if !self.files.get(path)?.exists {
            // The move has been made already, or the old name was a word for "before".
            if exists && self.files.get(path)?.before.is_none() {
                let hunk = Hunk { rung: Rung::Already, ..whole_hunk(block, 0) };
                self.files.add_hunk(&to, hunk, block)?;
                self.files.note_move(path, &to);
                return Ok(());
            }
            return Err(self.not_found(path));
        }
        if exists || was_there {
            return Err((FailReason::Exists, format!("{path} cannot be moved to {to}: a file is there, or was before the reply")));
        }
        self.may_create(&to)?;
        let work = self.files.get(path)?;
        let hunk = whole_hunk(block, work.before.map_or(0, |content| lines_of(&content.bytes)));
        self.files.rename(path, &to)?;
        let work = self.files.add_hunk(&to, hunk, block)?;
        work.redirected_from = work.redirected_from.take().or(from);
        Ok(())
    }
}

/// The texts of the listings that no line names, by the file that they may be. Of each file the first three that differ.
pub(crate) fn unnamed_listings(blocks: &[Block]) -> HashMap<&str, Vec<&str>> {
    let mut listings: HashMap<&str, Vec<&str>> = HashMap::new();
    for block in blocks.iter().filter(|block| block.kind == BlockKind::Whole { certain: false }) {
        let texts = listings.entry(block.path.as_deref().unwrap_or_default()).or_default();
        if texts.len() < 3 && !texts.contains(&block.replace.as_str()) {
            texts.push(&block.replace);
        }
    }
    listings
}

/// The place of a block that takes a file as a whole.
fn whole_hunk(block: &Block, lines: usize) -> Hunk {
    Hunk { block: block.index, rung: Rung::Whole, start_line: 1, end_line: lines, score: Rung::Whole.score() }
}

fn lines_of(bytes: &[u8]) -> usize {
    split_lines(bytes).count()
}

/// A text for a file that must not exist.
fn fit_add<'b>(text: &mut Text<'_>, block: &'b Block, path: &str) -> Result<Fit<'b>, Refusal> {
    fit(text, block, path, Claims::default()).map_err(|miss| match miss {
        Miss::NotEmpty => (FailReason::Exists, format!("{path} exists already; change it instead, or delete it first")),
        miss => (miss.reason(), miss.message(path)),
    })
}

/// A text in the place of all of a file. Lines that the file has already stay as they are.
fn fit_whole<'b>(text: &Text<'_>, block: &'b Block, path: &str, certain: bool) -> Result<Fit<'b>, Refusal> {
    let old: String = text.range(0, text.len()).map(|line| String::from_utf8_lossy(&line.text).into_owned() + "\n").collect();
    let split = Split { search: Cow::Owned(old), replace: &block.replace };
    let sides = Sides::of(&split);
    if !sides.differ() {
        return Ok(Fit { rung: Rung::Already, at: 0, len: text.len(), pieces: None, suspicious: None });
    }
    let is_solid = |line: &&&[u8]| !is_blank(line);
    let solid = sides.search.iter().filter(is_solid).count();
    let kept = sides.kept().iter().filter(|(old, _)| !is_blank(sides.search[*old])).count();
    if !certain && kept * 2 < solid {
        let why = format!("the listing has less than half of the lines of {path}, which no line above it names for certain");
        return Err((FailReason::Doubtful, why));
    }
    let said = guard_whole(&split.search, &block.replace, path);
    let pieces = Place::plain(0, text.len()).pieces(&sides).unwrap_or_default();
    checked(text, said, Rung::Whole, 0..text.len(), pieces).map_err(|miss| (miss.reason(), miss.message(path)))
}

/// Whether a file may be deleted by a block that shows what it deletes. Blank lines at the end do not count.
fn check_delete(text: &Text<'_>, block: &Block, path: &str) -> Result<(), Refusal> {
    let mut shown: Vec<&[u8]> = split_lines(block.search.as_bytes()).map(without_cr).collect();
    let blank_end = shown.iter().rev().take_while(|line| is_blank(line)).count();
    shown.truncate(shown.len() - blank_end);
    if shown.is_empty() {
        return Ok(());
    }
    let blank_end = (0..text.len()).rev().take_while(|at| is_blank(&text.line(*at).text)).count();
    let solid = text.len() - blank_end;
    let differs = |at: usize| !text.stands_at(Level::Trailing, at, &shown[at..=at]);
    let first = (0..solid.min(shown.len())).find(|at| differs(*at)).or((solid != shown.len()).then(|| solid.min(shown.len())));
    match first {
        None => Ok(()),
        Some(at) => {
            let why = format!("{path} is not what the reply shows of it, first at line {}; it is not deleted", at + 1);
            Err((FailReason::Differs, why))
        }
    }
}
