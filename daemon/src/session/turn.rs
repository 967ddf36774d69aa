//! A turn, from a user message to its report. Read [`Turn::steps`] from top to bottom: that is what a turn does.
//!
//! A turn owns nothing: it works on a copy of the session's state and tells the owner what happened, step by step.
//! Everything before the write can be cancelled at any await; the write itself cannot.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use paird_base::limits::{REFLECTIONS_MAX, REPLY_BYTES_MAX};
use paird_base::{Problem, RepoPath, Tokens};
use paird_edit::{Block, Edit, Failed, Parsed, Parser, Proposal, Scope};
use paird_provider::{ReplyEvent, StopReason};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::context::{Context, first_question};
use super::entry::{EditEntry, Outcome, Report, Selection};
use super::error::Error;
use super::failure::Failure;
use super::ground::ShownBefore;
use super::ids::{EditId, SessionId, TurnId};
use super::job::{CommitOrder, Order, Refused};
use super::lane::Lane;
use super::missing::Missing;
use super::models::Model;
use super::place;
use super::prompts;
use super::question::{APPLY, About, DISCARD, YES};
use super::settings::{ApplyMode, CommitMode, Mode, OnPartial, Settings};
use super::state::Exchange;
use super::step::{Reply, Step};
use super::tree::Tree;
use super::usage::Usage;

/// Everything that a turn needs, taken when it starts.
pub(super) struct Turn {
    pub session: SessionId,
    pub id: TurnId,
    pub text: String,
    pub selection: Option<Selection>,
    pub settings: Settings,
    pub files: Vec<RepoPath>,
    pub read_only: Vec<RepoPath>,
    pub history: Vec<Exchange>,
    pub notes: Vec<String>,
    pub resume: Resume,
    /// What the model was shown before each reply.
    pub shown: ShownBefore,
    /// Ids of edits by path: clients know them from the first block on.
    pub ids: BTreeMap<RepoPath, EditId>,
    pub model: Result<Arc<Model>, Failure>,
    pub tree: Tree,
    pub lane: Lane,
    pub owner: mpsc::Sender<Step>,
    pub cancel: CancellationToken,
}

/// What a restart found of a turn that it interrupted.
#[derive(Default)]
pub(super) struct Resume {
    /// Its complete replies: their edits are placed without asking the model again.
    pub replies: VecDeque<Reply>,
    /// What a person had answered.
    pub answers: Vec<(About, String)>,
    /// No further request: who sent the message may be long gone.
    pub offline: bool,
}

/// The stop reason of a reply that was cut off at the output limit.
const LENGTH: &str = "length";
/// Of one that the provider has stopped.
const FILTERED: &str = "content_filter";

/// Why a turn's steps end before their end.
enum Halt {
    Cancelled,
    Failed(Error),
}

impl<E: Into<Error>> From<E> for Halt {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

impl Turn {
    /// Runs the turn to its one outcome.
    pub(super) async fn run(mut self) {
        let mut report = Report::empty();
        report.outcome = match self.steps(&mut report).await {
            Ok(outcome) => outcome,
            Err(Halt::Cancelled) => Outcome::Cancelled,
            Err(Halt::Failed(error)) => {
                report.error = Some(Failure::from(&error));
                Outcome::Failed
            }
        };
        self.ids.retain(|_, id| !report.edits.iter().any(|edit| edit.id == *id));
        self.tell(Step::Withdrawn(self.ids.iter().map(|(path, id)| (id.clone(), path.clone())).collect())).await;
        let _ = self.owner.send(Step::Finished(Box::new(report))).await;
    }

