//! Text of models, files and commits as a terminal may have it. A terminal obeys escape sequences, and marks that change
//! the order of what is shown: a reply or a file name that brings one could hide what it changed.

/// Digits of a hash that are shown.
const HASH_DIGITS: usize = 9;

/// The text without control characters (line feeds and tabs apart) and without marks that change the order of what is shown.
pub(crate) fn plain(text: &str) -> String {
    text.chars().filter(|c| matches!(c, '\n' | '\t') || !is_obeyed(*c)).collect()
}

/// The same on one line.
pub(crate) fn line(text: &str) -> String {
    text.chars().map(|c| if c.is_whitespace() { ' ' } else { c }).filter(|c| !is_obeyed(*c)).collect()
}

pub(crate) fn is_obeyed(c: char) -> bool {
    c.is_control() || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The beginning of a hash.
pub(crate) fn short(hash: &str) -> String {
    hash.chars().filter(char::is_ascii_hexdigit).take(HASH_DIGITS).collect()
}

/// How long ago, roughly.
pub(crate) fn age(now_ms: u64, then_ms: u64) -> String {
    match now_ms.saturating_sub(then_ms) / 1000 {
        0..60 => "now".to_owned(),
        seconds @ 60..3600 => format!("{} min", seconds / 60),
        seconds @ 3600..86_400 => format!("{} h", seconds / 3600),
        seconds => format!("{} d", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_go_and_text_stays() {
        for (text, many, one) in [
            ("plain\ttext\nnext", "plain\ttext\nnext", "plain text next"),
            ("crlf\r\nnext", "crlf\nnext", "crlf  next"),
            ("\u{1b}[31mred\u{1b}[0m", "[31mred[0m", "[31mred[0m"),
            ("\u{1b}]52;c;ZXZpbA==\u{7}", "]52;c;ZXZpbA==", "]52;c;ZXZpbA=="),
            ("c1 \u{9b}2J\u{90}q\u{9c}", "c1 2Jq", "c1 2Jq"),
            ("back\u{8}\u{7f}\0", "back", "back"),
            ("admin\u{202e}txt.exe\u{2066}\u{2069}\u{200f}", "admintxt.exe", "admintxt.exe"),
            ("Grüße 日本 🦀 שלום", "Grüße 日本 🦀 שלום", "Grüße 日本 🦀 שלום"),
            ("a\u{2028}b", "a\u{2028}b", "a b"),
        ] {
            assert_eq!(plain(text), many, "{text:?}");
            assert_eq!(line(text), one, "{text:?}");
        }
    }

    #[test]
    fn what_comes_in_pieces_is_the_same() {
        let text = "a\u{1b}[31mb\u{9b}c\r\nd\u{202e}e";
        for at in text.char_indices().map(|(at, _)| at) {
            assert_eq!(plain(&text[..at]) + &plain(&text[at..]), plain(text));
        }
    }

    #[test]
    fn hashes_and_ages() {
        assert_eq!(short("0123456789abcdef0123"), "012345678");
        assert_eq!(short("ab\u{1b}[2J12"), "ab212");
        for (seconds, text) in [(0, "now"), (59, "now"), (60, "1 min"), (3599, "59 min"), (7200, "2 h"), (200_000, "2 d")] {
            assert_eq!(age(1_000_000_000 + seconds * 1000, 1_000_000_000), text);
        }
        assert_eq!(age(0, 5), "now");
    }
}
