//! `pair` alone: messages and commands at a prompt, until the person leaves.

use std::path::PathBuf;

use paird_protocol::address::{WorkTreeKey, state_dir};
use paird_protocol::methods::{SessionClear, SessionConfigure, SessionRead};
use paird_protocol::{Mode, SessionConfigureParams, SessionParams};
use rustyline::error::ReadlineError;
use rustyline::{Config, DefaultEditor};

use crate::args::{Args, Undo};
use crate::connection::Connection;
use crate::exit::{Exit, Failure};
use crate::input::Typing;
use crate::question::Answers;
use crate::repo::WorkTree;
use crate::session::Prepared;
use crate::show::Screen;
use crate::slash::{self, HELP, Slash};
use crate::{commands, history, session, turn};

/// Lines of history that are kept.
const HISTORY_ENTRIES_MAX: usize = 1000;

/// Reads and runs messages until the end of the input or `/exit`.
///
/// # Errors
/// The daemon cannot be reached at the start, or the terminal is lost. What goes wrong later is shown, and the prompt returns.
pub(crate) async fn run(tree: WorkTree, args: &Args, screen: &mut Screen) -> Result<Exit, Failure> {
    if screen.look.json {
        return Err(Failure::usage("--json needs a message"));
    }
    let answers = if args.chat.yes { Answers::Yes } else { Answers::Person };
    let mut prompt = Prompt::new(&tree)?;
    let daemon = Connection::open(tree, answers.any()).await?;
    let session = session::prepare(&daemon, args, &[]).await?;
    let which = if session.is_new { "new session" } else { "session" };
    screen.notice(&format!("{which} {} of {}; /help lists the commands, Ctrl-D leaves", session.id, daemon.tree.root.display()));
    let mut chat = Chat { mode: session.mode, daemon, session, answers, screen };
    chat.ask_what_is_open().await;
    let mut typing = Typing::default();
    let ended = loop {
        let shown = if typing.is_open() { ". ".to_owned() } else { chat.prompt() };
        match prompt.read(shown).await {
            Ok(typed) => {
                let Some(text) = typing.take(&typed).filter(|text| !text.trim().is_empty()) else {
                    continue;
                };
                prompt.remember(&text);
                if !chat.take(&text).await {
                    break Ok(Exit::Done);
                }
            }
            Err(ReadlineError::Interrupted) => {
                typing.forget();
                chat.screen.notice("Ctrl-D or /exit leaves");
            }
            Err(ReadlineError::Eof) => break Ok(Exit::Done),
            Err(error) => break Err(Failure::new(Exit::Failure, format!("read the terminal: {error}"))),
        }
    };
    chat.session.give_back(&chat.daemon, chat.screen).await;
    ended
}

/// The line editor with its history, which lies with the work tree's state.
struct Prompt {
    /// Away while a line is being read.
    editor: Option<DefaultEditor>,
    history: Option<PathBuf>,
}

impl Prompt {
    fn new(tree: &WorkTree) -> Result<Self, Failure> {
        let terminal = |error: ReadlineError| Failure::new(Exit::Failure, format!("use the terminal: {error}"));
        let config = Config::builder().max_history_size(HISTORY_ENTRIES_MAX).map_err(terminal)?;
        let config = config.history_ignore_space(true).auto_add_history(false).bracketed_paste(true).build();
        let mut editor = DefaultEditor::with_config(config).map_err(terminal)?;
        let state = state_dir(&WorkTreeKey::of(&tree.root), &|name| std::env::var_os(name)).ok();
        let history = state.map(|dir| dir.join("prompt_history"));
        if let Some(path) = &history {
            // There is none before the first prompt.
            let _ = editor.load_history(path);
        }
        Ok(Self { editor: Some(editor), history })
    }

    /// Reads on a thread of its own: the line editor waits for keys.
    async fn read(&mut self, prompt: String) -> Result<String, ReadlineError> {
        let gone = || ReadlineError::Io(std::io::Error::other("the line editor is gone"));
        let mut editor = self.editor.take().ok_or_else(gone)?;
        let reading = tokio::task::spawn_blocking(move || {
            let typed = editor.readline(&prompt);
            (editor, typed)
        });
        let (editor, typed) = reading.await.map_err(|_| gone())?;
        self.editor = Some(editor);
        typed
    }

    /// At once, so that a terminal that is closed loses nothing. A history that cannot be written is only shorter.
    fn remember(&mut self, text: &str) {
        if let Some(editor) = &mut self.editor
            && editor.add_history_entry(text).unwrap_or(false)
            && let Some(path) = &self.history
        {
            let _ = editor.append_history(path);
        }
    }
}

