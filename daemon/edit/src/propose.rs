//! All blocks of a reply against one snapshot: what would change, and what cannot be applied.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use paird_base::limits::{CLOSEST_SEARCHES_MAX, FILE_BYTES_MAX};
use paird_base::{Content, Problem, RepoPath};

use crate::block::{Block, Parsed};
use crate::closest::closest;
use crate::fail::{Closest, FailReason, Failed};
use crate::ladder::{Claims, Fit, Hunk, Miss, Rung, fit, fit_exactly};
use crate::lines::{Text, split_lines};
use crate::proposal::{Edit, Op, Proposal};
use crate::snapshot::{Scope, Seen, Snapshot, named_path};

/// Permission bits of a new file.
const NEW_FILE_MODE: u32 = 0o644;

/// Places every block of a reply, one after another, each seeing what the earlier ones did.
#[must_use]
pub fn propose(parsed: &Parsed, snapshot: &Snapshot, scope: &Scope) -> Proposal {
    let mut planner =
        Planner { snapshot, scope, files: BTreeMap::new(), edited: Vec::new(), failed: Vec::new(), failed_paths: BTreeSet::new() };
    let equal = Equal::of(&parsed.blocks);
    let mut lost = vec![false; parsed.blocks.len()];
    for (nth, block) in parsed.blocks.iter().enumerate() {
        if let Err(failed) = planner.place(nth, block, equal.claims(nth, &lost)) {
            lost[nth] = true;
            planner.failed.push(failed);
        }
    }
    planner.proposal(parsed.problems.clone())
}

/// Which blocks of a reply have the same name and text.
struct Equal {
    groups: Vec<Vec<usize>>,
    /// Group and place in it of each block.
    of: Vec<(usize, usize)>,
}

impl Equal {
    fn of(blocks: &[Block]) -> Self {
        let mut ids: HashMap<(Option<&str>, &str, &str), usize> = HashMap::new();
        let mut equal = Self { groups: Vec::new(), of: Vec::new() };
        for (nth, block) in blocks.iter().enumerate() {
            let group = *ids.entry((block.path.as_deref(), &block.search, &block.replace)).or_insert(equal.groups.len());
            if group == equal.groups.len() {
                equal.groups.push(Vec::new());
            }
            equal.of.push((group, equal.groups[group].len()));
            equal.groups[group].push(nth);
        }
        equal
    }

    fn claims(&self, nth: usize, lost: &[bool]) -> Claims<'_> {
        let (group, place) = self.of[nth];
        let (before, rest) = self.groups[group].split_at(place);
        let sound = before.iter().all(|block| !lost[*block]);
        Claims { equal_later: sound.then_some(rest.len() - 1), equal_before: before, must_be_sole: false, within: None }
    }
}

/// A file while blocks are applied to it.
struct Work<'a> {
    before: Option<&'a Content>,
    text: Text<'a>,
    exists: bool,
    redirected_from: Option<RepoPath>,
    hunks: Vec<Hunk>,
    blocks: Vec<Block>,
}

type Refusal = (FailReason, String);

struct Planner<'a> {
    snapshot: &'a Snapshot,
    scope: &'a Scope,
    /// Files that were looked at, or why they cannot be edited.
    files: BTreeMap<RepoPath, Result<Work<'a>, Refusal>>,
    /// Files with hunks, in order.
    edited: Vec<RepoPath>,
    failed: Vec<Failed>,
    /// Files in which a block failed: what follows may rest on it, so it is not looked for elsewhere.
    failed_paths: BTreeSet<RepoPath>,
}

