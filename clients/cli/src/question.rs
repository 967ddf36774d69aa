//! Questions of a turn: shown, answered by a person at this terminal or by `--yes`, withdrawn when somebody else was first.

use std::collections::VecDeque;
use std::future::Future;
use std::io;
use std::pin::Pin;

use paird_protocol::{Question, QuestionKind};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::termios::{QueueSelector, tcflush};

use crate::plain::line;
use crate::show::Screen;

/// Longest answer that is read.
const ANSWER_BYTES_MAX: usize = 1024;

/// Who answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answers {
    /// The person at the terminal.
    Person,
    /// Nobody here, but for what `--yes` allows.
    Yes,
    /// Nobody here: another client, or the daemon's policy.
    Nobody,
}

impl Answers {
    /// Whether questions may be put to this client at all.
    pub(crate) fn any(self) -> bool {
        self != Self::Nobody
    }
}

/// An answer on its way to the daemon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) question_id: String,
    pub(crate) option_id: String,
}

/// A line that was typed; `None` at the end of the input.
pub(crate) type Typed = io::Result<Option<String>>;

/// The questions of one turn that wait for this client.
pub(crate) struct Asker {
    answers: Answers,
    open: VecDeque<Question>,
    typing: Option<Pin<Box<dyn Future<Output = Typed> + Send>>>,
}

impl Asker {
    pub(crate) fn new(answers: Answers) -> Self {
        Self { answers, open: VecDeque::new(), typing: None }
    }

    /// A question was asked, by the turn that is followed (`ours`) or by one that it waits for. Gives its answer where no
    /// person is needed for it.
    pub(crate) fn asked(&mut self, question: Question, ours: bool, screen: &mut Screen) -> Option<Answer> {
        match self.answers {
            Answers::Yes | Answers::Nobody if !ours => {
                let id = &question.question_id;
                screen.warn(&format!(
                    "an earlier turn of this session waits for an answer: {} (`pair answer {id} OPTION` or `pair` at a terminal gives one)",
                    question.prompt
                ));
                None
            }
            // Asked about twice: it came with the session's state and as an event.
            Answers::Person if self.open.iter().any(|open| open.question_id == question.question_id) => None,
            Answers::Yes => {
                let option = permitted(&question);
                screen.notice(&format!("{} {option}", question.prompt));
                Some(Answer { option_id: option.to_owned(), question_id: question.question_id })
            }
            Answers::Nobody => {
                screen.notice(&format!("waiting for an answer elsewhere: {} (`pair answer {}`)", question.prompt, question.question_id));
                None
            }
            Answers::Person => {
                self.open.push_back(question);
                if self.open.len() == 1 {
                    self.ask(screen);
                }
                None
            }
        }
    }

    /// Whether a person at this terminal has yet to answer.
    pub(crate) fn is_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// The next line that is typed while a question is open. Dropping it loses nothing.
    pub(crate) async fn typed(&mut self) -> Typed {
        match &mut self.typing {
            Some(typing) => {
                let typed = typing.await;
                self.typing = None;
                typed
            }
            None => std::future::pending().await,
        }
    }

    /// What the line means; asks again if it means nothing.
    pub(crate) fn understand(&mut self, typed: Typed, screen: &mut Screen) -> Option<Answer> {
        match &typed {
            Ok(Some(_)) => screen.answered(),
            Ok(None) | Err(_) => screen.end_line(),
        }
        let question = self.open.front()?;
        let option = match &typed {
            Ok(Some(text)) => choose(question, text).map(str::to_owned),
            // Whoever cannot answer wants nothing changed.
            Ok(None) | Err(_) => question.options.first().map(|option| option.option_id.clone()),
        };
        let Some(option_id) = option else {
            self.ask(screen);
            return None;
        };
        let question = self.open.pop_front()?;
        self.ask(screen);
        Some(Answer { question_id: question.question_id, option_id })
    }

