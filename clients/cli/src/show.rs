//! What reaches the terminal. Standard output has the data (reply, differences, commits), standard error the rest.
//!
//! Text of models and files goes through [`crate::plain`] on its way.

use std::io::{self, IsTerminal, Write};

use paird_protocol::{CommitRef, EditStatus, FailedBlock, Outcome, TurnReport};
use serde::Serialize;

use crate::exit::{Exit, Failure};
use crate::hints;
use crate::plain::{is_obeyed, line, plain, short};

/// Lines of the closest place that are shown for a block that found none.
const CLOSEST_LINES_SHOWN: usize = 8;

const BOLD: &str = "1";
const DIM: &str = "2";
const RED: &str = "31";
const GREEN: &str = "32";
const YELLOW: &str = "33";
const CYAN: &str = "36";

/// What is shown, and how.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Look {
    pub(crate) colour_out: bool,
    pub(crate) colour_err: bool,
    /// Both streams are the same terminal, so that one can spoil the other's line.
    pub(crate) one_terminal: bool,
    pub(crate) reasoning: bool,
    pub(crate) quiet: bool,
    /// Standard output is for the one result.
    pub(crate) json: bool,
}

impl Look {
    /// As the environment and the streams of this process ask for.
    pub(crate) fn of_this_process(quiet: bool, json: bool) -> Self {
        let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let colour = !set("NO_COLOR") && std::env::var_os("TERM").is_none_or(|term| term != "dumb");
        let (out, err) = (io::stdout().is_terminal(), io::stderr().is_terminal());
        Self {
            colour_out: colour && out,
            colour_err: colour && err,
            one_terminal: out && err,
            reasoning: err && !quiet && !json,
            quiet,
            json,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stream {
    Out,
    Err,
}

/// The two streams. What cannot be written, because nobody reads it any more, is dropped: the turn goes on all the same.
pub(crate) struct Screen {
    out: Box<dyn Write + Send>,
    err: Box<dyn Write + Send>,
    pub(crate) look: Look,
    /// The stream whose last line is not ended.
    unfinished: Option<Stream>,
}

impl Screen {
    pub(crate) fn new(out: Box<dyn Write + Send>, err: Box<dyn Write + Send>, look: Look) -> Self {
        Self { out, err, look, unfinished: None }
    }

    pub(crate) fn of_this_process(look: Look) -> Self {
        Self::new(Box::new(io::stdout()), Box::new(io::stderr()), look)
    }

    /// A piece of the reply, as it comes.
    pub(crate) fn reply(&mut self, delta: &str) {
        if !self.look.json {
            self.piece(Stream::Out, &plain(delta), None);
        }
    }

    /// A piece of the model's reasoning, dimmed; only for a person who is there.
    pub(crate) fn reasoning(&mut self, delta: &str) {
        if self.look.reasoning {
            self.piece(Stream::Err, &plain(delta), Some(DIM));
        }
    }

    /// Ends the line that a reply left open.
    pub(crate) fn end_line(&mut self) {
        if let Some(stream) = self.unfinished.take() {
            self.write(stream, "\n");
        }
    }

    /// A line of data.
    pub(crate) fn data(&mut self, text: &str) {
        if !self.look.json {
            self.whole(Stream::Out, &line(text), None);
        }
    }

    /// A heading among the data.
    pub(crate) fn heading(&mut self, text: &str) {
        if !self.look.json {
            self.whole(Stream::Out, &line(text), Some(BOLD));
        }
    }

    /// A unified difference.
    pub(crate) fn diff(&mut self, diff: &str) {
        if self.look.json {
            return;
        }
        let mut in_hunk = false;
        for text in diff.lines() {
            in_hunk = !text.starts_with("diff ") && (in_hunk || text.starts_with("@@"));
            let style = match text.as_bytes().first() {
                _ if text.starts_with("@@") => Some(CYAN),
                _ if !in_hunk => Some(BOLD),
                Some(b'+') => Some(GREEN),
                Some(b'-') => Some(RED),
                _ => None,
            };
            self.whole(Stream::Out, &plain(text), style);
        }
    }

    /// `commit HASH SUBJECT`.
    pub(crate) fn commit(&mut self, commit: &CommitRef) {
        if self.look.json {
            return;
        }
        self.settle(Stream::Out, true);
        let head = self.painted(Stream::Out, &format!("commit {}", short(&commit.hash)), YELLOW);
        self.write(Stream::Out, &format!("{head} {}\n", line(&commit.subject)));
    }

    /// A block that found no place, and why.
    pub(crate) fn failed(&mut self, failed: &FailedBlock) {
        let path = failed.path.as_deref().map_or_else(|| "no file named".to_owned(), line);
        self.warn(&format!("not placed: block {} ({path}): {}", failed.block + 1, failed.message));
        let closest = failed.closest.as_ref().filter(|_| !self.look.quiet);
        for (number, text) in closest.iter().flat_map(|c| (c.start_line..).zip(&c.lines)).take(CLOSEST_LINES_SHOWN) {
            self.whole(Stream::Err, &format!("{number:6} {}", plain(text).replace('\n', " ")), Some(DIM));
        }
    }

    /// Something to know, on one line.
    pub(crate) fn notice(&mut self, text: &str) {
        if !self.look.quiet {
            self.whole(Stream::Err, &line(text), Some(DIM));
        }
    }

    /// Something to heed.
    pub(crate) fn warn(&mut self, text: &str) {
        self.whole(Stream::Err, &line(text), Some(YELLOW));
    }

    pub(crate) fn failure(&mut self, failure: &Failure) {
        self.whole(Stream::Err, &format!("pair: {}", line(&failure.message)), Some(RED));
        if let Some(hint) = &failure.hint {
            self.whole(Stream::Err, &format!("  {}", line(hint)), None);
        }
    }

    /// A question's text, its line left open for the answer.
    pub(crate) fn ask(&mut self, text: &str) {
        self.settle(Stream::Err, true);
        self.write(Stream::Err, &plain(text));
        self.unfinished = Some(Stream::Err);
    }

    /// The terminal has ended the question's line: the person pressed Enter.
    pub(crate) fn answered(&mut self) {
        self.unfinished = None;
    }

    /// What a turn came to.
    pub(crate) fn report(&mut self, report: &TurnReport) {
        self.end_line();
        for command in &report.shell_commands {
            self.notice(&format!("suggested, not run: {command}"));
        }
        match report.outcome {
            Outcome::Done if report.failed.is_empty() => {}
            Outcome::Done => self.warn(&format!("done, but for {} edit blocks without a place", report.failed.len())),
            Outcome::Cancelled => self.warn("cancelled"),
            Outcome::Held if report.edits.iter().any(|edit| edit.status == EditStatus::Proposed) => {
                self.warn("held: proposals wait; `pair diff` shows them, `pair apply` writes them");
            }
            Outcome::Held => self.warn("held: not every edit could be made"),
            Outcome::Failed => match &report.error {
                Some(error) => {
                    let hint = error.hint.as_deref().and_then(hints::for_person);
                    let failure = Failure { hint, ..Failure::new(Exit::of_turn(report), &error.message) };
                    self.failure(&failure);
                }
                None => self.warn("the turn failed"),
            },
        }
        // Why the rest could not be had, of a turn that did a part.
        if let Some(error) = report.error.as_ref().filter(|_| report.outcome != Outcome::Failed) {
            self.warn(&error.message);
        }
        let usage = report.usage;
        if usage.requests > 0 {
            let cached = if usage.cache_read_tokens > 0 { format!(" ({} cached)", usage.cache_read_tokens) } else { String::new() };
            let estimated = if usage.reported { "" } else { ", estimated" };
            let cost = report.cost_usd.map(|cost| format!(", ${cost:.4}")).unwrap_or_default();
            self.notice(&format!("tokens: {}{cached} in, {} out{estimated}{cost}", usage.input_tokens, usage.output_tokens));
        }
    }

    /// The one line of `--json`. Control characters that JSON allows in a string are written as escapes.
    pub(crate) fn json<T: Serialize>(&mut self, value: &T) -> Result<(), Failure> {
        let text =
            serde_json::to_string(value).map_err(|error| Failure::new(Exit::Failure, format!("write the result as JSON: {error}")))?;
        let mut escaped = String::with_capacity(text.len() + 1);
        for c in text.chars() {
            if is_obeyed(c) {
                escaped.push_str(&format!("\\u{:04x}", u32::from(c)));
            } else {
                escaped.push(c);
            }
        }
        escaped.push('\n');
        self.write(Stream::Out, &escaped);
        Ok(())
    }

    fn piece(&mut self, stream: Stream, text: &str, style: Option<&str>) {
        if text.is_empty() {
            return;
        }
        self.settle(stream, false);
        let painted = style.map_or_else(|| text.to_owned(), |style| self.painted(stream, text, style));
        self.write(stream, &painted);
        self.unfinished = (!text.ends_with('\n')).then_some(stream);
    }

    fn whole(&mut self, stream: Stream, text: &str, style: Option<&str>) {
        self.settle(stream, true);
        let painted = style.map_or_else(|| text.to_owned(), |style| self.painted(stream, text, style));
        self.write(stream, &format!("{painted}\n"));
    }

    /// Ends an open line that what comes next would be glued to: of the other stream if they share the terminal, and of
    /// the same stream before a line of its own.
    fn settle(&mut self, next: Stream, new_line: bool) {
        let glued = match self.unfinished {
            Some(open) if open == next => new_line,
            Some(_) => self.look.one_terminal,
            None => false,
        };
        if glued {
            self.end_line();
        }
    }

    fn painted(&self, stream: Stream, text: &str, style: &str) -> String {
        let colour = if stream == Stream::Out { self.look.colour_out } else { self.look.colour_err };
        if colour && !text.is_empty() { format!("\x1b[{style}m{text}\x1b[0m") } else { text.to_owned() }
    }

    fn write(&mut self, stream: Stream, text: &str) {
        let sink = if stream == Stream::Out { &mut self.out } else { &mut self.err };
        let _ = sink.write_all(text.as_bytes()).and_then(|()| sink.flush());
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::sync::{Arc, Mutex};

    use paird_protocol::Closest;

    use super::*;

    /// A stream that a test reads.
    #[derive(Clone, Default)]
    pub(crate) struct Sink(Arc<Mutex<Vec<u8>>>);

    impl Sink {
        pub(crate) fn text(&self) -> String {
            String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
        }
    }

    impl Write for Sink {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    pub(crate) fn screen(look: Look) -> (Screen, Sink, Sink) {
        let (out, err) = (Sink::default(), Sink::default());
        (Screen::new(Box::new(out.clone()), Box::new(err.clone()), look), out, err)
    }

    fn commit() -> CommitRef {
        CommitRef { hash: "0123456789abcdef".to_owned(), subject: "Fix\u{1b}[2K it".to_owned(), paths: Vec::new() }
    }

    #[test]
    fn nothing_that_a_terminal_obeys_comes_through() {
        let (mut screen, out, err) = screen(Look { reasoning: true, ..Look::default() });
        let bad = "a\u{1b}]0;x\u{7}\u{9b}2J\u{202e}b\r";
        screen.reply(bad);
        screen.reasoning(bad);
        screen.data(bad);
        screen.heading(bad);
        screen.diff(&format!("@@ -1 +1 @@\n+{bad}\n"));
        screen.commit(&commit());
        screen.notice(bad);
        screen.failure(&Failure::usage(bad).with_hint(bad));
        let closest = Some(Closest { start_line: 1, lines: vec![bad.to_owned()] });
        screen.failed(&FailedBlock { block: 0, path: Some(bad.to_owned()), reason: bad.to_owned(), message: bad.to_owned(), closest });
        screen.json(&bad).unwrap();
        for text in [out.text(), err.text()] {
            assert!(!text.chars().any(|c| c != '\n' && is_obeyed(c)), "{text:?}");
        }
        let last = out.text().lines().last().unwrap().to_owned();
        assert_eq!(serde_json::from_str::<String>(&last).unwrap(), bad);
    }

    #[test]
    fn streams_of_one_terminal_do_not_share_a_line() {
        let (mut one, out, err) = screen(Look { one_terminal: true, ..Look::default() });
        one.reply("half");
        one.reply(" a line");
        one.notice("n");
        one.reply("rest");
        one.data("d");
        assert_eq!((out.text().as_str(), err.text().as_str()), ("half a line\nrest\nd\n", "n\n"));
        let (mut two, out, _) = screen(Look::default());
        two.reply("half");
        two.notice("n");
        two.reply(" a line");
        assert_eq!(out.text(), "half a line");
    }

    #[test]
    fn colours_only_where_asked_for() {
        let diff = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n keep\n--- old\n+new\n";
        let (mut plain, out, _) = screen(Look::default());
        plain.diff(diff);
        plain.commit(&commit());
        assert_eq!(out.text(), format!("{diff}commit 012345678 Fix[2K it\n"));
        let (mut painted, out, err) = screen(Look { colour_out: true, ..Look::default() });
        painted.diff(diff);
        painted.warn("w");
        assert!(out.text().contains("\x1b[1m--- a/x\x1b[0m\n"));
        assert!(out.text().contains("\x1b[31m--- old\x1b[0m\n\x1b[32m+new\x1b[0m\n"));
        assert_eq!(err.text(), "w\n");
    }

    #[test]
    fn only_the_result_with_json_and_only_errors_when_quiet() {
        let (mut screen, out, err) = screen(Look { json: true, quiet: true, ..Look::default() });
        screen.reply("r");
        screen.data("d");
        screen.diff("@@\n+x\n");
        screen.commit(&commit());
        screen.notice("n");
        screen.json(&1).unwrap();
        screen.warn("w");
        assert_eq!((out.text().as_str(), err.text().as_str()), ("1\n", "w\n"));
    }
}
