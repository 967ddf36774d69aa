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
    /// A tab in the file is so many spaces in SEARCH, at every level.
    ToTabs(usize),
    /// So many spaces in the file are a tab in SEARCH.
    ToSpaces(usize),
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

    /// The shift of pairs that are equal but for their indentation, which is tabs on one side and spaces on the other: one
    /// number of spaces for a tab, the same for all.
    pub(crate) fn of_units<'l>(pairs: impl Iterator<Item = (&'l [u8], &'l [u8])>) -> Option<Self> {
        let mut unit = None;
        for (file, search) in pairs.filter(|(file, _)| !is_blank(file)) {
            let (file, search) = (leading(file), leading(search));
            if file.is_empty() && search.is_empty() {
                continue;
            }
            let all = |blanks: &[u8], sign: u8| !blanks.is_empty() && blanks.iter().all(|byte| *byte == sign);
            let this = if all(file, b'\t') && all(search, b' ') && search.len().is_multiple_of(file.len()) {
                Self::ToTabs(search.len() / file.len())
            } else if all(file, b' ') && all(search, b'\t') && file.len().is_multiple_of(search.len()) {
                Self::ToSpaces(file.len() / search.len())
            } else {
                return None;
            };
            if *unit.get_or_insert_with(|| this.clone()) != this {
                return None;
            }
        }
        unit
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

    /// A line of REPLACE, shifted; a blank one stays. `None` if it lacks the prefix that is to be removed, or stands between
    /// two levels.
    pub(crate) fn shifted<'b>(&self, line: &'b [u8]) -> Option<Cow<'b, [u8]>> {
        match self {
            _ if is_blank(line) => Some(Cow::Borrowed(line)),
            Self::None => Some(Cow::Borrowed(line)),
            Self::Add(prefix) => Some(Cow::Owned([prefix, line].concat())),
            Self::Remove(prefix) => line.strip_prefix(&prefix[..]).map(Cow::Borrowed),
            Self::ToTabs(unit) => {
                let (blanks, text) = line.split_at(leading(line).len());
                let levels = blanks.iter().all(|byte| *byte == b' ') && blanks.len().is_multiple_of(*unit);
                levels.then(|| Cow::Owned([&vec![b'\t'; blanks.len() / unit][..], text].concat()))
            }
            Self::ToSpaces(unit) => {
                let blanks = leading(line);
                let tabs = blanks.iter().take_while(|byte| **byte == b'\t').count();
                Some(Cow::Owned([&vec![b' '; tabs * unit][..], &line[tabs..]].concat()))
            }
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
        let units = |pairs: &[(&'static str, &'static str)]| {
            Shift::of_units(pairs.iter().map(|(file, search)| (file.as_bytes(), search.as_bytes())))
        };
        assert_eq!(units(&[("a", "a"), ("\tb", "    b"), ("\t\tc", "        c")]), Some(Shift::ToTabs(4)));
        assert_eq!(units(&[("  a", "\ta"), ("    b", "\t\tb")]), Some(Shift::ToSpaces(2)));
        assert_eq!(units(&[("\ta", "    a"), ("\tb", "  b")]), None);
        assert_eq!(units(&[("\ta", "    a"), ("\t\tb", "      b")]), None);
        assert_eq!(units(&[("\ta", "    a"), ("  b", "  b")]), None);
        assert_eq!(between(&[("  a", "a"), ("b", "  b")]), None);
    }

    #[test]
    fn a_line_that_cannot_be_outdented_fails() {
        let shift = Shift::Remove(b"  ".to_vec());
        assert_eq!(shift.shifted(b"  a"), Some(Cow::Borrowed(&b"a"[..])));
        assert_eq!(shift.shifted(b""), Some(Cow::Borrowed(&b""[..])));
        assert_eq!(shift.shifted(b"b"), None);
        let shifted = |shift: Shift, line: &'static [u8]| shift.shifted(line).map(Cow::into_owned);
        assert_eq!(shifted(Shift::ToTabs(2), b"    a"), Some(b"\t\ta".to_vec()));
        assert_eq!(shifted(Shift::ToTabs(2), b"     a"), None);
        assert_eq!(shifted(Shift::ToTabs(2), b"\ta"), None);
        assert_eq!(shifted(Shift::ToSpaces(2), b"\t\ta"), Some(b"    a".to_vec()));
    }
}
