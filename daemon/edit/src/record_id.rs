use std::fmt;

use serde::{Deserialize, Serialize};

/// A write's name: the time it began, as 13 digits of Unix milliseconds, and six random letters. Sorts by time.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RecordId(String);

const MS_DIGITS: usize = 13;
const LETTERS: usize = 6;

impl RecordId {
    pub(crate) fn new(unix_ms: u64) -> Self {
        Self(format!("{unix_ms:0MS_DIGITS$}-{}", paird_base::random_id(LETTERS)))
    }

    /// `None` for anything that [`RecordId`] would not have named, so that no client's text becomes a file name.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (ms, letters) = text.split_once('-')?;
        let well_formed = ms.len() == MS_DIGITS
            && ms.bytes().all(|b| b.is_ascii_digit())
            && letters.len() == LETTERS
            && letters.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
        well_formed.then(|| Self(text.to_owned()))
    }

    /// When the write began, in milliseconds since the Unix epoch.
    #[must_use]
    pub fn unix_ms(&self) -> u64 {
        self.0.split('-').next().and_then(|ms| ms.parse().ok()).unwrap_or(0)
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RecordId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<RecordId> for String {
    fn from(id: RecordId) -> Self {
        id.0
    }
}

impl TryFrom<String> for RecordId {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::parse(&text).ok_or("expected 13 digits, a dash and six letters")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_sort_by_time_and_read_back() {
        let (old, new) = (RecordId::new(9), RecordId::new(1_800_000_000_000));
        assert!(old < new);
        assert_eq!(RecordId::parse(new.as_str()), Some(new.clone()));
        assert_eq!(new.unix_ms(), 1_800_000_000_000);
        for text in ["", "../x", "1800000000000", "1800000000000-", "1800000000000-abc/ef", "180000000000x-abcdef", "1800000000000-ABCDEF"]
        {
            assert_eq!(RecordId::parse(text), None, "{text}");
        }
    }
}
