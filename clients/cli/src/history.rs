//! What turns have changed: shown, taken back, and proposals written.

use std::collections::BTreeSet;

use paird_protocol::client::ClientError;
use paird_protocol::envelope::ErrorObject;
use paird_protocol::methods::{CommitList, CommitShow, CommitUndo, EditApply, EditGet, EditList, EditUndo, SessionRead};
use paird_protocol::{
    CommitListParams, CommitRef, CommitShowParams, CommitShowResult, CommitUndoParams, CommitUndoResult, Edit, EditApplyParams,
    EditApplyResult, EditGetParams, EditGetResult, EditListParams, EditStatus, EditUndoParams, ErrorKind, SessionParams, SessionReadResult,
};

use crate::args::Undo;
use crate::commands::{now_ms, show};
use crate::connection::Connection;
use crate::exit::{Exit, Failure};
use crate::plain::{age, short};
use crate::session;
use crate::show::Screen;

/// Takes back what is named, else the last turn: by its commit if it made one, by its edits if not.
///
/// # Errors
/// The daemon's, with what else could be done.
pub(crate) async fn undo(daemon: &Connection, named: Option<&str>, undo: &Undo, screen: &mut Screen) -> Result<(), Failure> {
    let params = if !undo.edits.is_empty() {
        EditUndoParams { edit_ids: Some(undo.edits.clone()), ..Default::default() }
    } else if undo.turn.is_some() {
        EditUndoParams { turn_id: undo.turn.clone(), ..Default::default() }
    } else if undo.all {
        EditUndoParams { session_id: Some(session::need(daemon, named).await?), ..Default::default() }
    } else {
        let session = session::find(daemon, named).await?;
        let last = match &session {
            Some(id) => last_turn(&read(daemon, id).await?),
            None => None,
        };
        match last {
            Some(last) if !last.committed => return undo_turn(daemon, &last, screen).await,
            last => return undo_commit(daemon, session, last, screen).await,
        }
    };
    undo_edits(daemon, params, screen).await?
}

async fn undo_edits(daemon: &Connection, params: EditUndoParams, screen: &mut Screen) -> Result<Result<(), Failure>, ClientError> {
    let undone = daemon.call::<EditUndo>(params).await?;
    Ok(show(screen, &undone, |screen, undone| show_applied(screen, "undone", undone)))
}

/// Takes back a turn that has made no commit.
async fn undo_turn(daemon: &Connection, last: &LastTurn, screen: &mut Screen) -> Result<(), Failure> {
    screen.notice("the last turn made no commit; taking its edits back");
    let params = EditUndoParams { turn_id: Some(last.id.clone()), ..Default::default() };
    match undo_edits(daemon, params, screen).await {
        Ok(done) => done,
        Err(ClientError::Call(error)) if error.data.kind == ErrorKind::Conflict => Err(last.changed_since(error)),
        Err(error) => Err(error.into()),
    }
}

async fn undo_commit(daemon: &Connection, session_id: Option<String>, last: Option<LastTurn>, screen: &mut Screen) -> Result<(), Failure> {
    match daemon.call::<CommitUndo>(CommitUndoParams { session_id }).await {
        Ok(undone) => show(screen, &undone, show_undone_commit),
        Err(error) => {
            let by_edits = matches!(&error, ClientError::Call(error) if may_go_by_edits(error));
            let mut failure = Failure::from(error);
            failure.message = format!("the last commit is not taken back: {}", failure.message);
            if let Some(LastTurn { id, .. }) = last.filter(|_| by_edits) {
                failure.hint = Some(format!(
                    "`pair undo --turn {id}` takes the edits of the last turn back by a new commit; it refuses, too, where their files were changed since"
                ));
            }
            Err(failure)
        }
    }
}

/// Whether the daemon refuses to move HEAD and says that the edits can go without that. A lock, a failing disk and whatever
/// else keeps a commit from being taken back would keep the edits from it as well.
fn may_go_by_edits(error: &ErrorObject) -> bool {
    error.data.kind == ErrorKind::Vcs && error.data.hint.as_deref().is_some_and(|hint| hint.contains("without moving HEAD"))
}

