//! `pair demo`: one whole turn, and its undo, in a repository that exists only for it. The model's reply is recorded; all
//! else is real: the daemon, the repository, the commit. Nothing of the user's configuration is used or changed.

mod ground;

use paird_protocol::methods::{CommitShow, CommitUndo, DaemonStop, SessionNew};
use paird_protocol::{CommitShowParams, CommitUndoParams, NoParams, Outcome, SessionNewParams, TurnResult};

use self::ground::{Files, Ground};
use crate::connection::Connection;
use crate::exit::{Exit, Failure};
use crate::history;
use crate::question::Answers;
use crate::show::Screen;
use crate::turn;

const REQUEST: &str = "Let me mark items as done";
/// The program that is edited.
const PROGRAM: [(&str, &str); 2] = [("store.py", include_str!("../demo/store.py")), ("todo.py", include_str!("../demo/todo.py"))];
/// What the model said to it, in the format of the daemon's replay provider.
const REPLY: &str = include_str!("../demo/reply.jsonl");

/// Runs it. Ends well only if every step really happened.
///
/// # Errors
/// The step that did not.
pub(crate) async fn run(screen: &mut Screen) -> Result<Exit, Failure> {
    if screen.look.json {
        return Err(Failure::usage("the demo has no JSON result"));
    }
    let ground = Ground::prepare(&PROGRAM, REPLY).await?;
    let (daemon, process) = ground.start_daemon().await?;
    let shown = show(&ground, &daemon, screen).await;
    let stopped = daemon.call::<DaemonStop>(NoParams {}).await;
    process.end().await?;
    shown?;
    stopped?;
    Ok(Exit::Done)
}

async fn show(ground: &Ground, daemon: &Connection, screen: &mut Screen) -> Result<(), Failure> {
    let before = ground.files()?;
    screen.heading("A new repository");
    for (path, text) in PROGRAM {
        screen.data(&format!("{path}, {} lines", text.lines().count()));
    }

    screen.data("");
    screen.heading("The request");
    screen.data(REQUEST);

    screen.data("");
    screen.heading("The reply, as it comes, and what it changes");
    let files = PROGRAM.map(|(path, _)| path.to_owned()).to_vec();
    let settings = SessionNewParams { model: Some(ground.model()), files: Some(files), ..Default::default() };
    let session = daemon.call::<SessionNew>(settings).await?.session_id;
    let result = turn::run(daemon, screen, &session, REQUEST, Answers::Nobody).await?;
    screen.report(&result.report);
    let after = ground.files()?;
    changed(daemon, &before, &after, &result).await?;

    screen.data("");
    screen.heading("The undo");
    let undone = daemon.call::<CommitUndo>(CommitUndoParams { session_id: Some(session) }).await?;
    history::show_undone_commit(screen, &undone);
    let restored = ground.files()?;
    if restored != before {
        return Err(Failure::new(Exit::Failure, format!("the undo left other files than there were: {}", differing(&before, &restored))));
    }
    let bytes: usize = before.values().map(Vec::len).sum();
    screen.data(&format!("The tree is as before: {} files, {bytes} bytes, compared byte by byte.", before.len()));
    Ok(())
}

/// Whether the turn did what it says: every file of the program is another, and HEAD is its commit.
async fn changed(daemon: &Connection, before: &Files, after: &Files, result: &TurnResult) -> Result<(), Failure> {
    let fault = |what: String| Err(Failure::new(Exit::Failure, what));
    if result.report.outcome != Outcome::Done {
        return fault(format!("the turn ended as {:?}", result.report.outcome));
    }
    if let Some((path, _)) = PROGRAM.iter().find(|(path, _)| before.get(*path) == after.get(*path)) {
        return fault(format!("the turn did not change {path}"));
    }
    let [commit] = result.report.commits.as_slice() else {
        return fault(format!("the turn made {} commits", result.report.commits.len()));
    };
    let head = daemon.call::<CommitShow>(CommitShowParams { commit: "HEAD".to_owned() }).await?;
    if head.commit.hash != commit.hash {
        return fault(format!("HEAD is {}, not the commit of the turn", head.commit.hash));
    }
    Ok(())
}

fn differing(before: &Files, after: &Files) -> String {
    let names: Vec<&str> =
        before.keys().chain(after.keys()).filter(|path| before.get(*path) != after.get(*path)).map(String::as_str).collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text between a marker line and the next.
    fn between<'a>(text: &'a str, from: &str, to: &str) -> Vec<&'a str> {
        text.split(from).skip(1).map(|rest| rest.split(to).next().unwrap()).collect()
    }

    #[test]
    fn the_reply_fits_the_program() {
        let line: serde_json::Value = serde_json::from_str(REPLY).unwrap();
        let reply = line["reply"].as_str().unwrap();
        let searches = between(reply, "<<<<<<< SEARCH\n", "=======\n");
        assert_eq!(searches.len(), 4);
        for search in searches {
            let found: usize = PROGRAM.iter().map(|(_, text)| text.matches(search).count()).sum();
            assert_eq!(found, 1, "{search}");
        }
    }
}
