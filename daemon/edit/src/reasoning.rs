//! Reasoning that arrives inside the answer, as `<think>…</think>`.

/// Names that models use for the tag.
const TAGS: &[(&str, &str)] = &[("<think>", "</think>"), ("<thinking>", "</thinking>"), ("<reasoning>", "</reasoning>")];

/// Whether the reply is inside a reasoning span. A span opens at the start of a line and ends anywhere; it is not looked
/// for inside edit blocks, where such tags are a file's text.
#[derive(Debug, Default)]
pub(crate) struct Reasoning {
    open: Option<(&'static str, usize)>,
}

impl Reasoning {
    /// The line of the reply where the open span began.
    pub(crate) fn open_since(&self) -> Option<usize> {
        self.open.map(|(_, line)| line)
    }

    /// Whether the line begins with the end of a span that was never opened.
    pub(crate) fn ends_unopened(&self, line: &str) -> bool {
        self.open.is_none() && end_at_start(line).is_some()
    }

    /// The part of the line that belongs to the answer; `None` if there is none.
    pub(crate) fn answer_in<'a>(&mut self, line: &'a str, number: usize) -> Option<&'a str> {
        let mut rest = if self.open.is_none() { end_at_start(line).unwrap_or(line) } else { line };
        loop {
            if let Some((end, _)) = self.open {
                rest = &rest[rest.find(end)? + end.len()..];
                self.open = None;
            }
            let Some((start, end)) = TAGS.iter().find(|(start, _)| rest.trim_start().starts_with(start)) else {
                break;
            };
            self.open = Some((end, number));
            rest = &rest.trim_start()[start.len()..];
        }
        (rest.len() == line.len() || !rest.trim().is_empty()).then_some(rest)
    }
}

fn end_at_start(line: &str) -> Option<&str> {
    TAGS.iter().find_map(|(_, end)| line.trim_start().strip_prefix(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans() {
        let mut reasoning = Reasoning::default();
        let lines = [
            ("before", Some("before")),
            ("", Some("")),
            ("<think>", None),
            ("inside <think>", None),
            ("", None),
            ("</think>", None),
            ("after", Some("after")),
            ("<think>short</think>a.py", Some("a.py")),
            ("<think>x</think><reasoning>y", None),
            ("y </think>", None),
            ("y </reasoning> z", Some(" z")),
            ("the `<think>` tag", Some("the `<think>` tag")),
            ("</think> z", Some(" z")),
        ];
        for (number, (line, expected)) in lines.into_iter().enumerate() {
            assert_eq!(reasoning.answer_in(line, number), expected, "{line:?}");
        }
        assert_eq!(reasoning.open_since(), None);
    }
}
