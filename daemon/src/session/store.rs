//! Every session of the daemon: found by id, read from its log when it is first asked for.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use dashmap::DashMap;
use futures_util::future::join_all;
use paird_base::RepoPath;
use paird_base::limits::{SESSIONS_MAX, STOP_TIMEOUT};
use tokio::sync::Mutex;

use super::entry::Entry;
use super::error::Error;
use super::events::Happening;
use super::ids::{EditId, QuestionId, SessionId, TurnId};
use super::job::Landed;
use super::log::{LogError, Logged, SessionLog};
use super::owner::{Owner, Session, Shared};
use super::settings::Settings;
use super::state::SessionState;

/// The registry. Ids of turns, edits and questions are looked up here too, so that a client need not say whose they are.
#[derive(Clone)]
pub struct Sessions {
    shared: Shared,
    dir: Arc<PathBuf>,
    loaded: Arc<DashMap<SessionId, Session>>,
    /// One at a time reads a log, so that no session gets two owners.
    loading: Arc<Mutex<()>>,
}

impl Sessions {
    /// Opens the directory of logs, and tells the sessions what the write lane repaired.
    pub async fn open(shared: Shared, state_dir: &std::path::Path, repaired: Vec<Landed>) -> Result<Self, Error> {
        let dir = state_dir.join("sessions");
        std::fs::create_dir_all(&dir).map_err(|source| LogError::Io { doing: "make the directory of", path: dir.clone(), source })?;
        let sessions = Self { shared, dir: Arc::new(dir), loaded: Arc::default(), loading: Arc::default() };
        for landed in repaired {
            let Some(id) = landed.intent.order.session.clone() else { continue };
            sessions.load(&id, vec![landed]).await?;
        }
        // A session goes on from where a crash left it when its log is read; the socket need not wait for that.
        let unread = sessions.clone();
        tokio::spawn(async move {
            if let Err(error) = unread.all().await {
                tracing::warn!(error = %error.chain(), "the sessions cannot be listed");
            }
        });
        Ok(sessions)
    }

    /// Starts a session with its first log entry.
    pub async fn create(&self, settings: Settings, files: Vec<RepoPath>, read_only: Vec<RepoPath>) -> Result<Session, Error> {
        if self.ids()?.len() >= SESSIONS_MAX {
            return Err(Error::Overloaded { what: "sessions" });
        }
        let session = SessionId::fresh();
        let mut log = SessionLog::create(&self.path(&session))?;
        let at_ms = self.shared.clock.unix_ms();
        let entry = Entry::Created { session: session.clone(), settings, files, read_only };
        log.append(at_ms, &entry)?;
        let state = SessionState::created(&Logged { at_ms, entry }).ok_or(Error::Interrupted)?;
        let handle = Session::start(self.shared.clone(), state, log, Vec::new());
        self.loaded.insert(session, handle.clone());
        Ok(handle)
    }

    pub async fn get(&self, id: &SessionId) -> Result<Session, Error> {
        if let Some(session) = self.loaded.get(id) {
            return Ok(session.clone());
        }
        self.load(id, Vec::new()).await
    }

    async fn load(&self, id: &SessionId, repaired: Vec<Landed>) -> Result<Session, Error> {
        let _one = self.loading.lock().await;
        if let Some(session) = self.loaded.get(id).map(|s| s.clone()) {
            for landed in repaired {
                session.call(|owner| owner.land(landed)).await?;
            }
            return Ok(session);
        }
        let not_there = || Error::NotFound { what: "session", id: id.to_string() };
        if !id.0.bytes().all(|b| b.is_ascii_alphanumeric()) || !self.path(id).exists() {
            return Err(not_there());
        }
        let (log, entries, damage) = SessionLog::open(&self.path(id))?;
        let state = SessionState::from_log(&entries).ok_or_else(not_there)?;
        for damage in &damage {
            tracing::warn!(session = %id, damage, "a session log was damaged");
            let message = format!("the log of session {id} was damaged: {damage}");
            self.shared.events.publish(Some(id), None, Happening::Notice { message });
        }
        let session = Session::start(self.shared.clone(), state, log, repaired);
        self.loaded.insert(id.clone(), session.clone());
        Ok(session)
    }

    /// Every session. One whose log cannot be read is left out, with a line in the daemon's log.
    pub async fn all(&self) -> Result<Vec<Session>, Error> {
        let mut sessions = Vec::new();
        for id in self.ids()? {
            match self.get(&id).await {
                Ok(session) => sessions.push(session),
                Err(error) => tracing::warn!(session = %id, error = %error.chain(), "a session cannot be read"),
            }
        }
        Ok(sessions)
    }

