//! What is not written though it has a place.
//!
//! Some text that models write is not meant to stand in a file. A guard refuses what is damage whatever was meant, so that
//! the model writes it again; it asks a person where the same text can be right, so that no such edit is lost:
//!
//! - words for code left out (`// ... existing code ...`) that a block brings: refused. Prose may show them; there a person
//!   is asked, and only about those with dots.
//! - a line of dots alone that a block brings: refused if the block also removes lines, for which the dots may stand; else a
//!   person is asked. Python's empty body is code, and so are dots in a new file. In prose, dots that no line was removed for
//!   are text.
//! - words of the same kind that only their sense tells (`# Same as before`): a person is asked where the text gets shorter.
//! - markers of the edit format that a block brings: refused. Whole texts of prose may show them; there a person is asked.
//!   A divider between other lines may be a heading's underline that is not as wide as its text: a person is asked. One at the
//!   very end is one too many before the closing marker, and is not taken for text. One between two versions of a text, which
//!   have a line with words in common, is refused.
//! - a whole text that is a stub of the old one (under a third of its lines, of ten or more), or that has no line of it: a
//!   person is asked. A file may become short or new; what a model says in place of the file looks the same.
//!
//! What a guard cannot tell apart it does not let pass: lines are compared without blanks at their ends, and one more of a
//! line than SEARCH has counts as brought.

use std::collections::{HashMap, HashSet};

use crate::block::Split;
use crate::gains::{Elision, elision, is_prose, may_stand_for_rest};
use crate::marker::{Marker, marker};

/// A line that REPLACE has and SEARCH lacks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Gain {
    /// `// ... existing code ...`
    Elision(String),
    Marker(String),
}

/// What a guard says of an edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Guard {
    Pass,
    /// A person has to look; the text says at what, lower case and without full stop.
    Ask(String),
    Refuse(Gain),
}

/// A text of at least so many lines, blank ones not counted, is replaced by a stub if that has less than one in three of them.
const STUB_OF_LINES_MIN: usize = 10;
const STUB_SHARE: usize = 3;

/// Whether REPLACE may take the place of SEARCH.
pub(crate) fn guard(split: &Split<'_>, path: &str) -> Guard {
    let prose = is_prose(path);
    let creates = split.search.trim().is_empty();
    let special = |line: &str| is_outer(line) || elision(line, prose).is_some() || (!prose && may_stand_for_rest(line));
    let mut had: HashMap<&str, usize> = HashMap::new();
    for line in split.search.lines().map(str::trim_ascii).filter(|line| special(line)) {
        *had.entry(line).or_default() += 1;
    }
    let shorter = solid(split.replace).count() < solid(&split.search).count();
    let mut ask = None;
    let mut line_above = "";
    for line in split.replace.lines().map(str::trim_ascii).filter(|line| !line.is_empty()) {
        let above = std::mem::replace(&mut line_above, line);
        if !special(line) || had.get_mut(line).is_some_and(take_one) {
            continue;
        }
        let refused = match elision(line, prose) {
            None if is_outer(line) => return Guard::Refuse(Gain::Marker(line.to_owned())),
            None if !shorter => continue,
            None => false,
            Some(Elision::Words) => !prose,
            Some(Elision::Dots) if creates || is_python_body(line, above, path) => continue,
            Some(Elision::Dots) if prose && !loses_lines(split) => continue,
            Some(Elision::Dots) => !prose && loses_lines(split),
        };
        if refused {
            return Guard::Refuse(Gain::Elision(line.to_owned()));
        }
        ask.get_or_insert_with(|| format!("it brings the line `{line}`, which may stand for text left out"));
    }
    if let Some(line) = stray_divider(split).filter(|_| !prose) {
        let first = split.replace.lines().next().is_some_and(is_divider);
        return if first || holds_two_texts(split.replace) {
            Guard::Refuse(Gain::Marker(line.to_owned()))
        } else {
            Guard::Ask(brings_marker(line))
        };
    }
    ask.map_or(Guard::Pass, Guard::Ask)
}

/// Whether `new` may take the place of all of a file's text.
pub(crate) fn guard_whole(old: &str, new: &str, path: &str) -> Guard {
    match guard(&Split { search: old.into(), replace: new }, path) {
        Guard::Pass => {}
        Guard::Refuse(Gain::Marker(line)) if is_prose(path) => {
            return Guard::Ask(brings_marker(&line));
        }
        decided => return decided,
    }
    let (before, after) = (solid(old).count(), solid(new).count());
    if before >= STUB_OF_LINES_MIN && after * STUB_SHARE < before {
        return Guard::Ask(format!("it leaves {after} of {before} lines of the file"));
    }
    let known: HashSet<&str> = solid(old).collect();
    if before > 0 && after > 0 && !solid(new).any(|line| known.contains(line)) {
        return Guard::Ask("it has no line of the file in it".to_owned());
    }
    Guard::Pass
}

