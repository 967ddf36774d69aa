use std::collections::BTreeSet;

use jsonrpsee::core::RegisterMethodError;
use paird_base::{Content, RepoPath};
use paird_edit::{CloseMatch, Parsed, Parser, Proposal, Seen, Snapshot};
use paird_protocol::methods::{EditApply, EditGet, EditList, EditMatch, EditParse, EditPropose, EditRedo, EditResolve, EditUndo};
use paird_protocol::{
    AppliedEdit, BlockMatch, EditApplyResult, EditFormat, EditGetResult, EditListResult, EditMatchParams, EditMatchResult, EditParseResult,
    EditProposeParams, EditProposeResult, EditResolveParams, EditResolveResult, EditUndoParams, ErrorKind,
};

use super::{Daemon, Fault, Module, from_wire, method, session, to_wire};
use crate::session::{
    EditEntry, EditId, EditStatus, Error, Landed, Order, Refused, Session, TurnId, Verdicts, What, Which, edit_entry, propose, resolve,
    scope, unified,
};

pub(super) fn register(module: &mut Module) -> Result<(), RegisterMethodError> {
    method::<EditParse, _, _>(module, |_, _, params| async move {
        let parsed = paird_edit::parse(from_wire::format(params.format), &params.text);
        Ok(EditParseResult {
            blocks: parsed.blocks.into_iter().map(to_wire::block).collect(),
            shell_commands: parsed.shell_commands,
            problems: parsed.problems.iter().map(to_wire::problem).collect(),
        })
    })?;
    method::<EditMatch, _, _>(module, |daemon, _, params| async move { blocking(move || matched(&daemon, params)).await })?;
    method::<EditPropose, _, _>(module, |daemon, _, params| async move { proposed(&daemon, params).await })?;
    method::<EditList, _, _>(module, |daemon, _, params| async move {
        let seq = daemon.events.seq();
        let edits = match params.session_id {
            Some(id) => session::find(&daemon, id).await?.call(|o| o.state.edits.clone()).await?,
            None => daemon.loose.all(daemon.now_ms()),
        };
        let wanted = |e: &paird_protocol::Edit| params.status.is_none_or(|status| e.status == status);
        Ok(EditListResult { edits: edits.iter().map(to_wire::edit).filter(wanted).collect(), seq })
    })?;
    method::<EditGet, _, _>(module, |daemon, _, params| async move {
        let edit = find(&daemon, &EditId(params.edit_id)).await?;
        let diff = difference(&daemon, &edit).await?;
        Ok(EditGetResult { edit: to_wire::edit(&edit), diff })
    })?;
    method::<EditApply, _, _>(module, |daemon, _, params| async move {
        let ids: Vec<EditId> = params.edit_ids.into_iter().map(EditId).collect();
        let mut homes = Vec::new();
        for id in &ids {
            let loose = daemon.loose.get(daemon.now_ms(), id);
            homes.push(if loose.is_some() { None } else { Some(daemon.sessions.of_edit(id).await?) });
        }
        // All or none: one write, so one session, or none.
        let first = homes.first().ok_or_else(|| Fault::new(ErrorKind::InvalidParams, "editIds is empty"))?;
        let name = |home: &Option<Session>| home.as_ref().map(|s| s.id.clone());
        if homes.iter().any(|home| name(home) != name(first)) {
            return Err(Fault::new(ErrorKind::InvalidParams, "the edits are of different sessions")
                .hint("apply those of each session in a call of its own"));
        }
        match first.clone() {
            Some(session) => {
                let (order, edits, scope) = session.call(move |o| o.to_apply(&ids)).await??;
                let lane = daemon.lane.clone();
                finish(&daemon, session, async move { lane.apply(order, edits, scope).await }).await
            }
            None => apply_loose(&daemon, &ids).await,
        }
    })?;
    method::<EditResolve, _, _>(module, |daemon, _, params| async move { resolved(&daemon, params).await })?;
    method::<EditUndo, _, _>(module, |daemon, _, params| async move { flip(&daemon, params, EditStatus::Undone).await })?;
    method::<EditRedo, _, _>(module, |daemon, _, params| async move { flip(&daemon, params, EditStatus::Applied).await })
}

/// Runs what reads files off the runtime's own threads.
pub(super) async fn blocking<T: Send + 'static>(job: impl FnOnce() -> Result<T, Fault> + Send + 'static) -> Result<T, Fault> {
    tokio::task::spawn_blocking(job).await.map_err(|error| Fault::internal(format!("the job broke off: {error}")))?
}

