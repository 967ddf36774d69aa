//! The owner of a session: one task that holds its state and its log, and changes both in one place, [`Owner::record`].
//!
//! Commands come in as closures that run to completion without awaiting, so the state never changes in the middle of one;
//! steps of the running turn come in the same way. What takes time (a turn, a write) runs elsewhere and comes back as a value.

mod edits;
mod questions;
mod turns;

pub use edits::Which;

use std::collections::BTreeMap;
use std::sync::Arc;

use paird_base::limits::SESSION_QUEUE;
use paird_base::{Clock, RepoPath, Secret};
use tokio::sync::{mpsc, oneshot, watch};
use tokio_util::sync::CancellationToken;

use super::entry::Entry;
use super::error::Error;
use super::events::{Events, Happening};
use super::ids::{SessionId, TurnId};
use super::job::Landed;
use super::lane::Lane;
use super::log::{Logged, SessionLog};
use super::models::Models;
use super::settings::SettingsPatch;
use super::state::{SessionState, Turn};
use super::step::Step;
use super::tree::Tree;

/// What every session of the daemon works with.
#[derive(Clone)]
pub struct Shared {
    pub tree: Tree,
    pub lane: Lane,
    pub events: Events,
    pub models: Arc<Models>,
    pub clock: Arc<dyn Clock>,
    /// How many connected clients can put a question to a person.
    pub able: watch::Receiver<usize>,
    /// Cancelled when the daemon stops: no turn is begun any more.
    pub stop: CancellationToken,
}

type Command = Box<dyn FnOnce(&mut Owner) + Send>;

/// A handle to a session.
#[derive(Clone)]
pub struct Session {
    pub id: SessionId,
    commands: mpsc::Sender<Command>,
}

/// The turn that runs now.
struct Running {
    id: TurnId,
    steps: mpsc::Receiver<Step>,
    cancel: CancellationToken,
    /// The reply so far, and the reasoning.
    reply: String,
    reasoning: String,
    /// The answer that the turn waits for.
    answer: Option<oneshot::Sender<String>>,
}

pub struct Owner {
    shared: Shared,
    pub state: SessionState,
    log: SessionLog,
    running: Option<Running>,
    waiters: Vec<(TurnId, oneshot::Sender<()>)>,
    /// Keys and base URLs that the prompting connection brought; in memory only.
    env: Arc<BTreeMap<String, Secret<String>>>,
    me: mpsc::WeakSender<Command>,
}

impl Session {
    /// Starts the owner task of a session whose state and log agree.
    ///
    /// `repaired` is what the write lane completed for it at the daemon's start.
    pub fn start(shared: Shared, state: SessionState, log: SessionLog, repaired: Vec<Landed>) -> Self {
        let (commands, queue) = mpsc::channel(SESSION_QUEUE);
        let id = state.id.clone();
        let owner = Owner { shared, state, log, running: None, waiters: Vec::new(), env: Arc::default(), me: commands.downgrade() };
        tokio::spawn(owner.run(queue, repaired));
        Self { id, commands }
    }

    /// Runs a closure on the owner and gives its result.
    pub async fn call<T: Send + 'static>(&self, job: impl FnOnce(&mut Owner) -> T + Send + 'static) -> Result<T, Error> {
        let (reply, answer) = oneshot::channel();
        let command: Command = Box::new(move |owner| drop(reply.send(job(owner))));
        self.commands.send(command).await.map_err(|_| Error::Stopping)?;
        answer.await.map_err(|_| Error::Stopping)
    }
}

impl Owner {
    async fn run(mut self, mut queue: mpsc::Receiver<Command>, repaired: Vec<Landed>) {
        let mut able = self.shared.able.clone();
        able.mark_unchanged();
        for landed in repaired {
            self.land(landed);
        }
        self.resume();
        loop {
            tokio::select! {
                // Steps first: a snapshot then is as new as it can be.
                biased;
                step = next_step(&mut self.running) => self.step(step),
                command = queue.recv() => match command {
                    Some(command) => command(&mut self),
                    None => break,
                },
                Ok(()) = able.changed() => {
                    // Clients also leave because the daemon stops: what they were asked waits for the next start.
                    if *able.borrow_and_update() == 0 && !self.shared.stop.is_cancelled() {
                        self.nobody_left();
                    }
                }
            }
        }
        if let Some(running) = &self.running {
            running.cancel.cancel();
        }
    }

    /// The one place where the state changes: logged first, then folded in.
    fn record(&mut self, entry: Entry) -> Result<(), Error> {
        let at_ms = self.shared.clock.unix_ms();
        self.log.append(at_ms, &entry)?;
        self.state.apply(&Logged { at_ms, entry });
        Ok(())
    }

    /// As [`Self::record`], where the caller has nobody to tell of a failure: the person is told by a notice.
    fn record_or_notice(&mut self, entry: Entry) {
        if let Err(error) = self.record(entry) {
            tracing::error!(session = %self.state.id, error = %error.chain(), "the session log is behind");
            self.publish(None, Happening::Notice { message: format!("the session log cannot be written: {}", error.chain()) });
        }
    }

