//! Uniform indentation: the one difference in leading blanks that is made good.

use std::borrow::Cow;

use crate::lines::is_blank;

/// What REPLACE lacks, or has too much, at the start of each line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Shift {
    None,
    /// The file has this prefix before every line of SEARCH.
    Add(Vec<u8>),
    /// SEARCH has this prefix before every line of the file.
    Remove(Vec<u8>),
}

impl Shift {
    /// The shift of pairs (line of the file, line of SEARCH) that are equal but for blanks at their ends. `None` unless all
    /// lines that are not blank differ by the same prefix.
    pub(crate) fn between<'l>(pairs: impl Iterator<Item = (&'l [u8], &'l [u8])>) -> Option<Self> {
        let mut shift = None;
        for (file, search) in pairs.filter(|(file, _)| !is_blank(file)) {
            let this = Self::of(file, search)?;
            match &shift {
                Some(shift) if *shift != this => return None,
                Some(_) => {}
                None => shift = Some(this),
            }
        }
        shift
    }

    /// The shift of one pair of lines that are equal but for blanks at their ends. `None` if neither begins with the other's
    /// blanks.
    pub(crate) fn of(file: &[u8], search: &[u8]) -> Option<Self> {
        let (file, search) = (leading(file), leading(search));
        match (file.strip_suffix(search), search.strip_suffix(file)) {
            (Some(prefix), _) => Some(Self::Add(prefix.to_vec())),
            (None, Some(prefix)) => Some(Self::Remove(prefix.to_vec())),
            (None, None) => None,
        }
    }

    /// A line of REPLACE, shifted; a blank one stays. `None` if it lacks the prefix that is to be removed.
    pub(crate) fn shifted<'b>(&self, line: &'b [u8]) -> Option<Cow<'b, [u8]>> {
        match self {
            _ if is_blank(line) => Some(Cow::Borrowed(line)),
            Self::None => Some(Cow::Borrowed(line)),
            Self::Add(prefix) => Some(Cow::Owned([prefix, line].concat())),
            Self::Remove(prefix) => line.strip_prefix(&prefix[..]).map(Cow::Borrowed),
        }
    }
}

/// The blanks that a line begins with.
pub(crate) fn leading(line: &[u8]) -> &[u8] {
    &line[..line.len() - line.trim_ascii_start().len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_prefix_for_all_lines() {
        let between = |pairs: &[(&'static str, &'static str)]| {
            Shift::between(pairs.iter().map(|(file, search)| (file.as_bytes(), search.as_bytes())))
        };
        assert_eq!(between(&[("    a", "a"), ("", ""), ("      b", "  b")]), Some(Shift::Add(b"    ".to_vec())));
        assert_eq!(between(&[("a", "  a"), ("  b", "    b")]), Some(Shift::Remove(b"  ".to_vec())));
        assert_eq!(between(&[("\ta", "a"), ("\t  b", "  b")]), Some(Shift::Add(b"\t".to_vec())));
        assert_eq!(between(&[("  a", "a"), ("    b", "b")]), None);
        assert_eq!(between(&[("    a", "\ta")]), None);
        assert_eq!(between(&[("  a", "a"), ("b", "  b")]), None);
    }

    #[test]
    fn a_line_that_cannot_be_outdented_fails() {
        let shift = Shift::Remove(b"  ".to_vec());
        assert_eq!(shift.shifted(b"  a"), Some(Cow::Borrowed(&b"a"[..])));
        assert_eq!(shift.shifted(b""), Some(Cow::Borrowed(&b""[..])));
        assert_eq!(shift.shifted(b"b"), None);
    }
}
