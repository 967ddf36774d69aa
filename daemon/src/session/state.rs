//! A session as a value: what its log says, folded. Live changes and a restart go through the same fold.

use std::collections::{BTreeMap, VecDeque};

use paird_base::RepoPath;
use paird_base::limits::TURNS_KEPT;
use paird_edit::RecordId;
use paird_provider::Cursor;
use serde::{Deserialize, Serialize};

use super::entry::{Commit, EditEntry, EditStatus, Entry, Report, Selection};
use super::ground::Grounds;
use super::ids::{EditId, SessionId, TurnId};
use super::log::Logged;
use super::question::{About, Question};
use super::settings::Settings;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnPhase {
    Queued,
    Running,
    /// A question of the turn is open.
    Waiting,
    Finished,
}

/// One turn, from the user's message to its report.
#[derive(Debug, Clone, PartialEq)]
pub struct Turn {
    pub id: TurnId,
    pub text: String,
    pub selection: Option<Selection>,
    pub started: bool,
    /// Whole replies of its requests, in order.
    pub replies: usize,
    pub report: Option<Report>,
}

/// One request and its reply, as the next request shows them to the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exchange {
    pub turn: TurnId,
    pub asked: String,
    pub reply: String,
    pub stop: String,
    pub shown: Grounds,
}

/// A commit of the session, with what it made of its turn's edits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Made {
    pub turn: Option<TurnId>,
    pub commit: Commit,
    pub status: EditStatus,
}

#[derive(Debug, Clone, PartialEq)]
pub struct SessionState {
    pub id: SessionId,
    pub settings: Settings,
    /// In the order they were added, which is the order the model sees.
    pub files: Vec<RepoPath>,
    pub read_only: Vec<RepoPath>,
    pub turns: VecDeque<Turn>,
    pub turns_ever: u64,
    pub edits: Vec<EditEntry>,
    pub questions: Vec<Question>,
    /// What was answered in the turn that runs.
    pub answered: Vec<(About, String)>,
    pub history: Vec<Exchange>,
    /// What the next request has to tell the model.
    pub notes: Vec<String>,
    pub commits: Vec<Made>,
    /// For each replay file, which of its lines were used.
    pub replayed: BTreeMap<String, Cursor>,
    pub title: String,
    pub closed: bool,
    pub created_ms: u64,
    pub used_ms: u64,
}

impl SessionState {
    /// The state that a log tells; `None` if it lacks its first entry.
    #[must_use]
    pub fn from_log(entries: &[Logged]) -> Option<Self> {
        let (first, rest) = entries.split_first()?;
        let mut state = Self::created(first)?;
        for logged in rest {
            state.apply(logged);
        }
        Some(state)
    }

    /// The state after the first entry.
    #[must_use]
    pub fn created(first: &Logged) -> Option<Self> {
        let Entry::Created { session, settings, files, read_only } = &first.entry else {
            return None;
        };
        Some(Self {
            id: session.clone(),
            settings: settings.clone(),
            files: files.clone(),
            read_only: read_only.clone(),
            turns: VecDeque::new(),
            turns_ever: 0,
            edits: Vec::new(),
            questions: Vec::new(),
            answered: Vec::new(),
            history: Vec::new(),
            notes: Vec::new(),
            commits: Vec::new(),
            replayed: BTreeMap::new(),
            title: String::new(),
            closed: false,
            created_ms: first.at_ms,
            used_ms: first.at_ms,
        })
    }

