//! Which session a command is about, and the settings it lends to it.

use paird_protocol::client::ClientError;
use paird_protocol::methods::{ContextAdd, SessionConfigure, SessionList, SessionNew, SessionRead};
use paird_protocol::{
    ApplyMode, CommitMode, ContextAddParams, Mode, NoParams, SessionConfigureParams, SessionNewParams, SessionParams, Settings,
};

use crate::args::{Args, Chat, ModeName};
use crate::connection::Connection;
use crate::exit::{Exit, Failure};
use crate::show::Screen;

/// The model of sessions that have none.
const MODEL_VARIABLE: &str = "PAIRD_MODEL";

/// The named session, else the latest used open one, if there is any.
///
/// # Errors
/// The daemon's.
pub(crate) async fn find(daemon: &Connection, named: Option<&str>) -> Result<Option<String>, Failure> {
    if let Some(id) = named {
        return Ok(Some(id.to_owned()));
    }
    let list = daemon.call::<SessionList>(NoParams {}).await?;
    Ok(list.sessions.into_iter().find(|session| !session.closed).map(|session| session.session_id))
}

/// The same, and an error if there is none.
///
/// # Errors
/// The daemon's, or that there is no session.
pub(crate) async fn need(daemon: &Connection, named: Option<&str>) -> Result<String, Failure> {
    let none = || Failure::new(Exit::Failure, "there is no open session").with_hint("a message or `pair add FILE` opens one");
    find(daemon, named).await?.ok_or_else(none)
}

/// The same, and a new one if there is none.
///
/// # Errors
/// The daemon's.
pub(crate) async fn find_or_open(daemon: &Connection, named: Option<&str>) -> Result<String, Failure> {
    match find(daemon, named).await? {
        Some(id) => Ok(id),
        None => Ok(daemon.call::<SessionNew>(SessionNewParams::default()).await?.session_id),
    }
}

/// A session made ready for messages, with what must be put back when this program is done with it.
pub(crate) struct Prepared {
    pub(crate) id: String,
    /// It was opened just now.
    pub(crate) is_new: bool,
    pub(crate) mode: Mode,
    /// Mode, commits and review are lent for as long as this program runs: a `--dry` that stayed would surprise the next.
    back: Option<SessionConfigureParams>,
}

/// Finds or opens the session, adds the files, and sets what the options say. What is refused opens no session.
///
/// # Errors
/// A file that is not in the work tree, or the daemon's.
pub(crate) async fn prepare(daemon: &Connection, args: &Args, files: &[String]) -> Result<Prepared, Failure> {
    let files = daemon.tree.paths(files)?;
    let read_only = daemon.tree.paths(&args.chat.read_only)?;
    if let Some(path) = files.iter().find(|path| read_only.contains(path)) {
        return Err(Failure::usage(format!("{path} is to be edited and, with --read, never to be edited")));
    }
    let model = std::env::var(MODEL_VARIABLE).ok();
    let found = if args.chat.new { None } else { find(daemon, args.common.session.as_deref()).await? };
    let Some(id) = found else {
        let before = Settings::default();
        let wanted = wanted(&args.chat, &before, model, "");
        let (_, settings) = wanted.clone().split();
        let params = SessionNewParams { files: Some(files), read_only: Some(read_only), ..settings };
        let id = daemon.call::<SessionNew>(params).await.map_err(unfit)?.session_id;
        let wanted = SessionConfigureParams { session_id: id.clone(), ..wanted };
        let (mode, back) = (wanted.mode.unwrap_or(before.mode), given_back(&wanted, &before));
        return Ok(Prepared { id, is_new: true, mode, back });
    };
    for (paths, read_only) in [(files, false), (read_only, true)] {
        if !paths.is_empty() {
            daemon.call::<ContextAdd>(ContextAddParams { session_id: id.clone(), paths, read_only }).await?;
        }
    }
    let before = daemon.call::<SessionRead>(SessionParams { session_id: id.clone() }).await?.settings;
    let wanted = wanted(&args.chat, &before, model, &id);
    let mode = wanted.mode.unwrap_or(before.mode);
    let back = given_back(&wanted, &before);
    if wanted != (SessionConfigureParams { session_id: id.clone(), ..Default::default() }) {
        daemon.call::<SessionConfigure>(wanted).await.map_err(unfit)?;
    }
    Ok(Prepared { id, is_new: false, mode, back })
}