    async fn steps(&mut self, report: &mut Report) -> Result<Outcome, Halt> {
        let mut asked = first_question(&self.text, self.selection.as_ref(), &self.notes, &self.tree);
        let mut waiting: Vec<Block> = Vec::new();
        let mut missing: Vec<Missing> = Vec::new();
        let mut numbered = 0;
        loop {
            let (reply, parsed) = match self.resume.replies.pop_front() {
                Some(reply) => {
                    let mut parser = self.parser();
                    parser.push(&reply.text);
                    (reply, parser.finish())
                }
                None => match self.request(&asked, &waiting, report).await {
                    Ok(replied) => replied,
                    Err(halt) if report.reflections == 0 => return Err(halt),
                    Err(halt) => return self.keep(halt, &waiting, missing, report).await,
                },
            };
            report.reply.clone_from(&reply.text);
            report.stop = Some(reply.stop.clone());
            if self.settings.mode == Mode::Ask {
                return Ok(Outcome::Done);
            }

            report.shell_commands.extend(parsed.shell_commands);
            let broken = broken(parsed.problems, &reply);
            let gave_up = parsed.blocks.is_empty() && broken.is_empty() && !missing.is_empty();
            if !gave_up {
                missing.retain(|m| !m.is_answered_by(&parsed.blocks));
                self.shown.add_reply(numbered, reply.shown.clone());
                add_blocks(&mut waiting, parsed.blocks, &mut numbered);
                let proposal = self.place(&waiting, false)?;
                let failed = if proposal.failed.is_empty() && broken.is_empty() && missing.is_empty() {
                    match self.settle(proposal, report).await? {
                        Settled::As(outcome) => return Ok(outcome),
                        Settled::Lost(failed) => failed,
                    }
                } else {
                    proposal.failed
                };
                missing.extend(failed.into_iter().map(|f| Missing::of(f, &waiting)));
                missing.extend(broken.iter().zip(numbered..).map(|(problem, index)| Missing::unread(problem, index)));
                numbered += broken.len();
            }

            waiting.retain(|b| !missing.iter().any(|m| m.failed.block == b.index));
            self.tell(Step::Failed(missing.iter().map(|m| m.failed.clone()).collect())).await;
            if gave_up || report.reflections == REFLECTIONS_MAX {
                report.failed = missing.into_iter().map(|m| m.failed).collect();
                return self.hold(&waiting, report).await;
            }
            report.reflections += 1;
            self.history.push(Exchange { turn: self.id.clone(), asked, reply: reply.text, stop: reply.stop, shown: reply.shown });
            asked = ask_again(&waiting, &missing, broken);
        }
    }

    fn parser(&self) -> Parser {
        Parser::new(self.settings.edit_format).with_known(&self.files)
    }

    /// Tells of the blocks that are complete by now.
    async fn tell_found(&mut self, parser: &mut Parser) {
        if self.settings.mode == Mode::Ask {
            return;
        }
        for block in parser.take_new() {
            if let Some(path) = block.path.as_deref().and_then(|name| RepoPath::parse(name).ok()) {
                let edit = self.ids.entry(path.clone()).or_insert_with(EditId::fresh).clone();
                self.tell(Step::Found { edit, path, block: block.index }).await;
            }
        }
    }

