//! Suggested commands: the texts of shell blocks that hold no edit.

use crate::fence::FenceLine;
use crate::parser::Found;

/// Info strings of fences whose text is a suggested command.
const SHELLS: &[&str] = &["bash", "sh", "shell", "zsh", "fish", "ksh", "csh", "tcsh", "cmd", "batch", "powershell", "ps1"];

/// Follows the fences of a reply outside its edits.
#[derive(Debug, Default)]
pub(crate) struct Shells {
    fence: Option<OpenFence>,
}

#[derive(Debug)]
struct OpenFence {
    open: FenceLine<'static>,
    line: usize,
    /// Its text, if it is a shell block that holds no edit.
    shell: Option<String>,
}

/// What a line was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Passed {
    Text,
    Opened,
    Closed,
    /// The end of a command.
    ClosedShell,
}

pub(crate) fn is_shell(info: &str) -> bool {
    SHELLS.iter().any(|shell| shell.eq_ignore_ascii_case(info))
}

impl Shells {
    pub(crate) fn line(&mut self, line: &str, found: &mut Found) -> Passed {
        let Some(fence) = FenceLine::read(line) else {
            return self.text(line);
        };
        match &self.fence {
            Some(open) if open.open.is_closed_by(fence) => self.close(found),
            Some(open) if !at_least(open.open, fence) => self.text(line),
            // A fence of the same length inside another is taken for the start of the next: models forget closing fences.
            _ if matches!(fence, FenceLine::Signs(_)) => {
                self.end(found);
                let shell = is_shell(fence.info()).then(String::new);
                self.fence = Some(OpenFence { open: fence.bare(), line: found.line, shell });
                Passed::Opened
            }
            _ => self.text(line),
        }
    }

    /// The open fence holds an edit, so that its text is no command.
    pub(crate) fn holds_edit(&mut self) {
        if let Some(fence) = &mut self.fence {
            fence.shell = None;
        }
    }

    /// The opening line of the open fence and its place in the reply.
    pub(crate) fn open(&self) -> Option<(FenceLine<'static>, usize)> {
        self.fence.as_ref().map(|fence| (fence.open, fence.line))
    }

    /// Nothing more follows inside the open fence.
    pub(crate) fn end(&mut self, found: &mut Found) {
        if let Some(OpenFence { line, shell: Some(_), .. }) = self.fence.take() {
            found.problem(line, "shell block without its closing fence; it is not offered");
        }
    }

    fn text(&mut self, line: &str) -> Passed {
        if let Some(OpenFence { shell: Some(text), .. }) = &mut self.fence {
            text.push_str(line.strip_suffix('\r').unwrap_or(line));
            text.push('\n');
        }
        Passed::Text
    }

    fn close(&mut self, found: &mut Found) -> Passed {
        match self.fence.take() {
            Some(OpenFence { line, shell: Some(text), .. }) => {
                found.shell(line, &text);
                Passed::ClosedShell
            }
            _ => Passed::Closed,
        }
    }
}

/// Whether a fence is long enough to begin something within what `open` began.
fn at_least(open: FenceLine<'_>, fence: FenceLine<'_>) -> bool {
    match (open, fence) {
        (FenceLine::Signs(open), FenceLine::Signs(fence)) => open.sign == fence.sign && fence.len >= open.len,
        _ => false,
    }
}
