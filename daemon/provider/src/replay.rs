//! Replies from a file of JSON Lines, so that everything but a model can be tested and shown.
//!
//! Each try of a request takes the first unused line of its role; a line with `error` plays a refusal, and the retry it
//! may cause takes the next line. When no line is left for a retry, the refusal is the result.

mod line;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use self::line::Line;
use crate::classify::classify;
use crate::drive::{Attempt, Outlet, drive};
use crate::{Error, Finish, Provider, ReplyEvent, ReplyStream, Request, Role, StopReason, channel};

/// What the weak model replies when the file has no line for it: it serves as the subject of a commit.
/// The editor model replies nothing.
pub const WEAK_DEFAULT: &str = "Apply edits";

/// Which lines of a replay file are used. One belongs to each (session, path); save it to go on after a restart.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Cursor {
    /// Line numbers, from 1.
    used: BTreeSet<usize>,
}

/// Plays the replies of a file. Clones share the cursor.
#[derive(Debug, Clone)]
pub struct Replay {
    path: Arc<Path>,
    cursor: Arc<Mutex<Cursor>>,
}

impl Replay {
    /// A replay from the first line. The file is read at each request, so it may grow, or come later.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into().into(), cursor: Arc::default() }
    }

    /// A replay from the first line of a file that is there and has no fault.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, Error> {
        let replay = Self::new(path);
        line::read(&replay.path)?;
        Ok(replay)
    }

    /// The same, going on where a saved cursor stands.
    #[must_use]
    pub fn with_cursor(self, cursor: Cursor) -> Self {
        Self { cursor: Arc::new(Mutex::new(cursor)), ..self }
    }

    /// Where it stands. A request's first line counts as used when [`Provider::start`] returns, that of a retry when the
    /// retry begins.
    #[must_use]
    pub fn cursor(&self) -> Cursor {
        self.lock().clone()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Cursor> {
        self.cursor.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The answer to one try: the first unused line of the role, which is then used, else the role's default.
    fn take(&self, lines: &[(usize, Line)], role: Role) -> Result<Line, Error> {
        let mut cursor = self.lock();
        if let Some((number, line)) = lines.iter().find(|(number, line)| line.role == role && !cursor.used.contains(number)) {
            cursor.used.insert(*number);
            return Ok(line.clone());
        }
        match role {
            Role::Weak => Ok(Line::plain(WEAK_DEFAULT.to_owned(), role)),
            Role::Editor => Ok(Line::plain(String::new(), role)),
            Role::Main => {
                let count = lines.iter().filter(|(_, line)| line.role == role).count();
                let message = format!("no line is left for the main model; {count} of its lines are used");
                Err(Error::Replay { path: self.path.to_path_buf(), line: None, message })
            }
        }
    }

    fn begin(&self, role: Role) -> Result<Playing, Error> {
        let lines = line::read(&self.path)?;
        let first = self.take(&lines, role)?;
        Ok(Playing { replay: self.clone(), lines, role, next: Some(first) })
    }
}

impl Provider for Replay {
    /// Reads the file and takes the line before it returns, so that requests take lines in the order they are started.
    fn start(&self, request: Request) -> ReplyStream {
        let (events, stream) = channel();
        match self.begin(request.role) {
            Ok(playing) => {
                tokio::spawn(drive(playing, events));
            }
            // The queue of a new stream has room.
            Err(error) => drop(events.try_send(ReplyEvent::Failed(error))),
        }
        stream
    }
}

/// A request in progress.
struct Playing {
    replay: Replay,
    lines: Vec<(usize, Line)>,
    role: Role,
    /// The first try's line, taken when the request was started.
    next: Option<Line>,
}

impl Attempt for Playing {
    async fn run(&mut self, outlet: &mut Outlet) -> Result<Finish, Error> {
        let line = match self.next.take() {
            Some(line) => line,
            None => self.replay.take(&self.lines, self.role)?,
        };
        if let Some(refusal) = &line.error {
            return Err(classify(Some(refusal.status), refusal.retry_after(), "played by the replay file", "replay"));
        }
        let delay = Duration::from_millis(line.delay_ms);
        let bytes = line.chunk_bytes.map_or(usize::MAX, std::num::NonZero::get);
        for piece in pieces(line.reasoning.as_deref().unwrap_or(""), bytes) {
            wait(delay).await;
            outlet.reasoning(piece.to_owned()).await?;
        }
        for piece in pieces(line.reply.as_deref().unwrap_or(""), bytes) {
            wait(delay).await;
            outlet.text(piece.to_owned()).await?;
        }
        Ok(Finish { stop: StopReason::Stop, usage: line.usage })
    }

    fn again(&self) -> bool {
        let cursor = self.replay.lock();
        self.role != Role::Main || self.lines.iter().any(|(number, line)| line.role == self.role && !cursor.used.contains(number))
    }
}

/// Pieces of at most `bytes` bytes, each of whole characters and at least one.
fn pieces(text: &str, bytes: usize) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?.len_utf8();
        let end = (first..=rest.len().min(bytes.max(first))).rev().find(|end| rest.is_char_boundary(*end)).unwrap_or(first);
        let (piece, tail) = rest.split_at(end);
        rest = tail;
        Some(piece)
    })
}

/// A timer's shortest sleep is a millisecond, which a reply of many chunks must not pay for no delay at all.
async fn wait(delay: Duration) {
    if !delay.is_zero() {
        tokio::time::sleep(delay).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_whole_characters() {
        assert_eq!(pieces("aé→b", 2).collect::<Vec<_>>(), ["a", "é", "→", "b"]);
        assert_eq!(pieces("aé→b", 3).collect::<Vec<_>>(), ["aé", "→", "b"]);
        assert_eq!(pieces("abc", usize::MAX).collect::<Vec<_>>(), ["abc"]);
        assert_eq!(pieces("", 1).count(), 0);
    }
}