    /// The question has its answer, from here or from elsewhere.
    pub(crate) fn answered(&mut self, question_id: &str, option_id: &str, screen: &mut Screen) {
        let Some(at) = self.open.iter().position(|question| question.question_id == question_id) else {
            return;
        };
        self.open.remove(at);
        screen.notice(&format!("the question is answered: {option_id}"));
        if at == 0 {
            self.typing = None;
            self.ask(screen);
        }
    }

    fn ask(&mut self, screen: &mut Screen) {
        if let Some(question) = self.open.front() {
            // What was typed ahead was not meant for a question that nobody had seen.
            let _ = tcflush(io::stdin(), QueueSelector::IFlush);
            screen.ask(&text(question));
            self.typing = Some(Box::pin(read_line()));
        }
    }
}

/// What `--yes` says: yes to files, else what Enter would take, and no command is ever run for it.
fn permitted(question: &Question) -> &str {
    let yes = question.options.iter().find(|option| option.option_id == "yes");
    match (question.kind, yes, question.options.first()) {
        (QuestionKind::AddFiles | QuestionKind::CreateFile | QuestionKind::EditOutsideChat, Some(yes), _) => &yes.option_id,
        (QuestionKind::RunCommand, _, Some(first)) => &first.option_id,
        _ => &question.default,
    }
}

/// `Create the new file a.py? [Y/n] `, or the options one a line.
fn text(question: &Question) -> String {
    let ids: Vec<&str> = question.options.iter().map(|option| option.option_id.as_str()).collect();
    let prompt = line(&question.prompt);
    if ids == ["no", "yes"] {
        let choice = if question.default == "yes" { "Y/n" } else { "y/N" };
        return format!("{prompt} [{choice}] ");
    }
    let mut text = format!("{prompt}\n");
    for (number, option) in (1..).zip(&question.options) {
        let default = if option.option_id == question.default { " (default)" } else { "" };
        text.push_str(&format!("  {number}) {}{default}\n", line(&option.label)));
    }
    text + "? "
}

/// The option that was typed: nothing for the default, a number, or the beginning of one option's name or label.
pub(crate) fn choose<'a>(question: &'a Question, typed: &str) -> Option<&'a str> {
    let typed = typed.trim().to_lowercase();
    if typed.is_empty() {
        return Some(&question.default);
    }
    if let Ok(number) = typed.parse::<usize>() {
        return question.options.get(number.checked_sub(1)?).map(|option| option.option_id.as_str());
    }
    let begins = |text: &str| text.to_lowercase().starts_with(&typed);
    let mut fitting = question.options.iter().filter(|option| begins(&option.option_id) || begins(&option.label));
    let option = fitting.next()?;
    fitting.next().is_none().then_some(option.option_id.as_str())
}

/// A line from the terminal, which hands whole lines over. Nobody is left reading when this is dropped.
async fn read_line() -> Typed {
    let (given_up, waiting) = io::pipe()?;
    let reading = tokio::task::spawn_blocking(move || read_unless(&given_up));
    let typed = reading.await.map_err(io::Error::other)?;
    // Its end, when this is dropped before, is what the thread sees.
    drop(waiting);
    typed
}

/// Waits for a line, or for the other end of the pipe to be closed.
fn read_unless(given_up: &io::PipeReader) -> Typed {
    let stdin = io::stdin();
    let mut ready = [PollFd::new(&stdin, PollFlags::IN), PollFd::new(given_up, PollFlags::IN)];
    while let Err(errno) = poll(&mut ready, None) {
        if errno != Errno::INTR {
            return Err(errno.into());
        }
    }
    if !ready[1].revents().is_empty() {
        return Ok(None);
    }
    // Not by way of the standard library's buffer, which would keep the lines after this one from the prompt.
    let mut buffer = [0; ANSWER_BYTES_MAX];
    let count = rustix::io::read(&stdin, &mut buffer)?;
    Ok((count > 0).then(|| String::from_utf8_lossy(&buffer[..count]).into_owned()))
}

#[cfg(test)]
mod tests {
    use paird_protocol::QuestionOption;

    use super::*;
    use crate::show::{Look, tests::screen};

