use git2::{Oid, Repository};
use paird_base::fault;

use crate::commit::{Outcome, Prepared, PreparedCommit, Published};
use crate::entry::{Slot, in_tree};
use crate::error::Trying;
use crate::head::{in_progress, oid};
use crate::index::IndexStep;
use crate::lock::Backoff;
use crate::{Error, HeadRef, Repo};

impl Repo {
    /// Moves HEAD's branch onto prepared commits by compare-and-swap, and brings them into the index for their paths.
    /// Calling it again, after a crash at any point, does what is missing. An error means that HEAD did not move.
    pub fn publish(&self, prepared: &Prepared) -> Result<Published, Error> {
        let nothing = Published { moved_head: false, index_left: Vec::new(), behind: None };
        let Outcome::Commits(commits) = &prepared.outcome else {
            return Ok(nothing);
        };
        let Some(last) = commits.last() else { return Ok(nothing) };
        fault::point("commit.prepared");
        let repo = self.open()?;
        let tip = oid(&last.hash)?;
        let now = HeadRef::read(&repo)?;
        let moved = match now.oid()? {
            Some(head) if leads_to(&repo, head, tip)? => Some(head),
            _ if now == prepared.head => None,
            // The branch has it and the person went to another one: the index is that one's.
            _ if branch_tip(&repo, &prepared.head).is_some_and(|branch| leads_to(&repo, branch, tip).unwrap_or(false)) => {
                return Ok(nothing);
            }
            _ => return Err(Error::Moved { expected: prepared.head.shown(), found: now.shown() }),
        };
        let steps = index_steps(&repo, commits)?;
        let published = self.publish_with(moved, tip, &steps, || self.move_head(&repo, &prepared.head, &last.hash, &last.subject))?;
        fault::point("commit.index");
        Ok(published)
    }

    /// Locks the index, moves HEAD unless that is done already (`moved`: where it stands), then puts the index in place.
    pub(crate) fn publish_with(
        &self,
        moved: Option<Oid>,
        to: Oid,
        steps: &[IndexStep],
        move_head: impl FnOnce() -> Result<(), Error>,
    ) -> Result<Published, Error> {
        let index = match self.next_index(moved.unwrap_or(to), steps) {
            Ok(index) => index,
            Err(error) if moved.is_some() => return Ok(Published { moved_head: false, index_left: Vec::new(), behind: Some(error) }),
            Err(error) => return Err(error),
        };
        if moved.is_none() {
            move_head()?;
        }
        fault::point("commit.ref");
        let index_left = index.left.clone();
        Ok(Published { moved_head: moved.is_none(), index_left, behind: index.put().err() })
    }

    /// Compare-and-swap of the branch that HEAD stands on, or of HEAD itself when detached. Git does it, because it
    /// keeps the reflogs as configured.
    pub(crate) fn move_head(&self, repo: &Repository, from: &HeadRef, to: &str, why: &str) -> Result<(), Error> {
        if let Some(what) = in_progress(repo) {
            return Err(Error::InProgress(what));
        }
        let none = Oid::ZERO_SHA1.to_string();
        let old = from.hash.as_deref().unwrap_or(&none);
        let mut backoff = Backoff::start();
        loop {
            let Err(error) = self.git(["update-ref", "-m", &format!("paird: {why}"), "HEAD", to, old]).run() else {
                return Ok(());
            };
            let now = HeadRef::read(repo)?;
            if now != *from {
                return Err(Error::Moved { expected: from.shown(), found: now.shown() });
            }
            match lock_in_the_way(&error) {
                None => return Err(error),
                Some(lock) if !backoff.wait() => return Err(Error::Locked(lock)),
                Some(_) => {}
            }
        }
    }
}

/// The lock file that git's message names.
fn lock_in_the_way(error: &Error) -> Option<std::path::PathBuf> {
    let Error::Git { stderr, .. } = error else { return None };
    let (_, rest) = stderr.split_once("Unable to create '")?;
    let (path, rest) = rest.split_once("': ")?;
    rest.starts_with("File exists").then(|| path.into())
}

fn leads_to(repo: &Repository, from: Oid, commit: Oid) -> Result<bool, Error> {
    Ok(from == commit || repo.graph_descendant_of(from, commit).trying("walk the history")?)
}

fn branch_tip(repo: &Repository, head: &HeadRef) -> Option<Oid> {
    head.reference.as_deref().and_then(|name| repo.refname_to_id(name).ok())
}

/// What each of the commits did to each of their paths.
fn index_steps(repo: &Repository, commits: &[PreparedCommit]) -> Result<Vec<IndexStep>, Error> {
    let mut steps: Vec<IndexStep> = Vec::new();
    for commit in commits {
        let from = commit.parent.as_deref().map(oid).transpose()?;
        for (path, step) in changed(repo, from, oid(&commit.hash)?, &commit.paths)? {
            match steps.iter_mut().find(|known| known.path == path) {
                Some(known) => known.steps.push(step),
                None => steps.push(IndexStep { path, steps: vec![step] }),
            }
        }
    }
    Ok(steps)
}

type Step = (paird_base::RepoPath, (Option<crate::entry::Entry>, Option<crate::entry::Entry>));

/// The two states of each path, as far as both are regular files or none.
pub(crate) fn changed(repo: &Repository, from: Option<Oid>, to: Oid, paths: &[paird_base::RepoPath]) -> Result<Vec<Step>, Error> {
    let tree = |commit: Oid| repo.find_commit(commit).and_then(|commit| commit.tree()).trying("read the tree of a commit");
    let (from, to) = (from.map(tree).transpose()?, tree(to)?);
    let mut steps = Vec::new();
    for path in paths {
        if let (Slot::File(old), Slot::File(new)) = (in_tree(repo, from.as_ref(), path)?, in_tree(repo, Some(&to), path)?) {
            steps.push((path.clone(), (old, new)));
        }
    }
    Ok(steps)
}
