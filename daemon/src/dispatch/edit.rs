use std::collections::BTreeSet;

use jsonrpsee::core::RegisterMethodError;
use paird_base::{Content, RepoPath};
use paird_edit::{CloseMatch, Parsed, Parser, Proposal, Scope, Seen, Snapshot};
use paird_protocol::methods::{EditApply, EditGet, EditList, EditMatch, EditParse, EditPropose, EditRedo, EditResolve, EditUndo};
use paird_protocol::{
    AppliedEdit, BlockMatch, EditApplyResult, EditFormat, EditGetResult, EditListResult, EditMatchParams, EditMatchResult, EditParseResult,
    EditProposeParams, EditProposeResult, EditResolveParams, EditResolveResult, EditUndoParams, ErrorKind,
};

use super::{Daemon, Fault, Module, from_wire, loose, method, session, to_wire};
use crate::session::{
    EditEntry, EditId, EditStatus, Error, Landed, Refused, Session, TurnId, What, Which, edit_entry, propose, scope, unified,
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
        match homes(&daemon, ids).await? {
            Homes::Session(session, ids) => {
                let (order, edits, scope) = session.call(move |o| o.to_apply(&ids)).await??;
                let lane = daemon.lane.clone();
                finish(&daemon, session, async move { lane.apply(order, edits, scope).await }).await
            }
            Homes::None(edits) => loose::apply(&daemon, edits).await,
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
        None => daemon.loose.keep(daemon.now_ms(), edits),
    }
    Ok(EditProposeResult {
        edits: wire,
        failed,
        shell_commands: parsed.shell_commands,
        problems: parsed.problems.iter().map(to_wire::problem).collect(),
        seq: daemon.events.seq(),
    })
}

/// Whose an edit is.
enum Home {
    Session(Session),
    None(Box<EditEntry>),
}

/// Whose the edits of one call are.
enum Homes {
    Session(Session, Vec<EditId>),
    None(Vec<EditEntry>),
}

async fn home(daemon: &Daemon, id: &EditId) -> Result<Home, Fault> {
    if let Some(edit) = daemon.loose.get(daemon.now_ms(), id) {
        return Ok(Home::None(Box::new(edit)));
    }
    let unknown = match daemon.sessions.of_edit(id).await {
        Ok(session) => return Ok(Home::Session(session)),
        Err(unknown @ Error::NotFound { .. }) => unknown,
        Err(error) => return Err(error.into()),
    };
    let edit = daemon.lane.loose(id.clone()).await?;
    let hint = "edit/list has every edit that is kept; a dry turn keeps none, and proposals without a session are kept for a while";
    edit.map(|edit| Home::None(Box::new(edit))).ok_or_else(|| Fault::from(unknown).hint(hint))
}

/// All or none: one write, so one session, or none.
async fn homes(daemon: &Daemon, mut ids: Vec<EditId>) -> Result<Homes, Fault> {
    let mut named = BTreeSet::new();
    ids.retain(|id| named.insert(id.clone()));
    let (mut session, mut edits) = (None::<Session>, Vec::new());
    for id in &ids {
        match (home(daemon, id).await?, &session) {
            (Home::None(edit), None) => edits.push(*edit),
            (Home::Session(home), None) if edits.is_empty() => session = Some(home),
            (Home::Session(home), Some(session)) if home.id == session.id => {}
            _ => {
                return Err(Fault::new(ErrorKind::InvalidParams, "the edits are of different sessions")
                    .hint("name those of each session in a call of its own"));
            }
        }
    }
    match session {
        Some(session) => Ok(Homes::Session(session, ids)),
        None if edits.is_empty() => Err(Fault::new(ErrorKind::InvalidParams, "editIds is empty")),
        None => Ok(Homes::None(edits)),
    }
}

async fn find(daemon: &Daemon, id: &EditId) -> Result<EditEntry, Fault> {
    let session = match home(daemon, id).await? {
        Home::None(edit) => return Ok(*edit),
        Home::Session(session) => session,
    };
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
    let session = match home(daemon, &id).await? {
        Home::None(edit) => return loose::decide(daemon, &edit, &verdicts).await,
        Home::Session(session) => session,
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

/// What edits without a session may touch.
pub(super) fn files_of(edits: &[EditEntry]) -> Scope {
    let files: Vec<RepoPath> = edits.iter().map(|e| e.path.clone()).collect();
    scope(&files, &[], CloseMatch::Apply)
}

pub(super) fn answer(edit: Option<paird_protocol::Edit>, landed: Option<&Landed>, seq: u64) -> EditResolveResult {
    let done = landed.map(|landed| applied(landed, seq));
    let (applied, commit) = done.map_or((Vec::new(), None), |done| (done.applied, done.commit));
    EditResolveResult { edit, applied, commit, seq }
}

async fn flip(daemon: &Daemon, params: EditUndoParams, to: EditStatus) -> Result<EditApplyResult, Fault> {
    let fault = || Fault::new(ErrorKind::InvalidParams, "exactly one of editIds, turnId and sessionId says what is meant");
    let (session, which) = match (params.edit_ids, params.turn_id, params.session_id) {
        (Some(ids), None, None) => match homes(daemon, ids.into_iter().map(EditId).collect()).await? {
            Homes::None(edits) => return loose::flip(daemon, edits, to).await,
            Homes::Session(session, ids) => (session, Which::Edits(ids)),
        },
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

pub(super) fn applied(landed: &Landed, seq: u64) -> EditApplyResult {
    let one = |id: &EditId, path: &RepoPath| AppliedEdit { edit_id: id.to_string(), path: path.to_string() };
    let applied = match &landed.intent.what {
        What::Apply { edits } => edits.iter().map(|e| one(&e.id, &e.path)).collect(),
        What::Flip { edits, .. } => edits.iter().map(|(id, path)| one(id, path)).collect(),
        What::UndoCommit { .. } => Vec::new(),
    };
    EditApplyResult { applied, commit: landed.committed.commits.last().map(to_wire::commit), seq }
}
