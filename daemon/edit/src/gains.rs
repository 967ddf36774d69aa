//! Lines that stand for text left out, as models write them.

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

/// Texts whose headings are underlined with `=` or begin with `#`; those without an end in their name count.
pub(crate) fn is_prose(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.').is_none_or(|(_, end)| PROSE.iter().any(|p| p.eq_ignore_ascii_case(end)))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Elision {
    /// Nothing but dots.
    Dots,
    /// Words that stand for text left out.
    Words,
}

/// Whether a trimmed line stands for text left out. In prose, where `#` begins a heading, only lines with dots do.
pub(crate) fn elision(line: &str, prose: bool) -> Option<Elision> {
    // Such lines are short, and most lines are told apart by their length or first sign.
    if line.len() > 120 || !line.starts_with(['.', '…', '{', '/', '<', '(', '-', '#', ';', '%', '*']) {
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

/// Whether a line can stand for lines left out on both sides of a block: it has dots, in a comment or not.
pub(crate) fn is_gap(line: &[u8]) -> bool {
    str::from_utf8(line.trim_ascii()).is_ok_and(|line| elision(line, true).is_some())
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
    fn gaps_have_dots() {
        for line in ["...", "    ...  ", "…", "// ...", "# ... existing code ...", "// rest of the code..."] {
            assert!(is_gap(line.as_bytes()), "{line:?}");
        }
        for line in ["// existing code", "# rest of the function", "...rest,", "foo(...)", ""] {
            assert!(!is_gap(line.as_bytes()), "{line:?}");
        }
        assert!(!is_gap(b"...\xff"));
    }
}
