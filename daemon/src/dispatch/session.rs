use std::time::Duration;

use jsonrpsee::core::RegisterMethodError;
use paird_base::limits::{WAIT_DEFAULT, WAIT_MAX, WAIT_WHILE_WAITING};
use paird_protocol::methods::{
    SessionCancel, SessionClear, SessionClose, SessionConfigure, SessionDelete, SessionList, SessionNew, SessionPrompt, SessionRead,
    SessionWait,
};
use paird_protocol::{
    Ack, CancelResult, Done, ErrorKind, PROMPT_BYTES_MAX, PromptResult, SessionListResult, SessionNewResult, SessionReadResult, WaitResult,
};

use super::{Daemon, Fault, Module, from_wire, method, to_wire};
use crate::session::{Error, Owner, Session, SessionId, Settings, TurnId, TurnPhase};

pub(super) fn register(module: &mut Module) -> Result<(), RegisterMethodError> {
    method::<SessionNew, _, _>(module, |daemon, _, params| async move {
        let given = from_wire::given(&daemon, params)?;
        let settings = Settings::default().patched(given.patch);
        let session = daemon.sessions.create(settings, given.files.unwrap_or_default(), given.read_only.unwrap_or_default()).await?;
        Ok(SessionNewResult { session_id: to_wire::session_id(&session), seq: daemon.events.seq() })
    })?;
    method::<SessionList, _, _>(module, |daemon, _, _| async move {
        let seq = daemon.events.seq();
        let mut sessions = Vec::new();
        for session in daemon.sessions.all().await? {
            sessions.push(session.call(|o| to_wire::session_info(&o.state, o.is_busy())).await?);
        }
        sessions.sort_by(|a, b| b.used_ms.cmp(&a.used_ms).then_with(|| a.session_id.cmp(&b.session_id)));
        Ok(SessionListResult { sessions, seq })
    })?;
    method::<SessionRead, _, _>(module, |daemon, _, params| async move {
        let epoch = daemon.epoch.clone();
        let session = find(&daemon, params.session_id).await?;
        Ok(session.call(move |o| read(o, epoch)).await?)
    })?;
    method::<SessionConfigure, _, _>(module, |daemon, _, params| async move {
        let (id, params) = params.split();
        let session = find(&daemon, id).await?;
        let given = from_wire::given(&daemon, params)?;
        let seq = session.call(move |o| o.configure(given.patch, given.files, given.read_only)).await??;
        Ok(Ack { seq })
    })?;
    method::<SessionPrompt, _, _>(module, |daemon, peer, params| async move {
        if params.text.trim().is_empty() {
            return Err(Fault::new(ErrorKind::InvalidParams, "the message is empty").hint("put the request into `text`"));
        }
        if params.text.len() > PROMPT_BYTES_MAX {
            return Err(Fault::new(ErrorKind::InvalidParams, format!("the message is longer than {PROMPT_BYTES_MAX} bytes"))
                .hint("put large texts into a file and add it to the chat"));
        }
        let selection = params.selection.map(from_wire::selection).transpose()?;
        let env = daemon.clients.env(&peer);
        let session = find(&daemon, params.session_id).await?;
        let (turn, phase, seq) = session.call(move |o| o.prompt(params.text, selection, params.interrupt, env)).await??;
        Ok(PromptResult { turn_id: turn.to_string(), state: to_wire::phase(phase), seq })
    })?;
    method::<SessionCancel, _, _>(module, |daemon, _, params| async move {
        let session = find(&daemon, params.session_id).await?;
        let turn = params.turn_id.map(TurnId);
        let (cancelled, seq) = session.call(move |o| Ok::<_, Error>((o.cancel(turn.as_ref())?, o.seq()))).await??;
        Ok(CancelResult { cancelled: cancelled.iter().map(ToString::to_string).collect(), seq })
    })?;
    method::<SessionWait, _, _>(module, |daemon, _, params| async move {
        let turn = TurnId(params.turn_id);
        let timeout = params.timeout_ms.map_or(WAIT_DEFAULT, Duration::from_millis).min(WAIT_MAX);
        let session = daemon.sessions.of_turn(&turn).await?;
        let id = turn.clone();
        let (phase, told) = session.call(move |o| o.waiter(&id)).await??;
        // A client that asks again instead of answering must not spin.
        let timeout = if phase == TurnPhase::Waiting { timeout.min(WAIT_WHILE_WAITING) } else { timeout };
        if let Some(told) = told {
            // Over time or told: either way the state is what is answered.
            let _ = tokio::time::timeout(timeout, told).await;
        }
        Ok(session.call(move |o| wait_result(o, &turn)).await??)
    })?;
    method::<SessionClear, _, _>(module, |daemon, _, params| async move {
        let session = find(&daemon, params.session_id).await?;
        Ok(Ack { seq: session.call(Owner::clear).await?? })
    })?;
    method::<SessionClose, _, _>(module, |daemon, _, params| async move {
        let session = find(&daemon, params.session_id).await?;
        Ok(Ack { seq: session.call(Owner::close).await?? })
    })?;
    method::<SessionDelete, _, _>(module, |daemon, _, params| async move {
        daemon.sessions.delete(&SessionId(params.session_id)).await?;
        Ok(Done {})
    })
}

pub(super) async fn find(daemon: &Daemon, id: String) -> Result<Session, Fault> {
    daemon.sessions.get(&SessionId(id)).await.map_err(|error| Fault::from(error).hint("session/list has every session"))
}

fn read(owner: &mut Owner, epoch: String) -> SessionReadResult {
    let state = &owner.state;
    let turns = state.turns.iter().map(|turn| to_wire::turn(state, turn, owner.so_far(turn)));
    SessionReadResult {
        session: to_wire::session_info(state, owner.is_busy()),
        settings: to_wire::settings(&state.settings),
        files: to_wire::names(&state.files),
        read_only: to_wire::names(&state.read_only),
        turns: turns.collect(),
        edits: state.edits.iter().map(to_wire::edit).collect(),
        questions: state.questions.iter().map(to_wire::question).collect(),
        seq: owner.seq(),
        epoch,
    }
}

fn wait_result(owner: &mut Owner, id: &TurnId) -> Result<WaitResult, Error> {
    let turn = owner.state.turn(id).ok_or_else(|| Error::NotFound { what: "turn", id: id.to_string() })?;
    Ok(WaitResult {
        state: to_wire::phase(owner.state.phase(turn)),
        result: turn.report.as_ref().map(|r| to_wire::turn_result(&owner.state.id, id, r)),
        seq: owner.seq(),
    })
}
