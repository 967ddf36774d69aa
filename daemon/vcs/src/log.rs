use git2::{Commit, DiffFormat, DiffOptions, Repository, Sort};
use paird_base::RepoPath;
use paird_base::limits::{COMMITS_LISTED_MAX, DIFF_BYTES_MAX};
use serde::Serialize;

use crate::error::Trying;
use crate::{Error, HeadRef, Repo};

/// Longest name of a commit that is looked up.
const REV_CHARS_MAX: usize = 256;

/// A commit without its content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CommitInfo {
    pub hash: String,
    pub subject: String,
    /// `Name <address>`.
    pub author: String,
    /// When it was committed, in milliseconds since the Unix epoch.
    pub unix_ms: i64,
    pub parents: Vec<String>,
    pub trailers: Vec<(String, String)>,
}

/// A commit with its content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CommitShow {
    pub info: CommitInfo,
    /// Whole, subject included.
    pub message: String,
    /// Changed against the first parent.
    pub paths: Vec<RepoPath>,
    /// Unified diff against the first parent, at most `DIFF_BYTES_MAX` and cut at a line's end.
    pub diff: String,
    pub truncated: bool,
}

impl Repo {
    /// The newest commits of HEAD, newest first; at most `COMMITS_LISTED_MAX`. None on a branch without commits.
    pub fn log(&self, limit: usize) -> Result<Vec<CommitInfo>, Error> {
        let repo = self.open()?;
        let mut walk = repo.revwalk().trying("walk the history")?;
        walk.set_sorting(Sort::TOPOLOGICAL).trying("walk the history")?;
        let Some(head) = HeadRef::read(&repo)?.oid()? else { return Ok(Vec::new()) };
        walk.push(head).trying("walk the history")?;
        let mut commits = Vec::new();
        for oid in walk.take(limit.min(COMMITS_LISTED_MAX)) {
            let commit = oid.and_then(|oid| repo.find_commit(oid)).trying("read a commit")?;
            commits.push(info(&commit));
        }
        Ok(commits)
    }

    /// One commit, by hash, branch, tag or `HEAD`, with `~` and `^` steps.
    pub fn show(&self, rev: &str) -> Result<CommitShow, Error> {
        let repo = self.open()?;
        let unknown = || Error::NoSuchCommit(rev.to_owned());
        if !is_plain(rev) {
            return Err(unknown());
        }
        let commit = repo.revparse_single(rev).and_then(|object| object.peel_to_commit()).map_err(|_| unknown())?;
        let (paths, _) = changed_paths(&repo, &commit)?;
        let mut diff = Vec::new();
        let mut truncated = false;
        let printed = diff_of(&repo, &commit)?.print(DiffFormat::Patch, |_, _, line| {
            let origin = line.origin();
            let marked = matches!(origin, '+' | '-' | ' ');
            if diff.len() + usize::from(marked) + line.content().len() > DIFF_BYTES_MAX {
                truncated = true;
                return false;
            }
            if marked {
                diff.extend(origin.to_string().bytes());
            }
            diff.extend_from_slice(line.content());
            true
        });
        if !truncated {
            printed.trying("print a diff")?;
        }
        let message = String::from_utf8_lossy(commit.message_bytes()).into_owned();
        Ok(CommitShow { info: info(&commit), message, paths, diff: String::from_utf8_lossy(&diff).into_owned(), truncated })
    }
}

/// A name that can only be a commit's: no option, no path, no search, no reflog.
fn is_plain(rev: &str) -> bool {
    !rev.is_empty()
        && rev.chars().count() <= REV_CHARS_MAX
        && !rev.starts_with('-')
        && !rev.contains("..")
        && !rev.chars().any(|c| c.is_control() || c.is_whitespace() || matches!(c, ':' | '{' | '}' | '?' | '*' | '[' | '\\'))
}

fn info(commit: &Commit<'_>) -> CommitInfo {
    let message = String::from_utf8_lossy(commit.message_bytes()).into_owned();
    let trailers = git2::message_trailers_strs(&message);
    let trailers = trailers.map_or(Vec::new(), |list| list.iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect());
    let author = commit.author();
    CommitInfo {
        hash: commit.id().to_string(),
        subject: crate::message::subject(&message),
        author: format!("{} <{}>", String::from_utf8_lossy(author.name_bytes()), String::from_utf8_lossy(author.email_bytes())),
        unix_ms: commit.time().seconds().saturating_mul(1000),
        parents: commit.parent_ids().map(|oid| oid.to_string()).collect(),
        trailers,
    }
}

fn diff_of<'r>(repo: &'r Repository, commit: &Commit<'_>) -> Result<git2::Diff<'r>, Error> {
    let parent = commit.parent(0).ok().map(|parent| parent.tree()).transpose().trying("read a tree")?;
    let tree = commit.tree().trying("read a tree")?;
    repo.diff_tree_to_tree(parent.as_ref(), Some(&tree), Some(&mut DiffOptions::new())).trying("compare two trees")
}

/// What a commit changes against its first parent, and how many names beside that are not valid paths here.
pub(crate) fn changed_paths(repo: &Repository, commit: &Commit<'_>) -> Result<(Vec<RepoPath>, usize), Error> {
    let (mut paths, mut odd) = (Vec::new(), 0);
    for delta in diff_of(repo, commit)?.deltas() {
        let name = delta.new_file().path_bytes().or_else(|| delta.old_file().path_bytes()).unwrap_or_default();
        match std::str::from_utf8(name).ok().and_then(|name| RepoPath::parse(name).ok()) {
            Some(path) => paths.push(path),
            None => odd += 1,
        }
    }
    Ok((paths, odd))
}