pub(crate) fn show_undone_commit(screen: &mut Screen, undone: &CommitUndoResult) {
    let CommitRef { hash, subject, paths } = &undone.undone;
    screen.data(&format!("undone {} {subject}", short(hash)));
    for path in paths {
        screen.data(&format!("  {path}"));
    }
    screen.notice(&format!("HEAD is {}", short(&undone.head)));
}

/// The newest turn whose edits stand.
struct LastTurn {
    id: String,
    committed: bool,
    /// Id and path of each.
    edits: Vec<(String, String)>,
}

impl LastTurn {
    /// Files of it are no longer as it left them. What can be done, edit by edit.
    fn changed_since(&self, error: ErrorObject) -> Failure {
        let changed = error.data.paths;
        let others: Vec<String> =
            self.edits.iter().filter(|(_, path)| !changed.contains(path)).map(|(id, _)| format!(" --edit {id}")).collect();
        let by_hand = if changed.is_empty() { "its files".to_owned() } else { changed.join(", ") };
        let hint = if changed.is_empty() || others.is_empty() {
            format!("nothing was written; put {by_hand} right by hand, `pair diff` shows what the turn changed")
        } else {
            format!(
                "nothing was written; `pair undo{}` takes the other edits back, {by_hand} is left to put right by hand",
                others.concat()
            )
        };
        Failure::new(Exit::of_kind(error.data.kind), format!("the edits of turn {} are not taken back: {}", self.id, error.message))
            .with_hint(hint)
    }
}

fn last_turn(state: &SessionReadResult) -> Option<LastTurn> {
    let last = last_changed(&state.edits, |edit| edit.status == EditStatus::Applied);
    Some(LastTurn {
        id: last.first()?.turn_id.clone()?,
        committed: last.iter().any(|edit| edit.commit.is_some()),
        edits: last.iter().map(|edit| (edit.edit_id.clone(), edit.path.clone())).collect(),
    })
}

/// Of the edits that are wanted, those of the newest one's turn.
fn last_changed(edits: &[Edit], wanted: impl Fn(&Edit) -> bool) -> Vec<&Edit> {
    let wanted: Vec<&Edit> = edits.iter().filter(|edit| wanted(edit)).collect();
    let newest = wanted.last().map(|edit| edit.turn_id.as_deref());
    wanted.into_iter().filter(|edit| Some(edit.turn_id.as_deref()) == newest).collect()
}

async fn read(daemon: &Connection, session: &str) -> Result<SessionReadResult, ClientError> {
    daemon.call::<SessionRead>(SessionParams { session_id: session.to_owned() }).await
}

/// Writes proposals: those named, else every one of the session that waits.
///
/// # Errors
/// The daemon's, or that nothing waits.
pub(crate) async fn apply(daemon: &Connection, named: Option<&str>, edits: Vec<String>, screen: &mut Screen) -> Result<(), Failure> {
    let writes = if edits.is_empty() {
        let id = session::need(daemon, named).await?;
        let waiting = daemon.call::<EditList>(EditListParams { session_id: Some(id), status: Some(EditStatus::Proposed) }).await?;
        one_for_each_path(waiting.edits)
    } else {
        vec![edits]
    };
    if writes.is_empty() {
        return Err(Failure::new(Exit::Failure, "no proposal waits in this session"));
    }
    for edit_ids in writes {
        let applied = daemon.call::<EditApply>(EditApplyParams { edit_ids }).await?;
        show(screen, &applied, |screen, applied| show_applied(screen, "applied", applied))?;
    }
    Ok(())
}

/// Proposals as writes that each have one of a file, for the daemon writes those of one file one after the other.
fn one_for_each_path(mut waiting: Vec<Edit>) -> Vec<Vec<String>> {
    let mut writes = Vec::new();
    while !waiting.is_empty() {
        let mut paths = BTreeSet::new();
        let (now, later) = waiting.into_iter().partition::<Vec<Edit>, _>(|edit| {
            let own: Vec<String> = std::iter::once(&edit.path).chain(&edit.to_path).cloned().collect();
            let free = own.iter().all(|path| !paths.contains(path));
            // Those of a file keep their order: a later one of it waits even if this one cannot go now.
            paths.extend(own);
            free
        });
        writes.push(now.into_iter().map(|edit| edit.edit_id).collect());
        waiting = later;
    }
    writes
}

