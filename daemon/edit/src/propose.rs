//! All blocks of a reply against one snapshot: what would change, and what cannot be applied.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use paird_base::RepoPath;
use paird_base::limits::{CLOSEST_SEARCHES_MAX, FILE_BYTES_MAX};

use crate::anchors::Anchors;
use crate::block::{Block, BlockKind, Parsed};
use crate::closest::{Near, near};
use crate::equal::Equal;
use crate::fail::{FailReason, Failed};
use crate::files::{Files, Refusal, too_large};
use crate::hunks::fit_hunk;
use crate::index::Level;
use crate::ladder::{Claims, CloseMatch, Fit, Miss, fit_exactly};
use crate::lines::split_lines;
use crate::operations::unnamed_listings;
use crate::proposal::Proposal;
use crate::rungs::Rung;
use crate::snapshot::{NameError, Scope, Snapshot, named_path, other_readings};

/// Places every block of a reply, one after another, each seeing what the earlier ones did.
#[must_use]
pub fn propose(parsed: &Parsed, snapshot: &Snapshot, scope: &Scope) -> Proposal {
    let mut planner = Planner {
        scope,
        listings: unnamed_listings(&parsed.blocks),
        files: Files::new(snapshot, scope),
        anchors: Anchors::default(),
        rewritten_lines: 0,
        failed: Vec::new(),
        unmoved: BTreeMap::new(),
        failed_paths: BTreeSet::new(),
    };
    let equal = Equal::of(&parsed.blocks);
    let mut lost = vec![false; parsed.blocks.len()];
    for (nth, block) in parsed.blocks.iter().enumerate() {
        let claims = Claims { close_is_off: scope.close_match == CloseMatch::Off, ..equal.claims(nth, &lost) };
        if let Err(failed) = planner.place(nth, block, claims) {
            lost[nth] = true;
            planner.failed.push(failed);
        }
    }
    Proposal { edits: planner.files.into_edits(), failed: planner.failed, problems: parsed.problems.clone() }
}

/// A reply's blocks as they are placed, one after another.
pub(crate) struct Planner<'a> {
    scope: &'a Scope,
    pub(crate) listings: HashMap<&'a str, Vec<&'a str>>,
    pub(crate) files: Files<'a>,
    anchors: Anchors,
    /// Lines of files that listings were compared with.
    pub(crate) rewritten_lines: usize,
    failed: Vec<Failed>,
    /// Files whose move was refused. Their hunks are part of the same wish.
    unmoved: BTreeMap<RepoPath, FailReason>,
    /// Files in which a block failed: what follows may rest on it, so it is not looked for elsewhere.
    failed_paths: BTreeSet<RepoPath>,
}

/// The file that a block means by a name.
struct Meant {
    path: RepoPath,
    /// It is not the named one.
    redirected: bool,
    /// The name can mean no other.
    certain: bool,
}

impl<'a> Planner<'a> {
    fn place(&mut self, nth: usize, block: &'a Block, claims: Claims<'_>) -> Result<(), Failed> {
        let fail = |path: Option<&str>, (reason, message): Refusal| Failed {
            block: block.index,
            path: path.map(str::to_owned),
            reason,
            message,
            closest: None,
            nearly: None,
        };
        let Some(name) = block.path.as_deref() else {
            let why = "no file is named; put its path alone on the line above the block's fence";
            return Err(fail(None, (FailReason::NoPath, why.to_owned())));
        };
        let bad_path = |error: NameError| fail(Some(name), (FailReason::BadPath, error.to_string()));
        let (named, meant) = match named_path(name) {
            Ok(named) => (named.clone(), self.meant(&named, block)),
            Err(error) => {
                let path = self.below_another_root(name, block).ok_or_else(|| bad_path(error))?;
                (path.clone(), Meant { path, redirected: false, certain: false })
            }
        };
        let path = &meant.path;
        let from = meant.redirected.then(|| named.clone());
        let done = match &block.kind {
            BlockKind::Replace => match self.find(path, block, claims) {
                Ok(_)
                    if block.guessed
                        && let Some(other) = self.stands_elsewhere(path, block) =>
                {
                    let why =
                        format!("no file is named for the block, and SEARCH is in {path} and in {other}; put the path above the fence");
                    Err((FailReason::Ambiguous, why))
                }
                Ok(found) => self.apply(nth, block, path, found, from),
                Err(miss) => return self.place_elsewhere(nth, block, &named, path, miss, fail),
            },
            BlockKind::Add => self.add(nth, block, path),
            BlockKind::Whole { certain } => self.rewrite(nth, block, path, *certain && meant.certain, from),
            BlockKind::Delete => self.delete(block, path, from),
            BlockKind::Move { to } => self.rename(block, path, to, from).inspect_err(|(reason, _)| {
                self.unmoved.insert(path.clone(), *reason);
            }),
        };
        done.map_err(|refusal| {
            self.failed_paths.insert(path.clone());
            fail(Some(path.as_str()), refusal)
        })
    }