    /// One request and its whole reply, read as it comes.
    async fn request(&mut self, asked: &str, waiting: &[Block], report: &mut Report) -> Result<(Reply, Parsed), Halt> {
        if self.resume.offline {
            return Err(Error::Interrupted.into());
        }
        let model = self.model.clone().map_err(Error::Model)?;
        let mut context = Context::read(&self.tree, &self.settings, &self.files, &self.read_only);
        context.history.clone_from(&self.history);
        asked.clone_into(&mut context.asked);
        if !waiting.is_empty() {
            let pending = self.place(waiting, true)?;
            context.overlay = pending.edits.into_iter().filter_map(|e| e.after.map(|after| (e.path, after))).collect();
        }
        let (shown, messages) = (context.grounds(), context.messages());
        let sent = messages.iter().fold(Tokens(0), |sum, m| sum + Tokens::estimate(&m.content));
        let mut stream = model.provider.start(model.request(messages));

        let (mut text, mut parser) = (String::new(), self.parser());
        let finish = loop {
            let event = tokio::select! {
                () = self.cancel.cancelled() => None,
                event = stream.next() => event,
            };
            match event {
                None => {
                    report.reply = text;
                    self.tell_replayed(&model).await;
                    return Err(if self.cancel.is_cancelled() { Halt::Cancelled } else { Error::Stopping.into() });
                }
                Some(ReplyEvent::Delta(delta)) => {
                    text.push_str(&delta);
                    report.reply.clone_from(&text);
                    parser.push(&delta);
                    self.tell(Step::Delta(delta)).await;
                    self.tell_found(&mut parser).await;
                    if text.len() > REPLY_BYTES_MAX {
                        return Err(paird_provider::Error::TooLong.into());
                    }
                }
                Some(ReplyEvent::Reasoning(delta)) => self.tell(Step::Reasoning(delta)).await,
                Some(ReplyEvent::Retrying { wait, cause }) => {
                    self.tell(Step::Retrying { cause, wait_ms: u64::try_from(wait.as_millis()).unwrap_or(u64::MAX) }).await;
                }
                Some(ReplyEvent::Restarted) => {
                    text.clear();
                    parser = self.parser();
                    self.tell(Step::Restarted).await;
                }
                Some(ReplyEvent::Finished(finish)) => break finish,
                Some(ReplyEvent::Failed(error)) => {
                    self.tell_replayed(&model).await;
                    return Err(error.into());
                }
            }
        };
        let usage = match finish.usage {
            Some(usage) => Usage {
                requests: 1,
                input: usage.input.0,
                output: usage.output.0,
                cached_read: usage.cached_read.0,
                cached_write: usage.cached_write.0,
                reported: true,
            },
            None => Usage { requests: 1, input: sent.0, output: Tokens::estimate(&text).0, ..Usage::default() },
        };
        report.usage += usage;
        self.tell_replayed(&model).await;
        let reply = Reply { text, stop: stop_word(finish.stop), shown };
        self.tell(Step::Replied { asked: asked.to_owned(), reply: reply.clone(), usage }).await;
        Ok((reply, parser.finish()))
    }

    async fn tell_replayed(&self, model: &Model) {
        if let Some(replayed) = &model.replayed {
            let (path, cursor) = (replayed.path.clone(), replayed.replay.cursor());
            self.tell(Step::Replayed { path, cursor }).await;
        }
    }

    /// Every block has its place: asks what must be asked, then writes, or keeps for review.
    async fn settle(&mut self, proposal: Proposal, report: &mut Report) -> Result<Settled, Halt> {
        let edits = self.entries(proposal.edits);
        match self.settings.apply_mode {
            ApplyMode::Dry => {
                report.edits = edits;
                return Ok(Settled::As(Outcome::Done));
            }
            ApplyMode::Review => {
                let outcome = if edits.is_empty() { Outcome::Done } else { Outcome::Held };
                self.propose(edits, report).await;
                return Ok(Settled::As(outcome));
            }
            ApplyMode::Auto => {}
        }
        let (allowed, held) = self.permit(edits).await?;
        if !held.is_empty() && self.settings.on_partial == OnPartial::Hold {
            self.propose(allowed.into_iter().chain(held).collect(), report).await;
            return Ok(Settled::As(Outcome::Held));
        }
        let outcome = if held.is_empty() { Outcome::Done } else { Outcome::Held };
        let lost = self.write(allowed, report).await?;
        if !held.is_empty() {
            self.propose(held, report).await;
        }
        Ok(lost.map_or(Settled::As(outcome), Settled::Lost))
    }

