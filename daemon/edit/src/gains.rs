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

/// Words of which one tells that a line may stand for what is left out.
const MARKS: &str = "\
    above abbreviated before brevity elided existing keep omitted other previous remain remaining remains rest same skipped \
    snip snipped stay stays truncated unchanged unmodified";

/// Words that such a line may have beside them and [`PARTS`].
const FILLERS: &str = "\
    a all and any are as be been below change changed changes components config configuration continues css data definitions \
    elements else entries everything exactly fields files for from goes handlers has have head here html if import in is it \
    items left lines markup modified modules needed no not of old options original part parts props properties queries \
    required routes rows rules schema section sections settings setup state statements static stuff styles table tables \
    tests text the there these this to types up variables was were with your";

/// Longest line of that kind, in words.
const REST_WORDS_MAX: usize = 10;

/// Whether a trimmed line may stand for text left out though nothing but its words says so: a comment, or words in brackets,
/// that speaks of code staying as it is and of nothing else. Where the text gets no shorter, it need not mean that.
pub(crate) fn may_stand_for_rest(line: &str) -> bool {
    if line.len() > 120 || !line.starts_with(['/', '<', '(', '[', '{', '-', '#', ';', '%', '*', '\'', 'R', 'r']) {
        return false;
    }
    // An attribute, or the line that names a script's interpreter.
    if line.starts_with("#[") || line.starts_with("#!") {
        return false;
    }
    let (text, comment) = uncommented(line);
    let bracketed = (text.starts_with('[') && text.ends_with(']')) || (text.starts_with('(') && text.ends_with(')'));
    if !comment && !bracketed {
        return false;
    }
    let lower = text.to_lowercase();
    let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    if words.is_empty() {
        return bracketed && (text.contains("...") || text.contains('…'));
    }
    let unchanged = matches!(words[..], ["no", "change" | "changes", ..]);
    let is_in = |list: &str, word: &str| list.split(' ').any(|known| known == word);
    let known = |word: &&str| is_in(MARKS, word) || is_in(FILLERS, word) || PARTS.contains(word);
    // A word in brackets is code in more than one language.
    let least = if comment { 1 } else { 3 };
    (least..=REST_WORDS_MAX).contains(&words.len()) && (unchanged || words.iter().any(|word| is_in(MARKS, word))) && words.iter().all(known)
}

/// Whether a line can stand for lines left out on both sides of a block: it has dots, in a comment or not.
pub(crate) fn is_gap(line: &[u8]) -> bool {
    str::from_utf8(line.trim_ascii()).is_ok_and(|line| elision(line, true).is_some())
}

/// The text of a line comment, and whether it is one.
fn uncommented(line: &str) -> (&str, bool) {
    for (open, close) in [
        ("{/*", "*/}"),
        ("/*", "*/"),
        ("<!--", "-->"),
        ("(*", "*)"),
        ("//", ""),
        ("--", ""),
        ("#", ""),
        (";", ""),
        ("%", ""),
        ("*", ""),
        ("' ", ""),
        ("REM ", ""),
        ("rem ", ""),
    ] {
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
    fn lines_that_may_stand_for_the_rest() {
        for line in [
            "# (previous code remains the same)",
            "// Previous code...",
            "// Previous code remains unchanged",
            "# Same as before",
            "# (same as above)",
            "# same as original",
            "# omitted for brevity",
            "# Code omitted for brevity",
            "// unchanged",
            "// (unchanged)",
            "// (no changes)",
            "# No changes needed here",
            "// No changes to the imports",
            "# keep the existing code",
            "# Keep everything else the same",
            "// Keep all other existing functions",
            "// Keep existing imports",
            "// all other code stays the same",
            "// All other methods remain unchanged",
            "// Imports remain the same",
            "# [previous imports stay the same]",
            "# [rest of file unchanged]",
            "// Other imports...",
            "// Other methods",
            "// ... other routes",
            "/* existing styles */",
            "/* Existing CSS rules remain unchanged */",
            "<!-- existing head -->",
            "<!-- Rest of the HTML stays as is -->",
            "{/* existing components */}",
            "{/* rest of the markup remains the same */}",
            "// Your existing code here",
            "// existing code goes here",
            "# your existing tests",
            "[... rest of code ...]",
            "[rest of the file remains unchanged]",
            "(rest of the code remains the same)",
            "(same as before)",
            "// [...]",
            "# (...)",
            "# --- snip ---",
            "// snip",
            "// <snip>",
            "-- rest of schema",
            "-- remaining tables unchanged",
            "' ... existing code ...",
            "' rest of the code",
            "REM ... existing code ...",
            "REM existing code",
            "; rest of config",
            "% remaining functions",
            "// Remaining code is unchanged",
            "// The rest of the class is the same as before",
            "// ... rest of the state",
            "# remaining methods stay the same",
            "// truncated",
            "// abbreviated for brevity",
            "# existing options",
            "// previous implementation",
            "# imports unchanged",
            "// Rest of the tests remain unmodified",
        ] {
            let found = may_stand_for_rest(line) || elision(line, false).is_some();
            assert!(found, "{line:?}");
        }
        for line in [
            "# Existing users are kept",
            "// the same user twice",
            "// Rest parameters are an array",
            "# Keep the connection alive",
            "# previous value of the counter",
            "// other side of the socket",
            "# remaining seconds",
            "// skipped on Windows",
            "/* same size as the buffer */",
            "<!-- existing customers -->",
            "-- rest day of the week",
            "# omitted fields default to None",
            "// stays open until close()",
            "rest_of_code()",
            "(rest)",
            "[previous, same]",
            "(rest other)",
            "remaining = 3",
            "return previous",
            "'existing'",
            "// See the same for b",
            "# noqa",
            "#include <rest.h>",
            "#[rest]",
            "// eslint-disable-next-line",
            "/// Removes the rest, if any.",
            "// no change detected: exit",
            "// before(each)",
            "# before we begin",
            "--existing-flag",
            "; previous instruction",
            "{rest}",
            "",
        ] {
            assert!(!may_stand_for_rest(line), "{line:?}");
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
