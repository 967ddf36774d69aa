//! The commit of a job: made after its files are written, completed by the next start if a crash came between.
//!
//! A commit that cannot be made never takes the edit back: the files stay, the reason is told.

use paird_base::RepoPath;
use paird_edit::{FileChange, Plan, Record};
use paird_vcs::{CommitKind, CommitRequest, DirtyPolicy, Outcome, Prepared, PreparedCommit, Published, UndoPrepared};
use serde::{Deserialize, Serialize};

use super::entry::Commit;
use super::error::Error;
use super::job::{Committed, Intent};
use super::settings::DirtyCommits;
use super::tree::Tree;

/// How often a commit is prepared anew because HEAD moved meanwhile.
const MOVED_TRIES: usize = 20;

/// What a record notes about its commit, in order.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Note {
    Prepared(Prepared),
    Committed(Committed),
    /// The commit could not be taken back, so the files of this record shall be what they were before it.
    GivenUp,
}

/// Makes the commit that the intent asks for, or says why not. Doing it again after a crash does only what is missing.
pub(super) fn run(tree: &Tree, record: &mut Record, intent: &Intent, foreign: &[RepoPath]) -> Committed {
    let last = last_note(record);
    if let Some(Note::Committed(committed)) = last {
        return committed;
    }
    let committed = match attempt(tree, record, intent, foreign, last) {
        Ok(committed) => committed,
        Err(error) => {
            tracing::warn!(error = %error.chain(), "edits stay uncommitted");
            let reason = reason(&error);
            Committed { uncommitted: paths(record).into_iter().map(|p| (p, reason.clone())).collect(), ..Committed::default() }
        }
    };
    note_committed(record, committed)
}

fn attempt(tree: &Tree, record: &mut Record, intent: &Intent, foreign: &[RepoPath], last: Option<Note>) -> Result<Committed, Error> {
    let Some(order) = &intent.order.commit else {
        return Ok(Committed::default());
    };
    let repo = tree.open_repo()?;
    let changes: Vec<FileChange> = record.changes()?.into_iter().filter(|c| !foreign.contains(&c.path)).collect();
    if let Some(why) = repo.unsupported()? {
        let reason = format!("{why}; the edit is kept, commit it with git");
        return Ok(Committed { uncommitted: changes.into_iter().map(|c| (c.path, reason.clone())).collect(), ..Committed::default() });
    }
    let changes: Vec<paird_vcs::Change> =
        changes.into_iter().map(|c| paird_vcs::Change { path: c.path, before: c.before, after: c.after }).collect();
    let request = CommitRequest { changes: &changes, message: &order.subject, trailers: &order.trailers, dirty: policy(order.dirty) };
    let mut prepared = match last {
        Some(Note::Prepared(prepared)) => prepared,
        _ => prepare(&repo, &request, record)?,
    };
    let mut tries = MOVED_TRIES;
    loop {
        tries -= 1;
        match repo.publish(&prepared) {
            Ok(published) => return Ok(made(&prepared, published)),
            Err(paird_vcs::Error::Moved { .. }) if tries > 0 => prepared = prepare(&repo, &request, record)?,
            Err(error) => return Err(error.into()),
        }
    }
}

/// Takes a commit back once its files are what they were before it. An error means that HEAD did not move.
pub(super) fn undo(tree: &Tree, record: &mut Record, undo: &UndoPrepared) -> Result<Committed, Error> {
    match last_note(record) {
        Some(Note::Committed(committed)) => return Ok(committed),
        Some(Note::GivenUp) => return Err(Error::Interrupted),
        Some(Note::Prepared(_)) | None => {}
    }
    let published = tree.open_repo()?.undo_publish(undo)?;
    let behind = published.behind.map(|error| reason(&error.into()));
    Ok(note_committed(record, Committed { head: Some(undo.parent.clone()), behind, ..Committed::default() }))
}

/// Says that an undo will not be completed: from here on its files go back to what they were.
pub(super) fn give_up(record: &mut Record) -> Result<(), Error> {
    note(record, &Note::GivenUp)
}

fn last_note(record: &Record) -> Option<Note> {
    record.notes().iter().rev().find_map(|note| serde_json::from_value::<Note>(note.clone()).ok())
}

/// A commit that the index does not show yet is not done: the next look at the record finds it so.
fn note_committed(record: &mut Record, committed: Committed) -> Committed {
    if committed.behind.is_none()
        && let Err(error) = note(record, &Note::Committed(committed.clone()))
    {
        tracing::warn!(error = %error.chain(), "a commit is not in its write record");
    }
    committed
}

fn reason(error: &Error) -> String {
    match error.hint() {
        Some(hint) => format!("{}; {hint}", error.chain()),
        None => error.chain(),
    }
}

fn prepare(repo: &paird_vcs::Repo, request: &CommitRequest<'_>, record: &mut Record) -> Result<Prepared, Error> {
    let prepared = repo.prepare(request)?;
    note(record, &Note::Prepared(prepared.clone()))?;
    paird_base::fault::point("commit.noted");
    Ok(prepared)
}

fn made(prepared: &Prepared, published: Published) -> Committed {
    let commits = match &prepared.outcome {
        Outcome::Nothing => Vec::new(),
        Outcome::Commits(commits) => commits.iter().map(made_one).collect(),
    };
    let uncommitted = prepared.uncommitted.iter().map(|u| (u.path.clone(), u.reason.clone())).collect();
    Committed { commits, uncommitted, head: None, behind: published.behind.map(|error| reason(&error.into())) }
}

fn made_one(commit: &PreparedCommit) -> Commit {
    Commit {
        hash: commit.hash.clone(),
        subject: commit.subject.clone(),
        paths: commit.paths.clone(),
        dirty: commit.kind == CommitKind::Dirty,
    }
}

/// The plan that gives the files of a commit back, and what then moves HEAD, if the commit may be taken back at all.
pub(super) fn undo_plan(tree: &Tree, commit: &Commit) -> Result<(Plan, UndoPrepared), Error> {
    let kind = if commit.dirty { CommitKind::Dirty } else { CommitKind::Edit };
    let undo = tree.open_repo()?.undo_check(&commit.hash, kind)?;
    // As git does it: directories that a removed file leaves empty go with it.
    let emptied: Vec<RepoPath> = undo.changes.iter().filter(|c| c.after.is_none()).flat_map(|c| parents(&c.path)).collect();
    let changes = undo.changes.into_iter().map(|c| FileChange { path: c.path, before: c.before, after: c.after });
    let plan = Plan::new(changes).map_err(|error| Error::Conflict { message: error.to_string(), paths: Vec::new() })?;
    Ok((plan.with_emptied_dirs(emptied), undo.prepared))
}

fn parents(path: &RepoPath) -> impl Iterator<Item = RepoPath> {
    std::iter::successors(path.parent(), RepoPath::parent)
}

fn note(record: &mut Record, note: &Note) -> Result<(), Error> {
    let value = serde_json::to_value(note).map_err(|source| super::log::LogError::Encode { source })?;
    Ok(record.note(value)?)
}

fn paths(record: &Record) -> Vec<RepoPath> {
    record.changes().map(|changes| changes.into_iter().map(|c| c.path).collect()).unwrap_or_default()
}

const fn policy(dirty: DirtyCommits) -> DirtyPolicy {
    match dirty {
        DirtyCommits::Overlap => DirtyPolicy::Overlap,
        DirtyCommits::Always => DirtyPolicy::Always,
        DirtyCommits::Never => DirtyPolicy::Never,
    }
}