fn show_applied(screen: &mut Screen, done: &str, result: &EditApplyResult) {
    for edit in &result.applied {
        screen.data(&format!("{done} {} (edit {})", edit.path, edit.edit_id));
    }
    if let Some(commit) = &result.commit {
        screen.commit(commit);
    }
}

/// Shows a commit, else what the session's last turn changed or proposes.
///
/// # Errors
/// The daemon's.
pub(crate) async fn diff(daemon: &Connection, named: Option<&str>, commit: Option<String>, screen: &mut Screen) -> Result<(), Failure> {
    if let Some(commit) = commit {
        let shown = daemon.call::<CommitShow>(CommitShowParams { commit }).await?;
        return show(screen, &shown, show_commit);
    }
    let edits = match session::find(daemon, named).await? {
        Some(id) => daemon.call::<EditList>(EditListParams { session_id: Some(id), status: None }).await?.edits,
        None => Vec::new(),
    };
    let mut differences = Vec::new();
    for edit in last_changed(&edits, |edit| matches!(edit.status, EditStatus::Applied | EditStatus::Proposed)) {
        differences.push(daemon.call::<EditGet>(EditGetParams { edit_id: edit.edit_id.clone() }).await?);
    }
    if differences.is_empty() {
        screen.notice("no turn of this session has changed anything; `pair diff HEAD` shows the latest commit");
    }
    show(screen, &differences, |screen, differences| differences.iter().for_each(|one| show_edit(screen, one)))
}

fn show_edit(screen: &mut Screen, shown: &EditGetResult) {
    let state = if shown.edit.status == EditStatus::Proposed { "proposed, not written" } else { "applied" };
    screen.notice(&format!("edit {} ({state})", shown.edit.edit_id));
    screen.diff(&shown.diff);
}

fn show_commit(screen: &mut Screen, shown: &CommitShowResult) {
    let CommitShowResult { commit, paths, diff, truncated, .. } = shown;
    screen.commit(&CommitRef { hash: commit.hash.clone(), subject: commit.subject.clone(), paths: paths.clone() });
    screen.diff(diff);
    if *truncated {
        screen.warn("the difference is longer than is shown");
    }
}

/// Lists the latest commits.
///
/// # Errors
/// The daemon's.
pub(crate) async fn log(daemon: &Connection, limit: usize, screen: &mut Screen) -> Result<(), Failure> {
    let list = daemon.call::<CommitList>(CommitListParams { limit: Some(limit) }).await?;
    let now = now_ms();
    show(screen, &list, |screen, list| {
        for commit in &list.commits {
            let star = if commit.by_paird { '*' } else { ' ' };
            screen.data(&format!("{} {star} {:>7}  {}", short(&commit.hash), age(now, commit.time_ms), commit.subject));
        }
    })
}

#[cfg(test)]
mod tests {
    use paird_protocol::EditOp;

    use super::*;

    fn edit(id: &str, turn: Option<&str>, status: EditStatus) -> Edit {
        Edit {
            edit_id: id.to_owned(),
            path: "a".to_owned(),
            op: EditOp::Modify,
            status,
            to_path: None,
            outside_chat: false,
            creates: false,
            redirected_from: None,
            hunks: Vec::new(),
            suspicious: Vec::new(),
            turn_id: turn.map(str::to_owned),
            commit: None,
        }
    }

    #[test]
    fn the_last_turns_edits() {
        let edits = [
            edit("1", Some("t1"), EditStatus::Applied),
            edit("2", Some("t2"), EditStatus::Applied),
            edit("3", Some("t2"), EditStatus::Applied),
            edit("4", Some("t3"), EditStatus::Undone),
        ];
        let ids = |status| last_changed(&edits, |edit| edit.status == status).iter().map(|edit| edit.edit_id.clone()).collect::<Vec<_>>();
        assert_eq!(ids(EditStatus::Applied), ["2", "3"]);
        assert_eq!(ids(EditStatus::Undone), ["4"]);
        assert!(ids(EditStatus::Proposed).is_empty());
    }
}
