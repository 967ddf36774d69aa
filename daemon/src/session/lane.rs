//! The write lane: the one owner of writes to the work tree and its repository.
//!
//! One thread takes one job at a time and finishes it, whoever asked and whether or not they still listen: a job is
//! written and committed, or nothing of it is there. Jobs come in through a bounded channel, results go back as values.
//! A record of each job (what it writes, before and after) is in the journal before the first byte changes; a job that
//! a crash interrupted is completed when the next daemon starts.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;

use paird_base::limits::WRITE_LANE_QUEUE;
use paird_base::{Clock, RepoPath};
use paird_edit::{FileChange, Journal, Plan, Record, RecordId, Scope, State, TempArea};
use tokio::sync::{mpsc, oneshot};

use super::commit_step;
use super::entry::{Commit, EditEntry, EditStatus};
use super::error::Error;
use super::ids::EditId;
use super::job::{Committed, Flip, Intent, Landed, Order, Refused, What};
use super::line_changes::line_changes;
use super::place::{Placed, place};
use super::tree::Tree;

/// Where a test may kill the daemon between the steps of a job and its landing in the session's log; the leaves have theirs.
pub const FAULT_POINTS: &[&str] = &["lane.written", "commit.noted", "lane.committed", "owner.landing", "owner.landed"];

/// How often a job is planned anew because somebody saved one of its files meanwhile.
const CONFLICT_TRIES: usize = 3;

enum Job {
    Apply { order: Order, edits: Vec<EditEntry>, scope: Scope },
    Flip { order: Order, flips: Vec<Flip>, to: EditStatus },
    UndoCommit { order: Order, commit: Commit, edits: Vec<EditId>, to: EditStatus },
}

enum Message {
    Do(Job, oneshot::Sender<Result<Landed, Refused>>),
    Settle(RecordId),
    /// Ends the lane once the jobs before it are done.
    Stop,
    /// What a record says of one path.
    Recall(RecordId, RepoPath, oneshot::Sender<Result<FileChange, Error>>),
    /// What the records say of an edit without a session.
    RecallLoose(EditId, oneshot::Sender<Result<Option<EditEntry>, Error>>),
}

/// A handle to the lane.
#[derive(Clone)]
pub struct Lane {
    jobs: mpsc::Sender<Message>,
}

impl Lane {
    /// Repairs what a crash left, then starts the lane. The landed jobs are those whose session has to be told.
    pub fn start(tree: Tree, state_dir: &Path, clock: &dyn Clock) -> Result<(Self, JoinHandle<()>, Vec<Landed>), Error> {
        let (mut worker, open) = Worker::open(tree, state_dir)?;
        let repaired = worker.repair(open)?;
        worker.journal.prune(paird_base::limits::WRITE_RECORD_AGE, clock.unix_ms())?;
        let (jobs, queue) = mpsc::channel(WRITE_LANE_QUEUE);
        let thread = std::thread::Builder::new().name("write-lane".to_owned()).spawn(move || worker.run(queue)).map_err(|source| {
            Error::Invalid { message: format!("start the write lane: {source}"), hint: "free some memory or raise the limit of threads" }
        })?;
        Ok((Self { jobs }, thread, repaired))
    }

    /// Places the edits' blocks on the files as they are now, writes them, and commits.
    pub async fn apply(&self, order: Order, edits: Vec<EditEntry>, scope: Scope) -> Result<Landed, Refused> {
        self.ask(Job::Apply { order, edits, scope }).await
    }

    /// Takes edits back (`to` undone, newest first) or brings them again (`to` applied, oldest first), if their files
    /// still are what they left.
    pub async fn flip(&self, order: Order, flips: Vec<Flip>, to: EditStatus) -> Result<Landed, Refused> {
        self.ask(Job::Flip { order, flips, to }).await
    }

    /// Takes back a commit of ours that is HEAD, with the edits it holds.
    pub async fn undo_commit(&self, order: Order, commit: Commit, edits: Vec<EditId>, to: EditStatus) -> Result<Landed, Refused> {
        self.ask(Job::UndoCommit { order, commit, edits, to }).await
    }

    /// The session's log has it: from here on the record is needed for undo only.
    pub async fn settle(&self, write: RecordId) {
        // A lane that is gone leaves the record open; the next start tells the session once more, which changes nothing.
        let _ = self.jobs.send(Message::Settle(write)).await;
    }

    /// Takes no more jobs once those that were asked for are done.
    pub async fn stop(&self) {
        // A lane that is gone has stopped.
        let _ = self.jobs.send(Message::Stop).await;
    }

