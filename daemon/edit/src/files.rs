//! The files of a snapshot while the blocks of a reply change them, in memory.

use std::collections::BTreeMap;

use paird_base::limits::FILE_BYTES_MAX;
use paird_base::{Content, RepoPath};

use crate::block::Block;
use crate::fail::FailReason;
use crate::ladder::{CloseMatch, Hunk};
use crate::lines::Text;
use crate::proposal::{Edit, Op};
use crate::rungs::Rung;
use crate::snapshot::{Scope, Seen, Snapshot};

/// Permission bits of a new file.
const NEW_FILE_MODE: u32 = 0o644;

/// Why a block is not applied, for people and the model.
pub(crate) type Refusal = (FailReason, String);

/// A path while blocks are applied to it.
pub(crate) struct Work<'a> {
    /// What the path held before the reply.
    pub(crate) before: Option<&'a Content>,
    /// Whether it holds a file now; `text` is empty if not.
    pub(crate) exists: bool,
    pub(crate) text: Text<'a>,
    pub(crate) mode: u32,
    /// The file had this name before the reply.
    origin: Option<RepoPath>,
    pub(crate) redirected_from: Option<RepoPath>,
    pub(crate) hunks: Vec<Hunk>,
    pub(crate) blocks: Vec<Block>,
    pub(crate) suspicious: Vec<String>,
}

pub(crate) struct Files<'a> {
    snapshot: &'a Snapshot,
    scope: &'a Scope,
    /// Files that were looked at, or why they cannot be edited.
    works: BTreeMap<RepoPath, Result<Work<'a>, Refusal>>,
    /// Files with hunks, in the order of their first.
    edited: Vec<RepoPath>,
    /// Where files went that the reply has moved.
    moved: BTreeMap<RepoPath, RepoPath>,
}

impl<'a> Files<'a> {
    pub(crate) fn new(snapshot: &'a Snapshot, scope: &'a Scope) -> Self {
        Self { snapshot, scope, works: BTreeMap::new(), edited: Vec::new(), moved: BTreeMap::new() }
    }

    /// The path as it stands after the blocks so far.
    pub(crate) fn get(&mut self, path: &RepoPath) -> Result<&mut Work<'a>, Refusal> {
        if !self.works.contains_key(path) {
            let opened = self.open(path);
            self.works.insert(path.clone(), opened);
        }
        match self.works.get_mut(path) {
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
        let mode = before.map_or(NEW_FILE_MODE, |content| content.mode);
        Ok(Work { before, exists: before.is_some(), text, mode, ..Work::empty() })
    }

    /// Whether a block that names the path means it: a file is there, or something that is not edited.
    pub(crate) fn is_taken(&mut self, path: &RepoPath) -> bool {
        self.get(path).map_or(true, |work| work.exists)
    }

    /// Where the file of this name went by an earlier block.
    pub(crate) fn moved_to(&self, path: &RepoPath) -> Option<&RepoPath> {
        self.moved.get(path)
    }

    /// A file that a new file's path needs as a directory, or that needs the new file to be one. One that the reply
    /// deletes or moves away counts: both cannot be written at once.
    pub(crate) fn in_the_way(&self, path: &RepoPath) -> Option<RepoPath> {
        let exists = |path: &RepoPath| match self.works.get(path) {
            Some(Ok(work)) => work.exists || work.before.is_some(),
            Some(Err(_)) => false,
            None => matches!(self.snapshot.get(path), Seen::File(_)),
        };
        let above = std::iter::successors(path.parent(), RepoPath::parent).find(exists);
        let is_below = |file: &&RepoPath| file.as_str().strip_prefix(path.as_str()).is_some_and(|rest| rest.starts_with('/'));
        above.or_else(|| self.works.keys().filter(is_below).find(|file| exists(file)).cloned())
    }

