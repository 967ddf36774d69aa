//! Turns of a session: queued, started one at a time, followed step by step, finished once.

use std::collections::BTreeMap;
use std::sync::Arc;

use paird_base::Secret;
use paird_base::limits::{PROMPTS_QUEUED_MAX, REPLY_QUEUE_EVENTS};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::{Owner, Running};
use crate::session::entry::{EditStatus, Entry, Outcome, Report, Selection};
use crate::session::error::Error;
use crate::session::events::Happening;
use crate::session::failure::{Failure, Kind};
use crate::session::ground::ShownBefore;
use crate::session::ids::TurnId;
use crate::session::question::About;
use crate::session::settings::ApplyMode;
use crate::session::state::{Exchange, TurnPhase};
use crate::session::step::{Reply, Step};
use crate::session::turn::{Resume, Turn};

impl Owner {
    /// Queues a message, and starts it if nothing runs.
    pub fn prompt(
        &mut self,
        text: String,
        selection: Option<Selection>,
        interrupt: bool,
        env: Arc<BTreeMap<String, Secret<String>>>,
    ) -> Result<(TurnId, TurnPhase, u64), Error> {
        if self.shared.stop.is_cancelled() {
            return Err(Error::Stopping);
        }
        let queued = self.state.turns.iter().filter(|t| !t.started && t.report.is_none()).count();
        if queued >= PROMPTS_QUEUED_MAX {
            return Err(Error::Overloaded { what: "queued messages" });
        }
        if !env.is_empty() {
            self.env = env;
        }
        if interrupt {
            self.cancel(None)?;
        } else {
            self.let_held_turn_end();
        }
        let turn = TurnId::fresh();
        self.record(Entry::Prompted { turn: turn.clone(), text, selection })?;
        self.decide_what_nobody_can_answer();
        self.start_next();
        let phase = self.state.turn(&turn).map_or(TurnPhase::Queued, |t| self.state.phase(t));
        Ok((turn, phase, self.seq()))
    }

    /// Cancels one turn, or the running one and what is queued. A running one ends when it has seen it, with its own report.
    /// Gives the turns that end by this; none if the one that is named has ended already.
    pub fn cancel(&mut self, only: Option<&TurnId>) -> Result<Vec<TurnId>, Error> {
        if let Some(id) = only
            && self.state.turn(id).is_none()
        {
            return Err(Error::NotFound { what: "turn of this session", id: id.to_string() });
        }
        let open = self.state.turns.iter().filter(|t| t.report.is_none() && only.is_none_or(|id| t.id == *id));
        let open: Vec<TurnId> = open.map(|t| t.id.clone()).collect();
        self.end_turns(&open);
        if only.is_none() {
            self.answer_open_with_first();
        }
        Ok(open)
    }

    /// For a daemon that stops: turns end, but one that waits for a person waits on, in the log.
    pub fn stop_turns(&mut self) -> Result<Vec<TurnId>, Error> {
        let open = self.state.turns.iter().filter(|t| t.report.is_none() && self.state.phase(t) != TurnPhase::Waiting);
        let open: Vec<TurnId> = open.map(|t| t.id.clone()).collect();
        self.end_turns(&open);
        Ok(open)
    }

    fn end_turns(&mut self, turns: &[TurnId]) {
        // The last first: the end of one must not start the next.
        for turn in turns.iter().rev() {
            match &self.running {
                Some(running) if running.id == *turn => {
                    running.cancel.cancel();
                    self.close_questions_of(turn);
                }
                _ => self.finish(turn, Report { outcome: Outcome::Cancelled, ..Report::empty() }),
            }
        }
    }

    /// Something to wait for: resolves when the turn is finished or asks a question. `None` when it is finished already.
    /// With it the turn's phase now.
    pub fn waiter(&mut self, id: &TurnId) -> Result<(TurnPhase, Option<oneshot::Receiver<()>>), Error> {
        let turn = self.state.turn(id).ok_or_else(|| Error::NotFound { what: "turn", id: id.to_string() })?;
        let phase = self.state.phase(turn);
        if phase == TurnPhase::Finished {
            return Ok((phase, None));
        }
        let (tell, told) = oneshot::channel();
        self.waiters.retain(|(_, waiter)| !waiter.is_closed());
        self.waiters.push((id.clone(), tell));
        Ok((phase, Some(told)))
    }

    pub(super) fn wake_waiters(&mut self, turn: &TurnId) {
        let (woken, rest) = std::mem::take(&mut self.waiters).into_iter().partition(|(id, _)| id == turn);
        self.waiters = rest;
        let woken: Vec<(TurnId, oneshot::Sender<()>)> = woken;
        for (_, waiter) in woken {
            // Who stopped waiting needs no answer.
            let _ = waiter.send(());
        }
    }

