//! The session's values as wire values. Every match is exhaustive: a new value has to say what it is on the wire.

use paird_base::RepoPath;
use paird_protocol as wire;

use super::fault;
use crate::session::{
    About, ApplyMode, Commit, CommitMode, DirtyCommits, EditEntry, EditId, EditStatus, Event, Failure, Happening, LineChange, Mode,
    OnPartial, Outcome, Question, Report, Session, SessionId, SessionState, Settings, Turn, TurnId, TurnPhase, Usage,
};

pub(super) fn names(paths: &[RepoPath]) -> Vec<String> {
    paths.iter().map(ToString::to_string).collect()
}

pub(super) fn settings(s: &Settings) -> wire::Settings {
    wire::Settings {
        mode: match s.mode {
            Mode::Code => wire::Mode::Code,
            Mode::Ask => wire::Mode::Ask,
        },
        model: s.model.clone(),
        weak_model: s.weak_model.clone(),
        editor_model: s.editor_model.clone(),
        edit_format: format(s.edit_format),
        commit_mode: match s.commit_mode {
            CommitMode::Auto => wire::CommitMode::Auto,
            CommitMode::None => wire::CommitMode::None,
        },
        apply_mode: match s.apply_mode {
            ApplyMode::Auto => wire::ApplyMode::Auto,
            ApplyMode::Review => wire::ApplyMode::Review,
            ApplyMode::Dry => wire::ApplyMode::Dry,
        },
        on_partial: match s.on_partial {
            OnPartial::Hold => wire::OnPartial::Hold,
            OnPartial::Apply => wire::OnPartial::Apply,
        },
        dirty_commits: match s.dirty_commits {
            DirtyCommits::Overlap => wire::DirtyCommits::Overlap,
            DirtyCommits::Always => wire::DirtyCommits::Always,
            DirtyCommits::Never => wire::DirtyCommits::Never,
        },
        close_match: match s.close_match {
            paird_edit::CloseMatch::Apply => wire::CloseMatch::Apply,
            paird_edit::CloseMatch::Hold => wire::CloseMatch::Hold,
            paird_edit::CloseMatch::Off => wire::CloseMatch::Off,
        },
    }
}

const fn format(format: paird_edit::Format) -> wire::EditFormat {
    match format {
        paird_edit::Format::Diff => wire::EditFormat::Diff,
        paird_edit::Format::DiffFenced => wire::EditFormat::DiffFenced,
        paird_edit::Format::Whole => wire::EditFormat::Whole,
        paird_edit::Format::Udiff => wire::EditFormat::Udiff,
        paird_edit::Format::Patch => wire::EditFormat::Patch,
        paird_edit::Format::EditorDiff => wire::EditFormat::EditorDiff,
        paird_edit::Format::EditorDiffFenced => wire::EditFormat::EditorDiffFenced,
        paird_edit::Format::EditorWhole => wire::EditFormat::EditorWhole,
    }
}

pub(super) const fn phase(phase: TurnPhase) -> wire::TurnState {
    match phase {
        TurnPhase::Queued => wire::TurnState::Queued,
        TurnPhase::Running => wire::TurnState::Running,
        TurnPhase::Waiting => wire::TurnState::Waiting,
        TurnPhase::Finished => wire::TurnState::Finished,
    }
}

pub(super) fn session_info(state: &SessionState, busy: bool) -> wire::SessionInfo {
    wire::SessionInfo {
        session_id: state.id.to_string(),
        title: state.title.clone(),
        closed: state.closed,
        busy,
        turns: state.turns_ever,
        created_ms: state.created_ms,
        used_ms: state.used_ms,
    }
}

pub(super) fn turn(state: &SessionState, turn: &Turn, so_far: Option<(&str, &str)>) -> wire::TurnView {
    wire::TurnView {
        turn_id: turn.id.to_string(),
        text: turn.text.clone(),
        state: phase(state.phase(turn)),
        reply: so_far.map(|(reply, _)| reply.to_owned()),
        reasoning: so_far.map(|(_, reasoning)| reasoning.to_owned()),
        result: turn.report.as_ref().map(|r| turn_result(&state.id, &turn.id, r)),
    }
}

pub(super) fn turn_result(session: &SessionId, turn: &TurnId, r: &Report) -> wire::TurnResult {
    wire::TurnResult { turn_id: turn.to_string(), session_id: session.to_string(), report: report(r) }
}

