//! What is said to the model, apart from the person's words and files. Short: small models follow few rules.

mod diff;
mod patch;
mod udiff;
mod whole;

use paird_edit::{FencePair, Format};

/// How an edit format is taught: part of the system message, an example exchange, and rules that are repeated at the end,
/// where attention is highest. Fences stand as three backticks; where a chat file holds such lines, [`FormatPrompt::fenced`]
/// puts longer ones in their place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FormatPrompt {
    pub how: String,
    pub rules: String,
    pub example: [String; 2],
}

/// One format's texts as its file has them.
struct Lesson {
    how: &'static str,
    rules: &'static str,
    /// The assistant's side; what the user asks is the same for all formats.
    example: &'static str,
}

const EXAMPLE_ASKED: &str = "In show.py, print the sum instead of the list.";

/// For the editor half of an architect turn: the plan is made, only the edits are wanted.
const EDITOR: &str = "\
You are a careful programmer who writes down the changes that a colleague describes, exactly as described and nothing else.
Do not explain.";

const CODE: &str = "\
You are a careful programmer who edits files of one repository for a colleague.
Answer their request. Explain in a sentence or two, then write every change in the form below.";

impl FormatPrompt {
    pub(super) fn of(format: Format) -> Self {
        let lesson = match format {
            Format::Diff | Format::EditorDiff => diff::ABOVE_THE_FENCE,
            Format::DiffFenced | Format::EditorDiffFenced => diff::INSIDE_THE_FENCE,
            Format::Whole | Format::EditorWhole => whole::LESSON,
            Format::Udiff => udiff::LESSON,
            Format::Patch => patch::LESSON,
        };
        let who = if format.is_editor() { EDITOR } else { CODE };
        Self {
            how: format!("{who}\n\n{}", lesson.how),
            rules: lesson.rules.to_owned(),
            example: [EXAMPLE_ASKED.to_owned(), lesson.example.to_owned()],
        }
    }

    /// The same with this fence: a text's opening fences come first and third, its closing ones second and fourth.
    pub(super) fn fenced(self, fence: FencePair) -> Self {
        let put = |text: String| {
            let mut parts = text.split("```");
            let mut put = parts.next().unwrap_or_default().to_owned();
            for (nth, part) in parts.enumerate() {
                put.push_str(if nth % 2 == 0 { fence.open } else { fence.close });
                // A tag takes no language.
                put.push_str(if nth % 2 == 0 && fence.open != fence.close { part.trim_start_matches(char::is_alphabetic) } else { part });
            }
            put
        };
        let [asked, answered] = self.example;
        Self { how: put(self.how), rules: put(self.rules), example: [asked, put(answered)] }
    }
}

/// The system message of a turn that only answers.
pub(super) const ASK: &str = "\
You are a careful programmer who answers a colleague's questions about the files of one repository.
Answer in prose and short code snippets. Nothing you write is applied to the files.";

pub(super) const EXAMPLE_OVER: &str = "That was an example. From here on it is my repository; forget the example's file.";
pub(super) const READ_ONLY_INTRO: &str = "These files are for reading only. Do not edit them.";
pub(super) const FILES_INTRO: &str = "These are the files you may edit, as they are now. Trust this text over anything said before.";
pub(super) const NO_FILES: &str = "No files have been added to the chat yet.";
pub(super) const NOT_YET_WRITTEN: &str = "(with your blocks that matched laid over it; not yet written)";
pub(super) const ACK: &str = "Understood.";
pub(super) const FILTERED: &str =
    "Your reply was stopped by a filter of the provider. Send the blocks that are still missing, and only those.";
pub(super) const CUT: &str = "Your reply was cut off at the output limit. Send the blocks that are still missing, and only those.";
