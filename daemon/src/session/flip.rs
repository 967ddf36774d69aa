//! Undo and redo of applied edits: each is a change of one file whose two states are in a write record.

use std::collections::BTreeMap;

use paird_base::{Content, Found, RepoPath};
use paird_edit::{FileChange, Journal, Plan, Record, RecordId};

use super::entry::EditStatus;
use super::error::Error;
use super::job::Flip;
use super::tree::Tree;

/// The plan that makes the edits undone (given newest first) or applied again (given oldest first). Each file must be
/// exactly what the edit left, or what it found, permission bits apart, which stay; where it is not, nothing is planned.
pub(super) fn plan(tree: &Tree, journal: &Journal, flips: &[Flip], to: EditStatus) -> Result<Plan, Error> {
    let mut now: BTreeMap<RepoPath, Option<Content>> = BTreeMap::new();
    let mut disk = BTreeMap::new();
    let mut conflicts = Vec::new();
    let mut made_dirs = Vec::new();
    for (write, path) in flips.iter().flat_map(|flip| flip.paths.iter().map(|path| (&flip.write, path))) {
        if !now.contains_key(path) {
            let found = on_disk(tree, path)?;
            disk.insert(path.clone(), found.clone());
            now.insert(path.clone(), found);
        }
        let change = recorded(journal, write, path)?;
        if to == EditStatus::Undone && change.before.is_none() {
            let above = |dir: &&RepoPath| path.as_str().strip_prefix(dir.as_str()).is_some_and(|rest| rest.starts_with('/'));
            made_dirs.extend(journal.load(write)?.made_dirs().iter().filter(above).cloned());
        }
        let (from, into) = if to == EditStatus::Undone { (change.after, change.before) } else { (change.before, change.after) };
        let there = now.get(path).cloned().flatten();
        if same_bytes(there.as_ref(), from.as_ref()) {
            now.insert(path.clone(), into.map(|content| with_mode(content, from.as_ref(), there.as_ref())));
        } else {
            conflicts.push(path.clone());
        }
    }
    if !conflicts.is_empty() {
        conflicts.dedup();
        let names = conflicts.iter().map(RepoPath::as_str).collect::<Vec<_>>().join(", ");
        return Err(Error::Conflict { message: format!("{names} changed since the edit"), paths: conflicts });
    }
    let changes = disk.into_iter().map(|(path, before)| {
        let after = now.get(&path).cloned().flatten();
        FileChange { path, before, after }
    });
    let plan = Plan::new(changes).map_err(|error| Error::Conflict { message: error.to_string(), paths: Vec::new() })?;
    Ok(plan.with_emptied_dirs(made_dirs))
}

fn same_bytes(a: Option<&Content>, b: Option<&Content>) -> bool {
    a.map(|content| &content.bytes) == b.map(|content| &content.bytes)
}

/// The content with the permission bits that a person gave its file since.
fn with_mode(content: Content, recorded: Option<&Content>, there: Option<&Content>) -> Content {
    match (recorded, there) {
        (Some(recorded), Some(there)) if recorded.mode != there.mode => Content { mode: there.mode, ..content },
        _ => content,
    }
}

/// The plan that takes a whole write back, where its files still are what it left.
pub(super) fn restore(tree: &Tree, record: &Record) -> Result<Plan, Error> {
    let mut back = Vec::new();
    for change in record.changes()? {
        if on_disk(tree, &change.path)? == change.after {
            back.push(FileChange { path: change.path, before: change.after, after: change.before });
        }
    }
    Plan::new(back).map_err(|error| Error::Conflict { message: error.to_string(), paths: Vec::new() })
}

/// The change that a write made to a path. A record that is gone or damaged is an error, never a deletion.
pub(super) fn recorded(journal: &Journal, write: &RecordId, path: &RepoPath) -> Result<FileChange, Error> {
    let changes = journal.load(write)?.changes()?;
    changes.into_iter().find(|c| c.path == *path).ok_or_else(|| Error::NotFound { what: "record of a write to", id: path.to_string() })
}

fn on_disk(tree: &Tree, path: &RepoPath) -> Result<Option<Content>, Error> {
    match tree.root.read(path, paird_base::limits::FILE_BYTES_MAX)? {
        Found::File(content) => Ok(Some(content)),
        Found::Absent => Ok(None),
        Found::Other(what) => Err(Error::UnsupportedFile { path: path.clone(), what: what.to_owned() }),
    }
}