impl<'a> Planner<'a> {
    fn place(&mut self, nth: usize, block: &'a Block, claims: Claims<'_>) -> Result<(), Failed> {
        let fail = |path: Option<&str>, (reason, message): Refusal| Failed {
            block: block.index,
            path: path.map(str::to_owned),
            reason,
            message,
            closest: None,
        };
        let Some(name) = block.path.as_deref() else {
            return Err(fail(
                None,
                (FailReason::NoPath, "no file is named; put its path alone on the line above the block's fence".to_owned()),
            ));
        };
        let named = named_path(name).map_err(|error| fail(Some(name), (FailReason::BadPath, error.to_string())))?;
        let path = self.complete(&named, block);
        let miss = match self.try_file(&path, block, claims) {
            Ok(found) => {
                return self
                    .apply(nth, block, &path, found, (path != named).then_some(named))
                    .map_err(|refusal| fail(Some(path.as_str()), refusal));
            }
            Err(miss) => miss,
        };
        if matches!(miss.0, FailReason::NoMatch | FailReason::NotFound)
            && !self.failed_paths.contains(&path)
            && let Some((other, found)) = self.elsewhere(&path, block)
        {
            return self.apply(nth, block, &other, found, Some(named)).map_err(|refusal| fail(Some(other.as_str()), refusal));
        }
        let mut failed = fail(Some(path.as_str()), miss);
        if failed.reason == FailReason::NoMatch
            && let Some((place, difference)) = self.closest(&path, block)
        {
            failed.message = format!("{}; {difference}", failed.message);
            failed.closest = Some(place);
        }
        self.failed_paths.insert(path);
        Err(failed)
    }

    /// The path itself if it exists or is to be created, else the one chat file whose name ends with it.
    fn complete(&mut self, named: &RepoPath, block: &Block) -> RepoPath {
        let exists = match self.file(named) {
            Ok(work) => work.exists,
            Err(_) => true,
        };
        if exists || block.creates() {
            return named.clone();
        }
        match &self.ending_with(named)[..] {
            [only] => only.clone(),
            _ => named.clone(),
        }
    }

    fn ending_with(&self, named: &RepoPath) -> Vec<RepoPath> {
        let ends = |file: &&RepoPath| file.as_str().strip_suffix(named.as_str()).is_some_and(|dir| dir.ends_with('/'));
        self.scope.chat_files.iter().filter(ends).cloned().collect()
    }

