//! One turn, from the message to its end: sent, shown as it comes, its questions answered, cancelled if the person says so.

mod events;

use std::collections::HashSet;

use paird_protocol::client::ClientError;
use paird_protocol::methods::{EditGet, QuestionAnswer, QuestionList, SessionCancel, SessionPrompt, SessionRead};
use paird_protocol::{
    CancelParams, EditGetParams, ErrorKind, Event, EventBody, PROMPT_BYTES_MAX, PromptParams, Question, QuestionAnswerParams,
    QuestionListParams, SessionParams, SessionReadResult, TurnResult, TurnState,
};
use tokio::signal::unix::{Signal, SignalKind, signal};

use self::events::Events;
use crate::connection::Connection;
use crate::exit::{Exit, Failure};
use crate::question::{Answer, Answers, Asker};
use crate::show::Screen;

/// Characters of a message that are shown where it is only mentioned.
const MENTIONED_CHARS: usize = 60;

/// Sends the message and follows its turn to the end. Everything but the report is shown on the way.
///
/// # Errors
/// The message is not taken, or the daemon is lost; what becomes of the turn is then in the session.
pub(crate) async fn run(
    daemon: &Connection,
    screen: &mut Screen,
    session: &str,
    text: &str,
    answers: Answers,
) -> Result<TurnResult, Failure> {
    // Before the message is sent: no event of its turn is missed, and no signal either.
    let mut events = Events::subscribe(&daemon.client, session).await?;
    let mut stops = Stops::new()?;
    let prompt = PromptParams { session_id: session.to_owned(), text: text.to_owned(), selection: None, interrupt: false };
    let prompted = daemon.call::<SessionPrompt>(prompt).await?;
    let mut follower = Follower::new(daemon, screen, session, prompted.turn_id, answers);
    let ended = async {
        if prompted.state == TurnState::Queued {
            follower.look_ahead().await?;
        }
        follower.follow(&mut events, &mut stops).await
    };
    let ended = ended.await;
    follower.screen.end_line();
    events.unsubscribe().await;
    let left = || Failure::new(Exit::Cancelled, "left before the turn had ended").with_hint("`pair diff` shows what it changed");
    ended?.ok_or_else(left)
}

/// Refuses a message that the daemon would not take.
///
/// # Errors
/// It is too long.
pub(crate) fn check_size(text: &str) -> Result<(), Failure> {
    if text.len() > PROMPT_BYTES_MAX { Err(too_long()) } else { Ok(()) }
}

/// What is said of a message that is.
pub(crate) fn too_long() -> Failure {
    Failure::usage(format!("the message is longer than {PROMPT_BYTES_MAX} bytes"))
        .with_hint("put large texts into a file and add it to the chat")
}

/// Puts the open questions of the session to the person, and follows the turn that asks to its end. `None` if there are none,
/// or the person leaves them open.
///
/// # Errors
/// The daemon's, or its loss.
pub(crate) async fn resume(daemon: &Connection, screen: &mut Screen, session: &str) -> Result<Option<TurnResult>, Failure> {
    let open = daemon.call::<QuestionList>(QuestionListParams { session_id: Some(session.to_owned()) }).await?;
    if open.questions.is_empty() {
        return Ok(None);
    }
    let mut events = Events::subscribe(&daemon.client, session).await?;
    let mut stops = Stops::new()?;
    let state = daemon.call::<SessionRead>(SessionParams { session_id: session.to_owned() }).await?;
    let waiting = state.turns.iter().find(|turn| turn.state == TurnState::Waiting);
    let ended = match waiting {
        Some(turn) => {
            screen.notice(&format!("the turn {:?} waits for an answer; Ctrl-C leaves it open", first_line(&turn.text)));
            let mut follower = Follower::new(daemon, screen, session, turn.turn_id.clone(), Answers::Person);
            follower.own = false;
            let ended = async {
                for question in state.questions {
                    follower.asked(question).await?;
                }
                follower.follow(&mut events, &mut stops).await
            };
            let ended = ended.await;
            follower.screen.end_line();
            ended
        }
        // Somebody else was quicker.
        None => Ok(None),
    };
    events.unsubscribe().await;
    ended
}

/// What went wrong with a call while the turn was under way.
fn in_turn(error: ClientError) -> Failure {
    let ended = matches!(error, ClientError::Ended);
    let failure = Failure::from(error);
    if ended { Failure { message: "the daemon ended in the middle of the turn".to_owned(), ..failure } } else { failure }
}

/// What a message is called where it is only mentioned.
fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or("").chars().take(MENTIONED_CHARS).collect()
}

