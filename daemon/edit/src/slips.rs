//! Lines that a model has not copied as they are, told from lines that it has taken from elsewhere.

use std::collections::HashSet;

use crate::lines::{Text, without_cr};

/// Words of a line, below which nothing resembles it.
const WORDS_MIN: usize = 4;
/// Of four words of a line, so many are in one that it resembles.
const WORDS_OF_FOUR: usize = 3;
/// Bytes of the file's line in the place of a letter that does not belong.
const GARBLED_MAX: usize = 4;
/// Bytes of a line that must agree around such a letter.
const AROUND_GARBLED_MIN: usize = 12;

/// Whether most words of a line, of four or more, are in the file's.
pub(crate) fn resembles(file: &[u8], search: &[u8]) -> bool {
    let words = |line| -> HashSet<&[u8]> { words(line).collect() };
    let (there, wanted) = (words(file), words(search));
    let common = wanted.iter().filter(|word| there.contains(*word)).count();
    wanted.len() >= WORDS_MIN && common * 4 >= wanted.len() * WORDS_OF_FOUR
}

fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|byte| byte.is_ascii() && !byte.is_ascii_alphanumeric()).filter(|word| !word.is_empty())
}

/// Whether a line of SEARCH is the file's but for one letter in the place of a few others, a letter that is nowhere in the
/// file and not in the lines that REPLACE adds: models slip into another script, and mean nothing by it.
pub(crate) fn garbled(text: &Text<'_>, place: usize, search: &[u8], added: &[&[u8]]) -> bool {
    let Ok(line) = str::from_utf8(without_cr(search).trim_ascii()) else {
        return false;
    };
    let there = text.line(place).text.trim_ascii();
    let Some((start, letter)) = line.char_indices().find(|(_, letter)| !letter.is_ascii()) else {
        return false;
    };
    let (before, after) = (&line.as_bytes()[..start], &line.as_bytes()[start + letter.len_utf8()..]);
    let Some(instead) = there.len().checked_sub(before.len() + after.len()) else {
        return false;
    };
    let mut buffer = [0; 4];
    let letter = letter.encode_utf8(&mut buffer).as_bytes();
    let has = |line: &[u8]| line.windows(letter.len()).any(|part| part == letter);
    if instead > GARBLED_MAX
        || before.len() + after.len() < AROUND_GARBLED_MIN
        || !there.starts_with(before)
        || !there.ends_with(after)
        || added.iter().any(|line| has(line))
    {
        return false;
    }
    text.spend(text.len());
    !text.range(0, text.len()).any(|line| has(&line.text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_with_the_same_words() {
        assert!(resembles(b"  The tool reads all files (twice).", b"The tool reads all files"));
        assert!(!resembles(b"The tool writes some files", b"The tool reads all files"));
        assert!(!resembles(b"return c", b"return c"));
    }

    #[test]
    fn letters_that_do_not_belong() {
        let file = Text::read("date +%H:%M  # minutes\n\u{e9}t\u{e9}\n".as_bytes()).unwrap();
        let garbled = |search: &str, replace: &str| garbled(&file, 0, search.as_bytes(), &[replace.as_bytes()]);
        assert!(garbled("  date +%H:%\u{6781}  # minutes\r", "date +%H"));
        assert!(garbled("date +%H:\u{6781}  # minutes", ""));
        assert!(garbled("date +%H:%M\u{6781}  # minutes", ""));
        assert!(!garbled("date +%H:%\u{6781}  # minutes", "date \u{6781}"));
        assert!(!garbled("date +%H:%\u{e9}  # minutes", ""));
        assert!(!garbled("date \u{6781} # minutes", ""));
        assert!(!garbled("date +%H:%\u{6781}  # hours", ""));
        assert!(!garbled("date +%H:%\u{6781}\u{6781}  # minutes", ""));
        assert!(!garbled("date +%H:%S  # minutes", ""));
    }
}
