//! Texts made from the fixtures by small random changes.

/// Lines that mean something in one format or another.
const TOKENS: &[&str] = &[
    "<<<<<<< SEARCH",
    "=======",
    ">>>>>>> REPLACE",
    "```",
    "````",
    "~~~",
    "```bash",
    "```diff",
    "<source>",
    "</source>",
    "a.py",
    "`a.py`:",
    "--- a/a.py",
    "+++ b/a.py",
    "+++ /dev/null",
    "@@ -1,2 +1,2 @@",
    "@@ x",
    "@@",
    "*** Begin Patch",
    "*** End Patch",
    "*** Update File: a.py",
    "*** Add File: b.py",
    "*** Delete File: a.py",
    "*** Move to: c.py",
    "*** End of File",
    "<think>",
    "</think>",
    "...",
    "",
    " ",
    "\r",
    "\u{feff}",
    "\u{2028}",
];

/// The fixtures' own texts, replies and files alike.
pub(crate) fn seeds() -> Vec<&'static str> {
    let files = [
        include_str!("../edit/cases/parsing.txt"),
        include_str!("../edit/cases/names.txt"),
        include_str!("../edit/cases/matching.txt"),
        include_str!("../edit/cases/ambiguity.txt"),
        include_str!("../edit/cases/refusals.txt"),
        include_str!("../edit/cases/udiff.txt"),
        include_str!("../edit/cases/patch.txt"),
        include_str!("../edit/cases/operations.txt"),
        include_str!("../edit/cases/whole.txt"),
    ];
    let sections = files.iter().flat_map(|text| text.split("\n@@ reply").chain(text.split("\n@@ file")));
    sections.filter_map(|section| Some(section.split_once('\n')?.1)).map(first_section).filter(|text| !text.is_empty()).collect()
}

/// The text before the next section, which begins in the first column with a word in small letters.
fn first_section(text: &str) -> &str {
    let next = text.match_indices("\n@@ ").find(|(at, _)| text[at + 4..].starts_with(|c: char| c.is_ascii_lowercase()));
    next.map_or(text, |(at, _)| &text[..=at])
}

/// A small generator (xorshift), so that a seed gives the same texts everywhere.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number below `end`, which must not be 0.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 1).unwrap_or(0) % end
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// One of the texts, changed.
    pub(crate) fn mutated(&mut self, seeds: &[&str]) -> String {
        let mut text = self.pick(seeds).to_owned();
        if self.below(3) == 0 {
            let other = self.pick(seeds);
            let at = boundary(&text, self.below(text.len() + 1));
            text.insert_str(at, other);
        }
        self.changed(&text)
    }

    /// The text with up to five lines or characters changed.
    pub(crate) fn changed(&mut self, text: &str) -> String {
        let mut lines: Vec<String> = text.split('\n').map(str::to_owned).collect();
        for _ in 0..self.below(6) {
            let at = self.below(lines.len());
            match self.below(9) {
                0 if lines.len() > 1 => drop(lines.remove(at)),
                1 => lines.insert(at, self.pick(TOKENS).to_owned()),
                2 => lines[at] = self.pick(TOKENS).to_owned(),
                3 => lines.insert(at, lines[at].clone()),
                4 => {
                    let other = self.below(lines.len());
                    lines.swap(at, other);
                }
                5 => lines[at].insert_str(0, self.pick(&[" ", "    ", "\t", "+", "-", "`", "#"])),
                6 => lines[at].push_str(self.pick(&[" ", "\r", "x", "é", "`"])),
                7 => {
                    let cut = boundary(&lines[at], self.below(lines[at].len() + 1));
                    lines[at].truncate(cut);
                }
                _ => lines.truncate(at + 1),
            }
        }
        lines.join("\n")
    }
}

fn boundary(text: &str, at: usize) -> usize {
    (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}