/// A reply with the names of the chat's files, which are paths whatever they look like.
fn parsed(format: EditFormat, text: &str, files: &[RepoPath]) -> Parsed {
    let mut parser = Parser::new(from_wire::format(format)).with_known(files);
    parser.push(text);
    parser.finish()
}

fn matched(daemon: &Daemon, params: EditMatchParams) -> Result<EditMatchResult, Fault> {
    let files = from_wire::paths(&params.files.unwrap_or_default())?;
    let scope = scope(&files, &[], CloseMatch::Apply);
    let parsed = parsed(params.format, &params.text, &files);
    let given = params.contents.unwrap_or_default();
    let stand_ins = from_wire::paths(&given.keys().cloned().collect::<Vec<_>>())?;
    let on_disk: BTreeSet<RepoPath> = paird_edit::wanted_paths(&parsed, &scope).into_iter().filter(|p| !stand_ins.contains(p)).collect();
    let mut snapshot: Snapshot = daemon.tree.snapshot(on_disk)?;
    for (name, text) in &given {
        let path = RepoPath::parse(name).map_err(Error::from)?;
        snapshot.insert(path, Seen::File(Content::new(text.as_bytes(), 0o644)));
    }
    let proposal = paird_edit::propose(&parsed, &snapshot, &scope);
    let mut blocks: Vec<BlockMatch> = proposal.edits.iter().flat_map(|e| e.hunks.iter().map(|h| placed(e.path.as_str(), h))).collect();
    blocks.extend(proposal.failed.iter().map(unplaced));
    blocks.sort_by_key(|b| b.block);
    Ok(EditMatchResult { blocks, problems: parsed.problems.iter().map(to_wire::problem).collect() })
}

fn placed(path: &str, hunk: &paird_edit::Hunk) -> BlockMatch {
    BlockMatch {
        block: hunk.block,
        path: Some(path.to_owned()),
        rung: Some(to_wire::rung(hunk.rung)),
        start_line: Some(hunk.start_line),
        end_line: Some(hunk.end_line),
        score: Some(hunk.score),
        reason: None,
        message: None,
    }
}

fn unplaced(failed: &paird_edit::Failed) -> BlockMatch {
    BlockMatch {
        block: failed.block,
        path: failed.path.clone(),
        rung: None,
        start_line: None,
        end_line: None,
        score: None,
        reason: Some(to_wire::reason(failed.reason)),
        message: Some(failed.message.clone()),
    }
}

async fn proposed(daemon: &Daemon, params: EditProposeParams) -> Result<EditProposeResult, Fault> {
    let session = match params.session_id {
        Some(id) => Some(session::find(daemon, id).await?),
        None => None,
    };
    let mut files = from_wire::paths(&params.files.unwrap_or_default())?;
    let (mut read_only, mut close_match) = (Vec::new(), CloseMatch::Apply);
    if let Some(session) = &session {
        let chat;
        (chat, read_only, close_match) =
            session.call(|o| (o.state.files.clone(), o.state.read_only.clone(), o.state.settings.close_match)).await?;
        files.extend(chat);
    }
    let parsed = parsed(params.format, &params.text, &files);
    let (tree, blocks) = (daemon.tree.clone(), parsed.blocks);
    let proposal = blocking(move || Ok(propose(&tree, blocks, &scope(&files, &read_only, close_match), false)?)).await?;
    let failed = proposal.failed.iter().map(to_wire::failed).collect();
    let edits: Vec<EditEntry> = proposal.edits.into_iter().map(|e| edit_entry(e, None)).collect();
    let wire = edits.iter().map(to_wire::edit).collect();
    match session {
        Some(session) => session.call(move |o| o.keep_proposals(None, edits)).await?,
        None => daemon.loose.keep(daemon.now_ms(), &edits),
    }
    Ok(EditProposeResult {
        edits: wire,
        failed,
        shell_commands: parsed.shell_commands,
        problems: parsed.problems.iter().map(to_wire::problem).collect(),
        seq: daemon.events.seq(),
    })
}

async fn find(daemon: &Daemon, id: &EditId) -> Result<EditEntry, Fault> {
    if let Some(edit) = daemon.loose.get(daemon.now_ms(), id) {
        return Ok(edit);
    }
    let session = daemon.sessions.of_edit(id).await.map_err(|error| Fault::from(error).hint("edit/list has every edit that is kept"))?;
    let id = id.clone();
    session.call(move |o| o.state.edit(&id).cloned()).await?.ok_or_else(|| Fault::internal("the edit went away"))
}

