//! A request's messages: a pure function of the session, its files and what was said, in the order that keeps the
//! provider's prompt cache useful: what changes least comes first.

use std::collections::BTreeMap;

use paird_base::{Content, RepoPath};
use paird_edit::{Format, choose_fence};
use paird_provider::{Message, MessageRole as Role};

use super::entry::Selection;
use super::ground::{Ground, Grounds};
use super::prompts::{self, FormatPrompt};
use super::settings::{Mode, Settings};
use super::state::Exchange;
use super::tree::Tree;

/// A file's text, or why it cannot be shown.
pub(super) type Shown = Result<Content, String>;

/// Everything that a request shows.
#[derive(Debug, Clone)]
pub(super) struct Context {
    pub mode: Mode,
    pub format: Format,
    pub read_only: Vec<(RepoPath, Shown)>,
    pub files: Vec<(RepoPath, Shown)>,
    /// Files with edits of this turn that are not yet written; shown in place of the disk's.
    pub overlay: BTreeMap<RepoPath, Content>,
    /// Finished exchanges, of earlier turns and of this one.
    pub history: Vec<Exchange>,
    /// What this request asks.
    pub asked: String,
}

impl Context {
    /// Reads the chat's files as they are now.
    pub(super) fn read(tree: &Tree, settings: &Settings, files: &[RepoPath], read_only: &[RepoPath]) -> Self {
        let read = |paths: &[RepoPath]| paths.iter().map(|p| (p.clone(), tree.content(p))).collect();
        let (mode, format) = (settings.mode, settings.edit_format);
        Self {
            mode,
            format,
            read_only: read(read_only),
            files: read(files),
            overlay: BTreeMap::new(),
            history: Vec::new(),
            asked: String::new(),
        }
    }

    /// What the chat's files hold as they are shown. Of one that cannot be shown the model knows nothing.
    pub(super) fn grounds(&self) -> Grounds {
        self.files.iter().map(|(path, shown)| (path.clone(), Ground::of(shown.as_ref().ok()))).collect()
    }

    /// The messages, roles alternating after the system message, the last one the user's.
    #[must_use]
    pub(super) fn messages(&self) -> Vec<Message> {
        let taught = (self.mode == Mode::Code).then(|| FormatPrompt::of(self.format).fenced(choose_fence(self.texts())));
        let system = taught.as_ref().map_or_else(|| prompts::ASK.to_owned(), |taught| format!("{}\n\n{}", taught.how, taught.rules));
        let mut messages = vec![Message::new(Role::System, system)];
        let mut say = |role, text: String| messages.push(Message::new(role, text));
        if let Some(FormatPrompt { example: [user, assistant], .. }) = &taught {
            say(Role::User, user.clone());
            say(Role::Assistant, assistant.clone());
            say(Role::User, prompts::EXAMPLE_OVER.to_owned());
            say(Role::Assistant, prompts::ACK.to_owned());
        }
        if !self.read_only.is_empty() {
            say(Role::User, format!("{}\n\n{}", prompts::READ_ONLY_INTRO, self.listing(&self.read_only)));
            say(Role::Assistant, prompts::ACK.to_owned());
        }
        for exchange in &self.history {
            say(Role::User, exchange.asked.clone());
            say(Role::Assistant, if exchange.reply.trim().is_empty() { "(no reply)".to_owned() } else { exchange.reply.clone() });
        }
        let files = if self.files.is_empty() && self.overlay.is_empty() {
            prompts::NO_FILES.to_owned()
        } else {
            format!("{}\n\n{}", prompts::FILES_INTRO, self.listing(&self.files_and_overlay()))
        };
        say(Role::User, files);
        say(Role::Assistant, prompts::ACK.to_owned());
        let reminder = taught.map_or_else(String::new, |taught| format!("\n\n{}", taught.rules));
        say(Role::User, format!("{}{reminder}", self.asked));
        messages
    }

    /// The texts that are shown, as far as they are text.
    fn texts(&self) -> impl Iterator<Item = &str> {
        let shown = self.read_only.iter().chain(&self.files).filter_map(|(_, shown)| shown.as_ref().ok());
        shown.chain(self.overlay.values()).filter_map(|content| std::str::from_utf8(&content.bytes).ok())
    }