    fn start_next(&mut self) {
        if self.running.is_some() || self.state.running().is_some() || self.shared.stop.is_cancelled() {
            return;
        }
        let Some(turn) = self.state.next_queued() else { return };
        let (id, text) = (turn.id.clone(), turn.text.clone());
        let notes = self.state.notes.clone();
        if let Err(error) = self.record(Entry::Started { turn: id.clone() }) {
            self.finish(&id, Report { outcome: Outcome::Failed, error: Some(Failure::from(&error)), ..Report::empty() });
            return;
        }
        self.publish(Some(&id), Happening::TurnStarted { text });
        self.spawn(&id, notes, Resume::default());
    }

    fn spawn(&mut self, id: &TurnId, notes: Vec<String>, resume: Resume) {
        let Some(turn) = self.state.turn(id) else { return };
        let (owner, steps) = mpsc::channel(REPLY_QUEUE_EVENTS);
        let cancel = CancellationToken::new();
        let mut settings = self.state.settings.clone();
        if resume.offline {
            // Nobody may be there to see files change: what the reply asks for waits.
            settings.apply_mode = ApplyMode::Review;
        }
        let replayed = self.state.replayed.clone();
        let model = self.shared.models.open(&self.state.id, settings.model.as_deref(), &self.env, &replayed);
        let turn = Turn {
            session: self.state.id.clone(),
            id: id.clone(),
            text: turn.text.clone(),
            selection: turn.selection.clone(),
            files: self.state.files.clone(),
            read_only: self.state.read_only.clone(),
            history: self.state.history.iter().filter(|e| e.turn != *id).cloned().collect(),
            notes,
            resume,
            shown: ShownBefore::default(),
            ids: BTreeMap::new(),
            model: model.map(Arc::new).map_err(|error| Failure::from(&error)),
            settings,
            tree: self.shared.tree.clone(),
            lane: self.shared.lane.clone(),
            owner,
            cancel: cancel.clone(),
        };
        tokio::spawn(turn.run());
        self.running = Some(Running { id: id.clone(), steps, cancel, reply: String::new(), reasoning: String::new(), answer: None });
    }

    /// After a restart: a turn that was interrupted is ended by what its log and its write record say of it.
    pub(super) fn resume(&mut self) {
        let Some(turn) = self.state.running() else {
            return self.start_next();
        };
        let id = turn.id.clone();
        if self.state.questions.iter().any(|q| q.turn.as_ref() == Some(&id)) {
            // It waits for a person, as before; the answer starts it again.
            return;
        }
        let edits: Vec<_> = self.state.edits.iter().filter(|e| e.turn.as_ref() == Some(&id)).cloned().collect();
        let replies = self.replies_of(&id);
        if edits.is_empty() && !replies.is_empty() {
            return self.spawn(&id, Vec::new(), Resume { replies: replies.into(), answers: Vec::new(), offline: true });
        }
        let mut report = self.report_from_log(&id);
        if edits.is_empty() {
            report.outcome = Outcome::Failed;
            report.error = Some(Failure::from(&Error::Interrupted));
        } else if edits.iter().any(|e| e.status == EditStatus::Proposed) {
            report.outcome = Outcome::Held;
        }
        self.finish(&id, report);
    }

    /// What the log tells of a turn whose task ended with an earlier daemon.
    pub(super) fn report_from_log(&self, id: &TurnId) -> Report {
        let replies = self.replies_of(id);
        let of_turn = |turn: &Option<TurnId>| turn.as_ref() == Some(id);
        Report {
            reply: replies.last().map(|r| r.text.clone()).unwrap_or_default(),
            stop: replies.last().map(|r| r.stop.clone()),
            reflections: u32::try_from(replies.len().saturating_sub(1)).unwrap_or(u32::MAX),
            edits: self.state.edits.iter().filter(|e| of_turn(&e.turn)).cloned().collect(),
            commits: self.state.commits.iter().filter(|made| of_turn(&made.turn)).map(|made| made.commit.clone()).collect(),
            ..Report::empty()
        }
    }

    /// A restart found the turn waiting for an answer: it goes on from its logged replies. What is `undecided` is asked again.
    pub(super) fn resume_with_answers(&mut self, id: &TurnId, undecided: Option<&About>) {
        let answers = self.state.answered.iter().filter(|(about, _)| Some(about) != undecided).cloned().collect();
        let resume = Resume { replies: self.replies_of(id).into(), answers, offline: false };
        self.spawn(id, Vec::new(), resume);
    }

    fn replies_of(&self, id: &TurnId) -> Vec<Reply> {
        let reply = |e: &Exchange| Reply { text: e.reply.clone(), stop: e.stop.clone(), shown: e.shown.clone() };
        self.state.history.iter().filter(|e| e.turn == *id).map(reply).collect()
    }