    /// How many there are, read or not.
    pub fn count(&self) -> usize {
        self.ids().map_or(0, |ids| ids.len())
    }

    /// Those that are in memory.
    #[must_use]
    pub fn in_memory(&self) -> Vec<Session> {
        self.loaded.iter().map(|s| s.clone()).collect()
    }

    pub async fn delete(&self, id: &SessionId) -> Result<(), Error> {
        let session = self.get(id).await?;
        session.call(Owner::delete).await??;
        self.loaded.remove(id);
        Ok(())
    }

    pub async fn of_turn(&self, turn: &TurnId) -> Result<Session, Error> {
        let id = turn.clone();
        self.find("turn", &turn.0, move |state| state.turn(&id).is_some()).await
    }

    pub async fn of_edit(&self, edit: &EditId) -> Result<Session, Error> {
        let id = edit.clone();
        self.find("edit", &edit.0, move |state| state.edit(&id).is_some()).await
    }

    pub async fn of_question(&self, question: &QuestionId) -> Result<Session, Error> {
        let id = question.clone();
        self.find("open question", &question.0, move |state| state.questions.iter().any(|q| q.id == id)).await
    }

    pub async fn of_commit(&self, hash: &str) -> Result<Session, Error> {
        let wanted = hash.to_owned();
        self.find("commit of paird", hash, move |state| state.commits.iter().any(|made| made.commit.hash == wanted)).await
    }

    /// The commits that sessions have made, those of the person's own changes among them, which nothing in them tells.
    pub async fn commits(&self) -> Result<BTreeSet<String>, Error> {
        let mut hashes = BTreeSet::new();
        for session in self.all().await? {
            hashes.extend(session.call(|o| o.state.commits.iter().map(|made| made.commit.hash.clone()).collect::<Vec<_>>()).await?);
        }
        Ok(hashes)
    }

    /// The session that fits: those in memory first, then the rest.
    async fn find(
        &self,
        what: &'static str,
        id: &str,
        fits: impl Fn(&SessionState) -> bool + Clone + Send + 'static,
    ) -> Result<Session, Error> {
        for session in self.in_memory().into_iter().chain(self.all().await?) {
            let fits = fits.clone();
            if session.call(move |owner| fits(&owner.state)).await? {
                return Ok(session);
            }
        }
        Err(Error::NotFound { what, id: id.to_owned() })
    }

    /// Whether a turn runs or waits, or a question is open, in any session that is in memory.
    pub async fn any_needed(&self) -> bool {
        for session in self.in_memory() {
            if session.call(|o| o.is_busy() || !o.state.questions.is_empty()).await.unwrap_or(false) {
                return true;
            }
        }
        false
    }

    /// Ends every turn, for a daemon that stops, and waits for their ends up to [`STOP_TIMEOUT`]. A write in progress is
    /// finished by the write lane.
    pub async fn cancel_all(&self) {
        let mut ending = Vec::new();
        for session in self.in_memory() {
            let stopped =
                session.call(|o| o.stop_turns().map(|turns| turns.iter().filter_map(|t| o.waiter(t).ok()?.1).collect::<Vec<_>>()));
            match stopped.await {
                Ok(Ok(turns)) => ending.extend(turns),
                Ok(Err(error)) | Err(error) => tracing::warn!(session = %session.id, error = %error.chain(), "a turn was not ended"),
            }
        }
        // Over time: the log says that a turn was interrupted, which the next start finds.
        if tokio::time::timeout(STOP_TIMEOUT, join_all(ending)).await.is_err() {
            tracing::warn!("not every turn has ended");
        }
    }

    fn ids(&self) -> Result<Vec<SessionId>, Error> {
        let fail = |source| LogError::Io { doing: "list", path: (*self.dir).clone(), source };
        let mut ids = Vec::new();
        for file in std::fs::read_dir(&*self.dir).map_err(fail)? {
            let name = file.map_err(fail)?.file_name();
            if let Some(id) = name.to_str().and_then(|n| n.strip_suffix(".jsonl")) {
                ids.push(SessionId(id.to_owned()));
            }
        }
        ids.sort();
        Ok(ids)
    }

    fn path(&self, id: &SessionId) -> PathBuf {
        self.dir.join(format!("{id}.jsonl"))
    }
}