    /// A block that its file has no place for: perhaps the one other chat file has.
    fn place_elsewhere(
        &mut self,
        nth: usize,
        block: &'a Block,
        named: &RepoPath,
        path: &RepoPath,
        miss: Refusal,
        fail: impl Fn(Option<&str>, Refusal) -> Failed,
    ) -> Result<(), Failed> {
        if matches!(miss.0, FailReason::NoMatch | FailReason::NotFound)
            && !self.failed_paths.contains(path)
            && let Some((other, found)) = self.elsewhere(path, block)
        {
            return self.apply(nth, block, &other, found, Some(named.clone())).map_err(|refusal| fail(Some(other.as_str()), refusal));
        }
        let mut failed = fail(Some(path.as_str()), miss);
        if failed.reason == FailReason::NoMatch
            && let Some(Near { closest, why, rung }) = self.near(path, block)
        {
            why.iter().for_each(|why| failed.message.push_str(&format!("; {why}")));
            (failed.closest, failed.nearly) = (closest, rung);
        }
        self.failed_paths.insert(path.clone());
        Err(failed)
    }

    /// The path itself if it exists or is to be created, else where an earlier block moved it, else the path without what
    /// formats and examples put before one, else the one chat file whose name ends with it.
    fn meant(&mut self, named: &RepoPath, block: &Block) -> Meant {
        let is = |path: &RepoPath, redirected| Meant { path: path.clone(), redirected, certain: true };
        if self.files.is_taken(named) {
            return is(named, false);
        }
        if !block.creates()
            && let Some(moved) = self.files.moved_to(named)
        {
            return is(moved, false);
        }
        if let Some(other) = other_readings(named, block).find(|path| self.files.is_taken(path)) {
            return is(&other, false);
        }
        match &self.ending_with(named)[..] {
            _ if block.creates() => is(named, false),
            [only] => is(only, true),
            _ => self.below_another_root(named.as_str(), block).map_or_else(|| is(named, false), |path| is(&path, true)),
        }
    }

    /// The one chat file whose path is the end of the name: models know the directory that they were shown, or one of their
    /// own, as the root. A name without a directory says less, so that SEARCH must stand in the file.
    fn below_another_root(&mut self, name: &str, block: &Block) -> Option<RepoPath> {
        let ends = |file: &&RepoPath| name.strip_suffix(file.as_str()).is_some_and(|dir| dir.ends_with('/'));
        let mut files = self.scope.chat_files.iter().filter(ends);
        let (Some(file), None) = (files.next(), files.next()) else {
            return None;
        };
        let is_meant = match block.kind {
            BlockKind::Replace => !block.creates() && (file.as_str().contains('/') || self.stands_in(file, block)),
            BlockKind::Whole { .. } => true,
            BlockKind::Add | BlockKind::Delete | BlockKind::Move { .. } => false,
        };
        is_meant.then(|| file.clone())
    }

    fn ending_with(&self, named: &RepoPath) -> Vec<RepoPath> {
        let ends = |file: &&RepoPath| file.as_str().strip_suffix(named.as_str()).is_some_and(|dir| dir.ends_with('/'));
        self.scope.chat_files.iter().filter(ends).cloned().collect()
    }

