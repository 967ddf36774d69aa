//! The subcommands. Each is a call or two, and the result shown; `history` has those about what turns have changed.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use paird_protocol::methods::{
    ContextAdd, ContextDrop, ContextList, DaemonStatus, DaemonStop, MapGet, QuestionAnswer, QuestionList, SessionList,
};
use paird_protocol::{
    ContextAddParams, ContextDropParams, ContextListResult, DaemonStatusResult, MapGetParams, MapGetResult, NoParams, QuestionAnswerParams,
    QuestionListParams, QuestionListResult, SessionListResult, SessionParams,
};
use serde::Serialize;

use crate::args::{Command, Common};
use crate::connection::{self, Connection};
use crate::exit::{Exit, Failure};
use crate::plain::age;
use crate::repo::WorkTree;
use crate::show::Screen;
use crate::{history, session};

/// Longest time that a daemon is given to end: what it is writing is finished first.
const STOP_TIMEOUT: Duration = Duration::from_secs(30);

/// Runs one subcommand to its end.
///
/// # Errors
/// The daemon's, or that there is none.
pub(crate) async fn run(tree: WorkTree, common: &Common, command: Command, screen: &mut Screen) -> Result<Exit, Failure> {
    let command = match command {
        Command::Stop => return stop(tree, screen).await,
        Command::Status => return status(tree, screen).await,
        Command::Socket { start } => return socket(tree, start, screen).await,
        other => other,
    };
    let daemon = Connection::open(tree, false).await?;
    let named = common.session.as_deref();
    match command {
        Command::Add { files, read_only } => {
            let paths = daemon.tree.paths(&files)?;
            let id = session::find_or_open(&daemon, named).await?;
            let added = add(&daemon, &id, paths, read_only).await?;
            show(screen, &added, show_files)?;
        }
        Command::Drop { files, all } => {
            let paths = if all { None } else { Some(daemon.tree.paths(&files)?) };
            let id = session::need(&daemon, named).await?;
            let left = drop_files(&daemon, &id, paths).await?;
            show(screen, &left, show_files)?;
        }
        Command::Ls => {
            let id = session::need(&daemon, named).await?;
            show(screen, &list_files(&daemon, &id).await?, show_files)?;
        }
        Command::Undo(undo) => history::undo(&daemon, named, &undo, screen).await?,
        Command::Apply { edits } => history::apply(&daemon, named, edits, screen).await?,
        Command::Diff { commit } => history::diff(&daemon, named, commit, screen).await?,
        Command::Log { limit } => history::log(&daemon, limit, screen).await?,
        Command::Map { tokens } => show(screen, &daemon.call::<MapGet>(MapGetParams { tokens }).await?, show_map)?,
        Command::Sessions => show(screen, &daemon.call::<SessionList>(NoParams {}).await?, show_sessions)?,
        Command::Answer { question: Some(question), option } => answer(&daemon, question, option, screen).await?,
        Command::Answer { question: None, .. } => {
            let open = daemon.call::<QuestionList>(QuestionListParams { session_id: named.map(str::to_owned) }).await?;
            show(screen, &open, show_questions)?;
        }
        Command::Stop | Command::Status | Command::Socket { .. } | Command::Demo => {}
    }
    Ok(Exit::Done)
}

/// A result: as JSON, or in words.
pub(crate) fn show<T: Serialize>(screen: &mut Screen, result: &T, words: impl FnOnce(&mut Screen, &T)) -> Result<(), Failure> {
    if screen.look.json {
        return screen.json(result);
    }
    words(screen, result);
    Ok(())
}

pub(crate) async fn add(daemon: &Connection, session: &str, paths: Vec<String>, read_only: bool) -> Result<ContextListResult, Failure> {
    Ok(daemon.call::<ContextAdd>(ContextAddParams { session_id: session.to_owned(), paths, read_only }).await?)
}

/// By exact names; every file without any.
pub(crate) async fn drop_files(daemon: &Connection, session: &str, paths: Option<Vec<String>>) -> Result<ContextListResult, Failure> {
    Ok(daemon.call::<ContextDrop>(ContextDropParams { session_id: session.to_owned(), paths }).await?)
}

pub(crate) async fn list_files(daemon: &Connection, session: &str) -> Result<ContextListResult, Failure> {
    Ok(daemon.call::<ContextList>(SessionParams { session_id: session.to_owned() }).await?)
}

fn show_map(screen: &mut Screen, map: &MapGetResult) {
    for line in map.text.lines() {
        screen.data(line);
    }
    if !map.complete {
        screen.notice("there are more files than fit; give a larger --tokens");
    }
}

pub(crate) fn show_files(screen: &mut Screen, context: &ContextListResult) {
    if context.files.is_empty() && context.read_only.is_empty() {
        screen.notice("no files in the chat");
    }
    for path in &context.files {
        screen.data(path);
    }
    for path in &context.read_only {
        screen.data(&format!("{path} (read-only)"));
    }
}