    /// Asks about new files and files outside the chat. Gives the edits that may be written, and those that wait because
    /// nobody could be asked. What a person declines is gone from both.
    async fn permit(&mut self, edits: Vec<EditEntry>) -> Result<(Vec<EditEntry>, Vec<EditEntry>), Halt> {
        let (mut allowed, mut held) = (Vec::new(), Vec::new());
        for edit in edits {
            let path = edit.path.clone();
            if edit.held {
                held.push(edit);
                continue;
            }
            if !edit.suspicious.is_empty() {
                match self.ask(About::SuspiciousEdit { path: path.clone(), why: edit.suspicious.clone() }).await? {
                    Answer::Said(option) if option == YES => {}
                    Answer::Said(_) => continue,
                    Answer::Nobody => {
                        held.push(edit);
                        continue;
                    }
                }
            }
            if self.files.contains(&path) || !(edit.outside_chat || edit.creates) {
                allowed.push(edit);
                continue;
            }
            let about = if edit.creates { About::CreateFile { path: path.clone() } } else { About::EditOutsideChat { path: path.clone() } };
            match self.ask(about).await? {
                Answer::Said(option) if option == YES => {
                    self.files.push(path.clone());
                    self.tell(Step::Joined(path)).await;
                    allowed.push(edit);
                }
                Answer::Said(_) => {}
                Answer::Nobody => held.push(edit),
            }
        }
        Ok((allowed, held))
    }

    /// Writes and commits. Blocks that lost their place since they were matched come back.
    async fn write(&mut self, edits: Vec<EditEntry>, report: &mut Report) -> Result<Option<Vec<Failed>>, Halt> {
        if self.cancel.is_cancelled() {
            return Err(Halt::Cancelled);
        }
        match self.lane.apply(self.order(), edits.clone(), self.scope()).await {
            Ok(landed) => {
                report.land(&landed);
                self.tell(Step::Landed(Box::new(landed))).await;
                Ok(None)
            }
            Err(Refused::Blocks(failed)) => Ok(Some(failed)),
            // The disk is full, or a directory may not be written: the edits are as good as they were.
            Err(Refused::Error(error)) => {
                self.propose(edits, report).await;
                Err(error.into())
            }
        }
    }

    /// Some blocks have no place and the model has no more tries: the others wait as proposals, and a person is asked.
    async fn hold(&mut self, waiting: &[Block], report: &mut Report) -> Result<Outcome, Halt> {
        let proposal = self.place(waiting, false)?;
        let edits = self.entries(proposal.edits);
        let placed = waiting.len() - proposal.failed.len();
        report.failed.extend(proposal.failed);
        let failed = report.failed.len();
        self.propose(edits.clone(), report).await;
        if edits.is_empty() || self.settings.apply_mode != ApplyMode::Auto {
            return Ok(Outcome::Held);
        }
        match self.ask(About::ApplyPartial { placed, failed }).await? {
            Answer::Said(option) if option == APPLY => {
                report.edits.clear();
                let (allowed, held) = self.permit(edits).await?;
                report.edits.extend(held);
                let lost = self.write(allowed, report).await?;
                report.failed.extend(lost.unwrap_or_default());
            }
            Answer::Said(option) if option == DISCARD => self.tell(Step::Rejected(edits.into_iter().map(|e| e.id).collect())).await,
            Answer::Said(_) | Answer::Nobody => {}
        }
        Ok(Outcome::Held)
    }

    /// A further request came to nothing. The blocks that have their place are not lost with it: they wait as proposals.
    async fn keep(&mut self, halt: Halt, waiting: &[Block], missing: Vec<Missing>, report: &mut Report) -> Result<Outcome, Halt> {
        report.failed = missing.into_iter().map(|m| m.failed).collect();
        match halt {
            Halt::Failed(error) if !waiting.is_empty() => {
                report.error = Some(Failure::from(&error));
                self.hold(waiting, report).await
            }
            Halt::Cancelled if self.settings.apply_mode != ApplyMode::Dry => {
                let proposal = self.place(waiting, false)?;
                report.failed.extend(proposal.failed);
                self.propose(self.entries(proposal.edits), report).await;
                Err(halt)
            }
            Halt::Failed(_) | Halt::Cancelled => Err(halt),
        }
    }