    fn question(kind: QuestionKind, options: &[(&str, &str)], default: &str) -> Question {
        let option = |(id, label): &(&str, &str)| QuestionOption { option_id: (*id).to_owned(), label: (*label).to_owned() };
        Question {
            question_id: "q1".to_owned(),
            session_id: "s".to_owned(),
            turn_id: None,
            kind,
            prompt: "Create \u{1b}[2Ja.py?".to_owned(),
            options: options.iter().map(option).collect(),
            default: default.to_owned(),
        }
    }

    const YES_NO: &[(&str, &str)] = &[("no", "No"), ("yes", "Yes")];
    const PARTIAL: &[(&str, &str)] = &[("hold", "Hold as proposals"), ("apply", "Apply what matched"), ("discard", "Discard")];

    #[test]
    fn what_is_typed() {
        let create = question(QuestionKind::CreateFile, YES_NO, "yes");
        for (typed, option) in [
            ("", Some("yes")),
            ("\n", Some("yes")),
            ("n\n", Some("no")),
            ("YES", Some("yes")),
            ("1", Some("no")),
            ("3", None),
            ("0", None),
            ("maybe", None),
        ] {
            assert_eq!(choose(&create, typed), option, "{typed:?}");
        }
        let partial = question(QuestionKind::ApplyPartial, PARTIAL, "hold");
        for (typed, option) in [("", Some("hold")), ("2", Some("apply")), ("a", Some("apply")), ("Disc", Some("discard")), ("x", None)] {
            assert_eq!(choose(&partial, typed), option, "{typed:?}");
        }
    }

    #[test]
    fn how_it_is_asked() {
        assert_eq!(text(&question(QuestionKind::CreateFile, YES_NO, "yes")), "Create [2Ja.py? [Y/n] ");
        assert_eq!(text(&question(QuestionKind::EditOutsideChat, YES_NO, "no")), "Create [2Ja.py? [y/N] ");
        let many = text(&question(QuestionKind::Unknown, PARTIAL, "hold"));
        assert_eq!(many, "Create [2Ja.py?\n  1) Hold as proposals (default)\n  2) Apply what matched\n  3) Discard\n? ");
    }

    #[test]
    fn yes_allows_files_and_never_a_command() {
        for (kind, options, default, said) in [
            (QuestionKind::AddFiles, YES_NO, "yes", "yes"),
            (QuestionKind::EditOutsideChat, YES_NO, "no", "yes"),
            (QuestionKind::RunCommand, YES_NO, "yes", "no"),
            (QuestionKind::SuspiciousEdit, YES_NO, "no", "no"),
            (QuestionKind::ApplyPartial, PARTIAL, "hold", "hold"),
            (QuestionKind::Unknown, YES_NO, "no", "no"),
        ] {
            assert_eq!(permitted(&question(kind, options, default)), said, "{kind:?}");
        }
    }

    #[test]
    fn without_a_person_nothing_is_read() {
        let (mut screen, out, err) = screen(Look::default());
        let ask = |answers, screen: &mut Screen| Asker::new(answers).asked(question(QuestionKind::CreateFile, YES_NO, "yes"), true, screen);
        let yes = Answer { question_id: "q1".to_owned(), option_id: "yes".to_owned() };
        assert_eq!(ask(Answers::Yes, &mut screen), Some(yes));
        assert_eq!(ask(Answers::Nobody, &mut screen), None);
        assert_eq!(Asker::new(Answers::Yes).asked(question(QuestionKind::Spend, YES_NO, "yes"), false, &mut screen), None);
        assert_eq!(out.text(), "");
        let told: Vec<&str> =
            ["Create [2Ja.py? yes", "waiting for an answer elsewhere: Create [2Ja.py?", "an earlier turn of this session"]
                .into_iter()
                .zip(err.text().lines())
                .map(|(begins, line)| if line.starts_with(begins) { begins } else { "another line" })
                .collect();
        assert!(told.len() == 3 && !told.contains(&"another line"), "{}", err.text());
    }
}
