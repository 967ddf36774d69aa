//! The lines that stand around code in prompts and replies.

/// A pair of lines between which a prompt shows text and a reply is asked to write it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FencePair {
    pub open: &'static str,
    pub close: &'static str,
}

/// In order of preference (Aider's list).
const PAIRS: &[FencePair] = &[
    FencePair { open: "```", close: "```" },
    FencePair { open: "````", close: "````" },
    FencePair { open: "<source>", close: "</source>" },
    FencePair { open: "<code>", close: "</code>" },
    FencePair { open: "<pre>", close: "</pre>" },
    FencePair { open: "<codeblock>", close: "</codeblock>" },
    FencePair { open: "<sourcecode>", close: "</sourcecode>" },
];

/// The first pair that no line of these contents could be taken for, so that they can be shown between them; three
/// backticks if there is none. Parsers take any of the pairs, whatever the prompt has used.
#[must_use]
pub fn choose_fence<'a>(contents: impl IntoIterator<Item = &'a str>) -> FencePair {
    let mut free: Vec<&FencePair> = PAIRS.iter().collect();
    for line in contents.into_iter().flat_map(str::lines).map(str::trim_start).filter(|line| line.starts_with(['`', '<'])) {
        free.retain(|pair| !line.starts_with(pair.open) && !line.starts_with(pair.close));
    }
    free.first().map_or(PAIRS[0], |pair| **pair)
}

/// An opening or closing line of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FenceLine<'a> {
    /// Three or more backticks or tildes, indented or not.
    Signs(Fence<'a>),
    /// `<source>` alone.
    TagOpen(&'static str),
    TagClose(&'static str),
}

impl<'a> FenceLine<'a> {
    pub(crate) fn read(line: &'a str) -> Option<Self> {
        let text = line.trim();
        match text.as_bytes().first()? {
            b'`' | b'~' => Fence::read(line).map(Self::Signs),
            b'<' => PAIRS.iter().skip(2).find_map(|pair| {
                let open = (text == pair.open).then_some(Self::TagOpen(pair.open));
                open.or_else(|| (text == pair.close).then_some(Self::TagClose(pair.close)))
            }),
            _ => None,
        }
    }

    /// The rest of an opening line, trimmed.
    pub(crate) fn info(self) -> &'a str {
        match self {
            Self::Signs(fence) => fence.info,
            Self::TagOpen(_) | Self::TagClose(_) => "",
        }
    }

    /// Whether text that `self` opened ends at the line `other`.
    pub(crate) fn is_closed_by(self, other: FenceLine<'_>) -> bool {
        match (self, other) {
            (Self::Signs(open), FenceLine::Signs(close)) => close.sign == open.sign && close.len >= open.len && close.info.is_empty(),
            (Self::TagOpen(open), FenceLine::TagClose(close)) => close[2..] == open[1..],
            _ => false,
        }
    }

    /// The same without the rest of the line, to be kept.
    pub(crate) fn bare(self) -> FenceLine<'static> {
        match self {
            Self::Signs(Fence { sign, len, .. }) => FenceLine::Signs(Fence { sign, len, info: "" }),
            Self::TagOpen(tag) => FenceLine::TagOpen(tag),
            Self::TagClose(tag) => FenceLine::TagClose(tag),
        }
    }
}

/// A line of three or more backticks or tildes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fence<'a> {
    pub(crate) sign: char,
    pub(crate) len: usize,
    /// The rest of the line, trimmed.
    pub(crate) info: &'a str,
}

impl<'a> Fence<'a> {
    pub(crate) fn read(line: &'a str) -> Option<Self> {
        let line = line.trim();
        let sign = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
        let info = line.trim_start_matches(sign);
        let len = line.len() - info.len();
        // Backticks after backticks are a quoted name.
        (len >= 3 && !(sign == '`' && info.contains('`'))).then(|| Self { sign, len, info: info.trim() })
    }
}

/// Text without the fence it is wrapped in, and without a line above the fence that is exactly the file's name.
pub(crate) fn unwrapped<'a>(text: &'a str, path: &str) -> Option<&'a str> {
    let (first, rest) = text.split_once('\n')?;
    let named = !first.trim().is_empty() && (first.trim() == path || path.rsplit('/').next() == Some(first.trim()));
    let (open, body) = if named { rest.split_once('\n')? } else { (first, rest) };
    let open = FenceLine::read(open)?;
    let body_and_close = body.trim_end();
    let (body, close) =
        body_and_close.rsplit_once('\n').map_or(("", body_and_close), |(body, close)| (&body_and_close[..body.len() + 1], close));
    open.is_closed_by(FenceLine::read(close)?).then_some(body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_fence_that_no_line_has() {
        let open = |contents: &[&str]| choose_fence(contents.iter().copied()).open;
        assert_eq!(open(&["x = 1\n"]), "```");
        assert_eq!(open(&["use `x` and ```y```\n"]), "```");
        assert_eq!(open(&["a\n```sh\nls\n```\n"]), "````");
        assert_eq!(open(&["a\n  ```\n", "````\n"]), "<source>");
        assert_eq!(open(&["````\n<source>\n</code>\n"]), "<pre>");
        let all: String = PAIRS.iter().map(|pair| format!("{}\n", pair.open)).collect();
        assert_eq!(open(&[&all]), "```");
        assert_eq!(choose_fence(["```\n````"]).close, "</source>");
    }

    #[test]
    fn what_closes_what() {
        let closes = |open: &str, close: &str| FenceLine::read(open).unwrap().is_closed_by(FenceLine::read(close).unwrap());
        assert!(closes("```py", "```"));
        assert!(closes("```", "  `````  "));
        assert!(closes("<pre>", "</pre>"));
        assert!(!closes("````", "```"));
        assert!(!closes("```", "~~~"));
        assert!(!closes("```", "```py"));
        assert!(!closes("<pre>", "</code>"));
        assert!(!closes("<pre>", "```"));
        assert_eq!(FenceLine::read("<pre class=x>"), None);
        assert_eq!(FenceLine::read("```a.py```"), None);
    }

    #[test]
    fn wrapping() {
        assert_eq!(unwrapped("```py\na\n```\n", "x.py"), Some("a\n"));
        assert_eq!(unwrapped("src/x.py\n```py\na\nb\n```\n\n", "src/x.py"), Some("a\nb\n"));
        assert_eq!(unwrapped("x.py\n```\n```\n", "src/x.py"), Some(""));
        assert_eq!(unwrapped("# x.py\n```\na\n```\n", "x.py"), None);
        assert_eq!(unwrapped("# x.py\n", "x.py"), None);
        assert_eq!(unwrapped("```py\na\n", "x.py"), None);
        assert_eq!(unwrapped("```\n", "x.py"), None);
        assert_eq!(unwrapped("", "x.py"), None);
    }
}
