//! What must hold for replies in every format.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use paird_base::{Content, RepoPath};
use paird_edit::{Block, Format, Parsed, Parser, Proposal, Scope, Seen, Snapshot, explain, parse, propose, wanted_paths};
use proptest::prelude::*;

/// Lines that mean something to one parser or another, among some that do not.
const LINES: &[&str] = &[
    "<<<<<<< SEARCH",
    "=======",
    ">>>>>>> REPLACE",
    "```",
    "```",
    "````",
    "```bash",
    "```python",
    "```diff",
    "~~~",
    "<source>",
    "</source>",
    "a.py",
    "**`b.py`**:",
    "In `a.py`:",
    "<think>",
    "</think>",
    "",
    "x",
    "    y",
    "...",
    "--- a/a.py",
    "+++ b/a.py",
    "--- a.py",
    "+++ c.py",
    "+++ /dev/null",
    "--- /dev/null",
    "--- x",
    "+++ x",
    "@@ -1,2 +1,2 @@",
    "@@ -1 +1 @@",
    "@@",
    "@@ x",
    "@@ ... @@",
    " x",
    "-x",
    "+y",
    "+",
    "-    y",
    "\\ No newline at end of file",
    "diff --git a/a.py b/b.py",
    "rename from a.py",
    "rename to d.py",
    "new file mode 100644",
    "deleted file mode 100644",
    "*** Begin Patch",
    "*** End Patch",
    "*** Update File: a.py",
    "*** Add File: c.py",
    "*** Delete File: a.py",
    "*** Delete File: b.py",
    "*** Move to: d.py",
    "*** Move to: a.py",
    "*** End of File",
    "x\r",
    "é",
];

fn format() -> impl Strategy<Value = Format> {
    prop::sample::select(Format::ALL.to_vec())
}

fn reply() -> impl Strategy<Value = String> {
    let line = prop_oneof![12 => prop::sample::select(LINES.to_vec()).prop_map(str::to_owned), 1 => any::<String>()];
    (prop::collection::vec(line, 0..60), any::<bool>()).prop_map(|(lines, ended)| lines.join("\n") + if ended { "\n" } else { "" })
}

/// Lines of files, none of which means anything in any format.
fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(vec!["x = 1", "    y", "def f():", "z"]), 1..5).prop_map(|lines| lines.join("\n") + "\n")
}

/// A reply as a model should write it, of edits of `0.py`, `1.py` and so on.
fn sound_reply() -> impl Strategy<Value = (Format, String)> {
    let edits = prop::collection::vec((text(), text()), 1..4);
    (format(), edits).prop_map(|(format, edits)| {
        let mut reply = "Here it is.\n\n".to_owned();
        let signed = |sign: char, text: &str| text.lines().map(|line| format!("{sign}{line}\n")).collect::<String>();
        for (nth, (old, new)) in edits.iter().enumerate() {
            reply += &match format {
                Format::Whole | Format::EditorWhole => format!("{nth}.py\n```\n{new}```\n\n"),
                Format::Udiff => {
                    format!("```diff\n--- {nth}.py\n+++ {nth}.py\n@@ ... @@\n{}{}```\n\n", signed('-', old), signed('+', new))
                }
                Format::Patch => format!(
                    "*** Begin Patch\n*** Update File: {nth}.py\n@@\n{}{}*** Add File: new{nth}.py\n{}*** End Patch\n\n",
                    signed('-', old),
                    signed('+', new),
                    signed('+', new)
                ),
                _ => format!("{nth}.py\n```\n<<<<<<< SEARCH\n{old}=======\n{new}>>>>>>> REPLACE\n```\n\n"),
            };
        }
        (format, reply)
    })
}

