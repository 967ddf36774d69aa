//! What planning sees of the work tree, and what the session allows.

use std::collections::{BTreeMap, BTreeSet};

use paird_base::limits::{NAME_BYTES_MAX, PATH_BYTES_MAX};
use paird_base::{Content, Found, PathError, RepoPath, RootError};

use crate::block::{Block, BlockKind, Parsed};
use crate::ladder::CloseMatch;

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
    /// What is done with places where a block's kept lines differ a little from the file's.
    pub close_match: CloseMatch,
}

/// Why a name in a reply is no path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NameError {
    #[error(transparent)]
    Path(#[from] PathError),
    #[error("{0:?} is not relative to the work tree")]
    Elsewhere(String),
    #[error("the path has a name of more than {NAME_BYTES_MAX} bytes")]
    LongName,
}

/// Reads a name in a reply as a path. Names of other places are refused, not read as odd names of this tree.
pub(crate) fn named_path(name: &str) -> Result<RepoPath, NameError> {
    let drive = matches!(name.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic());
    if drive || name == "~" || name.starts_with("~/") {
        return Err(NameError::Elsewhere(name.to_owned()));
    }
    let path = RepoPath::parse(name)?;
    if path.as_str().len() >= PATH_BYTES_MAX {
        return Err(PathError::TooLong.into());
    }
    match path.as_str().split('/').any(|name| name.len() > NAME_BYTES_MAX) {
        true => Err(NameError::LongName),
        false => Ok(path),
    }
}

/// Prefixes that diffs and examples put before a path.
const PREFIXES: &[&str] = &["a/", "b/"];
const EXAMPLE_PREFIX: &str = "path/to/";

/// What a name can mean where it is no file: the path without a diff's `a/` or `b/`, or without the directory of examples.
/// A file that is to be made is called what it is called.
pub(crate) fn other_readings(named: &RepoPath, block: &Block) -> impl Iterator<Item = RepoPath> {
    let rewrites = matches!(block.kind, BlockKind::Whole { .. });
    let prefixes = PREFIXES.iter().filter(|_| !block.creates()).chain((rewrites || !block.creates()).then_some(&EXAMPLE_PREFIX));
    let stripped: Vec<RepoPath> = prefixes.filter_map(|prefix| RepoPath::parse(named.as_str().strip_prefix(prefix)?).ok()).collect();
    stripped.into_iter()
}

/// The files that [`crate::propose`] has to see: all that the reply names or can mean, and the chat files.
#[must_use]
pub fn wanted_paths(parsed: &Parsed, scope: &Scope) -> BTreeSet<RepoPath> {
    let mut wanted = scope.chat_files.clone();
    for block in &parsed.blocks {
        if let Some(named) = block.path.as_deref().and_then(|name| named_path(name).ok()) {
            wanted.extend(other_readings(&named, block));
            wanted.insert(named);
        }
        if let BlockKind::Move { to } = &block.kind {
            wanted.extend(named_path(to));
        }
    }
    wanted
}