/// Of an applied or undone edit what it did, from its record; of any other what it would do to the file as it is now.
async fn difference(daemon: &Daemon, edit: &EditEntry) -> Result<String, Fault> {
    if let Some(write) = edit.write.clone() {
        let new = edit.paths().last().unwrap_or(&edit.path);
        let before = daemon.lane.recorded(write.clone(), edit.path.clone()).await?.before;
        let after = daemon.lane.recorded(write, new.clone()).await?.after;
        return Ok(unified((&edit.path, before.as_ref()), (new, after.as_ref())));
    }
    let (tree, edit) = (daemon.tree.clone(), edit.clone());
    blocking(move || {
        let files = [edit.path.clone()];
        let Proposal { edits, .. } = propose(&tree, edit.blocks, &scope(&files, &[], CloseMatch::Apply), true)?;
        let change = |e: paird_edit::Edit| unified((&e.path, e.before.as_ref()), (e.to_path().unwrap_or(&e.path), e.after.as_ref()));
        Ok(edits.into_iter().map(change).collect())
    })
    .await
}

/// Decides about single hunks of a proposal: the accepted ones are written now, in one write.
async fn resolved(daemon: &Daemon, params: EditResolveParams) -> Result<EditResolveResult, Fault> {
    let id = EditId(params.edit_id.clone());
    let verdicts = from_wire::verdicts(params)?;
    let session = match daemon.loose.get(daemon.now_ms(), &id) {
        Some(edit) => return resolve_loose(daemon, &edit, &verdicts).await,
        None => daemon.sessions.of_edit(&id).await?,
    };
    let (order, resolved, scope) = session.call(move |o| o.to_resolve(&id, &verdicts)).await??;
    let landed = match resolved.accepted.clone() {
        Some(edit) => {
            let lane = daemon.lane.clone();
            Some(land(session.clone(), async move { lane.apply(order, vec![edit], scope).await }).await?)
        }
        None => None,
    };
    let edit = resolved.edit.clone();
    let edit = session.call(move |o| o.resolved(resolved).map(|()| o.state.edit(&edit).map(to_wire::edit))).await??;
    Ok(answer(edit, landed.as_ref(), daemon.events.seq()))
}

async fn resolve_loose(daemon: &Daemon, edit: &EditEntry, verdicts: &Verdicts) -> Result<EditResolveResult, Fault> {
    let now = daemon.now_ms();
    if edit.status != EditStatus::Proposed {
        return Err(Fault::new(ErrorKind::InvalidParams, format!("edit {} is no proposal any more", edit.id))
            .hint("edit/list shows the state of each edit"));
    }
    let resolved = resolve(edit, verdicts)?;
    let mut landed = None;
    if let Some(accepted) = resolved.accepted.clone() {
        let files: Vec<RepoPath> = accepted.paths().cloned().collect();
        let order = Order { session: None, turn: None, commit: None };
        let done = daemon.lane.apply(order, vec![accepted.clone()], scope(&files, &[], CloseMatch::Apply)).await?;
        if accepted.id != edit.id {
            daemon.loose.keep(now, std::slice::from_ref(&accepted));
        }
        daemon.loose.set(now, std::slice::from_ref(&accepted.id), EditStatus::Applied, done.write.as_ref());
        if let Some(write) = done.write.clone() {
            daemon.lane.settle(write).await;
        }
        landed = Some(done);
    } else if resolved.rest.is_none() {
        daemon.loose.set(now, std::slice::from_ref(&edit.id), EditStatus::Rejected, None);
    }
    if let Some((hunks, blocks)) = resolved.rest {
        let accepted = landed.as_ref().and_then(|landed| match &landed.intent.what {
            What::Apply { edits } => edits.first(),
            What::Flip { .. } | What::UndoCommit { .. } => None,
        });
        // What was accepted has changed the file under the rest.
        daemon.loose.narrow(now, &edit.id, &hunks, &blocks, accepted.map_or(edit.ground, |accepted| accepted.ground));
    }
    Ok(answer(daemon.loose.get(now, &edit.id).as_ref().map(to_wire::edit), landed.as_ref(), daemon.events.seq()))
}

fn answer(edit: Option<paird_protocol::Edit>, landed: Option<&Landed>, seq: u64) -> EditResolveResult {
    let done = landed.map(|landed| applied(landed, seq));
    let (applied, commit) = done.map_or((Vec::new(), None), |done| (done.applied, done.commit));
    EditResolveResult { edit, applied, commit, seq }
}