fn planned(parsed: &Parsed, files: &[(&str, &str)]) -> Proposal {
    let files: BTreeMap<RepoPath, &str> = files.iter().map(|(name, text)| (RepoPath::parse(name).unwrap(), *text)).collect();
    let scope = Scope { chat_files: files.keys().cloned().collect(), ..Scope::default() };
    let seen = |path: RepoPath| {
        let seen = files.get(&path).map_or(Seen::Absent, |text| Seen::File(Content::new(text.as_bytes(), 0o644)));
        (path, seen)
    };
    let snapshot: Snapshot = wanted_paths(parsed, &scope).into_iter().map(seen).collect();
    propose(parsed, &snapshot, &scope)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn pieces_equal_the_whole_and_blocks_are_told_as_they_come(
        format in format(),
        text in reply(),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..20),
    ) {
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(text.len() + 1)).filter(|cut| text.is_char_boundary(*cut)).collect();
        cuts.sort_unstable();
        let mut parser = Parser::new(format);
        let mut told: BTreeMap<usize, Block> = BTreeMap::new();
        let mut start = 0;
        for cut in cuts.into_iter().chain([text.len()]) {
            parser.push(&text[start..cut]);
            told.extend(parser.take_new().into_iter().map(|block| (block.index, block)));
            start = cut;
        }
        for (block, told) in parser.blocks().iter().zip(told.values()) {
            prop_assert_eq!(block, told);
        }
        prop_assert!(told.len() >= parser.blocks().len());
        prop_assert_eq!(parser.finish(), parse(format, &text));
    }

    #[test]
    fn any_reply_is_planned_and_taken_back(format in format(), text in reply()) {
        let parsed = parse(format, &text);
        let proposal = planned(&parsed, &[("a.py", "x\n    y\nx\n"), ("b.py", "y\n")]);
        let hunks: usize = proposal.edits.iter().map(|edit| edit.hunks.len()).sum();
        prop_assert_eq!(hunks + proposal.failed.len(), parsed.blocks.len());
        let plan = proposal.plan().unwrap();
        prop_assert_eq!(plan.clone().reversed().reversed(), plan);
        prop_assert_eq!(explain(&parsed, &proposal.failed).is_empty(), proposal.failed.is_empty() && parsed.problems.is_empty());
    }

    /// Nothing of a block is taken before all of it is there.
    #[test]
    fn a_reply_that_breaks_off_gives_whole_blocks_only((format, text) in sound_reply()) {
        let whole = parse(format, &text);
        prop_assert!(whole.problems.is_empty() && !whole.blocks.is_empty(), "{:?}", whole);
        for at in 0..text.len() {
            let part = parse(format, &text[..at]);
            prop_assert!(whole.blocks.starts_with(&part.blocks), "{} bytes: {:?}", at, part);
        }
    }

    #[test]
    fn a_sound_reply_changes_the_files_as_it_says((format, text) in sound_reply()) {
        let parsed = parse(format, &text);
        for (nth, block) in parsed.blocks.iter().filter(|block| !block.search.is_empty()).enumerate() {
            let path = format!("{nth}.py");
            prop_assert_eq!(block.path.as_deref(), Some(&*path));
            let one = Parsed { blocks: vec![block.clone()], ..Parsed::default() };
            let proposal = planned(&one, &[(&path, &block.search)]);
            prop_assert_eq!(&*proposal.edits[0].after.as_ref().unwrap().bytes, block.replace.as_bytes());
        }
    }
}

/// The times are far above what is needed and far below what a quadratic search takes.
#[test]
fn large_replies_take_little_time() {
    let lines = |line: &str, count: usize| (0..count).map(|nth| line.replace('#', &nth.to_string())).collect::<String>();
    let file = lines("class C#:\n    def f(self):\n        return 1\n", 12_000);
    let hunks = lines("@@ class C#:\n@@ def f(self):\n-        return 1\n+        return 2\n", 1_900);
    let replies = [
        (Format::Whole, format!("a.py\n```\n{}```\n", file.replace("return 1", "return 2"))),
        (Format::Whole, format!("a.py\n```\n{}```\n", lines("other #\n", 60_000))),
        (Format::Whole, "a.py\n```\nx\n```\n".repeat(30_000)),
        (Format::Whole, "a.py\n```\n=======\n".repeat(30_000)),
        (Format::Whole, "a.py\n```\nx\n=======\n```\n".repeat(30_000)),
        (Format::Whole, "`a.py` ".repeat(100_000)),
        (Format::Whole, "```\n".repeat(100_000)),
        (
            Format::Udiff,
            format!(
                "```diff\n--- a.py\n+++ a.py\n{}```\n",
                lines("@@ @@\n class C#:\n     def f(self):\n-        return 1\n+        return 2\n", 1_900)
            ),
        ),
        (Format::Udiff, "--- a\n".repeat(100_000)),
        (Format::Udiff, "--- a\n+++ b\n@@\n".repeat(50_000)),
        (Format::Udiff, format!("```diff\n--- a.py\n+++ /dev/null\n@@ @@\n{}```\n", lines("-line #\n", 60_000))),
        (Format::Patch, format!("*** Begin Patch\n*** Update File: a.py\n{hunks}*** End Patch\n")),
        (Format::Patch, format!("*** Begin Patch\n*** Update File: a.py\n{}*** End Patch\n", "@@ class\n@@ def g\n-x\n".repeat(1_900))),
        (Format::Patch, format!("*** Begin Patch\n*** Update File: a.py\n{}*** End Patch\n", lines("@@ class\n+x\n", 1_900))),
        (Format::Patch, format!("*** Begin Patch\n*** Update File: a.py\n{}*** End Patch\n", "@@ def f(self):\n".repeat(50_000))),
        (Format::Patch, format!("*** Begin Patch\n{}", lines("*** Add File: d#/e\n+x\n", 1_900))),
    ];
    for (nth, (format, reply)) in replies.iter().enumerate() {
        let start = Instant::now();
        let parsed = parse(*format, reply);
        let proposal = planned(&parsed, &[("a.py", &file)]);
        let message = explain(&parsed, &proposal.failed);
        assert!(message.is_empty() == (proposal.failed.is_empty() && parsed.problems.is_empty()));
        let taken = start.elapsed();
        assert!(taken < Duration::from_secs(5), "reply {nth} took {taken:?}");
    }
}