    fn find(&mut self, path: &RepoPath, block: &'a Block, claims: Claims<'_>) -> Result<Fit<'a>, Refusal> {
        if !self.files.get(path)?.exists {
            if !block.creates() {
                return Err(self.not_found(path));
            }
            if block.guessed {
                let why = "no file is named for the new text; put its path alone on the line above the block's fence";
                return Err((FailReason::NoPath, why.to_owned()));
            }
            self.may_create(path)?;
        }
        if let Some(reason) = self.unmoved.get(path) {
            return Err((*reason, format!("{path} is not changed, since its move is refused")));
        }
        let work = self.files.get(path)?;
        fit_hunk(&mut work.text, block, path.as_str(), claims, &mut self.anchors).map_err(|(reason, mut message)| {
            if reason == FailReason::NoMatch && block.has_later_dividers() {
                message.push_str(", whichever of the block's ======= lines is taken for the divider");
            }
            (reason, message)
        })
    }

    pub(crate) fn not_found(&mut self, path: &RepoPath) -> Refusal {
        let gone = self.files.get(path).is_ok_and(|work| work.before.is_some());
        if gone {
            return (FailReason::Contradiction, format!("{path} is deleted by an earlier block of the reply"));
        }
        let similar: Vec<String> = self.ending_with(path).iter().map(ToString::to_string).collect();
        let hint = if similar.is_empty() { String::new() } else { format!("; name one of these in full: {}", similar.join(", ")) };
        (FailReason::NotFound, format!("{path} does not exist{hint}"))
    }

    /// Whether a file may be made at a path where none is.
    pub(crate) fn may_create(&mut self, path: &RepoPath) -> Result<(), Refusal> {
        if let Some(moved) = self.files.moved_to(path) {
            return Err((FailReason::Contradiction, format!("{path} is moved to {moved} by an earlier block of the reply")));
        }
        match self.files.in_the_way(path) {
            Some(file) => Err((FailReason::BadPath, format!("{path} cannot exist beside the file {file}"))),
            None => Ok(()),
        }
    }

    /// The one place in the one other chat file where SEARCH stands exactly.
    fn elsewhere(&mut self, path: &RepoPath, block: &'a Block) -> Option<(RepoPath, Fit<'a>)> {
        if block.creates() || !block.anchors.is_empty() || !is_its_own(&block.search) {
            return None;
        }
        // What is gone from the file that is named may have been deleted there already.
        if block.replace.trim().is_empty() && self.files.is_taken(path) {
            return None;
        }
        let mut found = None;
        let scope = self.scope;
        for other in scope.chat_files.iter().filter(|other| *other != path) {
            let Ok(work) = self.files.get(other) else { continue };
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

    /// Another chat file in which SEARCH stands: which of them is meant is not said by a name that is a guess.
    fn stands_elsewhere(&mut self, path: &RepoPath, block: &Block) -> Option<RepoPath> {
        let scope = self.scope;
        scope.chat_files.iter().find(|other| *other != path && !block.creates() && self.stands_in(other, block)).cloned()
    }

    /// Whether SEARCH is in a file, but for blanks at the end of lines.
    fn stands_in(&mut self, file: &RepoPath, block: &Block) -> bool {
        let search: Vec<&[u8]> = split_lines(block.search.as_bytes()).collect();
        self.files.get(file).is_ok_and(|work| work.exists && !work.text.find(Level::Trailing, &search, 1).is_empty())
    }

    pub(crate) fn apply(
        &mut self,
        nth: usize,
        block: &'a Block,
        path: &RepoPath,
        found: Fit<'a>,
        from: Option<RepoPath>,
    ) -> Result<(), Refusal> {
        let work = self.files.get(path)?;
        let mut hunk = found.hunk(&work.text, block.index);
        if let Some(pieces) = found.pieces {
            if work.text.bytes_after(found.at, found.len, &pieces) as u64 > FILE_BYTES_MAX {
                return Err(too_large(path));
            }
            if pieces.is_empty() && found.len == 0 && work.exists {
                hunk.rung = Rung::Already;
            }
            work.text.splice(found.at, found.len, pieces, nth, block.unended);
            work.exists = true;
            work.mode = block.mode.unwrap_or(work.mode);
        }
        let work = self.files.add_hunk(path, hunk, block)?;
        work.suspicious.extend(found.suspicious);
        work.redirected_from = work.redirected_from.take().or(from);
        Ok(())
    }

    fn near(&mut self, path: &RepoPath, block: &Block) -> Option<Near> {
        let text = &mut self.files.get(path).ok()?.text;
        (self.failed.len() < CLOSEST_SEARCHES_MAX).then(|| near(text, block))
    }
}

/// Letters and digits of a line that no other file has by chance.
const OWN_LETTERS_MIN: usize = 20;

/// Whether a text says by itself which file it is of: it has two lines that are not blank, or a long one.
fn is_its_own(search: &str) -> bool {
    let mut solid = search.lines().filter(|line| !line.trim().is_empty());
    let letters = |line: &str| line.chars().filter(|c| c.is_alphanumeric()).count();
    match (solid.next(), solid.next()) {
        (Some(only), None) => letters(only) >= OWN_LETTERS_MIN,
        (first, _) => first.is_some(),
    }
}
