//! The daemon's hints in the words of this program: where they name methods, commands are named instead.

use paird_protocol::methods::METHODS;

/// What a hint of the daemon says, and what a person at a terminal does instead. A test holds the left side against the
/// daemon's sources.
const COMMANDS: &[(&str, &str)] = &[
    ("commit/list shows which commits are paird's", "`pair log` shows which commits are paird's"),
    ("edit/undo takes edits back without moving HEAD", "`pair undo --edit ID` takes edits back without moving HEAD"),
    ("edit/list shows which edits wait", "`pair diff` shows which edits of the last turn wait"),
    ("edit/list shows the state of each edit", "`pair diff` shows the edits of the last turn"),
    ("edit/list has every edit that is kept", "`pair diff` shows the edits of the last turn"),
    ("session/list has every session", "`pair sessions` lists them"),
    ("context/list has the exact names", "`pair ls` has the exact names"),
    ("take an optionId of the question", "`pair answer` lists the answers"),
    ("with `model` in session/new or session/configure, with `pair --model`, or in PAIRD_MODEL", "with `pair --model`, or in PAIRD_MODEL"),
    ("in the environment of the daemon or pass it from the client (initialize.env)", "in the environment of `pair`"),
    ("connect again: the next client starts", "run the command again: it starts"),
];

/// The hint for a person; of one that only a client's author can follow nothing is left.
pub(crate) fn for_person(hint: &str) -> Option<String> {
    let said = COMMANDS.iter().fold(hint.to_owned(), |text, (method, command)| text.replace(method, command));
    let clauses: Vec<&str> = said.split("; ").filter(|clause| !names_a_method(clause)).collect();
    (!clauses.is_empty()).then(|| clauses.join("; "))
}

/// Names without a sign in them, such as `shutdown`, are words of everyday, too.
fn names_a_method(text: &str) -> bool {
    METHODS.iter().any(|method| method.name.contains(['/', '.']) && text.contains(method.name)) || text.contains("initialize.")
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    #[test]
    fn hints() {
        for (hint, told) in [
            (
                "commit/list shows which commits are paird's; edit/undo takes edits back without moving HEAD",
                Some("`pair log` shows which commits are paird's; `pair undo --edit ID` takes edits back without moving HEAD"),
            ),
            ("context/list has the exact names; nothing was dropped", Some("`pair ls` has the exact names; nothing was dropped")),
            (
                "set A_API_KEY in the environment of the daemon or pass it from the client (initialize.env)",
                Some("set A_API_KEY in the environment of `pair`"),
            ),
            ("edit/get shows the hunks; name each at most once", Some("name each at most once")),
            ("rpc.discover lists the methods", None),
            ("put large texts into a file and add it to the chat", Some("put large texts into a file and add it to the chat")),
        ] {
            assert_eq!(for_person(hint).as_deref(), told, "{hint}");
        }
        assert!(COMMANDS.iter().all(|(_, command)| !names_a_method(command)));
    }

    /// All Rust sources below a directory, as one text.
    fn sources(dir: &Path, text: &mut String) {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                sources(&path, text);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                text.push_str(&fs::read_to_string(path).unwrap());
            }
        }
    }

    #[test]
    fn the_daemon_says_what_is_put_into_other_words() {
        let mut text = String::new();
        sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../daemon"), &mut text);
        // `{env}` and the like stand for what a hint is about.
        for (said, _) in COMMANDS {
            assert!(text.contains(said), "the daemon no longer says {said:?}");
        }
    }
}