    /// The chat's files, then new files of this turn that are in no listing yet.
    fn files_and_overlay(&self) -> Vec<(RepoPath, Shown)> {
        let mut files = self.files.clone();
        for (path, content) in &self.overlay {
            if !files.iter().any(|(p, _)| p == path) {
                files.push((path.clone(), Ok(content.clone())));
            }
        }
        files
    }

    fn listing(&self, files: &[(RepoPath, Shown)]) -> String {
        files.iter().map(|(path, shown)| self.file(path, shown)).collect::<Vec<_>>().join("\n")
    }

    fn file(&self, path: &RepoPath, shown: &Shown) -> String {
        let (content, mark) = match (self.overlay.get(path), shown) {
            (Some(content), _) => (content, format!(" {}", prompts::NOT_YET_WRITTEN)),
            (None, Ok(content)) => (content, String::new()),
            (None, Err(why)) => return format!("{path} {why}.\n"),
        };
        if content.bytes.contains(&0) {
            return format!("{path} is not a text file.\n");
        }
        let text = String::from_utf8_lossy(&content.bytes);
        let fence = fence_for(&text);
        let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        format!("{path}{mark}\n{fence}\n{text}{end}{fence}\n")
    }
}

/// A run of backticks that no line of the text starts with.
fn fence_for(text: &str) -> String {
    let longest = text.lines().map(|line| line.trim_start().bytes().take_while(|&b| b == b'`').count()).max().unwrap_or(0);
    "`".repeat((longest + 1).max(3))
}

/// The user's side of a turn's first request: what happened since, what the message points at, the message.
#[must_use]
pub(super) fn first_question(text: &str, selection: Option<&Selection>, notes: &[String], tree: &Tree) -> String {
    let mut parts = Vec::new();
    if !notes.is_empty() {
        parts.push(format!("(Since your last reply: {}.)", notes.join("; ")));
    }
    if let Some(selection) = selection {
        parts.push(selected(selection, tree));
    }
    parts.push(text.to_owned());
    parts.join("\n\n")
}

fn selected(selection: &Selection, tree: &Tree) -> String {
    let Selection { path, start_line, end_line } = selection;
    let head = format!("This is about lines {start_line}-{end_line} of {path}");
    let Ok(content) = tree.content(path) else {
        return format!("{head}.");
    };
    let text = String::from_utf8_lossy(&content.bytes);
    let (start, end) = (*start_line as usize, *end_line as usize);
    let lines: Vec<&str> = text.lines().skip(start.saturating_sub(1)).take(end.saturating_sub(start) + 1).collect();
    let lines = lines.join("\n");
    let fence = fence_for(&lines);
    format!("{head}:\n{fence}\n{lines}\n{fence}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_is_longer_than_any_in_the_text() {
        assert_eq!(fence_for("a\n```rust\nb"), "````");
        assert_eq!(fence_for("  `````\n"), "``````");
        assert_eq!(fence_for("x ``` y"), "```");
    }

    #[test]
    fn roles_alternate_and_the_person_has_the_last_word() {
        let path = RepoPath::parse("a.py").unwrap();
        for mode in [Mode::Code, Mode::Ask] {
            let context = Context {
                mode,
                format: Format::Diff,
                read_only: vec![(path.clone(), Err("is not there".to_owned()))],
                files: vec![(path.clone(), Ok(Content::new(*b"no line end", 0o644)))],
                overlay: BTreeMap::new(),
                history: vec![Exchange {
                    turn: super::super::ids::TurnId("t".to_owned()),
                    asked: "q".to_owned(),
                    reply: String::new(),
                    stop: "stop".to_owned(),
                    shown: Grounds::new(),
                }],
                asked: "now".to_owned(),
            };
            let messages = context.messages();
            assert_eq!(messages[0].role, Role::System);
            for pair in messages[1..].windows(2) {
                assert_ne!(pair[0].role, pair[1].role);
            }
            let last = messages.last().unwrap();
            assert!(last.role == Role::User && last.content.starts_with("now"));
            assert!(messages.iter().any(|m| m.content.contains("no line end\n```\n")));
        }
    }
}