fn brings_marker(line: &str) -> String {
    format!("it brings the line `{line}`, which is a marker of the edit format")
}

/// Lines that are not blank, without the blanks at their ends.
fn solid(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim_ascii).filter(|line| !line.is_empty())
}

/// Takes one of a count, if there is one.
fn take_one(count: &mut usize) -> bool {
    let one = *count > 0;
    *count -= usize::from(one);
    one
}

fn is_outer(line: &str) -> bool {
    matches!(marker(line), Some(Marker::Head(_) | Marker::Closing(_)))
}

/// Whether `...` is a statement: it follows the head or the docstring of what it is the body of.
fn is_python_body(line: &str, above: &str, path: &str) -> bool {
    let python = path.ends_with(".py") || path.ends_with(".pyi");
    python && line == "..." && [":", "\"\"\"", "'''"].iter().any(|end| above.ends_with(end))
}

/// Whether REPLACE lacks a line of SEARCH.
fn loses_lines(split: &Split<'_>) -> bool {
    let new: HashSet<&str> = split.replace.lines().map(str::trim_ascii).collect();
    solid(&split.search).any(|line| !new.contains(line))
}

/// REPLACE without a divider that was written once more before the closing marker. A file's last line may be one where it
/// is a heading's: in prose, and below a text as wide.
pub(crate) fn without_last_divider<'b>(split: Split<'b>, path: &str) -> Split<'b> {
    let Some((rest, last)) = split_last_line(split.replace) else {
        return split;
    };
    let underlines = rest.lines().next_back().is_some_and(|above| underlines(above.trim(), last.trim()));
    if is_prose(path) || !is_divider(last) || underlines || split.search.lines().any(is_divider) {
        return split;
    }
    Split { search: split.search, replace: rest }
}

fn split_last_line(text: &str) -> Option<(&str, &str)> {
    let last = text.lines().next_back()?;
    let start = text.trim_end_matches(['\n', '\r']).len().checked_sub(last.trim_end_matches('\r').len())?;
    Some((&text[..start], last))
}

/// A divider among the lines of REPLACE that SEARCH has none of: the text has an underlined heading, or two texts are there
/// where one should be.
fn stray_divider<'s>(split: &Split<'s>) -> Option<&'s str> {
    if split.search.lines().any(is_divider) {
        return None;
    }
    let lines: Vec<&str> = split.replace.lines().map(str::trim_ascii).collect();
    let stray = |nth: &usize| {
        let overlines = lines.get(nth + 2) == Some(&lines[*nth]);
        is_divider(lines[*nth]) && !overlines && !nth.checked_sub(1).is_some_and(|above| underlines(lines[above], lines[*nth]))
    };
    (0..lines.len()).find(stray).map(|nth| lines[nth])
}

/// Whether lines with words are on both sides of a divider: two versions of one text, of which one is meant.
fn holds_two_texts(replace: &str) -> bool {
    let mut lines = replace.lines().map(str::trim_ascii);
    let first: HashSet<&str> = lines.by_ref().take_while(|line| !is_divider(line)).collect();
    lines.any(|line| line.contains(char::is_alphanumeric) && first.contains(line))
}

fn is_divider(line: &str) -> bool {
    marker(line) == Some(Marker::Divider)
}

