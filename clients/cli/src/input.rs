//! What is typed at the prompt, put together to messages: `{` … `}` takes many lines, and so does a paste.

/// The lines of a message that is not complete.
#[derive(Debug, Default)]
pub(crate) struct Typing {
    /// The line that ends the block, and the lines so far.
    block: Option<(String, Vec<String>)>,
}

impl Typing {
    /// Takes what was typed up to Enter; gives the message when it is complete. A paste comes as one piece with line feeds.
    pub(crate) fn take(&mut self, typed: &str) -> Option<String> {
        match &mut self.block {
            Some((end, _)) if typed.trim() == end => self.block.take().map(|(_, lines)| lines.join("\n")),
            Some((_, lines)) => {
                lines.push(typed.to_owned());
                None
            }
            None => match block_end(typed) {
                Some(end) => {
                    self.block = Some((end, Vec::new()));
                    None
                }
                None => Some(typed.trim_end().to_owned()),
            },
        }
    }

    /// Whether a block is open.
    pub(crate) fn is_open(&self) -> bool {
        self.block.is_some()
    }

    /// Drops the lines so far.
    pub(crate) fn forget(&mut self) {
        self.block = None;
    }
}

/// A line `{` is ended by `}`, a line `{tag` by `tag}`.
fn block_end(typed: &str) -> Option<String> {
    let tag = typed.trim().strip_prefix('{')?;
    tag.chars().all(char::is_alphanumeric).then(|| format!("{tag}}}"))
}

/// Splits arguments at blanks; quotes and backslashes keep them together, as in a shell.
///
/// # Errors
/// A quote that is not closed.
pub(crate) fn words(text: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\'' | '"' => {
                let inner = word.get_or_insert_default();
                loop {
                    match chars.next() {
                        Some(end) if end == c => break,
                        Some('\\') if c == '"' => inner.extend(chars.next()),
                        Some(other) => inner.push(other),
                        None => return Err(format!("the quote {c} is not closed")),
                    }
                }
            }
            '\\' => word.get_or_insert_default().extend(chars.next()),
            blank if blank.is_whitespace() => words.extend(word.take()),
            other => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word);
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(typed: &[&str]) -> Vec<String> {
        let mut typing = Typing::default();
        typed.iter().filter_map(|text| typing.take(text)).collect()
    }

    #[test]
    fn blocks_and_pastes_are_one_message() {
        for (typed, expected) in [
            (&["one", "two"][..], &["one", "two"][..]),
            (&["{", "a", "", "  b", "}", "c"], &["a\n\n  b", "c"]),
            (&["{end", "}", "end}"], &["}"]),
            (&["{", "fn f() {\n}\n", "}"], &["fn f() {\n}\n"]),
            (&["{ not a block"], &["{ not a block"]),
            (&["{\n  \"json\": 1\n}\n"], &["{\n  \"json\": 1\n}"]),
            (&["pasted\nlines\n"], &["pasted\nlines"]),
            (&["{", "a"], &[]),
        ] {
            assert_eq!(messages(typed), expected, "{typed:?}");
        }
    }

    #[test]
    fn a_block_can_be_given_up() {
        let mut typing = Typing::default();
        typing.take("{");
        assert!(typing.is_open());
        typing.forget();
        assert_eq!(typing.take("a").as_deref(), Some("a"));
    }

    #[test]
    fn arguments() {
        for (text, expected) in [
            ("a.py  b/c.py ", &["a.py", "b/c.py"][..]),
            (r#""x y.md" 'it''s' a\ b"#, &["x y.md", "its", "a b"]),
            (r#""quo\"te" ''"#, &["quo\"te", ""]),
            ("", &[]),
        ] {
            assert_eq!(words(text).unwrap(), expected, "{text}");
        }
        assert!(words("'open").is_err());
    }
}
