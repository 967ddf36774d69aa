use std::collections::BTreeSet;
use std::sync::Arc;

use jsonrpsee::core::RegisterMethodError;
use paird_base::limits::COMMITS_LISTED_MAX;
use paird_protocol::methods::{CommitList, CommitShow, CommitStatus, CommitUndo};
use paird_protocol::{ChangedFile, CommitInfo, CommitListResult, CommitShowResult, CommitStatusResult, CommitUndoResult, ErrorKind};
use paird_vcs::{Head, Repo};

use super::{Daemon, Fault, Module, edit, method, session, to_wire};
use crate::session::Error;

const LISTED_DEFAULT: usize = 20;

pub(super) fn register(module: &mut Module) -> Result<(), RegisterMethodError> {
    method::<CommitStatus, _, _>(module, |daemon, _, _| async move {
        with_repo(daemon, |repo| Ok(status(repo.status(None)?, newest(repo)?))).await
    })?;
    method::<CommitList, _, _>(module, |daemon, _, params| async move {
        let limit = params.limit.unwrap_or(LISTED_DEFAULT);
        if limit > COMMITS_LISTED_MAX {
            return Err(Fault::new(
                ErrorKind::InvalidParams,
                format!("limit is {limit}, and at most {COMMITS_LISTED_MAX} commits are listed"),
            )
            .hint("git log shows the rest"));
        }
        let made = daemon.sessions.commits().await?;
        let commits = with_repo(daemon, move |repo| Ok(repo.log(limit)?.iter().map(|commit| info(commit, &made)).collect())).await?;
        Ok(CommitListResult { commits })
    })?;
    method::<CommitShow, _, _>(module, |daemon, _, params| async move {
        let made = daemon.sessions.commits().await?;
        with_repo(daemon, move |repo| {
            let show = repo.show(&params.commit)?;
            Ok(CommitShowResult {
                commit: info(&show.info, &made),
                message: show.message,
                paths: to_wire::names(&show.paths),
                diff: show.diff,
                truncated: show.truncated,
            })
        })
        .await
    })?;
    method::<CommitUndo, _, _>(module, |daemon, _, params| async move {
        let head = with_repo(Arc::clone(&daemon), newest).await?;
        let head = head.ok_or_else(|| Fault::new(ErrorKind::NotFound, "there is no commit yet"))?;
        let not_ours = || {
            Fault::new(ErrorKind::Vcs, format!("HEAD ({}) is no commit of this session's turns", short(&head)))
                .hint("commit/list shows which commits are paird's; edit/undo takes edits back without moving HEAD")
        };
        let session = match params.session_id {
            Some(id) => session::find(&daemon, id).await?,
            None => daemon.sessions.of_commit(&head).await.map_err(|_| not_ours())?,
        };
        let hash = head.clone();
        let (order, commit, edits, to) = session.call(move |o| o.to_undo_commit(&hash)).await?.ok_or_else(not_ours)?;
        let lane = daemon.lane.clone();
        let undone = to_wire::commit(&commit);
        let landed = edit::land(session, async move { lane.undo_commit(order, commit, edits, to).await }).await?;
        let head = landed.committed.head.ok_or_else(|| {
            let reason = landed.committed.uncommitted.first().map_or("the repository changed meanwhile", |(_, reason)| reason.as_str());
            Fault::new(ErrorKind::Vcs, format!("the files are back, but HEAD did not move: {reason}"))
        })?;
        Ok(CommitUndoResult { undone, head, seq: daemon.events.seq() })
    })
}

async fn with_repo<T: Send + 'static>(
    daemon: Arc<Daemon>,
    job: impl FnOnce(&Repo) -> Result<T, Error> + Send + 'static,
) -> Result<T, Fault> {
    edit::blocking(move || Ok(job(&daemon.tree.open_repo()?)?)).await
}

/// HEAD's commit.
fn newest(repo: &Repo) -> Result<Option<String>, Error> {
    Ok(repo.log(1)?.into_iter().next().map(|c| c.hash))
}

fn short(hash: &str) -> &str {
    &hash[..hash.len().min(8)]
}

fn status(status: paird_vcs::Status, newest: Option<String>) -> CommitStatusResult {
    let branch = match status.head {
        Head::Branch(name) | Head::Unborn(name) => Some(name),
        Head::Detached(_) => None,
    };
    CommitStatusResult {
        branch,
        head: newest,
        in_progress: status.in_progress.map(str::to_owned),
        changed: status
            .dirty
            .into_iter()
            .map(|d| ChangedFile { path: d.path.to_string(), staged: d.staged, unstaged: d.unstaged, untracked: d.untracked })
            .collect(),
    }
}

/// `made` has the commits that sessions know of; others of paird, of another machine perhaps, have its trailer.
fn info(commit: &paird_vcs::CommitInfo, made: &BTreeSet<String>) -> CommitInfo {
    let signed = |(name, value): &(String, String)| name.eq_ignore_ascii_case("co-authored-by") && value.starts_with("paird ");
    CommitInfo {
        hash: commit.hash.clone(),
        subject: commit.subject.clone(),
        author: commit.author.clone(),
        time_ms: u64::try_from(commit.unix_ms).unwrap_or(0),
        by_paird: made.contains(&commit.hash) || commit.trailers.iter().any(signed),
    }
}
