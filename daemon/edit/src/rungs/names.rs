//! Lines that name what a block edits: a function's head, a rule's selector, an entry's key.
//!
//! If such a line differs, what is the same below it is another one's. So only blanks, punctuation and comments may differ in it.

use crate::indent::leading;
use crate::sides::{Fate, Sides};

/// Whether a line of SEARCH that is kept names something, and the file's line does not name the same.
pub(super) fn names_another(sides: &Sides<'_, '_>, fates: &[Fate], line: usize, first: usize, file: &[u8]) -> bool {
    let search = sides.search[line];
    let (wanted, there) = (without_comment(search), without_comment(file));
    if words(wanted) == words(there) && !(words(wanted).is_empty() && line == first) {
        return false;
    }
    let depth = leading(search).len();
    let heads = || (line + 1..fates.len()).any(|below| fates[below] != Fate::Kept && leading(sides.search[below]).len() > depth);
    let joined = |names: Vec<&[u8]>| words(&names.join(&b' '));
    let differ = |names: fn(&[u8]) -> Vec<&[u8]>| joined(names(wanted)) != joined(names(there));
    line == first || begins_section(search) || differ(quoted) || differ(key) || heads()
}

/// Lines that begin a part of the text without enclosing it by indentation: `[section]`, `# Heading`.
pub(super) fn begins_section(line: &[u8]) -> bool {
    line.starts_with(b"[") && line.trim_ascii_end().ends_with(b"]") || line.starts_with(b"#")
}

/// Letters and digits, words set apart. Bytes that are not UTF-8 are no letters: in the reply they are something else.
fn words(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// The line up to a comment that is set apart by blanks.
fn without_comment(line: &[u8]) -> &[u8] {
    let is_edge = |at: Option<usize>| at.and_then(|at| line.get(at)).is_none_or(u8::is_ascii_whitespace);
    let begins = |at: &usize| {
        let rest = &line[*at..];
        let alone = |sign: &[u8]| rest.starts_with(sign) && is_edge(Some(at + sign.len()));
        is_edge(at.checked_sub(1))
            && (rest.starts_with(b"//") || rest.starts_with(b"/*") || rest.starts_with(b"<!--") || alone(b"#") || alone(b"--"))
    };
    let end = (0..line.len()).filter(|at| matches!(line[*at], b'/' | b'<' | b'#' | b'-')).find(begins);
    &line[..end.unwrap_or(line.len())]
}

/// What stands between quotes.
fn quoted(line: &[u8]) -> Vec<&[u8]> {
    let mut texts = Vec::new();
    let mut rest = line;
    while let Some(start) = rest.iter().position(|byte| matches!(byte, b'"' | b'\'' | b'`')) {
        let text = &rest[start + 1..];
        let end = text.iter().position(|byte| *byte == rest[start]).unwrap_or(text.len());
        texts.push(&text[..end]);
        rest = text.get(end + 1..).unwrap_or_default();
    }
    texts
}

/// The word before a line's first `:` or `=`, with the one behind it if that is all there is.
fn key(line: &[u8]) -> Vec<&[u8]> {
    let is_word = |text: &[u8]| {
        let text = text.trim_ascii();
        !text.is_empty()
            && text
                .iter()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'$' | b'"' | b'\'') || !byte.is_ascii())
    };
    let Some(at) = line.iter().position(|byte| matches!(byte, b':' | b'=')) else {
        return Vec::new();
    };
    let start = line[..at].trim_ascii();
    let (key, value) = (start.strip_prefix(b"- ").unwrap_or(start), line[at + 1..].trim_ascii());
    let value = value.strip_suffix(b",").or_else(|| value.strip_suffix(b";")).unwrap_or(value);
    match (is_word(key), is_word(value)) {
        (true, true) => vec![key, value],
        (true, false) => vec![key],
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::Split;

    /// Whether the second line of a block names another, if it is this one and the file has that one.
    fn another(search: &str, file: &str) -> bool {
        let split = Split { search: format!("first\n{search}\n{}old\n", " ".repeat(4)).into(), replace: "" };
        let sides = Sides::of(&split);
        let fates = [Fate::Kept, Fate::Kept, Fate::Gone];
        names_another(&sides, &fates, 1, 0, file.as_bytes())
    }

    #[test]
    fn what_names_another() {
        for (search, file) in [
            (".btn-danger {", ".btn-primary {"),
            ("  def test_update(self):", "  def test_create(self):"),
            ("    app.get(\"/orders\", (req) => {", "    app.get(\"/users\", (req) => {"),
            ("    worker: {}", "    web: {}"),
            ("    \"name\": \"b\",", "    \"name\": \"a\","),
            ("    - name: worker", "    - name: web"),
            ("    port = 1", "    port = 2"),
            ("[worker]", "[web]"),
        ] {
            assert!(another(search, file), "{search:?}");
        }
        for (search, file) in [
            ("def f(x ):", "def f(x):"),
            ("def f(x):  # slow", "def f(x):"),
            ("    b = parse_all(a, 1)", "    b = parse(a, 1)"),
            ("    # the first one", "    # the second one"),
            ("    call(\"a b\")", "    call('a-b')"),
            ("      a + b;", "      a + c;"),
        ] {
            assert!(!another(search, file), "{search:?}");
        }
    }

    #[test]
    fn comments_are_set_apart() {
        assert_eq!(without_comment(b"a // b"), b"a ");
        assert_eq!(without_comment(b"http://b"), b"http://b");
        assert_eq!(without_comment(b"#id {"), b"#id {");
        assert_eq!(without_comment(b"a # b"), b"a ");
        assert_eq!(without_comment(b"a -- b"), b"a ");
        assert_eq!(without_comment(b"--a"), b"--a");
    }
}
