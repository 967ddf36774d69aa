use std::borrow::Borrow;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::limits::PATH_BYTES_MAX;

/// A file's name inside the work tree: UTF-8, relative, `/` between components, no `.` or `..`, never below `.git`.
///
/// [`RepoPath::parse`] is the only way to make one, so whoever holds one need not check again. That no link leads
/// out of the tree is a fact of the moment and is checked where the file is opened, by [`crate::Root`].
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RepoPath(String);

/// Why a text cannot be a path of the work tree.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    #[error("the path is empty")]
    Empty,
    #[error("{0:?} is absolute; paths are relative to the work tree")]
    Absolute(String),
    #[error("{0:?} leaves the work tree")]
    Leaves(String),
    #[error("{0:?} is below .git, which is never edited or shown")]
    GitDir(String),
    #[error("{0:?} holds control characters")]
    Control(String),
    #[error("the path is longer than {PATH_BYTES_MAX} bytes")]
    TooLong,
}

impl RepoPath {
    /// Normalises `./`, `//` and inner `..`; refuses what leaves the tree, lies below `.git` or cannot be shown on one line.
    pub fn parse(text: &str) -> Result<Self, PathError> {
        if text.len() > PATH_BYTES_MAX {
            return Err(PathError::TooLong);
        }
        if text.chars().any(breaks_a_line) {
            return Err(PathError::Control(text.to_owned()));
        }
        if text.starts_with('/') {
            return Err(PathError::Absolute(text.to_owned()));
        }
        let mut parts: Vec<&str> = Vec::new();
        for part in text.split('/') {
            match part {
                "" | "." => {}
                ".." => {
                    if parts.pop().is_none() {
                        return Err(PathError::Leaves(text.to_owned()));
                    }
                }
                _ => parts.push(part),
            }
        }
        if parts.is_empty() {
            return Err(PathError::Empty);
        }
        if parts.iter().any(|part| is_git_dir(part)) {
            return Err(PathError::GitDir(text.to_owned()));
        }
        Ok(Self(parts.join("/")))
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The last component.
    #[must_use]
    pub fn file_name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or(&self.0)
    }

    /// The directory it is in; `None` at the top of the work tree.
    #[must_use]
    pub fn parent(&self) -> Option<Self> {
        self.0.rsplit_once('/').map(|(dir, _)| Self(dir.to_owned()))
    }
}

/// `.git` in any spelling that some file system takes for it: letter case, trailing dots and blanks, the 8.3 name,
/// an NTFS stream, code points that HFS+ ignores.
fn is_git_dir(part: &str) -> bool {
    let shown: String = part
        .chars()
        .filter(|c| !matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'))
        .collect();
    let name = shown.split(':').next().unwrap_or("").trim_end_matches(['.', ' ']).to_ascii_lowercase();
    name == ".git" || name == "git~1"
}

/// Control, bidirectional and line-separator characters: a name with one could add a line to a prompt or a terminal.
fn breaks_a_line(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

impl fmt::Display for RepoPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl AsRef<str> for RepoPath {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for RepoPath {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl Serialize for RepoPath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for RepoPath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normal_forms() {
        for (input, expected) in [
            ("a.py", "a.py"),
            ("./a/b.py", "a/b.py"),
            ("a//b/./c", "a/b/c"),
            ("a/../b", "b"),
            ("Grüße x.md", "Grüße x.md"),
            (".gitignore", ".gitignore"),
            ("git", "git"),
        ] {
            assert_eq!(RepoPath::parse(input).map(|p| p.as_str().to_owned()), Ok(expected.to_owned()), "{input}");
        }
    }

    #[test]
    fn refused() {
        for input in [
            "",
            ".",
            "a/..",
            "/etc/passwd",
            "../x",
            "a/../../x",
            ".git/config",
            "sub/.git/hooks/x",
            ".GIT/x",
            ".git./x",
            "git~1/config",
            ".g\u{200c}it/config",
            ".git::$INDEX_ALLOCATION/x",
            "a\nb",
            "a\u{2028}b",
            "a\0b",
        ] {
            assert!(RepoPath::parse(input).is_err(), "{input:?} was taken");
        }
    }
}