    fn publish(&self, turn: Option<&TurnId>, what: Happening) -> u64 {
        self.shared.events.publish(Some(&self.state.id), turn, what)
    }

    /// Events up to this one are in the state.
    #[must_use]
    pub fn seq(&self) -> u64 {
        self.shared.events.seq()
    }

    /// Changes settings and files together, or nothing. A file that comes into one list leaves the other.
    pub fn configure(
        &mut self,
        patch: SettingsPatch,
        files: Option<Vec<RepoPath>>,
        read_only: Option<Vec<RepoPath>>,
    ) -> Result<u64, Error> {
        let settings = self.state.settings.patched(patch);
        if settings != self.state.settings {
            self.record(Entry::Configured { settings })?;
        }
        if files.is_some() || read_only.is_some() {
            let without = |list: &[RepoPath], new: &Option<Vec<RepoPath>>| -> Vec<RepoPath> {
                list.iter().filter(|p| !new.as_ref().is_some_and(|new| new.contains(p))).cloned().collect()
            };
            let (editable, kept) = (without(&self.state.files, &read_only), without(&self.state.read_only, &files));
            let (files, read_only) = (files.unwrap_or(editable), read_only.unwrap_or(kept));
            self.set_context(files, read_only)?;
        }
        Ok(self.seq())
    }

    /// Adds files to the chat. A file is editable or read-only, not both; the last word counts.
    pub fn add_files(&mut self, paths: &[RepoPath], read_only: bool) -> Result<u64, Error> {
        let (mut files, mut kept) = (self.state.files.clone(), self.state.read_only.clone());
        let (to, from) = if read_only { (&mut kept, &mut files) } else { (&mut files, &mut kept) };
        from.retain(|p| !paths.contains(p));
        for path in paths {
            if !to.contains(path) {
                to.push(path.clone());
            }
        }
        if files.len() + kept.len() > paird_base::limits::CHAT_FILES_MAX {
            return Err(Error::Overloaded { what: "files in the chat" });
        }
        self.set_context(files, kept)
    }

    /// Takes files out of the chat, all of them for `None`. A name that is not in the chat drops nothing at all.
    pub fn drop_files(&mut self, paths: Option<&[RepoPath]>) -> Result<u64, Error> {
        let Some(paths) = paths else {
            return self.set_context(Vec::new(), Vec::new());
        };
        let (mut files, mut read_only) = (self.state.files.clone(), self.state.read_only.clone());
        if let Some(stranger) = paths.iter().find(|p| !files.contains(p) && !read_only.contains(p)) {
            return Err(Error::NotFound { what: "file in the chat", id: stranger.to_string() });
        }
        files.retain(|p| !paths.contains(p));
        read_only.retain(|p| !paths.contains(p));
        self.set_context(files, read_only)
    }

    fn set_context(&mut self, files: Vec<RepoPath>, read_only: Vec<RepoPath>) -> Result<u64, Error> {
        if files != self.state.files || read_only != self.state.read_only {
            self.record(Entry::Context { files: files.clone(), read_only: read_only.clone() })?;
            self.publish(None, Happening::ContextChanged { files, read_only });
        }
        Ok(self.seq())
    }

    /// Forgets the history; files and settings stay.
    pub fn clear(&mut self) -> Result<u64, Error> {
        self.record(Entry::Cleared)?;
        Ok(self.seq())
    }

    /// Cancels what runs and marks the session as closed.
    pub fn close(&mut self) -> Result<u64, Error> {
        self.cancel(None)?;
        self.record(Entry::Closed)?;
        Ok(self.seq())
    }

    /// The reply and the reasoning so far, of a turn that has started and is not finished: what streams now, else its last
    /// whole reply.
    #[must_use]
    pub fn so_far(&self, turn: &Turn) -> Option<(&str, &str)> {
        if turn.report.is_some() {
            return None;
        }
        let streams = self.running.as_ref().filter(|r| r.id == turn.id && !(r.reply.is_empty() && r.reasoning.is_empty()));
        let whole = || self.state.history.iter().rev().find(|e| e.turn == turn.id).map(|e| (e.reply.as_str(), ""));
        streams.map(|r| (r.reply.as_str(), r.reasoning.as_str())).or_else(whole)
    }

    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.state.running().is_some() || self.state.next_queued().is_some()
    }

    /// Removes the log. The caller forgets the session.
    pub fn delete(&mut self) -> Result<(), Error> {
        self.cancel(None)?;
        Ok(self.log.delete()?)
    }

    fn myself(&self) -> Option<Session> {
        self.me.upgrade().map(|commands| Session { id: self.state.id.clone(), commands })
    }
}

/// The running turn's next step; for ever pending without one.
async fn next_step(running: &mut Option<Running>) -> Option<Step> {
    match running {
        Some(running) => running.steps.recv().await,
        None => std::future::pending().await,
    }
}
