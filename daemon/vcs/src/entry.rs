//! One file as a tree or the index holds it, and the merge of three of them.

use std::path::Path;

use git2::{Index, IndexEntryExtendedFlag, MergeFileInput, Oid, Repository, Tree};
use paird_base::RepoPath;

use crate::Error;
use crate::error::Trying;

/// Bytes that are searched for a NUL to tell a binary file; git's own figure.
const BINARY_PROBE_BYTES: usize = 8000;

/// A regular file: its blob and whether it can be executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) blob: Oid,
    pub(crate) exec: bool,
}

impl Entry {
    /// As git writes it.
    pub(crate) fn mode(self) -> i32 {
        if self.exec { 0o100_755 } else { 0o100_644 }
    }

    fn new(blob: Oid, mode: u32) -> Self {
        Self { blob, exec: mode & 0o100 != 0 }
    }
}

/// What a tree or the index has at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Slot {
    File(Option<Entry>),
    /// Something that is not a regular file, or not in one state; why nothing is committed there.
    Other(&'static str),
}

const FILE: u32 = 0o100_000;
const KIND: u32 = 0o170_000;

/// What `tree` has at `path`; a missing tree is an empty one.
pub(crate) fn in_tree(repo: &Repository, tree: Option<&Tree<'_>>, path: &RepoPath) -> Result<Slot, Error> {
    let Some(tree) = tree else { return Ok(Slot::File(None)) };
    let mut here = tree.clone();
    let mut parts = path.as_str().split('/').peekable();
    while let Some(part) = parts.next() {
        let last = parts.peek().is_none();
        let found = here.get_name(part).map(|entry| (entry.id(), entry.filemode().cast_unsigned()));
        let Some((id, mode)) = found else { return Ok(Slot::File(None)) };
        here = match mode & KIND {
            FILE if last => return Ok(Slot::File(Some(Entry::new(id, mode)))),
            0o040_000 if !last => repo.find_tree(id).trying("read a tree")?,
            0o040_000 => return Ok(Slot::Other("it is a directory in HEAD")),
            0o160_000 if last => return Ok(Slot::Other("it is a submodule in HEAD")),
            0o160_000 => return Ok(Slot::Other("it is inside a submodule")),
            _ if last => return Ok(Slot::Other("it is a link in HEAD")),
            _ => return Ok(Slot::Other("its directory is a file in HEAD")),
        };
    }
    Ok(Slot::File(None))
}

/// What the index has at `path`. An entry that is only an intent to add counts as none.
pub(crate) fn in_index(index: &Index, path: &RepoPath) -> Slot {
    let name = Path::new(path.as_str());
    if (1..4).any(|stage| index.get_path(name, stage).is_some()) {
        return Slot::Other("it has an unresolved conflict in the index");
    }
    match index.get_path(name, 0) {
        None => Slot::File(None),
        Some(entry) if entry.flags_extended & IndexEntryExtendedFlag::INTENT_TO_ADD.bits() != 0 => Slot::File(None),
        Some(entry) if entry.mode & KIND == FILE => Slot::File(Some(Entry::new(entry.id, entry.mode))),
        Some(_) => Slot::Other("it is a link or a submodule in the index"),
    }
}

/// Outcome of a three-way merge; `None` is "no file".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Merged {
    Clean(Option<Entry>),
    Conflict,
}

/// Brings the changes base -> theirs into ours. Changes that touch each other conflict, equal ones do not.
pub(crate) fn merge(repo: &Repository, base: Option<Entry>, ours: Option<Entry>, theirs: Option<Entry>) -> Result<Merged, Error> {
    if ours == theirs || base == theirs {
        return Ok(Merged::Clean(ours));
    }
    if base == ours {
        return Ok(Merged::Clean(theirs));
    }
    let (Some(base), Some(ours), Some(theirs)) = (base, ours, theirs) else {
        return Ok(Merged::Conflict);
    };
    let exec = if theirs.exec == base.exec { ours.exec } else { theirs.exec };
    let blob = if ours.blob == theirs.blob || base.blob == theirs.blob {
        Some(ours.blob)
    } else if base.blob == ours.blob {
        Some(theirs.blob)
    } else {
        merge_texts(repo, base.blob, ours.blob, theirs.blob)?
    };
    Ok(blob.map_or(Merged::Conflict, |blob| Merged::Clean(Some(Entry { blob, exec }))))
}

fn merge_texts(repo: &Repository, base: Oid, ours: Oid, theirs: Oid) -> Result<Option<Oid>, Error> {
    let blobs = [base, ours, theirs].map(|oid| repo.find_blob(oid));
    let [base, ours, theirs] = blobs.map(|blob| blob.trying("read a blob"));
    let (base, ours, theirs) = (base?, ours?, theirs?);
    let binary = |bytes: &[u8]| bytes.iter().take(BINARY_PROBE_BYTES).any(|b| *b == 0);
    if [&base, &ours, &theirs].iter().any(|blob| binary(blob.content())) {
        return Ok(None);
    }
    let mut inputs = [MergeFileInput::new(), MergeFileInput::new(), MergeFileInput::new()];
    for (input, blob) in inputs.iter_mut().zip([&base, &ours, &theirs]) {
        input.content(blob.content());
    }
    let merged = git2::merge_file(&inputs[0], &inputs[1], &inputs[2], None).trying("merge a file")?;
    if !merged.is_automergeable() {
        return Ok(None);
    }
    repo.blob(merged.content()).trying("write a blob").map(Some)
}