fn show_sessions(screen: &mut Screen, list: &SessionListResult) {
    let now = now_ms();
    for session in &list.sessions {
        let state = if session.closed {
            "closed"
        } else if session.busy {
            "busy"
        } else {
            "open"
        };
        let title = if session.title.is_empty() { "(no message yet)" } else { &session.title };
        screen.data(&format!("{} {state:6} {:>7} {:>3} turns  {title}", session.session_id, age(now, session.used_ms), session.turns));
    }
}

fn show_questions(screen: &mut Screen, list: &QuestionListResult) {
    if list.questions.is_empty() {
        screen.notice("no open questions");
    }
    for question in &list.questions {
        screen.data(&format!("{} {}", question.question_id, question.prompt));
        for option in &question.options {
            let default = if option.option_id == question.default { " (default)" } else { "" };
            screen.data(&format!("  {}: {}{default}", option.option_id, option.label));
        }
    }
}

async fn answer(daemon: &Connection, question_id: String, option: Option<String>, screen: &mut Screen) -> Result<(), Failure> {
    let open = daemon.call::<QuestionList>(QuestionListParams::default()).await?;
    let none = || Failure::new(Exit::Failure, format!("there is no open question {question_id:?}")).with_hint("`pair answer` lists them");
    let question = open.questions.iter().find(|question| question.question_id == question_id).ok_or_else(none)?;
    let Some(option) = option else {
        let only = QuestionListResult { questions: vec![question.clone()], seq: open.seq };
        return show(screen, &only, show_questions);
    };
    let ids: Vec<&str> = question.options.iter().map(|option| option.option_id.as_str()).collect();
    let unfit = || Failure::usage(format!("{option:?} is no answer to it; {} are", ids.join(", ")));
    let option_id = crate::question::choose(question, &option).ok_or_else(unfit)?.to_owned();
    let done =
        daemon.call::<QuestionAnswer>(QuestionAnswerParams { question_id: question_id.clone(), option_id: option_id.clone() }).await?;
    show(screen, &done, |screen, _| screen.data(&format!("{question_id}: {option_id}")))
}

async fn status(tree: WorkTree, screen: &mut Screen) -> Result<Exit, Failure> {
    let root = tree.root.clone();
    let Some(daemon) = Connection::existing(tree).await? else {
        return Err(Failure::new(Exit::Failure, format!("no daemon serves {}", root.display())).with_hint("any other command starts it"));
    };
    let status = daemon.call::<DaemonStatus>(NoParams {}).await?;
    show(screen, &status, show_status)?;
    Ok(Exit::Done)
}

fn show_status(screen: &mut Screen, status: &DaemonStatusResult) {
    let up = match age(status.uptime_ms, 0).as_str() {
        "now" => "under a minute".to_owned(),
        time => time.to_owned(),
    };
    for (name, value) in [
        ("work tree", status.root.clone()),
        ("git", if status.repository { "yes" } else { "no, a plain directory" }.to_owned()),
        ("daemon", format!("{}, process {}, up for {up}", status.daemon_version, status.pid)),
        ("socket", status.socket.clone()),
        ("sessions", format!("{}, {} busy", status.sessions, status.busy_sessions)),
        ("questions", status.questions.to_string()),
        ("connections", status.connections.to_string()),
    ] {
        screen.data(&format!("{name:12} {value}"));
    }
    for notice in &status.notices {
        screen.data(&format!("{:12} {notice}", "notice"));
    }
}

async fn stop(tree: WorkTree, screen: &mut Screen) -> Result<Exit, Failure> {
    let root = tree.root.clone();
    let Some(daemon) = Connection::existing(tree).await? else {
        screen.notice(&format!("no daemon serves {}", root.display()));
        return Ok(Exit::Done);
    };
    let done = daemon.call::<DaemonStop>(NoParams {}).await?;
    let slow = |_| Failure::new(Exit::Failure, format!("the daemon has not ended within {} s", STOP_TIMEOUT.as_secs()));
    tokio::time::timeout(STOP_TIMEOUT, daemon.client.closed()).await.map_err(slow)?;
    show(screen, &done, |screen, _| screen.notice("stopped"))?;
    Ok(Exit::Done)
}

async fn socket(tree: WorkTree, start: bool, screen: &mut Screen) -> Result<Exit, Failure> {
    let address = if start { Connection::open_at(tree, false).await?.1 } else { connection::address(&tree.root)? };
    show(screen, &address.socket.display().to_string(), |screen, path| screen.data(path))?;
    Ok(Exit::Done)
}

/// Milliseconds since the Unix epoch.
pub(crate) fn now_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
}
