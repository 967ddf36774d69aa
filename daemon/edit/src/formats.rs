//! One reader for each way to write edits.

mod diff;
mod hunk;
mod patch;
mod shell;
mod udiff;
mod udiff_file;
mod whole;

use std::fmt;

use crate::format::Format;
use crate::parser::Found;

/// Understands the lines of one format, one after another.
pub(crate) trait Reader: fmt::Debug + Send {
    fn line(&mut self, line: &str, found: &mut Found);

    /// Whether the next line may be text of a file, so that it is not looked at for anything else.
    fn in_text(&self) -> bool;

    /// The reply is over; its last line may be `cut`.
    fn end(&mut self, cut: bool, found: &mut Found);
}

pub(crate) fn reader(format: Format) -> Box<dyn Reader> {
    match format {
        Format::Diff | Format::DiffFenced | Format::EditorDiff | Format::EditorDiffFenced => Box::<diff::DiffReader>::default(),
        Format::Whole | Format::EditorWhole => Box::<whole::WholeReader>::default(),
        Format::Udiff => Box::<udiff::UdiffReader>::default(),
        Format::Patch => Box::<patch::PatchReader>::default(),
    }
}
