//! Lines that a REPLACE must not bring into a file: stand-ins for code left out, and the format's own markers.

use std::collections::HashSet;

use crate::block::Split;
use crate::marker::{Marker, marker};

/// A line that REPLACE has and SEARCH lacks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Gain {
    /// `// ... existing code ...`
    Elision(String),
    Marker(String),
}

/// Ends of prose files' names.
const PROSE: &[&str] = &["md", "markdown", "mkd", "rst", "txt", "adoc", "asciidoc", "text"];

/// What is left out, in comments such as "rest of the code".
const PARTS: &[&str] = &[
    "code",
    "file",
    "function",
    "functions",
    "method",
    "methods",
    "class",
    "classes",
    "implementation",
    "imports",
    "component",
    "module",
    "script",
    "logic",
    "body",
    "content",
];

/// The first line of REPLACE that refuses the block.
pub(crate) fn gain(split: &Split<'_>, path: &str) -> Option<Gain> {
    let (creates, prose) = (split.search.trim().is_empty(), is_prose(path));
    let old: HashSet<&str> = split.search.lines().map(str::trim).filter(|line| elision(line, prose).is_some() || is_outer(line)).collect();
    let gained = split.replace.lines().map(str::trim).filter(|line| !old.contains(line)).find_map(|line| {
        if is_outer(line) {
            return Some(Gain::Marker(line.to_owned()));
        }
        // In a file that is new, three dots stand for nothing that was there: Python's empty body, for one.
        elision(line, prose).filter(|elision| !(creates && *elision == Elision::Dots)).map(|_| Gain::Elision(line.to_owned()))
    });
    gained.or_else(|| if prose { None } else { stray_divider(split) })
}

fn is_outer(line: &str) -> bool {
    matches!(marker(line), Some(Marker::Head(_) | Marker::Closing(_)))
}

/// Texts whose headings are underlined with `=` or begin with `#`; those without an end in their name count.
fn is_prose(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.').is_none_or(|(_, end)| PROSE.iter().any(|p| p.eq_ignore_ascii_case(end)))
}

/// A divider too many at either end of REPLACE. Underlined headings in comments begin or end with one too, as wide as
/// their text.
fn stray_divider(split: &Split<'_>) -> Option<Gain> {
    let is_divider = |line: &str| marker(line) == Some(Marker::Divider);
    if split.search.lines().any(is_divider) {
        return None;
    }
    let lines: Vec<&str> = split.replace.lines().map(str::trim).collect();
    let (first, last) = (*lines.first()?, *lines.last()?);
    let overlines = lines.get(2) == Some(&first);
    let underlines = lines.len() > 1 && lines[lines.len() - 2].chars().count() == last.len();
    let stray = (is_divider(first) && !overlines).then_some(first).or((is_divider(last) && !underlines).then_some(last));
    stray.map(|line| Gain::Marker(line.to_owned()))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Elision {
    /// Nothing but dots.
    Dots,
    /// Words that stand for text left out.
    Words,
}

/// Whether a trimmed line stands for text left out. In prose, where `#` begins a heading, only lines with dots do.
fn elision(line: &str, prose: bool) -> Option<Elision> {
    // Such lines are short, and most lines are told apart by their length or first sign.
    if line.len() > 120 {
        return None;
    }
    let (text, comment) = uncommented(line);
    if matches!(text, "..." | "…") {
        return Some(Elision::Dots);
    }
    let inner = text.trim_matches(['.', '…']);
    let leads = text.starts_with("...") || text.starts_with('…');
    let trails = text.ends_with("...") || text.ends_with('…');
    // `...rest` and `...args` are code.
    let spread = leads && !inner.starts_with(' ');
    if !comment && (spread || !leads) {
        return None;
    }
    let lower = inner.to_lowercase();
    let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let has = |any: &[&str]| words.iter().any(|word| any.contains(word));
    let left_out = has(&["existing", "rest", "remaining", "unchanged", "omitted", "previous", "same"]);
    let starts = matches!(words[..], ["rest", "of", ..] | ["the", "rest", "of", ..] | ["existing" | "remaining" | "unchanged", ..]);
    let dotted = (leads && (left_out || has(PARTS))) || (trails && starts);
    let worded = has(PARTS) && ((starts && words.len() <= 8) || (words.last() == Some(&"unchanged") && words.len() <= 6));
    (dotted || (worded && !prose)).then_some(Elision::Words)
}

/// The text of a line comment, and whether it is one.
fn uncommented(line: &str) -> (&str, bool) {
    for (open, close) in
        [("{/*", "*/}"), ("/*", "*/"), ("<!--", "-->"), ("(*", "*)"), ("//", ""), ("--", ""), ("#", ""), (";", ""), ("%", ""), ("*", "")]
    {
        if let Some(text) = line.strip_prefix(open) {
            let text = text.strip_suffix(close).unwrap_or(text).trim_start_matches(['/', '#', ';', '%']);
            return (text.trim(), true);
        }
    }
    (line, false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elisions() {
        for line in [
            "// ... existing code ...",
            "// ...existing code...",
            "# ... rest of the function ...",
            "// rest of code",
            "/* rest of the file */",
            "{/* ... existing code ... */}",
            "<!-- ... remaining content ... -->",
            "-- existing code",
            "# remaining methods unchanged",
            "... existing code ...",
            "// … existing code …",
            "# ... (previous imports)",
        ] {
            assert_eq!(elision(line, false), Some(Elision::Words), "{line:?}");
        }
        for line in ["...", "…", "# ...", "// ..."] {
            assert_eq!(elision(line, false), Some(Elision::Dots), "{line:?}");
        }
        for line in [
            "...rest,",
            "...existing,",
            "fn f(...)",
            "print(\"...\")",
            "// Loading more...",
            "# wait for the other side...",
            "// existing users keep their name when the rest of the record of them is renamed in this code",
            "# Existing users are kept",
            "x = ...",
            "",
        ] {
            assert_eq!(elision(line, false), None, "{line:?}");
        }
    }

    #[test]
    fn what_refuses() {
        let gain = |search: &str, replace: &str, path: &str| gain(&Split { search: search.into(), replace }, path);
        assert_eq!(gain("a\n", "// ...\n", "x.js"), Some(Gain::Elision("// ...".into())));
        assert_eq!(gain("  // ...\n", "// ...\nb\n", "x.js"), None);
        assert_eq!(gain("", "def f():\n    ...\n", "x.py"), None);
        assert_eq!(gain("", "# ... existing code ...\n", "x.py"), Some(Gain::Elision("# ... existing code ...".into())));
        assert_eq!(gain("a\n", "+++++++ REPLACE\n", "x.js"), Some(Gain::Marker("+++++++ REPLACE".into())));
        assert_eq!(gain("a\n", "b\n=======\n", "x.js"), Some(Gain::Marker("=======".into())));
        assert_eq!(gain("a\n", "=======\nb\n", "x.js"), Some(Gain::Marker("=======".into())));
        assert_eq!(gain("a\n", "Install\n=======\n", "x.py"), None);
        assert_eq!(gain("a\n", "b\n=======\n", "x.md"), None);
        assert_eq!(gain("a\n", "# Existing code\n", "x.md"), None);
        assert_eq!(gain("a\n", "=======\nInstall\n=======\nb\n", "x.py"), None);
        assert_eq!(gain("a\n=======\n", "b\n=======\n", "x.py"), None);
    }
}