/// Whether a line of signs is the underline of the one above it, as wide as its text.
fn underlines(above: &str, line: &str) -> bool {
    above.chars().count() == line.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(search: &str, replace: &str, path: &str) -> Guard {
        guard(&Split { search: search.into(), replace }, path)
    }

    fn marker(line: &str) -> Guard {
        Guard::Refuse(Gain::Marker(line.to_owned()))
    }

    fn dots(line: &str) -> Guard {
        Guard::Refuse(Gain::Elision(line.to_owned()))
    }

    #[test]
    fn words_for_code_left_out() {
        assert_eq!(said("a\n", "a\n// ... existing code ...\n", "x.js"), dots("// ... existing code ..."));
        assert_eq!(said("", "# ... existing code ...\n", "x.py"), dots("# ... existing code ..."));
        assert_eq!(said("# rest of code\n", "# rest of code\nb\n", "x.py"), Guard::Pass);
        assert_eq!(said("# rest of code\n", "# rest of code\n# rest of code\n", "x.py"), dots("# rest of code"));
        assert_eq!(said("a\n", "# Existing code\n", "x.md"), Guard::Pass);
        assert!(matches!(said("a\n", "a\n// ... existing code ...\n", "x.md"), Guard::Ask(_)));
    }

    #[test]
    fn words_that_only_their_sense_tells() {
        assert!(matches!(said("a\nb\nc\n", "a\n# Same as before\n", "x.py"), Guard::Ask(_)));
        assert_eq!(said("a\nb\n", "a\n# Same as before\n", "x.py"), Guard::Pass, "nothing is lost");
        assert_eq!(said("", "# Same as before\n", "x.py"), Guard::Pass, "nothing can be lost");
        assert_eq!(said("a\nb\nc\n", "a\n# Same as before\n", "x.md"), Guard::Pass, "a heading");
        assert_eq!(said("a\n# Same as before\nc\nd\n", "a\n# Same as before\n", "x.py"), Guard::Pass, "it was there");
    }

    #[test]
    fn dots_alone() {
        assert_eq!(said("a\n", "// ...\n", "x.js"), dots("// ..."));
        assert!(matches!(said("a\n", "a\n// ...\n", "x.js"), Guard::Ask(_)));
        assert_eq!(said("  // ...\n", "// ...\nb\n", "x.js"), Guard::Pass);
        assert_eq!(said("", "def f():\n    ...\n", "x.py"), Guard::Pass);
        assert_eq!(said("a\n", "def f():\n    ...\n", "x.py"), Guard::Pass);
        assert_eq!(said("a\n", "def f():\n    \"\"\"Does it.\"\"\"\n    ...\n", "x.pyi"), Guard::Pass);
        assert_eq!(said("a\n", "x = 1\n...\n", "x.py"), dots("..."));
        assert_eq!(said("a\n", "a\n...\n", "x.md"), Guard::Pass);
        assert!(matches!(said("a\n", "...\n", "x.md"), Guard::Ask(_)));
    }

    #[test]
    fn markers() {
        assert_eq!(said("a\n", "+++++++ REPLACE\n", "x.js"), marker("+++++++ REPLACE"));
        assert_eq!(said("a\n", "<<<<<<< SEARCH\n", "x.md"), marker("<<<<<<< SEARCH"));
        assert!(matches!(said("a\n", "b\n=======\nc\n", "x.js"), Guard::Ask(_)));
        assert_eq!(said("a\n", "=======\nb\n", "x.js"), marker("======="));
        assert_eq!(said("a\n", "Install\n=======\n", "x.py"), Guard::Pass);
        assert_eq!(said("a\n", "b\n=======\n", "x.md"), Guard::Pass);
        assert_eq!(said("a\n", "=======\nInstall\n=======\nb\n", "x.py"), Guard::Pass);
        assert_eq!(said("a\n=======\n", "b\n=======\n", "x.py"), Guard::Pass);
    }

    #[test]
    fn one_divider_too_many_is_left_out() {
        let rest = |replace, path| without_last_divider(Split { search: "a\n".into(), replace }, path).replace.to_owned();
        assert_eq!(rest("b\n=======\n", "x.js"), "b\n");
        assert_eq!(rest("b\r\n=======\r\n", "x.js"), "b\r\n");
        assert_eq!(rest("=======\n", "x.js"), "");
        assert_eq!(rest("b\n=======\n", "x.md"), "b\n=======\n");
        assert_eq!(rest("Install\n=======\n", "x.py"), "Install\n=======\n");
        assert_eq!(rest("b\n", "x.js"), "b\n");
        assert_eq!(rest("", "x.js"), "");
    }

    #[test]
    fn whole_texts() {
        let old: String = (0..12).map(|nth| format!("line {nth}\n\n")).collect();
        let first = |count: usize| old.lines().take(count * 2).map(|line| format!("{line}\n")).collect::<String>();
        assert_eq!(guard_whole(&old, &first(4), "x.py"), Guard::Pass);
        assert!(matches!(guard_whole(&old, &first(3), "x.py"), Guard::Ask(why) if why.contains("3 of 12")));
        assert!(matches!(guard_whole("a = 1\n", "Add the function below.\n", "x.py"), Guard::Ask(why) if why.contains("no line")));
        assert_eq!(guard_whole("a = 1\n", "a = 1\nb = 2\n", "x.py"), Guard::Pass);
        assert_eq!(guard_whole("a = 1\n", "", "x.py"), Guard::Pass);
        assert_eq!(guard_whole("", "a = 1\n", "x.py"), Guard::Pass);
        assert_eq!(guard_whole("a\nb\n", "a\n# ... rest of code ...\n", "x.py"), dots("# ... rest of code ..."));
        assert!(matches!(guard_whole("a\n", "a\n<<<<<<< SEARCH\n", "x.md"), Guard::Ask(_)));
        assert_eq!(guard_whole("a\n", "a\n<<<<<<< SEARCH\n", "x.py"), marker("<<<<<<< SEARCH"));
    }
}
