use std::path::{Path, PathBuf};

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};
use paird_protocol::EditFormat;

const EXAMPLES: &str = "\
Examples:
  pair                                   a prompt for the repository around here
  pair \"handle empty input\" src/a.rs     one message about a file
  git diff | pair --mode ask -           the message from standard input
  pair undo                              take the last turn back

A message that is the name of a subcommand is given with --message. Environment: PAIRD_MODEL is the model of sessions
that have none; names ending in _API_KEY or _API_BASE are lent to the daemon; NO_COLOR turns colours off.

Exit codes: 0 done, 1 failure, 2 usage, 3 edits not or partly applied, 4 checks failing, 5 model or provider error,
6 refused, 7 the daemon cannot be started or does not answer, 130 cancelled.";

/// A pair programmer in this repository.
///
/// Sends a message to the work tree's latest session, shows the reply as it comes, and what it changed. Without a message
/// it prompts for them.
#[derive(Debug, Parser)]
#[command(name = "pair", version, after_help = EXAMPLES)]
#[command(override_usage = "pair [OPTIONS] [MESSAGE|- [FILES]...]\n       pair [OPTIONS] COMMAND")]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) common: Common,
    #[command(flatten)]
    pub(crate) chat: Chat,
    #[command(subcommand)]
    command: Option<Command>,
    /// The message (`-` for standard input), then files to add to the chat first.
    #[arg(value_name = "MESSAGE FILES", help_heading = "Arguments")]
    words: Vec<String>,
}

/// What every command takes.
#[derive(Debug, ClapArgs)]
pub(crate) struct Common {
    /// The work tree; needed outside a git repository. Default: the repository around the current directory.
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) repo: Option<PathBuf>,
    /// The session. Default: the latest used open one.
    #[arg(long, global = true, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// Print the result as one line of JSON, and nothing else on standard output.
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// No notices and no usage on standard error, only errors.
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
}

/// What a message takes.
#[derive(Debug, ClapArgs, Default)]
#[command(next_help_heading = "Messages")]
pub(crate) struct Chat {
    /// The message.
    #[arg(long, short, value_name = "TEXT")]
    pub(crate) message: Option<String>,
    /// Open a new session.
    #[arg(long, conflicts_with = "session")]
    pub(crate) new: bool,
    /// Add a file that the model sees and never edits.
    #[arg(long = "read", value_name = "FILE")]
    pub(crate) read_only: Vec<String>,
    /// The session's model from now on, as `openai/NAME` or `replay:FILE`.
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// How the session's model writes its edits from now on.
    #[arg(long, value_name = "FORMAT", value_parser = edit_formats())]
    pub(crate) edit_format: Option<EditFormat>,
    /// Edit files, or only answer; for as long as this command runs.
    #[arg(long)]
    pub(crate) mode: Option<ModeName>,
    /// Do not commit the edits of this command.
    #[arg(long)]
    pub(crate) no_commit: bool,
    /// Keep the edits of this command as proposals; `pair apply` writes them.
    #[arg(long)]
    pub(crate) review: bool,
    /// Write nothing, only show.
    #[arg(long, conflicts_with = "review")]
    pub(crate) dry: bool,
    /// Say yes to files that are added, created or edited outside the chat, and take the default elsewhere.
    #[arg(long, short)]
    pub(crate) yes: bool,
}

/// The protocol's names are the names here.
const EDIT_FORMATS: [(&str, &str); 8] = [
    ("diff", "SEARCH/REPLACE blocks, the path above the fence"),
    ("diff-fenced", "the same, the path inside the fence"),
    ("whole", "whole files"),
    ("udiff", "unified diffs"),
    ("patch", "patches that add, update, delete and move files"),
    ("editor-diff", "as `diff`, for a model that only writes down what is planned"),
    ("editor-diff-fenced", "as `diff-fenced`, for such a model"),
    ("editor-whole", "as `whole`, for such a model"),
];