    /// The change of one file that a write made.
    pub async fn recorded(&self, write: RecordId, path: RepoPath) -> Result<FileChange, Error> {
        let (reply, answer) = oneshot::channel();
        self.jobs.send(Message::Recall(write, path, reply)).await.map_err(|_| Error::Stopping)?;
        answer.await.map_err(|_| Error::Stopping)?
    }

    /// An applied edit that no session has.
    pub async fn loose(&self, edit: EditId) -> Result<Option<EditEntry>, Error> {
        let (reply, answer) = oneshot::channel();
        self.jobs.send(Message::RecallLoose(edit, reply)).await.map_err(|_| Error::Stopping)?;
        answer.await.map_err(|_| Error::Stopping)?
    }

    async fn ask(&self, job: Job) -> Result<Landed, Refused> {
        let (reply, answer) = oneshot::channel();
        self.jobs.send(Message::Do(job, reply)).await.map_err(|_| Error::Stopping)?;
        answer.await.map_err(|_| Error::Stopping)?
    }
}

struct Worker {
    tree: Tree,
    journal: Journal,
    temp: TempArea,
    /// A write that stopped half way and could not be taken back. Nothing else is written before it is.
    unfinished: Option<RecordId>,
    /// Writes whose commit is made and not in git's index yet.
    behind: Vec<RecordId>,
}

impl Worker {
    /// With the records that an earlier daemon left open.
    fn open(tree: Tree, state_dir: &Path) -> Result<(Self, Vec<Record>), Error> {
        let (journal, open) = Journal::open(&state_dir.join("writes"))?;
        let git_dir = if tree.repository { Some(tree.open_repo()?.git_dir().join("paird").join("tmp")) } else { None };
        let own = state_dir.join("tmp");
        let candidates: Vec<&Path> = git_dir.iter().map(PathBuf::as_path).chain([own.as_path()]).collect();
        let temp = TempArea::open(&tree.root, &candidates);
        Ok((Self { tree, journal, temp, unfinished: None, behind: Vec::new() }, open))
    }

    fn run(mut self, mut queue: mpsc::Receiver<Message>) {
        while let Some(message) = queue.blocking_recv() {
            match message {
                // Whoever asked may be gone: the job is done all the same.
                Message::Do(job, reply) => drop(reply.send(self.work(job))),
                Message::Settle(write) => self.settle(&write),
                Message::Stop => break,
                Message::Recall(write, path, reply) => drop(reply.send(super::flip::recorded(&self.journal, &write, &path))),
                Message::RecallLoose(edit, reply) => drop(reply.send(super::loose::recorded(&self.journal, &edit))),
            }
        }
    }

    fn work(&mut self, job: Job) -> Result<Landed, Refused> {
        self.finish_unfinished()?;
        match job {
            Job::Apply { order, edits, scope } => self.apply(&order, &edits, &scope),
            Job::Flip { order, flips, to } => {
                let plan = super::flip::plan(&self.tree, &self.journal, &flips, to)?;
                let edits = flips.into_iter().filter_map(|f| Some((f.edit, f.paths.into_iter().next()?))).collect();
                Ok(self.carry_out(&plan, Intent { order, what: What::Flip { edits, to } })?)
            }
            Job::UndoCommit { order, commit, edits, to } => {
                let (plan, prepared) = commit_step::undo_plan(&self.tree, &commit)?;
                let prepared = Box::new(prepared);
                Ok(self.carry_out(&plan, Intent { order, what: What::UndoCommit { commit, edits, to, prepared } })?)
            }
        }
    }

    /// Takes back what could not be taken back when it failed (the disk may have room again), and brings the commits into
    /// the index that it could not take when they were made (its lock may be free again).
    fn finish_unfinished(&mut self) -> Result<(), Error> {
        if let Some(write) = self.unfinished.clone() {
            paird_edit::recover(&self.tree.root, &self.temp, &mut self.journal.load(&write)?)?;
            self.unfinished = None;
        }
        for write in std::mem::take(&mut self.behind) {
            let mut record = self.journal.load(&write)?;
            let intent = Intent::of(&record)?;
            let foreign = record.foreign().to_vec();
            if self.commit(&mut record, &intent, &foreign)?.behind.is_some() {
                self.behind.push(write);
            } else {
                record.finish()?;
            }
        }
        Ok(())
    }

    fn settle(&self, write: &RecordId) {
        if self.behind.contains(write) {
            return;
        }
        let done = self.journal.load(write).and_then(|mut record| record.finish());
        if let Err(error) = done {
            tracing::warn!(%write, %error, "a write record stays open");
        }
    }

