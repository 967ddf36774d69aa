//! The lines that delimit an edit block.

/// A line that has a meaning in a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Marker {
    /// `<<<<<<< SEARCH`
    Head(Dialect),
    /// `=======`
    Divider,
    /// `>>>>>>> REPLACE`
    Closing(Dialect),
}

/// Some models write `------- SEARCH` and `+++++++ REPLACE`, and mix both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    Angle,
    Dash,
}

impl Dialect {
    /// Whether a marker in the dialect `other` counts inside a block that was opened in this one.
    /// Rules of dashes are ordinary text in many languages, so they count only where dashes opened the block.
    pub(crate) fn minds(self, other: Self) -> bool {
        other == Self::Angle || self == Self::Dash
    }
}

/// Reads a line as a marker: five to nine equal signs, blanks around them ignored.
pub(crate) fn marker(line: &str) -> Option<Marker> {
    let line = line.trim();
    let sign = *line.as_bytes().first()?;
    if !matches!(sign, b'<' | b'-' | b'=' | b'>' | b'+') {
        return None;
    }
    let count = line.bytes().take_while(|b| *b == sign).count();
    if !(5..=9).contains(&count) {
        return None;
    }
    let rest = &line[count..];
    let word = rest.trim_start();
    let apart = rest.len() > word.len();
    match sign {
        b'=' => rest.is_empty().then_some(Marker::Divider),
        b'<' => is_search(word).then_some(Marker::Head(Dialect::Angle)),
        b'-' => (apart && is_search(word)).then_some(Marker::Head(Dialect::Dash)),
        b'>' => (word == "REPLACE").then_some(Marker::Closing(Dialect::Angle)),
        _ => (apart && word == "REPLACE").then_some(Marker::Closing(Dialect::Dash)),
    }
}

fn is_search(word: &str) -> bool {
    word.strip_suffix('>').unwrap_or(word).trim_end() == "SEARCH"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_a_marker() {
        let head = Some(Marker::Head(Dialect::Angle));
        let cases = [
            ("<<<<<<< SEARCH", head),
            ("<<<<< SEARCH", head),
            ("<<<<<<<<< SEARCH>", head),
            ("  <<<<<<< SEARCH \r", head),
            ("<<<< SEARCH", None),
            ("<<<<<<<<<< SEARCH", None),
            ("<<<<<<< HEAD", None),
            ("<<<<<<< SEARCH here", None),
            ("------- SEARCH", Some(Marker::Head(Dialect::Dash))),
            ("-------", None),
            ("=======", Some(Marker::Divider)),
            ("====", None),
            ("==========", None),
            ("======= x", None),
            (">>>>>>> REPLACE\r", Some(Marker::Closing(Dialect::Angle))),
            (">>>>>>> theirs", None),
            ("+++++++ REPLACE", Some(Marker::Closing(Dialect::Dash))),
            ("", None),
        ];
        for (line, expected) in cases {
            assert_eq!(marker(line), expected, "{line:?}");
        }
    }
}