fn edit_formats() -> impl TypedValueParser<Value = EditFormat> {
    let names = EDIT_FORMATS.map(|(name, about)| PossibleValue::new(name).help(about));
    PossibleValuesParser::new(names).try_map(|name| serde_json::from_value(serde_json::Value::from(name)))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ModeName {
    Ask,
    Code,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Add files to the chat.
    Add {
        #[arg(required = true)]
        files: Vec<String>,
        /// Shown to the model, never edited.
        #[arg(long)]
        read_only: bool,
    },
    /// Take files out of the chat, by their exact names.
    Drop {
        #[arg(required_unless_present = "all")]
        files: Vec<String>,
        /// Every file.
        #[arg(long, conflicts_with = "files")]
        all: bool,
    },
    /// List the chat's files.
    Ls,
    /// Take the last turn back: its commit, or its edits where it made none.
    Undo(Undo),
    /// Write proposals, by default all of the session.
    Apply {
        #[arg(value_name = "EDIT")]
        edits: Vec<String>,
    },
    /// Show what the last turn changed, or a commit.
    Diff { commit: Option<String> },
    /// List the repository's files, as many as fit a budget.
    Map {
        /// The most that the list may take, in tokens.
        #[arg(long, value_name = "TOKENS")]
        tokens: Option<u64>,
    },
    /// Show what the daemon is and does.
    Status,
    /// List the sessions, the latest used first.
    Sessions,
    /// List the latest commits; paird's own have a star.
    Log {
        /// How many.
        #[arg(short = 'n', long, value_name = "NUMBER", default_value_t = 20)]
        limit: usize,
    },
    /// List the open questions, or answer one.
    Answer {
        question: Option<String>,
        #[arg(requires = "question")]
        option: Option<String>,
    },
    /// Stop the daemon of this work tree.
    Stop,
    /// Print the path of the daemon's socket.
    Socket {
        /// Start the daemon if none answers, and wait until it has answered.
        #[arg(long)]
        start: bool,
    },
    /// A whole turn in a temporary repository, with a recorded reply: no model, no key, nothing left behind.
    Demo,
}

#[derive(Debug, ClapArgs)]
#[group(multiple = false)]
pub(crate) struct Undo {
    /// Take this edit back, without moving HEAD.
    #[arg(long = "edit", value_name = "ID")]
    pub(crate) edits: Vec<String>,
    /// Take this turn's edits back, without moving HEAD.
    #[arg(long, value_name = "ID")]
    pub(crate) turn: Option<String>,
    /// Take every edit of the session back, without moving HEAD.
    #[arg(long)]
    pub(crate) all: bool,
}

/// What the command line as a whole asks for.
#[derive(Debug)]
pub(crate) enum Intent {
    Command(Command),
    Message {
        message: Message,
        files: Vec<String>,
    },
    /// No message: a prompt, or standard input as the message where that is no terminal.
    Prompt,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Message {
    Text(String),
    StandardInput,
}

impl Args {
    /// Takes the command or the words out. `terminal`: a person is at standard input.
    ///
    /// # Errors
    /// What does not fit together, in words for the person.
    pub(crate) fn intent(&mut self, terminal: bool, is_file: &dyn Fn(&Path) -> bool) -> Result<Intent, String> {
        if let Some(command) = self.command.take() {
            return if self.chat.is_given() || !self.words.is_empty() {
                Err("a message and a command at once; write a file that has a command's name as ./NAME, options of messages go without a command".to_owned())
            } else {
                Ok(Intent::Command(command))
            };
        }
        let mut words = std::mem::take(&mut self.words).into_iter();
        let message = match self.chat.message.take() {
            Some(text) => Message::Text(text),
            None => match words.next() {
                Some(word) if word == "-" => Message::StandardInput,
                Some(word) if !word.contains(char::is_whitespace) && is_file(Path::new(&word)) => {
                    return Err(format!(
                        "{word} is a file, and the message comes first; `pair add {word}` adds it to the chat, --message sends it as text"
                    ));
                }
                Some(word) => Message::Text(word),
                None if terminal => return Ok(Intent::Prompt),
                None => Message::StandardInput,
            },
        };
        if matches!(&message, Message::Text(text) if text.trim().is_empty()) {
            return Err("the message is empty".to_owned());
        }
        Ok(Intent::Message { message, files: words.collect() })
    }
}

impl Chat {
    fn is_given(&self) -> bool {
        self.message.is_some()
            || self.new
            || !self.read_only.is_empty()
            || self.model.is_some()
            || self.edit_format.is_some()
            || self.mode.is_some()
            || self.no_commit
            || self.review
            || self.dry
            || self.yes
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    fn intent(words: &[&str]) -> Result<Intent, String> {
        let mut args = Args::try_parse_from(std::iter::once(&"pair").chain(words)).map_err(|error| error.to_string())?;
        args.intent(true, &|path| path == Path::new("a.py"))
    }

    #[test]
    fn the_definition_is_sound() {
        Args::command().debug_assert();
    }

    #[test]
    fn messages() {
        for (words, text, files) in [
            (&["fix it"][..], "fix it", &[][..]),
            (&["fix it", "a.py", "b.py"], "fix it", &["a.py", "b.py"]),
            (&["fix it", "log"], "fix it", &["log"]),
            (&["-m", "undo"], "undo", &[]),
            (&["-m", "fix", "a.py"], "fix", &["a.py"]),
            (&["--", "undo"], "undo", &[]),
            (&["--model", "replay:x", "fix it", "--dry", "./log"], "fix it", &["./log"]),
        ] {
            let Ok(Intent::Message { message, files: found }) = intent(words) else { panic!("{words:?}") };
            assert_eq!(message, Message::Text(text.to_owned()), "{words:?}");
            assert_eq!(found, files, "{words:?}");
        }
        assert!(matches!(intent(&["-", "a.py"]), Ok(Intent::Message { message: Message::StandardInput, files }) if files == ["a.py"]));
    }

    #[test]
    fn edit_formats_are_the_protocols() {
        let given = |name| Args::try_parse_from(["pair", "--edit-format", name, "x"]).unwrap().chat.edit_format.unwrap();
        for (name, _) in EDIT_FORMATS {
            assert_eq!(serde_json::to_value(given(name)).unwrap(), name);
        }
        // One that is new in the protocol is in its own list.
        let known = serde_json::from_value::<EditFormat>("".into()).unwrap_err().to_string();
        let listed = EDIT_FORMATS.map(|(name, _)| format!("`{name}`")).join(", ");
        assert!(known.ends_with(&format!("expected one of {listed}")), "{known}");
    }

    #[test]
    fn no_message_is_a_prompt_or_standard_input() {
        assert!(matches!(intent(&["--mode", "ask"]), Ok(Intent::Prompt)));
        let mut piped = Args::try_parse_from(["pair"]).unwrap();
        assert!(matches!(piped.intent(false, &|_| false), Ok(Intent::Message { message: Message::StandardInput, .. })));
    }

    #[test]
    fn commands_take_the_common_options_on_either_side() {
        for words in [
            &["--repo", "x", "status"][..],
            &["status", "--repo", "x", "--json"],
            &["-q", "undo", "--turn", "t"],
            &["undo", "--session", "s"],
        ] {
            assert!(matches!(intent(words), Ok(Intent::Command(_))), "{words:?}");
        }
    }

    #[test]
    fn refused() {
        for (words, why) in [
            (&["-m", "fix it", "log"][..], "as ./NAME"),
            (&["--dry", "undo"], "without a command"),
            (&["--edit-format", "udiff", "undo"], "without a command"),
            (&["--edit-format", "yaml", "x"], "possible values: diff, diff-fenced, whole, udiff, patch, editor-diff"),
            (&["a.py"], "the message comes first"),
            (&[" "], "empty"),
            (&["--review", "--dry", "x"], "cannot be used with"),
            (&["--new", "--session", "s", "x"], "cannot be used with"),
            (&["undo", "--turn", "t", "--all"], "cannot be used with"),
            (&["drop"], "required"),
            (&["drop", "a", "--all"], "cannot be used with"),
        ] {
            let error = intent(words).unwrap_err();
            assert!(error.contains(why), "{words:?}: {error}");
        }
    }
}
