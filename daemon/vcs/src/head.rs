use git2::{ErrorCode, Oid, Repository, RepositoryState};
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::error::Trying;

/// Where HEAD is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Head {
    /// On a branch, by its short name.
    Branch(String),
    /// On a commit, by its hash.
    Detached(String),
    /// On a branch without commits, by its short name.
    Unborn(String),
}

/// HEAD as a commit or an undo found it, and must find it again to move it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeadRef {
    /// The branch HEAD stands on, in full; `None` when detached.
    pub reference: Option<String>,
    /// The commit; `None` on a branch without commits.
    pub hash: Option<String>,
}

impl HeadRef {
    pub(crate) fn read(repo: &Repository) -> Result<Self, Error> {
        let head = repo.find_reference("HEAD").trying("read HEAD")?;
        let reference = head.symbolic_target().trying("read HEAD's branch")?.map(str::to_owned);
        let target = match &reference {
            Some(name) => match repo.refname_to_id(name) {
                Ok(oid) => Some(oid),
                Err(e) if e.code() == ErrorCode::NotFound => None,
                Err(source) => {
                    return Err(Error::Lib { what: "read HEAD's branch", source });
                }
            },
            None => head.target(),
        };
        Ok(Self { reference, hash: target.map(|oid| oid.to_string()) })
    }

    /// The commit as the library's hash.
    pub(crate) fn oid(&self) -> Result<Option<Oid>, Error> {
        self.hash.as_deref().map(oid).transpose()
    }

    /// For messages.
    pub(crate) fn shown(&self) -> String {
        let place = self.reference.as_deref().unwrap_or("a detached HEAD");
        match &self.hash {
            Some(hash) => format!("{place} at {hash}"),
            None => format!("{place} without commits"),
        }
    }

    pub(crate) fn public(&self) -> Head {
        let branch = self.reference.as_deref().map(|name| name.strip_prefix("refs/heads/").unwrap_or(name).to_owned());
        match (branch, &self.hash) {
            (Some(name), Some(_)) => Head::Branch(name),
            (Some(name), None) => Head::Unborn(name),
            (None, hash) => Head::Detached(hash.clone().unwrap_or_default()),
        }
    }
}

/// A hash out of a journal; it was written by this crate.
pub(crate) fn oid(hash: &str) -> Result<Oid, Error> {
    Oid::from_str(hash).trying("read a commit hash")
}

/// What git is in the middle of, by the name a person knows it by.
pub(crate) fn in_progress(repo: &Repository) -> Option<&'static str> {
    Some(match repo.state() {
        RepositoryState::Clean => return None,
        RepositoryState::Merge => "merge",
        RepositoryState::Revert | RepositoryState::RevertSequence => "revert",
        RepositoryState::CherryPick | RepositoryState::CherryPickSequence => "cherry-pick",
        RepositoryState::Bisect => "bisect",
        RepositoryState::Rebase
        | RepositoryState::RebaseInteractive
        | RepositoryState::RebaseMerge
        | RepositoryState::ApplyMailboxOrRebase => "rebase",
        RepositoryState::ApplyMailbox => "am",
    })
}
