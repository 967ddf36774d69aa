//! What planning sees of the work tree, and what the session allows.

use std::collections::{BTreeMap, BTreeSet};

use paird_base::{Content, Found, PathError, RepoPath, RootError};

use crate::block::Parsed;

/// What stood at a path when the snapshot was taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Seen {
    File(Content),
    Absent,
    /// Something that is never edited; the text says what.
    Unsupported(String),
    /// A file above [`paird_base::limits::FILE_BYTES_MAX`]; the text says how large.
    TooLarge(String),
}

impl Seen {
    /// Takes what [`paird_base::Root::read`] gave. A failed read that says nothing about the file stays an error.
    pub fn from_read(read: Result<Found, RootError>) -> Result<Self, RootError> {
        match read {
            Ok(Found::File(content)) => Ok(Self::File(content)),
            Ok(Found::Absent) => Ok(Self::Absent),
            Ok(Found::Other(what)) => Ok(Self::Unsupported(format!("it is {what}"))),
            Err(error @ RootError::TooLarge { .. }) => Ok(Self::TooLarge(error.to_string())),
            Err(error) => Err(error),
        }
    }
}

/// Files as they were at one moment. A path that was not read counts as absent; [`wanted_paths`] says which to read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Snapshot(BTreeMap<RepoPath, Seen>);

impl Snapshot {
    pub fn insert(&mut self, path: RepoPath, entry: Seen) {
        self.0.insert(path, entry);
    }

    #[must_use]
    pub fn get(&self, path: &RepoPath) -> &Seen {
        self.0.get(path).unwrap_or(&Seen::Absent)
    }
}

impl FromIterator<(RepoPath, Seen)> for Snapshot {
    fn from_iter<I: IntoIterator<Item = (RepoPath, Seen)>>(entries: I) -> Self {
        Self(entries.into_iter().collect())
    }
}

/// What a reply may touch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scope {
    /// Files the model was given to edit. Names are completed to these and failing blocks redirected to them.
    pub chat_files: BTreeSet<RepoPath>,
    /// Paths that are never edited, by ignore rules or otherwise, each with its reason.
    pub refused: BTreeMap<RepoPath, String>,
}

/// Why a name in a reply is no path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NameError {
    #[error(transparent)]
    Path(#[from] PathError),
    #[error("{0:?} is not relative to the work tree")]
    Elsewhere(String),
}

/// Reads a name in a reply as a path. Names of other places are refused, not read as odd names of this tree.
pub(crate) fn named_path(name: &str) -> Result<RepoPath, NameError> {
    let drive = matches!(name.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic());
    if drive || name == "~" || name.starts_with("~/") {
        return Err(NameError::Elsewhere(name.to_owned()));
    }
    Ok(RepoPath::parse(name)?)
}

/// The files that [`crate::propose`] has to see: all that the reply names, and the chat files.
#[must_use]
pub fn wanted_paths(parsed: &Parsed, scope: &Scope) -> BTreeSet<RepoPath> {
    let named = parsed.blocks.iter().filter_map(|block| named_path(block.path.as_deref()?).ok());
    named.chain(scope.chat_files.iter().cloned()).collect()
}