/// Of all settings only a model's name is free text: it is what a daemon can find unfit, and is told as a turn would tell it.
fn unfit(error: ClientError) -> Failure {
    let failure = Failure::from(error);
    let exit = if failure.exit == Exit::Usage { Exit::Model } else { failure.exit };
    Failure { exit, ..failure }
}

impl Prepared {
    /// Puts back what was lent. That it fails is told and changes nothing else.
    pub(crate) async fn give_back(self, daemon: &Connection, screen: &mut Screen) {
        if let Some(back) = self.back
            && let Err(error) = daemon.call::<SessionConfigure>(back).await
        {
            screen.warn(&format!("the session keeps the settings of this command: {error}"));
        }
    }
}

fn wanted(chat: &Chat, before: &Settings, fallback: Option<String>, session: &str) -> SessionConfigureParams {
    let apply_mode = match (chat.review, chat.dry) {
        (true, _) => Some(ApplyMode::Review),
        (_, true) => Some(ApplyMode::Dry),
        _ => None,
    };
    SessionConfigureParams {
        session_id: session.to_owned(),
        mode: chat.mode.map(mode),
        model: chat.model.clone().or_else(|| fallback.filter(|name| before.model.is_none() && !name.is_empty())),
        edit_format: chat.edit_format,
        commit_mode: chat.no_commit.then_some(CommitMode::None),
        apply_mode,
        ..Default::default()
    }
}

/// What undoes `wanted`, but for the model and its edit format, which stay.
fn given_back(wanted: &SessionConfigureParams, before: &Settings) -> Option<SessionConfigureParams> {
    let back = SessionConfigureParams {
        session_id: wanted.session_id.clone(),
        mode: wanted.mode.map(|_| before.mode),
        commit_mode: wanted.commit_mode.map(|_| before.commit_mode),
        apply_mode: wanted.apply_mode.map(|_| before.apply_mode),
        ..Default::default()
    };
    (back.mode.is_some() || back.commit_mode.is_some() || back.apply_mode.is_some()).then_some(back)
}

/// The protocol's word.
pub(crate) const fn mode(name: ModeName) -> Mode {
    match name {
        ModeName::Ask => Mode::Ask,
        ModeName::Code => Mode::Code,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_lent_is_given_back_and_the_model_stays() {
        let before = Settings { mode: Mode::Ask, ..Settings::default() };
        let chat = Chat { model: Some("replay:x".to_owned()), mode: Some(ModeName::Code), dry: true, ..Chat::default() };
        let wanted = wanted(&chat, &before, None, "s");
        assert_eq!((wanted.mode, wanted.apply_mode, wanted.commit_mode), (Some(Mode::Code), Some(ApplyMode::Dry), None));
        assert_eq!(wanted.model.as_deref(), Some("replay:x"));
        let back = given_back(&wanted, &before).unwrap();
        assert_eq!((back.mode, back.apply_mode, back.commit_mode, back.model), (Some(Mode::Ask), Some(ApplyMode::Auto), None, None));
    }

    #[test]
    fn the_environments_model_is_for_sessions_that_have_none() {
        let none = Settings::default();
        let one = Settings { model: Some("a/b".to_owned()), ..Settings::default() };
        let model = |before: &Settings, fallback: &str| wanted(&Chat::default(), before, Some(fallback.to_owned()), "s").model;
        assert_eq!(model(&none, "c/d").as_deref(), Some("c/d"));
        assert_eq!(model(&one, "c/d"), None);
        assert_eq!(model(&none, ""), None);
        assert_eq!(given_back(&wanted(&Chat::default(), &none, Some("c/d".to_owned()), "s"), &none), None);
    }
}
