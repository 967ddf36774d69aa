//! Commands at the prompt, which begin with `/`.

use paird_protocol::Mode;

use crate::input::words;

/// The list that `/help` prints.
pub(crate) const HELP: &[(&str, &str)] = &[
    ("/add FILE…", "add files to the chat"),
    ("/read FILE…", "add files that are never edited"),
    ("/drop [FILE…]", "take files out of the chat, by default all"),
    ("/ls", "list the chat's files"),
    ("/ask [MESSAGE]", "only answer: this message, or from now on"),
    ("/code [MESSAGE]", "edit files: this message, or from now on"),
    ("/diff", "show what the last turn changed"),
    ("/undo", "take the last turn back"),
    ("/apply", "write the proposals that wait"),
    ("/model [NAME]", "show or set the model"),
    ("/clear", "forget what was said; files stay in the chat"),
    ("/exit", "leave (or Ctrl-D)"),
];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Slash {
    Add {
        files: Vec<String>,
        read_only: bool,
    },
    /// Every file without any.
    Drop(Vec<String>),
    Ls,
    /// For one message, or from now on.
    Mode(Mode, Option<String>),
    Diff,
    Undo,
    Apply,
    Model(Option<String>),
    Clear,
    Help,
    Exit,
}

/// The command, if the text is one: one line whose first word is `/` and letters. Anything else is a message.
pub(crate) fn parse(text: &str) -> Option<Result<Slash, String>> {
    let text = text.trim();
    let (name, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let name = name.strip_prefix('/').filter(|name| !name.is_empty() && name.chars().all(char::is_alphabetic))?;
    (!text.contains('\n')).then(|| command(name, rest.trim()))
}

fn command(name: &str, rest: &str) -> Result<Slash, String> {
    let given = || Some(rest.to_owned()).filter(|text| !text.is_empty());
    let plain = |slash| {
        if rest.is_empty() { Ok(slash) } else { Err(format!("/{name} takes nothing")) }
    };
    let files = |needed: bool| match words(rest) {
        Ok(files) if files.is_empty() && needed => Err(format!("/{name} takes the names of files")),
        other => other,
    };
    match name {
        "add" => Ok(Slash::Add { files: files(true)?, read_only: false }),
        "read" => Ok(Slash::Add { files: files(true)?, read_only: true }),
        "drop" => Ok(Slash::Drop(files(false)?)),
        "ls" => plain(Slash::Ls),
        "ask" => Ok(Slash::Mode(Mode::Ask, given())),
        "code" => Ok(Slash::Mode(Mode::Code, given())),
        "diff" => plain(Slash::Diff),
        "undo" => plain(Slash::Undo),
        "apply" => plain(Slash::Apply),
        "model" => Ok(Slash::Model(given())),
        "clear" => plain(Slash::Clear),
        "help" => plain(Slash::Help),
        "exit" | "quit" => plain(Slash::Exit),
        _ => Err(format!("there is no command /{name}; /help lists them")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_and_messages() {
        let files = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        for (text, expected) in [
            ("/add a.py 'b c.py'", Some(Slash::Add { files: files(&["a.py", "b c.py"]), read_only: false })),
            (" /drop ", Some(Slash::Drop(Vec::new()))),
            ("/ask why is it so?", Some(Slash::Mode(Mode::Ask, Some("why is it so?".to_owned())))),
            ("/code", Some(Slash::Mode(Mode::Code, None))),
            ("/quit", Some(Slash::Exit)),
            ("add a.py", None),
            ("/usr/bin/env is missing", None),
            ("/ask this\nof many lines", None),
            ("/", None),
            ("// a comment", None),
        ] {
            assert_eq!(parse(text).transpose(), Ok(expected), "{text:?}");
        }
        for text in ["/frobnicate", "/add", "/undo it", "/add 'x"] {
            assert!(matches!(parse(text), Some(Err(_))), "{text}");
        }
    }

    #[test]
    fn what_help_lists_is_there() {
        for (usage, _) in HELP {
            let name = usage.split(' ').next().unwrap();
            let argument = if usage.contains(" FILE") { " x" } else { "" };
            assert!(matches!(parse(&format!("{name}{argument}")), Some(Ok(_))), "{usage}");
        }
    }
}