/// Requests to stop from outside: Ctrl-C, and a polite kill.
struct Stops {
    interrupt: Signal,
    terminate: Signal,
}

impl Stops {
    fn new() -> Result<Self, Failure> {
        let listen = |kind| signal(kind).map_err(|error| Failure::new(Exit::Failure, format!("listen for signals: {error}")));
        Ok(Self { interrupt: listen(SignalKind::interrupt())?, terminate: listen(SignalKind::terminate())? })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

struct Follower<'a> {
    daemon: &'a Connection,
    screen: &'a mut Screen,
    session: &'a str,
    turn: String,
    /// The person at this terminal sent its message, and may cancel it.
    own: bool,
    asker: Asker,
    /// Blocks without a place that were shown: path and reason of each, which come again with the next try.
    failed: HashSet<(Option<String>, String)>,
    /// Edits of a reply that is still coming; what becomes of them is told when it has come.
    coming: HashSet<String>,
    /// What has come of the present reply.
    reply: String,
    /// Deltas up to this event have been taken from the session's state.
    read_up_to: u64,
}

impl<'a> Follower<'a> {
    fn new(daemon: &'a Connection, screen: &'a mut Screen, session: &'a str, turn: String, answers: Answers) -> Self {
        let asker = Asker::new(answers);
        Self {
            daemon,
            screen,
            session,
            turn,
            own: true,
            asker,
            failed: HashSet::new(),
            coming: HashSet::new(),
            reply: String::new(),
            read_up_to: 0,
        }
    }

    /// Says what the turn waits for, behind which it is queued.
    async fn look_ahead(&mut self) -> Result<(), Failure> {
        let state = self.read().await?;
        let ahead = state.turns.iter().find(|turn| matches!(turn.state, TurnState::Running | TurnState::Waiting));
        if let Some(turn) = ahead.filter(|turn| turn.turn_id != self.turn) {
            self.screen.notice(&format!("waiting for the turn {:?} of this session; --new opens another", first_line(&turn.text)));
        }
        for question in state.questions {
            self.asked(question).await?;
        }
        Ok(())
    }

    async fn read(&self) -> Result<SessionReadResult, Failure> {
        self.daemon.call::<SessionRead>(SessionParams { session_id: self.session.to_owned() }).await.map_err(in_turn)
    }

    /// Follows the turn to its end. `None` if the person leaves before.
    async fn follow(&mut self, events: &mut Events<'_>, stops: &mut Stops) -> Result<Option<TurnResult>, Failure> {
        let mut cancelling = false;
        loop {
            tokio::select! {
                event = events.next() => {
                    let ended = match event {
                        Some(event) => self.take(event).await?,
                        None => self.catch_up(events).await?,
                    };
                    if ended.is_some() {
                        return Ok(ended);
                    }
                }
                () = stops.next() => {
                    self.screen.end_line();
                    if cancelling || !self.own {
                        return Ok(None);
                    }
                    cancelling = true;
                    self.screen.notice("cancelling");
                    self.cancel().await?;
                }
                typed = self.asker.typed() => {
                    if let Some(answer) = self.asker.understand(typed, self.screen) {
                        self.answer(answer).await?;
                    }
                }
            }
        }
    }

    /// Shows one event. Gives the result when it was the last.
    async fn take(&mut self, event: Event) -> Result<Option<TurnResult>, Failure> {
        let ours = event.turn_id.as_deref() == Some(self.turn.as_str());
        match event.body {
            EventBody::Notice { message } if ours || event.turn_id.is_none() => self.screen.notice(&message),
            // Of whatever turn: this one waits for it, or the daemon counts on this terminal to ask.
            EventBody::QuestionAsked { question } => self.asked(question).await?,
            EventBody::QuestionAnswered { question_id, option_id } => self.asker.answered(&question_id, &option_id, self.screen),
            _ if !ours => {}
            EventBody::TurnFinished { report } => {
                return Ok(Some(TurnResult { turn_id: self.turn.clone(), session_id: self.session.to_owned(), report: *report }));
            }
            EventBody::TurnState { detail: Some(detail), .. } => {
                self.screen.end_line();
                self.screen.notice(&detail);
            }
            EventBody::ReplyDelta { .. } | EventBody::ReasoningDelta { .. } if event.seq <= self.read_up_to => {}
            EventBody::ReplyDelta { offset, text } => {
                if offset == 0 {
                    self.screen.end_line();
                    self.reply.clear();
                }
                self.screen.reply(&text);
                self.reply.push_str(&text);
            }
            EventBody::ReasoningDelta { text, .. } => self.screen.reasoning(&text),
            EventBody::EditApplied { edit_id, path, .. } => {
                self.coming.remove(&edit_id);
                self.show_edit(edit_id, &path, "").await;
            }
            EventBody::EditProposed { edit_id, path, block: None } => self.show_edit(edit_id, &path, "proposed, not written: ").await,
            EventBody::EditProposed { edit_id, block: Some(_), .. } => drop(self.coming.insert(edit_id)),
            EventBody::EditSuperseded { edit_id, .. } if self.coming.remove(&edit_id) => {}
            EventBody::EditRejected { path, .. } => self.screen.notice(&format!("declined: {path}")),
            EventBody::EditSuperseded { path, .. } => self.screen.notice(&format!("an earlier proposal for {path} is superseded")),
            EventBody::EditFailed { failed } => {
                if self.failed.insert((failed.path.clone(), failed.message.clone())) {
                    self.screen.end_line();
                    self.screen.failed(&failed);
                }
            }
            EventBody::CommitCreated { commit } => self.screen.commit(&commit),
            EventBody::CommitFailed { paths, reason } => self.screen.warn(&format!("not committed: {}: {reason}", paths.join(", "))),
            EventBody::TurnStarted { .. }
            | EventBody::TurnState { detail: None, .. }
            | EventBody::EditUndone { .. }
            | EventBody::CommitUndone { .. }
            | EventBody::ContextChanged { .. }
            | EventBody::UsageUpdated { .. }
            | EventBody::Notice { .. } => {}
        }
        Ok(None)
    }