    /// Notes a block's place in a file.
    pub(crate) fn add_hunk(&mut self, path: &RepoPath, hunk: Hunk, block: &Block) -> Result<&mut Work<'a>, Refusal> {
        if !self.edited.contains(path) {
            self.edited.push(path.clone());
        }
        let work = self.get(path)?;
        work.hunks.push(hunk);
        work.blocks.push(block.clone());
        Ok(work)
    }

    /// Takes the file at a path away.
    pub(crate) fn remove(&mut self, path: &RepoPath) -> Result<(), Refusal> {
        let work = self.get(path)?;
        work.text = Text::empty();
        work.exists = false;
        Ok(())
    }

    /// Gives a file a name at which nothing is and nothing was.
    pub(crate) fn rename(&mut self, from: &RepoPath, to: &RepoPath) -> Result<(), Refusal> {
        let source = self.get(from)?;
        let fresh = Work { before: source.before, mode: source.mode, ..Work::empty() };
        let carried = std::mem::replace(source, fresh);
        let origin = carried.origin.clone().or_else(|| carried.before.map(|_| from.clone()));
        let target = self.get(to)?;
        *target = Work { before: None, origin, ..carried };
        match self.edited.iter_mut().find(|path| *path == from) {
            Some(path) => path.clone_from(to),
            None => self.edited.push(to.clone()),
        }
        self.note_move(from, to);
        Ok(())
    }

    /// Blocks that name the file as it was called mean it under its new name.
    pub(crate) fn note_move(&mut self, from: &RepoPath, to: &RepoPath) {
        self.moved.values_mut().filter(|name| *name == from).for_each(|name| name.clone_from(to));
        self.moved.insert(from.clone(), to.clone());
    }

    /// What all the blocks have made of the files.
    pub(crate) fn into_edits(mut self) -> Vec<Edit> {
        let mut edits = Vec::with_capacity(self.edited.len());
        for path in std::mem::take(&mut self.edited) {
            if let Some(Ok(work)) = self.works.remove(&path) {
                let before = match &work.origin {
                    Some(origin) => self.works.get(origin).and_then(|work| work.as_ref().ok()?.before),
                    None => work.before,
                };
                edits.extend(work.into_edit(path, before, self.scope));
            }
        }
        edits
    }
}

impl<'a> Work<'a> {
    fn empty() -> Self {
        Self {
            before: None,
            exists: false,
            text: Text::empty(),
            mode: NEW_FILE_MODE,
            origin: None,
            redirected_from: None,
            hunks: Vec::new(),
            blocks: Vec::new(),
            suspicious: Vec::new(),
        }
    }

    /// `before` is what the file held under its old name.
    fn into_edit(self, path: RepoPath, before: Option<&Content>, scope: &Scope) -> Option<Edit> {
        let idle = self.exists && self.origin.is_none() && self.hunks.iter().all(|hunk| hunk.rung == Rung::Already);
        let after = match before {
            Some(content) if idle => Some(content.clone()),
            _ => self.exists.then(|| Content::new(self.text.to_bytes(), self.mode)),
        };
        let (path, op) = match (self.origin, before, &after) {
            (Some(origin), ..) => (origin, Op::Move { to: path }),
            (None, None, Some(_)) => (path, Op::Add),
            (None, Some(_), Some(_)) => (path, Op::Modify),
            (None, Some(_), None) => (path, Op::Delete),
            (None, None, None) => return None,
        };
        let creates = op == Op::Add;
        Some(Edit {
            outside_chat: !creates && !scope.chat_files.contains(&path),
            creates,
            redirected_from: self.redirected_from,
            held: scope.close_match == CloseMatch::Hold && self.hunks.iter().any(|hunk| hunk.rung == Rung::Close),
            suspicious: self.suspicious,
            hunks: self.hunks,
            blocks: self.blocks,
            before: before.cloned(),
            after,
            path,
            op,
        })
    }
}

pub(crate) fn too_large(path: &RepoPath) -> Refusal {
    (FailReason::TooLarge, format!("{path} has, or would have, more than {FILE_BYTES_MAX} bytes"))
}