fn report(r: &Report) -> wire::TurnReport {
    wire::TurnReport {
        outcome: match r.outcome {
            Outcome::Done => wire::Outcome::Done,
            Outcome::Held => wire::Outcome::Held,
            Outcome::Cancelled => wire::Outcome::Cancelled,
            Outcome::Failed => wire::Outcome::Failed,
        },
        error: r.error.as_ref().map(failure),
        reply: r.reply.clone(),
        edits: r.edits.iter().map(edit).collect(),
        failed: r.failed.iter().map(failed).collect(),
        commits: r.commits.iter().map(commit).collect(),
        uncommitted: r.uncommitted.iter().map(|(path, why)| wire::Uncommitted { path: path.to_string(), reason: why.clone() }).collect(),
        checks: Vec::new(),
        shell_commands: r.shell_commands.clone(),
        usage: usage(r.usage),
        cost_usd: None,
        reflections: (0..r.reflections).map(|_| wire::Reflection { cause: wire::ReflectionCause::Blocks }).collect(),
        stop_reason: r.stop.clone(),
    }
}

fn failure(f: &Failure) -> wire::TurnFailure {
    wire::TurnFailure { message: f.message.clone(), kind: fault::kind(f.kind), hint: f.hint.clone(), retryable: f.retryable }
}

pub(super) fn edit(e: &EditEntry) -> wire::Edit {
    wire::Edit {
        edit_id: e.id.to_string(),
        path: e.path.to_string(),
        op: match &e.op {
            paird_edit::Op::Add => wire::EditOp::Add,
            paird_edit::Op::Modify => wire::EditOp::Modify,
            paird_edit::Op::Delete => wire::EditOp::Delete,
            paird_edit::Op::Move { .. } => wire::EditOp::Move,
        },
        status: match e.status {
            EditStatus::Proposed => wire::EditStatus::Proposed,
            EditStatus::Applied => wire::EditStatus::Applied,
            EditStatus::Rejected => wire::EditStatus::Rejected,
            EditStatus::Superseded => wire::EditStatus::Superseded,
            EditStatus::Undone => wire::EditStatus::Undone,
        },
        to_path: match &e.op {
            paird_edit::Op::Move { to } => Some(to.to_string()),
            paird_edit::Op::Add | paird_edit::Op::Modify | paird_edit::Op::Delete => None,
        },
        outside_chat: e.outside_chat,
        creates: e.creates,
        redirected_from: e.redirected_from.as_ref().map(ToString::to_string),
        hunks: e.hunks.iter().map(|h| hunk(&e.id, h)).collect(),
        suspicious: e.suspicious.clone(),
        turn_id: e.turn.as_ref().map(ToString::to_string),
        commit: e.commit.clone(),
    }
}

pub(super) fn block(b: paird_edit::Block) -> wire::EditBlock {
    let (op, to_path) = match b.kind {
        paird_edit::BlockKind::Replace => (wire::BlockOp::Replace, None),
        paird_edit::BlockKind::Add => (wire::BlockOp::Add, None),
        paird_edit::BlockKind::Whole { .. } => (wire::BlockOp::Whole, None),
        paird_edit::BlockKind::Delete => (wire::BlockOp::Delete, None),
        paird_edit::BlockKind::Move { to } => (wire::BlockOp::Move, Some(to)),
    };
    wire::EditBlock { block: b.index, path: b.path, op, to_path, search: b.search, replace: b.replace, anchors: b.anchors, line: b.line }
}

fn hunk(edit: &EditId, h: &paird_edit::Hunk) -> wire::Hunk {
    wire::Hunk {
        hunk_id: format!("{edit}.{}", h.block),
        block: h.block,
        rung: rung(h.rung),
        start_line: h.start_line,
        end_line: h.end_line,
        score: h.score,
    }
}

pub(super) const fn rung(rung: paird_edit::Rung) -> wire::Rung {
    match rung {
        paird_edit::Rung::Exact => wire::Rung::Exact,
        paird_edit::Rung::Trailing => wire::Rung::Trailing,
        paird_edit::Rung::Indent => wire::Rung::Indent,
        paird_edit::Rung::BlankEdges => wire::Rung::BlankEdges,
        paird_edit::Rung::Elision => wire::Rung::Elision,
        paird_edit::Rung::Already => wire::Rung::Already,
        paird_edit::Rung::Close => wire::Rung::Close,
        paird_edit::Rung::Create => wire::Rung::Create,
        paird_edit::Rung::Whole => wire::Rung::Whole,
    }
}

/// The reason's name, as it is stored and shown.
pub(super) fn reason(reason: paird_edit::FailReason) -> String {
    serde_json::to_value(reason).ok().and_then(|v| v.as_str().map(str::to_owned)).unwrap_or_default()
}

pub(super) fn failed(f: &paird_edit::Failed) -> wire::FailedBlock {
    wire::FailedBlock {
        block: f.block,
        path: f.path.clone(),
        reason: reason(f.reason),
        message: f.message.clone(),
        closest: f.closest.as_ref().map(|c| wire::Closest { start_line: c.start_line, lines: c.lines.clone() }),
    }
}

