use std::num::NonZeroUsize;
use std::path::Path;
use std::time::Duration;

use paird_base::limits::REPLAY_FILE_BYTES_MAX;
use serde::Deserialize;

use crate::{Error, Role, Usage};

/// One request's answer.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Line {
    /// Needed unless `error` stands in its place.
    #[serde(default)]
    pub(super) reply: Option<String>,
    #[serde(default = "main")]
    pub(super) role: Role,
    #[serde(default)]
    pub(super) reasoning: Option<String>,
    #[serde(default)]
    pub(super) usage: Option<Usage>,
    /// Bytes of one delta; the whole reply is one without it.
    #[serde(default)]
    pub(super) chunk_bytes: Option<NonZeroUsize>,
    /// Milliseconds of wait before each delta.
    #[serde(default)]
    pub(super) delay_ms: u64,
    #[serde(default)]
    pub(super) error: Option<Refusal>,
}

/// An HTTP status that is played instead of a reply.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Refusal {
    pub(super) status: u16,
    /// Seconds.
    #[serde(default)]
    retry_after: Option<f64>,
}

const fn main() -> Role {
    Role::Main
}

impl Refusal {
    pub(super) fn retry_after(&self) -> Option<Duration> {
        Duration::try_from_secs_f64(self.retry_after?).ok()
    }
}

impl Line {
    /// A reply without a line in the file.
    pub(super) const fn plain(reply: String, role: Role) -> Self {
        Self { reply: Some(reply), role, reasoning: None, usage: None, chunk_bytes: None, delay_ms: 0, error: None }
    }

    fn parse(text: &str) -> Result<Self, String> {
        let line: Self = serde_json::from_str(text).map_err(|error| {
            // The parser counts lines in a text that is one line.
            let said = error.to_string();
            said.split(" at line ").next().unwrap_or(&said).to_owned()
        })?;
        match &line.error {
            None if line.reply.is_none() => return Err("missing field `reply`".to_owned()),
            Some(refusal) if !(400..600).contains(&refusal.status) => {
                return Err(format!("error.status is 400 to 599, not {}", refusal.status));
            }
            Some(refusal) if refusal.retry_after.is_some() && refusal.retry_after().is_none() => {
                return Err("error.retryAfter is not a number of seconds".to_owned());
            }
            _ => {}
        }
        Ok(line)
    }
}

/// Reads the whole file; lines come with their number, from 1. Blank lines are skipped.
pub(super) fn read(path: &Path) -> Result<Vec<(usize, Line)>, Error> {
    let fail = |line, message: String| Error::Replay { path: path.to_owned(), line, message };
    // Anything but a file of a sensible size could hold the caller up.
    let meta = std::fs::metadata(path).map_err(|error| fail(None, error.to_string()))?;
    if !meta.is_file() || meta.len() > REPLAY_FILE_BYTES_MAX {
        return Err(fail(None, format!("not a file of at most {REPLAY_FILE_BYTES_MAX} bytes")));
    }
    let text = std::fs::read_to_string(path).map_err(|error| fail(None, error.to_string()))?;
    let numbered = text.lines().enumerate().map(|(index, line)| (index + 1, line)).filter(|(_, line)| !line.trim().is_empty());
    numbered.map(|(number, line)| Line::parse(line).map(|line| (number, line)).map_err(|message| fail(Some(number), message))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_are_refused() {
        for (text, expected) in [
            ("{}", "missing field `reply`"),
            (r#"{"reply":"x","chunkBytes":0}"#, "invalid value: integer `0`, expected a nonzero usize"),
            (r#"{"reply":"x","role":"boss"}"#, "unknown variant `boss`, expected one of `main`, `weak`, `editor`"),
            (
                r#"{"reply":"x","usage":{"tokens":1}}"#,
                "unknown field `tokens`, expected one of `input`, `output`, `cachedRead`, `cachedWrite`, `reasoning`",
            ),
            (r#"{"error":{"status":200}}"#, "error.status is 400 to 599, not 200"),
            (r#"{"error":{"status":429,"retryAfter":-1}}"#, "error.retryAfter is not a number of seconds"),
            ("nonsense", "expected ident"),
        ] {
            assert_eq!(Line::parse(text).unwrap_err(), expected, "{text}");
        }
        assert!(Line::parse(r#"{"reply":"x","chunk_bytes":1}"#).unwrap_err().starts_with("unknown field `chunk_bytes`"));
    }

    #[test]
    fn every_member() {
        let text = r#"{"reply":"x","role":"weak","reasoning":"r","usage":{"input":1},"chunkBytes":3,"delayMs":4,"error":{"status":429,"retryAfter":1.5}}"#;
        let line = Line::parse(text).unwrap();
        assert_eq!((line.role, line.delay_ms, line.error.unwrap().retry_after()), (Role::Weak, 4, Some(Duration::from_millis(1500))));
    }
}