    pub(super) fn step(&mut self, step: Option<Step>) {
        let Some(id) = self.running.as_ref().map(|r| r.id.clone()) else {
            return;
        };
        let Some(step) = step else {
            // The turn's task is gone without a report: a panic, which its own task has logged.
            let failure = Failure { message: "the turn broke off".to_owned(), kind: Kind::Internal, hint: None, retryable: true };
            return self.finish(&id, Report { outcome: Outcome::Failed, error: Some(failure), ..Report::empty() });
        };
        match step {
            Step::Delta(text) => {
                if let Some(running) = &mut self.running {
                    let offset = running.reply.len();
                    running.reply.push_str(&text);
                    self.publish(Some(&id), Happening::ReplyDelta { offset, text });
                }
            }
            Step::Reasoning(text) => {
                if let Some(running) = &mut self.running {
                    let offset = running.reasoning.len();
                    running.reasoning.push_str(&text);
                    self.publish(Some(&id), Happening::ReasoningDelta { offset, text });
                }
            }
            Step::Restarted => {
                self.forget_partial();
                let detail = Some("the reply broke off and starts anew".to_owned());
                self.publish(Some(&id), Happening::TurnPhase { phase: TurnPhase::Running, detail });
            }
            Step::Retrying { cause, wait_ms } => {
                let detail = format!("trying again in {wait_ms} ms: {cause}");
                self.publish(Some(&id), Happening::TurnPhase { phase: TurnPhase::Running, detail: Some(detail) });
            }
            Step::Replied { asked, reply, usage } => {
                let Reply { text, stop, shown } = reply;
                self.record_or_notice(Entry::Replied { turn: id.clone(), asked, text, usage, stop, shown });
                self.publish(Some(&id), Happening::UsageUpdated(usage));
                self.forget_partial();
            }
            Step::Replayed { path, cursor } => self.record_or_notice(Entry::Replayed { path, cursor }),
            Step::Ask { about, answer } => self.ask(&id, about, answer),
            Step::Joined(path) => {
                if let Err(error) = self.add_files(&[path], false) {
                    tracing::warn!(error = %error.chain(), "a file did not join the chat");
                }
            }
            Step::Found { edit, path, block } => {
                self.publish(Some(&id), Happening::EditProposed { edit, path, block: Some(block) });
            }
            Step::Withdrawn(edits) => {
                for (edit, path) in edits {
                    self.publish(Some(&id), Happening::EditSuperseded { edit, path });
                }
            }
            Step::Proposed(edits) => self.proposed(&id, edits),
            Step::Rejected(edits) => self.rejected(Some(&id), edits),
            Step::Failed(failed) => {
                for block in failed {
                    self.publish(Some(&id), Happening::EditFailed(block));
                }
            }
            Step::Landed(landed) => self.land(*landed),
            Step::Finished(report) => self.finish(&id, *report),
        }
    }

    /// The text of the reply that is in the log now; the next delta starts at offset 0.
    fn forget_partial(&mut self) {
        if let Some(running) = &mut self.running {
            running.reply.clear();
            running.reasoning.clear();
        }
    }

    /// Ends a turn with its one report, then starts the next.
    pub(super) fn finish(&mut self, id: &TurnId, mut report: Report) {
        if self.running.as_ref().is_some_and(|r| r.id == *id) {
            self.running = None;
        }
        self.close_questions_of(id);
        // The report shows its edits as they are now; their blocks are the proposals' alone.
        for edit in &mut report.edits {
            if let Some(now) = self.state.edit(&edit.id) {
                edit.clone_from(now);
            }
            edit.blocks = Vec::new();
        }
        if report.outcome == Outcome::Cancelled || report.outcome == Outcome::Failed {
            self.note_unanswered(id, &report);
        }
        self.record_or_notice(Entry::Finished { turn: id.clone(), report: Box::new(report.clone()) });
        if let Err(error) = self.log.sync() {
            tracing::warn!(error = %error, "the session log is not on disk yet");
        }
        self.publish(Some(id), Happening::TurnFinished(Box::new(report)));
        self.wake_waiters(id);
        self.start_next();
    }

    /// A message that got no answer is told to the model with the next one, so that "go on" has a meaning.
    fn note_unanswered(&mut self, id: &TurnId, report: &Report) {
        let Some(turn) = self.state.turn(id).filter(|t| t.started && t.replies == 0) else {
            return;
        };
        let how = if report.outcome == Outcome::Cancelled { "was cancelled" } else { "failed" };
        let text = format!("my message {:?} {how} before you had answered it", shorten(&turn.text));
        self.record_or_notice(Entry::Note { text });
    }
}

/// The first line, at most 200 characters.
fn shorten(text: &str) -> String {
    text.lines().next().unwrap_or("").chars().take(200).collect()
}