pub(super) fn problem(p: &paird_base::Problem) -> wire::ReplyProblem {
    wire::ReplyProblem { message: p.message.clone(), line: p.line }
}

pub(super) fn commit(c: &Commit) -> wire::CommitRef {
    wire::CommitRef { hash: c.hash.clone(), subject: c.subject.clone(), paths: names(&c.paths) }
}

const fn usage(u: Usage) -> wire::Usage {
    wire::Usage {
        requests: u.requests,
        input_tokens: u.input,
        output_tokens: u.output,
        cache_read_tokens: u.cached_read,
        cache_write_tokens: u.cached_write,
        reported: u.reported,
    }
}

pub(super) fn question(q: &Question) -> wire::Question {
    wire::Question {
        question_id: q.id.to_string(),
        session_id: q.session.to_string(),
        turn_id: q.turn.as_ref().map(ToString::to_string),
        kind: match q.about {
            About::CreateFile { .. } => wire::QuestionKind::CreateFile,
            About::EditOutsideChat { .. } => wire::QuestionKind::EditOutsideChat,
            About::SuspiciousEdit { .. } => wire::QuestionKind::SuspiciousEdit,
            About::ApplyPartial { .. } => wire::QuestionKind::ApplyPartial,
        },
        prompt: q.about.prompt(),
        options: q
            .about
            .options()
            .iter()
            .map(|(id, label)| wire::QuestionOption { option_id: (*id).to_owned(), label: (*label).to_owned() })
            .collect(),
        default: q.about.default().to_owned(),
    }
}

fn lines(changes: &[LineChange]) -> Vec<wire::LineChange> {
    changes.iter().map(|c| wire::LineChange { start_line: c.start_line, end_line: c.end_line, lines: c.lines.clone() }).collect()
}

/// The body of an event.
pub(super) fn body(what: &Happening) -> wire::EventBody {
    match what {
        Happening::TurnStarted { text } => wire::EventBody::TurnStarted { text: text.clone() },
        Happening::TurnPhase { phase: p, detail } => wire::EventBody::TurnState { state: phase(*p), detail: detail.clone() },
        Happening::TurnFinished(r) => wire::EventBody::TurnFinished { report: Box::new(report(r)) },
        Happening::ReplyDelta { offset, text } => wire::EventBody::ReplyDelta { offset: *offset, text: text.clone() },
        Happening::ReasoningDelta { offset, text } => wire::EventBody::ReasoningDelta { offset: *offset, text: text.clone() },
        Happening::EditProposed { edit, path, block } => {
            wire::EventBody::EditProposed { edit_id: edit.to_string(), path: path.to_string(), block: *block }
        }
        Happening::EditApplied { edit, path, changes } => {
            wire::EventBody::EditApplied { edit_id: edit.to_string(), path: path.to_string(), changes: lines(changes) }
        }
        Happening::EditRejected { edit, path } => wire::EventBody::EditRejected { edit_id: edit.to_string(), path: path.to_string() },
        Happening::EditSuperseded { edit, path } => wire::EventBody::EditSuperseded { edit_id: edit.to_string(), path: path.to_string() },
        Happening::EditUndone { edit, path, changes } => {
            wire::EventBody::EditUndone { edit_id: edit.to_string(), path: path.to_string(), changes: lines(changes) }
        }
        Happening::EditFailed(f) => wire::EventBody::EditFailed { failed: failed(f) },
        Happening::CommitCreated(c) => wire::EventBody::CommitCreated { commit: commit(c) },
        Happening::CommitUndone(c) => wire::EventBody::CommitUndone { commit: commit(c) },
        Happening::CommitFailed { paths, reason } => wire::EventBody::CommitFailed { paths: names(paths), reason: reason.clone() },
        Happening::ContextChanged { files, read_only } => {
            wire::EventBody::ContextChanged { files: names(files), read_only: names(read_only) }
        }
        Happening::QuestionAsked(q) => wire::EventBody::QuestionAsked { question: question(q) },
        Happening::QuestionAnswered { question, option } => {
            wire::EventBody::QuestionAnswered { question_id: question.to_string(), option_id: option.clone() }
        }
        Happening::UsageUpdated(u) => wire::EventBody::UsageUpdated { usage: usage(*u) },
        Happening::Notice { message } => wire::EventBody::Notice { message: message.clone() },
    }
}

/// An event for one subscription.
pub(super) fn event(subscription: &str, epoch: &str, event: &Event) -> wire::Event {
    wire::Event {
        subscription_id: subscription.to_owned(),
        seq: event.seq,
        epoch: epoch.to_owned(),
        session_id: event.session.as_ref().map(ToString::to_string),
        turn_id: event.turn.as_ref().map(ToString::to_string),
        body: body(&event.what),
    }
}

/// The handle's id, where a result names the session.
pub(super) fn session_id(session: &Session) -> String {
    session.id.to_string()
}
