//! Trees and commits as objects: written, made durable, pointed to by nothing yet.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::Path;

use git2::build::TreeUpdateBuilder;
use git2::{Commit, FileMode, Oid, Repository, Signature, Tree};
use paird_base::RepoPath;

use crate::commit::{CommitKind, PreparedCommit};
use crate::entry::{Entry, Slot, in_tree};
use crate::error::{Trying, io_error};
use crate::{Error, message};

/// Commits being written one on top of the other.
pub(crate) struct Chain<'r> {
    repo: &'r Repository,
    author: Signature<'static>,
    committer: Signature<'static>,
    tip: Option<Commit<'r>>,
    written: BTreeSet<Oid>,
    pub(crate) commits: Vec<PreparedCommit>,
}

impl<'r> Chain<'r> {
    pub(crate) fn new(
        repo: &'r Repository,
        tip: Option<Commit<'r>>,
        (author, committer): (Signature<'static>, Signature<'static>),
    ) -> Self {
        Self { repo, author, committer, tip, written: BTreeSet::new(), commits: Vec::new() }
    }

    pub(crate) fn tree(&self) -> Result<Option<Tree<'r>>, Error> {
        self.tip.as_ref().map(Commit::tree).transpose().trying("read the tree of HEAD")
    }

    /// Commits those of `entries` that differ from the tip; no commit if none does.
    pub(crate) fn add(
        &mut self,
        entries: &[(RepoPath, Option<Entry>)],
        kind: CommitKind,
        message: impl Fn(&[RepoPath]) -> String,
    ) -> Result<(), Error> {
        let tree = self.tree()?;
        let mut update = TreeUpdateBuilder::new();
        let mut paths = Vec::new();
        for (path, entry) in entries {
            if in_tree(self.repo, tree.as_ref(), path)? == Slot::File(*entry) {
                continue;
            }
            match entry {
                Some(entry) => update.upsert(path.as_str(), entry.blob, if entry.exec { FileMode::BlobExecutable } else { FileMode::Blob }),
                None => update.remove(path.as_str()),
            };
            self.written.extend(entry.map(|entry| entry.blob));
            paths.push(path.clone());
        }
        if paths.is_empty() {
            return Ok(());
        }
        let base = match tree {
            Some(tree) => tree,
            None => {
                let empty = self.repo.treebuilder(None).and_then(|builder| builder.write()).trying("write a tree")?;
                self.repo.find_tree(empty).trying("read a tree")?
            }
        };
        let new_tree = update.create_updated(self.repo, &base).trying("write a tree")?;
        let new_tree = self.repo.find_tree(new_tree).trying("read a tree")?;
        let message = message(&paths);
        let parents: Vec<&Commit<'_>> = self.tip.iter().collect();
        let hash = self.repo.commit(None, &self.author, &self.committer, &message, &new_tree, &parents).trying("write a commit")?;
        self.note_trees(&new_tree, &paths);
        self.written.insert(hash);
        self.commits.push(PreparedCommit {
            hash: hash.to_string(),
            parent: self.tip.as_ref().map(|tip| tip.id().to_string()),
            tree: new_tree.id().to_string(),
            subject: message::subject(&message),
            paths,
            kind,
        });
        self.tip = Some(self.repo.find_commit(hash).trying("read a commit")?);
        Ok(())
    }

    fn note_trees(&mut self, tree: &Tree<'_>, paths: &[RepoPath]) {
        self.written.insert(tree.id());
        for path in paths {
            let mut dir = path.parent();
            while let Some(here) = dir {
                self.written.extend(tree.get_path(Path::new(here.as_str())).map(|entry| entry.id()));
                dir = here.parent();
            }
        }
    }

    /// Brings what was written to the disk itself, as git does before a branch points to it; the library does not.
    pub(crate) fn make_durable(&self, common_dir: &Path) -> Result<(), Error> {
        make_durable(common_dir, self.written.iter().copied())
    }
}

/// Flushes loose objects; one that is packed is on the disk already.
pub(crate) fn make_durable(common_dir: &Path, objects: impl IntoIterator<Item = Oid>) -> Result<(), Error> {
    for object in objects {
        let hash = object.to_string();
        let path = common_dir.join("objects").join(&hash[..2]).join(&hash[2..]);
        if let Ok(file) = File::open(&path) {
            file.sync_all().map_err(io_error("flush", &path))?;
        }
    }
    Ok(())
}