async fn apply_loose(daemon: &Daemon, ids: &[EditId]) -> Result<EditApplyResult, Fault> {
    let now = daemon.now_ms();
    let edits: Vec<EditEntry> = ids.iter().filter_map(|id| daemon.loose.get(now, id)).collect();
    if let Some(edit) = edits.iter().find(|e| e.status != EditStatus::Proposed) {
        return Err(Fault::new(ErrorKind::InvalidParams, format!("edit {} is applied already", edit.id))
            .hint("edit/list shows the state of each edit"));
    }
    let files: Vec<RepoPath> = edits.iter().map(|e| e.path.clone()).collect();
    let order = Order { session: None, turn: None, commit: None };
    let landed = daemon.lane.apply(order, edits, scope(&files, &[], CloseMatch::Apply)).await?;
    daemon.loose.set(now, ids, EditStatus::Applied, landed.write.as_ref());
    if let Some(write) = landed.write.clone() {
        daemon.lane.settle(write).await;
    }
    Ok(applied(&landed, daemon.events.seq()))
}

async fn flip(daemon: &Daemon, params: EditUndoParams, to: EditStatus) -> Result<EditApplyResult, Fault> {
    let fault = || Fault::new(ErrorKind::InvalidParams, "exactly one of editIds, turnId and sessionId says what is meant");
    let (session, which) = match (params.edit_ids, params.turn_id, params.session_id) {
        (Some(ids), None, None) => {
            let ids: Vec<EditId> = ids.into_iter().map(EditId).collect();
            let first = ids.first().ok_or_else(fault)?;
            if daemon.loose.get(daemon.now_ms(), first).is_some() {
                return flip_loose(daemon, &ids, to).await;
            }
            (daemon.sessions.of_edit(first).await?, Which::Edits(ids))
        }
        (None, Some(turn), None) => {
            let turn = TurnId(turn);
            (daemon.sessions.of_turn(&turn).await?, Which::Turn(turn))
        }
        (None, None, Some(id)) => (session::find(daemon, id).await?, Which::All),
        _ => return Err(fault()),
    };
    let (order, flips) = session.call(move |o| o.to_flip(&which, to)).await??;
    let lane = daemon.lane.clone();
    finish(daemon, session, async move { lane.flip(order, flips, to).await }).await
}

async fn flip_loose(daemon: &Daemon, ids: &[EditId], to: EditStatus) -> Result<EditApplyResult, Fault> {
    let now = daemon.now_ms();
    let from = if to == EditStatus::Undone { EditStatus::Applied } else { EditStatus::Undone };
    let mut flips = Vec::new();
    for id in ids {
        let edit = daemon.loose.get(now, id).ok_or_else(|| Error::NotFound { what: "edit", id: id.to_string() })?;
        let Some(write) = edit.write.clone().filter(|_| edit.status == from) else {
            return Err(Fault::new(ErrorKind::InvalidParams, format!("edit {id} is not in a state to change back"))
                .hint("edit/list shows the state of each edit"));
        };
        flips.push(crate::session::Flip { edit: id.clone(), paths: edit.paths().cloned().collect(), write });
    }
    let landed = daemon.lane.flip(Order { session: None, turn: None, commit: None }, flips, to).await?;
    daemon.loose.set(now, ids, to, None);
    if let Some(write) = landed.write.clone() {
        daemon.lane.settle(write).await;
    }
    Ok(applied(&landed, daemon.events.seq()))
}

/// Waits for the write lane and lets the session take in what it did, even if whoever asked is gone by then.
pub(super) async fn land(session: Session, job: impl Future<Output = Result<Landed, Refused>> + Send + 'static) -> Result<Landed, Fault> {
    let landing = tokio::spawn(async move {
        let landed = job.await?;
        let done = landed.clone();
        session.call(move |o| o.land(landed)).await?;
        Ok::<_, Refused>(done)
    });
    Ok(landing.await.map_err(|error| Fault::internal(format!("the write broke off: {error}")))??)
}

async fn finish(
    daemon: &Daemon,
    session: Session,
    job: impl Future<Output = Result<Landed, Refused>> + Send + 'static,
) -> Result<EditApplyResult, Fault> {
    let landed = land(session, job).await?;
    Ok(applied(&landed, daemon.events.seq()))
}

fn applied(landed: &Landed, seq: u64) -> EditApplyResult {
    let one = |id: &EditId, path: &RepoPath| AppliedEdit { edit_id: id.to_string(), path: path.to_string() };
    let applied = match &landed.intent.what {
        What::Apply { edits } => edits.iter().map(|e| one(&e.id, &e.path)).collect(),
        What::Flip { edits, .. } => edits.iter().map(|(id, path)| one(id, path)).collect(),
        What::UndoCommit { .. } => Vec::new(),
    };
    EditApplyResult { applied, commit: landed.committed.commits.last().map(to_wire::commit), seq }
}
