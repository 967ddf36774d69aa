use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use paird_base::limits::REPLY_BYTES_MAX;

/// Why a request has no reply. Messages come from the provider, shortened, without control characters and without keys.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    #[error("rate limited by the provider{}: {message}", asked(*retry_after))]
    RateLimited { retry_after: Option<Duration>, message: String },
    #[error("the account's quota is used up: {message}")]
    Quota { message: String },
    #[error("the provider refuses the key: {message}")]
    Auth { message: String },
    #[error("the provider does not know the model {model:?}: {message}")]
    NotFound { model: String, message: String },
    #[error("the provider refuses the request: {message}")]
    BadRequest { message: String },
    #[error("the request does not fit the model's context window: {message}")]
    ContextOverflow { message: String },
    /// `url` is the base URL without user, password and query.
    #[error("connect to {url}")]
    Connect { url: String, source: Arc<dyn std::error::Error + Send + Sync> },
    #[error("set up TLS: {reason}")]
    Tls { reason: String },
    /// The stream ended early, fell silent or could not be read.
    #[error("the reply broke off: {detail}")]
    Broken { detail: String },
    #[error("the provider answers with status {status}{}: {message}", asked(*retry_after))]
    Status { status: u16, message: String, retry_after: Option<Duration> },
    #[error("the reply is longer than {REPLY_BYTES_MAX} bytes")]
    TooLong,
    /// `line` counts from 1; `None` if the file as a whole is meant.
    #[error("replay file {}{}: {message}", path.display(), at_line(*line))]
    Replay { path: PathBuf, line: Option<usize>, message: String },
    #[error("no key for {service}: {env} is not set")]
    NoKey { service: &'static str, env: &'static str },
    #[error("unknown model {name:?}: {reason}")]
    UnknownModel { name: String, reason: String },
    #[error("base URL {url:?}: {reason}")]
    BaseUrl { url: String, reason: String },
}

impl Error {
    /// Whether the same request may succeed later, unchanged.
    #[must_use]
    pub const fn retryable(&self) -> bool {
        match self {
            Self::RateLimited { .. } | Self::Connect { .. } | Self::Broken { .. } => true,
            Self::Status { status, .. } => matches!(status, 408 | 409 | 425 | 500..=599),
            Self::Tls { .. }
            | Self::Quota { .. }
            | Self::Auth { .. }
            | Self::NotFound { .. }
            | Self::BadRequest { .. }
            | Self::ContextOverflow { .. }
            | Self::TooLong
            | Self::Replay { .. }
            | Self::NoKey { .. }
            | Self::UnknownModel { .. }
            | Self::BaseUrl { .. } => false,
        }
    }

    /// The wait that the provider asked for.
    #[must_use]
    pub const fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::RateLimited { retry_after, .. } | Self::Status { retry_after, .. } => *retry_after,
            _ => None,
        }
    }

    /// What the person can do about it.
    #[must_use]
    pub fn hint(&self) -> String {
        match self {
            Self::RateLimited { retry_after: Some(wait), .. } => format!("try again in {}, or use another model", words(*wait)),
            Self::RateLimited { retry_after: None, .. } => "try again later, or use another model".to_owned(),
            Self::Quota { .. } => "add credit to the account, or use another model".to_owned(),
            Self::Auth { .. } => "check the key and what it is allowed to use".to_owned(),
            Self::NotFound { .. } => "check the model's name and the base URL".to_owned(),
            Self::BadRequest { .. } => "the message says what the provider dislikes; another model may take it".to_owned(),
            Self::ContextOverflow { .. } => "drop files from the chat, clear the history, or use a model with a larger window".to_owned(),
            Self::Connect { .. } => "check the network and the base URL, and that a local server is running".to_owned(),
            Self::Tls { .. } => "install the system's CA certificates (ca-certificates)".to_owned(),
            Self::Broken { .. } | Self::Status { .. } => "try again; if it stays, look at the provider's status page".to_owned(),
            Self::TooLong => "ask for less at once".to_owned(),
            Self::Replay { .. } => {
                "mend the replay file; each line is one JSON object {reply, role?, reasoning?, usage?, chunkBytes?, delayMs?, error?}"
                    .to_owned()
            }
            Self::NoKey { env, .. } => format!("set {env} in the environment of the daemon or pass it from the client (initialize.env)"),
            Self::UnknownModel { .. } => "name a model as provider/name, or replay:PATH".to_owned(),
            Self::BaseUrl { .. } => "give a URL such as http://127.0.0.1:8080/v1".to_owned(),
        }
    }

    /// The message with its causes, in one line.
    #[must_use]
    pub fn with_causes(&self) -> String {
        let words: Vec<String> = causes(self).map(ToString::to_string).collect();
        words.join(": ")
    }

    /// Takes secrets out of what the provider said; some echo the key that they refuse.
    pub(crate) fn without(mut self, secrets: &[&str]) -> Self {
        if let Self::RateLimited { message, .. }
        | Self::Quota { message }
        | Self::Auth { message }
        | Self::NotFound { message, .. }
        | Self::BadRequest { message }
        | Self::ContextOverflow { message }
        | Self::Broken { detail: message }
        | Self::Status { message, .. } = &mut self
        {
            for secret in secrets.iter().filter(|secret| !secret.is_empty()) {
                *message = message.replace(secret, "[secret]");
            }
        }
        self
    }
}

/// An error and its causes, outermost first.
pub(crate) fn causes<'a>(error: &'a (dyn std::error::Error + 'static)) -> impl Iterator<Item = &'a (dyn std::error::Error + 'static)> {
    std::iter::successors(Some(error), |error| error.source())
}

fn asked(retry_after: Option<Duration>) -> String {
    retry_after.map_or_else(String::new, |wait| format!(", which asks to wait {}", words(wait)))
}

fn at_line(line: Option<usize>) -> String {
    line.map_or_else(String::new, |line| format!(", line {line}"))
}

/// A wait in the two largest units that say something.
fn words(wait: Duration) -> String {
    let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
    match (seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60, seconds % 60) {
        (0, 0, 0, s) => format!("{s} s"),
        (0, 0, m, s) => format!("{m} min {s} s"),
        (0, h, m, _) => format!("{h} h {m} min"),
        (d, h, _, _) => format!("{d} d {h} h"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_wait_is_told_in_days() {
        let error = Error::RateLimited { retry_after: Some(Duration::from_secs(400_000)), message: "weekly limit".to_owned() };
        assert_eq!(error.to_string(), "rate limited by the provider, which asks to wait 4 d 15 h: weekly limit");
        assert_eq!(error.hint(), "try again in 4 d 15 h, or use another model");
    }

    #[test]
    fn secrets_are_cut_out() {
        let error = Error::Auth { message: "bad key sk-123 and sk-123".to_owned() }.without(&["sk-123", ""]);
        assert_eq!(error.to_string(), "the provider refuses the key: bad key [secret] and [secret]");
    }
}