struct Chat<'a> {
    daemon: Connection,
    session: Prepared,
    mode: Mode,
    answers: Answers,
    screen: &'a mut Screen,
}

impl Chat<'_> {
    fn prompt(&self) -> String {
        match self.mode {
            Mode::Code => "> ".to_owned(),
            Mode::Ask => "ask> ".to_owned(),
        }
    }

    /// Runs one message or command. False when it was the last.
    async fn take(&mut self, text: &str) -> bool {
        let done = match slash::parse(text) {
            Some(Ok(Slash::Exit)) => return false,
            Some(Ok(slash)) => self.command(slash).await,
            Some(Err(message)) => Err(Failure::usage(message)),
            None => self.message(text).await,
        };
        if let Err(failure) = done {
            self.screen.end_line();
            self.screen.failure(&failure);
        }
        true
    }

    async fn message(&mut self, text: &str) -> Result<(), Failure> {
        self.stay_connected().await?;
        let result = turn::run(&self.daemon, self.screen, &self.session.id, text, self.answers).await?;
        self.screen.report(&result.report);
        Ok(())
    }

    /// A daemon that was stopped meanwhile is started again, one that did not answer is tried again; the session outlives both.
    async fn stay_connected(&mut self) -> Result<(), Failure> {
        if self.daemon.client.is_over() {
            self.daemon = Connection::open(self.daemon.tree.clone(), self.answers.any()).await?;
            self.ask_what_is_open().await;
        }
        Ok(())
    }

    /// Questions that an earlier program left, or another client's turn asks.
    async fn ask_what_is_open(&mut self) {
        match turn::resume(&self.daemon, self.screen, &self.session.id).await {
            Ok(Some(result)) => self.screen.report(&result.report),
            Ok(None) => {}
            Err(failure) => self.screen.failure(&failure),
        }
    }

    async fn command(&mut self, slash: Slash) -> Result<(), Failure> {
        self.stay_connected().await?;
        let id = self.session.id.clone();
        match slash {
            Slash::Add { files, read_only } => {
                let paths = self.daemon.tree.paths(&files)?;
                let context = commands::add(&self.daemon, &id, paths, read_only).await?;
                commands::show_files(self.screen, &context);
            }
            Slash::Drop(files) => {
                let paths = if files.is_empty() { None } else { Some(self.daemon.tree.paths(&files)?) };
                let context = commands::drop_files(&self.daemon, &id, paths).await?;
                commands::show_files(self.screen, &context);
            }
            Slash::Ls => commands::show_files(self.screen, &commands::list_files(&self.daemon, &id).await?),
            Slash::Mode(mode, None) => {
                self.set_mode(mode).await?;
                self.mode = mode;
            }
            Slash::Mode(mode, Some(text)) => {
                self.set_mode(mode).await?;
                let done = self.message(&text).await;
                self.set_mode(self.mode).await?;
                done?;
            }
            Slash::Diff => history::diff(&self.daemon, Some(&id), None, self.screen).await?,
            Slash::Undo => {
                let last = Undo { edits: Vec::new(), turn: None, all: false };
                history::undo(&self.daemon, Some(&id), &last, self.screen).await?;
            }
            Slash::Apply => history::apply(&self.daemon, Some(&id), Vec::new(), self.screen).await?,
            Slash::Model(Some(name)) => {
                self.configure(SessionConfigureParams { model: Some(name.clone()), ..Default::default() }).await?;
                self.screen.notice(&format!("the model is {name} from the next message on"));
            }
            Slash::Model(None) => {
                let settings = self.daemon.call::<SessionRead>(SessionParams { session_id: id }).await?.settings;
                self.screen.data(settings.model.as_deref().unwrap_or("no model is set"));
            }
            Slash::Clear => {
                self.daemon.call::<SessionClear>(SessionParams { session_id: id }).await?;
                self.screen.notice("what was said is forgotten");
            }
            Slash::Help => {
                for (usage, about) in HELP {
                    self.screen.data(&format!("{usage:16} {about}"));
                }
                self.screen.data("Lines between { and } are one message. Ctrl-C cancels the turn that runs.");
            }
            Slash::Exit => {}
        }
        Ok(())
    }

    async fn set_mode(&self, mode: Mode) -> Result<(), Failure> {
        self.configure(SessionConfigureParams { mode: Some(mode), ..Default::default() }).await
    }

    async fn configure(&self, settings: SessionConfigureParams) -> Result<(), Failure> {
        let params = SessionConfigureParams { session_id: self.session.id.clone(), ..settings };
        self.daemon.call::<SessionConfigure>(params).await?;
        Ok(())
    }
}
