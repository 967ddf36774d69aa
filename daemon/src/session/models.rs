//! Which provider a model's name means, with the keys that the asking client or the daemon's environment has.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use dashmap::DashMap;
use paird_base::Secret;
use paird_provider::{Cursor, Http, Message, ModelRef, OpenAi, Provider, Replay, Request, Role};

use super::error::Error;
use super::ids::SessionId;

/// The model of a turn, ready to be asked.
pub struct Model {
    pub provider: Arc<dyn Provider>,
    /// As the person wrote it, for the commit's trailer.
    pub label: String,
    pub name: String,
    pub replayed: Option<Replayed>,
}

/// A replay file of a session: where it stands goes into the session's log.
pub struct Replayed {
    pub path: String,
    pub replay: Replay,
}

impl Model {
    #[must_use]
    pub fn request(&self, messages: Vec<Message>) -> Request {
        Request { messages, model: self.name.clone(), max_output: None, temperature: Some(0.0), role: Role::Main }
    }
}

/// One for the daemon.
pub struct Models {
    http: Http,
    /// Relative replay paths start here.
    root: PathBuf,
    /// Of the daemon's own environment, names ending in `_API_KEY` and `_API_BASE`.
    env: BTreeMap<String, Secret<String>>,
    replays: DashMap<(SessionId, String), Replay>,
}

impl Models {
    pub fn new(root: PathBuf, env: impl Iterator<Item = (String, String)>) -> Result<Self, Error> {
        let env = env.filter(|(name, _)| is_key_name(name)).map(|(name, value)| (name, Secret::new(value))).collect();
        Ok(Self { http: Http::default(), root, env, replays: DashMap::new() })
    }

    /// Checks that a name is a model's name. Whether there is a key for it is seen when it is asked.
    pub fn check_name(name: &str) -> Result<(), Error> {
        ModelRef::parse(name).map(drop).map_err(|error| Error::Invalid {
            message: error.to_string(),
            hint: "a model is named PROVIDER/NAME, NAME alone for OpenAI's, or replay:PATH",
        })
    }

    /// The session's model. What the client brought goes before the daemon's own environment.
    pub fn open(
        &self,
        session: &SessionId,
        model: Option<&str>,
        brought: &BTreeMap<String, Secret<String>>,
        cursors: &BTreeMap<String, Cursor>,
    ) -> Result<Model, Error> {
        let label = model.ok_or(Error::NoModel)?;
        let parsed = ModelRef::parse(label)?;
        let lookup = |name: &str| brought.get(name).or_else(|| self.env.get(name)).map(|value| value.expose().clone());
        let name = parsed.model_name().to_owned();
        if let Some(endpoint) = parsed.endpoint_for(&lookup)? {
            let provider: Arc<dyn Provider> = Arc::new(OpenAi::new(endpoint, self.http.clone()));
            return Ok(Model { provider, label: label.to_owned(), name, replayed: None });
        }
        let ModelRef::Replay { path } = parsed else {
            return Err(Error::NoModel);
        };
        let path = self.root.join(path).to_string_lossy().into_owned();
        let key = (session.clone(), path.clone());
        // One cursor for each session and file: found in memory, or as the session's log has it.
        let replay = self
            .replays
            .entry(key)
            .or_insert_with(|| Replay::new(&path).with_cursor(cursors.get(&path).cloned().unwrap_or_default()))
            .clone();
        Ok(Model { provider: Arc::new(replay.clone()), label: label.to_owned(), name, replayed: Some(Replayed { path, replay }) })
    }
}

/// The names that a client may bring, and that are looked up: keys and base URLs, nothing else of an environment.
#[must_use]
pub fn is_key_name(name: &str) -> bool {
    name.ends_with("_API_KEY") || name.ends_with("_API_BASE")
}
