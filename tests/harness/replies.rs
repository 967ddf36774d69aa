//! Replies of a model, as text and as lines of a replay file.

use serde_json::{Value, json};

/// A SEARCH/REPLACE block in a fence, whole lines without their last line break.
#[must_use]
pub fn block(path: &str, search: &str, replace: &str) -> String {
    let part = |text: &str| if text.is_empty() { String::new() } else { format!("{text}\n") };
    format!("{path}\n```\n<<<<<<< SEARCH\n{}=======\n{}>>>>>>> REPLACE\n```\n", part(search), part(replace))
}

/// A block that makes a new file.
#[must_use]
pub fn create(path: &str, text: &str) -> String {
    block(path, "", text)
}

/// A replay line that gives the reply at once.
#[must_use]
pub fn line(reply: &str) -> Value {
    json!({"reply": reply})
}

/// A replay line that gives the reply in small pieces with a wait before each.
#[must_use]
pub fn paced(reply: &str, chunk_bytes: usize, delay_ms: u64) -> Value {
    json!({"reply": reply, "chunkBytes": chunk_bytes, "delayMs": delay_ms})
}