    /// Takes one entry in. Entries about things that are not there change nothing.
    pub fn apply(&mut self, logged: &Logged) {
        self.used_ms = self.used_ms.max(logged.at_ms);
        match &logged.entry {
            Entry::Created { .. } => {}
            Entry::Configured { settings } => self.settings = settings.clone(),
            Entry::Context { files, read_only } => {
                self.files = files.clone();
                self.read_only = read_only.clone();
            }
            Entry::Prompted { turn, text, selection } => self.prompted(turn, text, selection.as_ref()),
            Entry::Started { turn } => {
                self.notes.clear();
                self.answered.clear();
                if let Some(turn) = self.turn_mut(turn) {
                    turn.started = true;
                }
            }
            Entry::Replied { turn: replied, asked, text, stop, shown, .. } => {
                let (turn, asked, reply, stop) = (replied.clone(), asked.clone(), text.clone(), stop.clone());
                self.history.push(Exchange { turn, asked, reply, stop, shown: shown.clone() });
                if let Some(turn) = self.turn_mut(replied) {
                    turn.replies += 1;
                }
            }
            Entry::Replayed { path, cursor } => {
                self.replayed.insert(path.clone(), cursor.clone());
            }
            Entry::Edits { edits } => self.edits.extend(edits.iter().cloned()),
            Entry::Narrowed { edit, hunks, blocks, ground } => {
                if let Some(edit) = self.edits.iter_mut().find(|e| e.id == *edit) {
                    edit.hunks.clone_from(hunks);
                    edit.blocks.clone_from(blocks);
                    edit.ground = *ground;
                }
            }
            Entry::EditsAre { edits, status, write } => self.set_status(edits, *status, write.as_ref()),
            Entry::Committed { turn, commits, made } => {
                for commit in commits.iter().filter(|commit| !commit.dirty) {
                    let holds = |e: &&mut EditEntry| e.turn == *turn && e.status == *made && commit.paths.contains(&e.path);
                    let hash = (*made == EditStatus::Applied).then(|| commit.hash.clone());
                    self.edits.iter_mut().filter(holds).for_each(|edit| edit.commit.clone_from(&hash));
                }
                self.commits.extend(commits.iter().map(|commit| Made { turn: turn.clone(), commit: commit.clone(), status: *made }));
            }
            Entry::CommitUndone { commit } => {
                self.edits.iter_mut().filter(|e| e.commit.as_deref() == Some(&commit.hash)).for_each(|edit| edit.commit = None);
                self.commits.retain(|made| made.commit.hash != commit.hash);
            }
            Entry::Asked { question } => self.questions.push(question.clone()),
            Entry::Answered { question, option } => {
                if let Some(at) = self.questions.iter().position(|q| q.id == *question) {
                    self.answered.push((self.questions.remove(at).about, option.clone()));
                }
            }
            Entry::Note { text } => self.notes.push(text.clone()),
            Entry::Finished { turn, report } => self.finished(turn, report),
            Entry::Cleared => {
                self.history.clear();
                self.notes.clear();
            }
            Entry::Closed => self.closed = true,
        }
    }

    fn prompted(&mut self, id: &TurnId, text: &str, selection: Option<&Selection>) {
        if self.title.is_empty() {
            self.title = text.lines().next().unwrap_or("").chars().take(80).collect();
        }
        self.closed = false;
        self.turns_ever += 1;
        self.turns.push_back(Turn {
            id: id.clone(),
            text: text.to_owned(),
            selection: selection.cloned(),
            started: false,
            replies: 0,
            report: None,
        });
        while self.turns.len() > TURNS_KEPT && self.turns.front().is_some_and(|t| t.report.is_some()) {
            self.turns.pop_front();
        }
    }

    fn finished(&mut self, id: &TurnId, report: &Report) {
        if let Some(turn) = self.turn_mut(id) {
            turn.started = true;
            turn.report = Some(report.clone());
        }
    }

    fn set_status(&mut self, ids: &[EditId], status: EditStatus, write: Option<&RecordId>) {
        for edit in self.edits.iter_mut().filter(|e| ids.contains(&e.id)) {
            edit.status = status;
            if write.is_some() {
                edit.write = write.cloned();
            }
            if status != EditStatus::Proposed {
                // The write record holds the file before and after; the blocks are for proposals only.
                edit.blocks = Vec::new();
            }
        }
    }

    fn turn_mut(&mut self, id: &TurnId) -> Option<&mut Turn> {
        self.turns.iter_mut().find(|t| t.id == *id)
    }

    #[must_use]
    pub fn turn(&self, id: &TurnId) -> Option<&Turn> {
        self.turns.iter().find(|t| t.id == *id)
    }

    /// The turn that was started and is not finished.
    #[must_use]
    pub fn running(&self) -> Option<&Turn> {
        self.turns.iter().find(|t| t.started && t.report.is_none())
    }

    #[must_use]
    pub fn next_queued(&self) -> Option<&Turn> {
        self.turns.iter().find(|t| !t.started && t.report.is_none())
    }

    #[must_use]
    pub fn phase(&self, turn: &Turn) -> TurnPhase {
        if turn.report.is_some() {
            TurnPhase::Finished
        } else if !turn.started {
            TurnPhase::Queued
        } else if self.questions.iter().any(|q| q.turn.as_ref() == Some(&turn.id)) {
            TurnPhase::Waiting
        } else {
            TurnPhase::Running
        }
    }

    #[must_use]
    pub fn edit(&self, id: &EditId) -> Option<&EditEntry> {
        self.edits.iter().find(|e| e.id == *id)
    }
}