    fn apply(&mut self, order: &Order, edits: &[EditEntry], scope: &Scope) -> Result<Landed, Refused> {
        let mut tries = CONFLICT_TRIES;
        loop {
            let Placed { plan, edits } = place(&self.tree, edits, scope)?;
            tries -= 1;
            match self.carry_out(&plan, Intent { order: order.clone(), what: What::Apply { edits } }) {
                // Somebody saved a file between the look and the exchange: look again, a few times.
                Err(Error::Write(paird_edit::WriteError::Conflict { .. })) if tries > 0 => {}
                result => return Ok(result?),
            }
        }
    }

    /// Journal, files, commit: the steps that a crash may interrupt anywhere.
    fn carry_out(&mut self, plan: &Plan, intent: Intent) -> Result<Landed, Error> {
        if plan.is_empty() && !matches!(intent.what, What::UndoCommit { .. }) {
            return Ok(Landed { write: None, intent, changes: Vec::new(), committed: Committed::default(), foreign: Vec::new() });
        }
        let mut record = self.write(plan, &intent)?;
        paird_base::fault::point("lane.written");
        let committed = self.commit(&mut record, &intent, &[])?;
        paird_base::fault::point("lane.committed");
        if committed.behind.is_some() {
            self.behind.push(record.id().clone());
        }
        Ok(Landed {
            write: Some(record.id().clone()),
            intent,
            changes: plan.changes().iter().map(|c| (c.path.clone(), line_changes(c))).collect(),
            committed,
            foreign: Vec::new(),
        })
    }

    fn write(&mut self, plan: &Plan, intent: &Intent) -> Result<Record, Error> {
        let meta = serde_json::to_value(intent).map_err(|source| super::log::LogError::Encode { source })?;
        let mut record = self.journal.begin(&self.tree.root, plan, meta)?;
        if let Err(error) = paird_edit::write(&self.tree.root, &self.temp, &mut record) {
            if matches!(error, paird_edit::WriteError::Unfinished { .. }) {
                self.unfinished = Some(record.id().clone());
            }
            return Err(error.into());
        }
        Ok(record)
    }

    /// What follows a write. An edit stays without its commit; files whose commit could not be taken back go back to what they were.
    fn commit(&mut self, record: &mut Record, intent: &Intent, foreign: &[RepoPath]) -> Result<Committed, Error> {
        let What::UndoCommit { prepared, .. } = &intent.what else {
            return Ok(commit_step::run(&self.tree, record, intent, foreign));
        };
        commit_step::undo(&self.tree, record, prepared).or_else(|error| {
            commit_step::give_up(record)?;
            let order = Order { session: None, turn: None, commit: None };
            let back = super::flip::restore(&self.tree, record)?;
            if !back.is_empty() {
                self.write(&back, &Intent { order, what: What::Flip { edits: Vec::new(), to: EditStatus::Applied } })?.finish()?;
            }
            record.finish()?;
            Err(error)
        })
    }

    /// Completes every job that a crash interrupted, oldest first.
    fn repair(&mut self, open: Vec<Record>) -> Result<Vec<Landed>, Error> {
        if self.tree.repository {
            self.tree.open_repo()?.recover_lock()?;
        }
        let mut landed = Vec::new();
        for mut record in open {
            match self.repair_one(&mut record) {
                Ok(done) => landed.extend(done),
                Err(error) => tracing::error!(write = %record.id(), error = %error.chain(), "an interrupted write could not be completed"),
            }
        }
        Ok(landed)
    }

    fn repair_one(&mut self, record: &mut Record) -> Result<Option<Landed>, Error> {
        let intent = Intent::of(record)?;
        let recovered = paird_edit::recover(&self.tree.root, &self.temp, record)?;
        if record.state() == State::RolledBack {
            return Ok(None);
        }
        let changes = record.changes()?;
        let committed = match self.commit(record, &intent, &recovered.foreign) {
            Ok(committed) => committed,
            // The files are what they were before the undo: nothing has happened that a session must know.
            Err(error) if !record.is_open() => {
                tracing::warn!(error = %error.chain(), "an interrupted undo of a commit was given up");
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        if committed.behind.is_some() {
            self.behind.push(record.id().clone());
        }
        let foreign: BTreeSet<_> = recovered.foreign.iter().collect();
        let changes = changes.iter().filter(|c| !foreign.contains(&c.path)).map(|c| (c.path.clone(), line_changes(c))).collect();
        let landed = Landed { write: Some(record.id().clone()), intent, changes, committed, foreign: recovered.foreign };
        if landed.intent.order.session.is_none() {
            if landed.committed.behind.is_none() {
                record.finish()?;
            }
            return Ok(None);
        }
        Ok(Some(landed))
    }
}