    /// The file as it stands after the blocks so far.
    fn file(&mut self, path: &RepoPath) -> Result<&mut Work<'a>, Refusal> {
        if !self.files.contains_key(path) {
            let opened = self.open(path);
            self.files.insert(path.clone(), opened);
        }
        match self.files.get_mut(path) {
            Some(Ok(work)) => Ok(work),
            Some(Err(refusal)) => Err(refusal.clone()),
            None => Err((FailReason::NotFound, format!("{path} does not exist"))),
        }
    }

    fn open(&self, path: &RepoPath) -> Result<Work<'a>, Refusal> {
        if let Some(why) = self.scope.refused.get(path) {
            return Err((FailReason::Ignored, format!("{path} is not edited: {why}")));
        }
        let unsupported = |why: &str| (FailReason::UnsupportedFile, format!("{path} cannot be edited: {why}"));
        let (before, bytes): (Option<&'a Content>, &'a [u8]) = match self.snapshot.get(path) {
            Seen::File(content) if content.bytes.len() as u64 > FILE_BYTES_MAX => return Err(too_large(path)),
            Seen::File(content) => (Some(content), &content.bytes),
            Seen::Absent => (None, &[]),
            Seen::Unsupported(why) => return Err(unsupported(why)),
            Seen::TooLarge(why) => return Err((FailReason::TooLarge, why.clone())),
        };
        let text = Text::read(bytes).map_err(|why| unsupported(&why))?;
        Ok(Work { before, text, exists: before.is_some(), redirected_from: None, hunks: Vec::new(), blocks: Vec::new() })
    }

    fn try_file(&mut self, path: &RepoPath, block: &'a Block, claims: Claims<'_>) -> Result<Fit<'a>, Refusal> {
        let exists = self.file(path)?.exists;
        if !exists && !block.creates() {
            let similar: Vec<String> = self.ending_with(path).iter().map(ToString::to_string).collect();
            let hint = if similar.is_empty() { String::new() } else { format!("; name one of these in full: {}", similar.join(", ")) };
            return Err((FailReason::NotFound, format!("{path} does not exist{hint}")));
        }
        if !exists && let Some(file) = self.file_in_the_way(path) {
            return Err((FailReason::BadPath, format!("{path} cannot exist beside the file {file}")));
        }
        let work = self.file(path)?;
        fit(&mut work.text, block, path.as_str(), claims).map_err(|miss| {
            let mut message = miss.message(path.as_str());
            if miss == Miss::NoMatch && block.has_later_dividers() {
                message.push_str(", whichever of the block's ======= lines is taken for the divider");
            }
            (miss.reason(), message)
        })
    }

    /// A file that a new file's path needs as a directory, or that needs the new file to be one.
    fn file_in_the_way(&self, path: &RepoPath) -> Option<RepoPath> {
        let exists = |path: &RepoPath| match self.files.get(path) {
            Some(Ok(work)) => work.exists,
            Some(Err(_)) => false,
            None => matches!(self.snapshot.get(path), Seen::File(_)),
        };
        let above = std::iter::successors(path.parent(), RepoPath::parent).find(exists);
        let below =
            || self.edited.iter().find(|file| file.as_str().strip_prefix(path.as_str()).is_some_and(|rest| rest.starts_with('/'))).cloned();
        above.or_else(below)
    }

    /// The one place in the one other chat file where SEARCH stands exactly.
    fn elsewhere(&mut self, path: &RepoPath, block: &'a Block) -> Option<(RepoPath, Fit<'a>)> {
        if block.creates() {
            return None;
        }
        let mut found = None;
        let scope = self.scope;
        for other in scope.chat_files.iter().filter(|other| *other != path) {
            let Ok(work) = self.file(other) else { continue };
            if !work.exists {
                continue;
            }
            match fit_exactly(&mut work.text, block, other.as_str()) {
                Ok(fit) if found.is_none() => found = Some((other.clone(), fit)),
                Err(Miss::NoMatch) => {}
                Ok(_) | Err(_) => return None,
            }
        }
        found
    }

    fn apply(&mut self, nth: usize, block: &'a Block, path: &RepoPath, found: Fit<'a>, from: Option<RepoPath>) -> Result<(), Refusal> {
        let work = self.file(path)?;
        let mut hunk = found.hunk(&work.text, block.index);
        if let Some(pieces) = found.pieces {
            if work.text.bytes_after(found.at, found.len, &pieces) as u64 > FILE_BYTES_MAX {
                return Err(too_large(path));
            }
            if pieces.is_empty() && found.len == 0 && work.exists {
                hunk.rung = Rung::Already;
            }
            work.text.splice(found.at, found.len, pieces, nth);
            work.exists = true;
        }
        let first = work.hunks.is_empty();
        work.hunks.push(hunk);
        work.blocks.push(block.clone());
        if work.redirected_from.is_none() {
            work.redirected_from = from;
        }
        if first {
            self.edited.push(path.clone());
        }
        Ok(())
    }

    fn closest(&mut self, path: &RepoPath, block: &Block) -> Option<(Closest, String)> {
        if self.failed.len() >= CLOSEST_SEARCHES_MAX {
            return None;
        }
        let search: Vec<&[u8]> = split_lines(block.search.as_bytes()).collect();
        closest(&mut self.file(path).ok()?.text, &search)
    }

    fn proposal(mut self, problems: Vec<Problem>) -> Proposal {
        let mut edits = Vec::with_capacity(self.edited.len());
        for path in self.edited {
            let Some(Ok(work)) = self.files.remove(&path) else { continue };
            let creates = work.before.is_none();
            let changed = creates || work.hunks.iter().any(|hunk| hunk.rung != Rung::Already);
            let mode = work.before.map_or(NEW_FILE_MODE, |content| content.mode);
            let after = if changed { Some(Content::new(work.text.to_bytes(), mode)) } else { work.before.cloned() };
            edits.push(Edit {
                op: if creates { Op::Add } else { Op::Modify },
                outside_chat: !creates && !self.scope.chat_files.contains(&path),
                creates,
                redirected_from: work.redirected_from,
                hunks: work.hunks,
                blocks: work.blocks,
                before: work.before.cloned(),
                after,
                path,
            });
        }
        Proposal { edits, failed: self.failed, problems }
    }
}

fn too_large(path: &RepoPath) -> Refusal {
    (FailReason::TooLarge, format!("{path} has, or would have, more than {FILE_BYTES_MAX} bytes"))
}
