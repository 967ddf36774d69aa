use git2::{Repository, Signature};
use paird_base::RepoPath;
use paird_base::limits::SUBJECT_CHARS_MAX;

use crate::Error;
use crate::error::Trying;

/// Author and committer as git's configuration names them. Nothing is made up from the machine's name.
pub(crate) fn identity(repo: &Repository) -> Result<(Signature<'static>, Signature<'static>), Error> {
    let config = repo.config().and_then(|mut config| config.snapshot()).trying("read the configuration")?;
    let value = |role: &str, part: &str| {
        let named = |section: &str| config.get_string(&format!("{section}.{part}")).ok().filter(|text| !text.trim().is_empty());
        named(role).or_else(|| named("user")).ok_or(Error::NoIdentity)
    };
    let signature = |role: &str| Signature::now(&value(role, "name")?, &value(role, "email")?).map_err(|_| Error::NoIdentity);
    Ok((signature("author")?, signature("committer")?))
}

/// The message as it is committed: no control characters, no blank edges, the trailers in one last paragraph.
pub(crate) fn compose(message: &str, trailers: &[(String, String)]) -> String {
    let lines: Vec<String> = message.lines().map(|line| printable(line).trim_end().to_owned()).collect();
    let mut text = lines.join("\n").trim_matches('\n').to_owned();
    if text.trim().is_empty() {
        text = "Edit files".to_owned();
    }
    let mut lines = trailers.iter().map(|(key, value)| format!("{}: {}", printable(key).trim(), printable(value).trim())).peekable();
    if lines.peek().is_some() {
        let continues = text.contains("\n\n") && git2::message_trailers_strs(&text).is_ok_and(|t| t.len() > 0);
        text.push_str(if continues { "\n" } else { "\n\n" });
        text.push_str(&lines.collect::<Vec<_>>().join("\n"));
    }
    text.push('\n');
    text
}

/// The message of the commit that keeps a person's own changes apart from an edit.
pub(crate) fn dirty_message(paths: &[RepoPath]) -> String {
    match paths {
        [path] => {
            let subject = |name: &str| format!("Save changes to {name} made before this edit");
            let whole = subject(path.as_str());
            if whole.chars().count() <= SUBJECT_CHARS_MAX { whole } else { format!("{}\n\n{path}", subject(path.file_name())) }
        }
        paths => {
            let names: Vec<&str> = paths.iter().map(RepoPath::as_str).collect();
            format!("Save changes to {} files made before this edit\n\n{}", paths.len(), names.join("\n"))
        }
    }
}

/// The first line.
pub(crate) fn subject(message: &str) -> String {
    message.lines().next().unwrap_or_default().to_owned()
}

fn printable(line: &str) -> String {
    line.chars().filter(|c| *c == '\t' || !c.is_control()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trailers_are_one_last_paragraph() {
        let by = [("Co-authored-by".to_owned(), "paird <p@x>\nEvil: yes".to_owned())];
        assert_eq!(compose("Fix a\n\nBody.\n\n", &by), "Fix a\n\nBody.\n\nCo-authored-by: paird <p@x>Evil: yes\n");
        assert_eq!(compose("Fix a\n\nRefs: #1\n", &by), "Fix a\n\nRefs: #1\nCo-authored-by: paird <p@x>Evil: yes\n");
        assert_eq!(compose("fix: a", &by), "fix: a\n\nCo-authored-by: paird <p@x>Evil: yes\n");
        assert_eq!(compose("\0\u{1b}[31mred\n", &[]), "[31mred\n");
        assert_eq!(compose(" \n", &[]), "Edit files\n");
    }

    #[test]
    fn a_long_path_goes_to_the_body() {
        let path = RepoPath::parse(&format!("{}/file.rs", "d".repeat(80))).unwrap();
        let message = dirty_message(std::slice::from_ref(&path));
        assert_eq!(subject(&message), "Save changes to file.rs made before this edit");
        assert!(message.ends_with(path.as_str()));
    }
}