    /// The difference that an edit makes. One that cannot be had is named all the same.
    async fn show_edit(&mut self, edit_id: String, path: &str, what: &str) {
        self.screen.end_line();
        if self.screen.look.json {
            return;
        }
        let diff = self.daemon.call::<EditGet>(EditGetParams { edit_id }).await;
        if !what.is_empty() {
            self.screen.heading(&format!("{what}{path}"));
        }
        match diff {
            Ok(result) => self.screen.diff(&result.diff),
            Err(error) => self.screen.warn(&format!("no difference of {path}: {error}")),
        }
    }

    async fn asked(&mut self, question: Question) -> Result<(), Failure> {
        let ours = question.turn_id.as_deref() == Some(self.turn.as_str());
        self.screen.end_line();
        if let Some(answer) = self.asker.asked(question, ours, self.screen) {
            self.answer(answer).await?;
        }
        Ok(())
    }

    async fn cancel(&mut self) -> Result<(), Failure> {
        let params = CancelParams { session_id: self.session.to_owned(), turn_id: Some(self.turn.clone()) };
        match self.daemon.call::<SessionCancel>(params).await {
            // The daemon stops, which ends the turn as well.
            Err(ClientError::Call(error)) if error.data.kind == ErrorKind::Overloaded => Ok(()),
            other => other.map(drop).map_err(in_turn),
        }
    }

    async fn answer(&mut self, answer: Answer) -> Result<(), Failure> {
        let params = QuestionAnswerParams { question_id: answer.question_id, option_id: answer.option_id };
        match self.daemon.call::<QuestionAnswer>(params).await {
            // Somebody else was first, or the turn is over: the events tell.
            Err(ClientError::Call(error)) if matches!(error.data.kind, ErrorKind::NotFound | ErrorKind::Conflict) => Ok(()),
            other => other.map(drop).map_err(in_turn),
        }
    }

    /// This terminal took the reply more slowly than it came, and some events are lost: goes on from the session's state.
    async fn catch_up(&mut self, events: &mut Events<'_>) -> Result<Option<TurnResult>, Failure> {
        match events.subscribe_again().await {
            Err(error) if error.is_loss() && self.asker.is_open() => {
                return Err(in_turn(error).with_hint("the question stays open; `pair` starts the daemon again and asks it"));
            }
            other => other.map_err(in_turn)?,
        }
        let state = self.read().await?;
        self.read_up_to = state.seq;
        let turn = state.turns.into_iter().find(|turn| turn.turn_id == self.turn);
        let Some(turn) = turn else {
            return Err(Failure::new(Exit::Failure, "the session no longer has this turn"));
        };
        let of_result = turn.result.as_ref().map(|result| result.report.reply.clone());
        let reply = turn.reply.or(of_result).unwrap_or_default();
        match reply.strip_prefix(&self.reply) {
            Some(rest) => self.screen.reply(rest),
            None => {
                self.screen.end_line();
                self.screen.warn("this terminal fell behind, and a part of what came is not shown");
                self.screen.reply(&reply);
            }
        }
        self.reply = reply;
        for question in state.questions {
            self.asked(question).await?;
        }
        // Unless some are gone for good, the events that were missed come now, the end of the turn among them.
        Ok(turn.result.filter(|_| events.has_gap()))
    }
}