    /// Finds each block's place in the files as they are now.
    fn place(&mut self, blocks: &[Block], asked: bool) -> Result<Proposal, Error> {
        let mut proposal = place::propose(&self.tree, blocks.to_vec(), &self.scope(), asked)?;
        self.shown.check(&mut proposal);
        Ok(proposal)
    }

    fn entries(&self, edits: Vec<Edit>) -> Vec<EditEntry> {
        let named = |edit: EditEntry| match self.ids.get(&edit.path) {
            Some(id) => EditEntry { id: id.clone(), ..edit },
            None => edit,
        };
        edits.into_iter().map(|edit| named(place::entry(edit, Some(&self.id)))).collect()
    }

    async fn propose(&self, edits: Vec<EditEntry>, report: &mut Report) {
        report.edits.extend(edits.iter().cloned());
        self.tell(Step::Proposed(edits)).await;
    }

    async fn ask(&self, about: About) -> Result<Answer, Halt> {
        if let Some((_, said)) = self.resume.answers.iter().find(|(asked, _)| *asked == about) {
            return Ok(Answer::Said(said.clone()));
        }
        let (answer, said) = oneshot::channel();
        self.tell(Step::Ask { about, answer }).await;
        tokio::select! {
            () = self.cancel.cancelled() => Err(Halt::Cancelled),
            said = said => match said {
                Ok(option) => Ok(Answer::Said(option)),
                Err(_) => Ok(Answer::Nobody),
            },
        }
    }

    fn order(&self) -> Order {
        let label = self.model.as_ref().map_or("unknown model", |m| m.label.as_str());
        let commit = (self.settings.commit_mode == CommitMode::Auto && self.tree.repository)
            .then(|| CommitOrder::new(&self.text, label, self.settings.dirty_commits));
        Order { session: Some(self.session.clone()), turn: Some(self.id.clone()), commit }
    }

    fn scope(&self) -> Scope {
        place::scope(&self.files, &self.read_only, self.settings.close_match)
    }

    async fn tell(&self, step: Step) {
        // The owner outlives its turns; if it is gone the daemon is stopping.
        let _ = self.owner.send(step).await;
    }
}

enum Answer {
    Said(String),
    /// No client can ask a person, and the policy for this question is to keep the edit waiting.
    Nobody,
}

enum Settled {
    As(Outcome),
    Lost(Vec<Failed>),
}

/// As the protocol has it.
fn stop_word(stop: StopReason) -> String {
    match stop {
        StopReason::Stop => "stop".to_owned(),
        StopReason::Length => LENGTH.to_owned(),
        StopReason::ContentFilter => FILTERED.to_owned(),
        StopReason::Other(word) => word,
    }
}

/// What keeps a reply from being taken as complete.
fn broken(problems: Vec<Problem>, reply: &Reply) -> Vec<Problem> {
    let cut = match reply.stop.as_str() {
        LENGTH => Some(prompts::CUT),
        FILTERED => Some(prompts::FILTERED),
        _ => None,
    };
    problems.into_iter().chain(cut.map(Problem::new)).collect()
}

/// What the next request shows of what is missing.
fn ask_again(waiting: &[Block], missing: &[Missing], broken: Vec<Problem>) -> String {
    let blocks = waiting.iter().chain(missing.iter().filter_map(Missing::block)).cloned().collect();
    let failed: Vec<Failed> = missing.iter().filter(|m| m.block().is_some()).map(|m| m.failed.clone()).collect();
    paird_edit::explain(&Parsed { blocks, shell_commands: Vec::new(), problems: broken }, &failed)
}

/// Adds the blocks of a further reply, numbered on, without those that wait already.
fn add_blocks(waiting: &mut Vec<Block>, new: Vec<Block>, numbered: &mut usize) {
    let earlier = waiting.clone();
    let again = |b: &Block| earlier.iter().any(|w| w.path == b.path && w.search == b.search && w.replace == b.replace && w.kind == b.kind);
    for mut block in new.into_iter().filter(|b| !again(b)) {
        block.index = *numbered;
        *numbered += 1;
        waiting.push(block);
    }
}
