//! What must hold for any reply and any file.

use paird_base::{Content, RepoPath};
use paird_edit::{Block, Format, Parsed, Parser, Rung, Scope, Seen, Snapshot, explain, locate, parse, propose};
use proptest::prelude::*;

/// Lines that mean something to the parser, among some that do not.
fn reply_line() -> impl Strategy<Value = String> {
    let marks = prop::sample::select(vec![
        "<<<<<<< SEARCH",
        "=======",
        ">>>>>>> REPLACE",
        "------- SEARCH",
        "+++++++ REPLACE",
        "<<<<<<< ours",
        "```",
        "````",
        "```bash",
        "```python",
        "~~~",
        "a.py",
        "**`b.py`**:",
        "Change this:",
        "<think>",
        "</think>",
        "",
        "  ",
        "x",
        "    y",
        "...",
        "// ... existing code ...",
        "é",
        "x\r",
    ]);
    prop_oneof![8 => marks.prop_map(str::to_owned), 1 => any::<String>()]
}

fn reply() -> impl Strategy<Value = String> {
    prop::collection::vec(reply_line(), 0..60).prop_map(|lines| lines.join("\n"))
}

/// Files of few different lines, so that they repeat themselves; with all kinds of line ends.
fn file() -> impl Strategy<Value = Vec<u8>> {
    let line = prop::sample::select(vec!["x", "    x", "y", "y  ", "", "  ", "fn z() {", "}", "\u{e9}"]);
    let end = prop::sample::select(vec!["\n", "\n", "\n", "\r\n"]);
    (prop::collection::vec((line, end), 0..40), any::<bool>()).prop_map(|(lines, ended)| {
        let mut bytes: Vec<u8> = lines.iter().flat_map(|(line, end)| [line.as_bytes(), end.as_bytes()].concat()).collect();
        if !ended && bytes.ends_with(b"\n") {
            bytes.pop();
        }
        bytes
    })
}

fn path() -> RepoPath {
    RepoPath::parse("a.py").unwrap()
}

fn planned(parsed: &Parsed, file: &[u8]) -> paird_edit::Proposal {
    let snapshot: Snapshot = [(path(), Seen::File(Content::new(file, 0o644)))].into_iter().collect();
    propose(parsed, &snapshot, &Scope { chat_files: [path()].into(), ..Scope::default() })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn pieces_equal_the_whole(text in reply(), cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..20)) {
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(text.len() + 1)).filter(|cut| text.is_char_boundary(*cut)).collect();
        cuts.sort_unstable();
        let mut parser = Parser::new(Format::Diff);
        let mut start = 0;
        for cut in cuts {
            parser.push(&text[start..cut]);
            start = cut;
        }
        parser.push(&text[start..]);
        prop_assert_eq!(parser.finish(), parse(Format::Diff, &text));
    }

    #[test]
    fn any_text_is_planned_and_explained(text in reply(), file in file()) {
        let parsed = parse(Format::Diff, &text);
        let proposal = planned(&parsed, &file);
        let hunks: usize = proposal.edits.iter().map(|edit| edit.hunks.len()).sum();
        prop_assert_eq!(hunks + proposal.failed.len(), parsed.blocks.len());
        let message = explain(&parsed, &proposal.failed);
        prop_assert_eq!(message.is_empty(), proposal.failed.is_empty() && parsed.problems.is_empty());
    }

    #[test]
    fn no_marker_line_is_written(text in reply(), file in file()) {
        let proposal = planned(&parse(Format::Diff, &text), &file);
        for edit in &proposal.edits {
            let after = String::from_utf8_lossy(&edit.after.as_ref().unwrap().bytes).into_owned();
            let outer = |line: &str| ["<<<<<<< SEARCH", ">>>>>>> REPLACE", "+++++++ REPLACE"].contains(&line.trim());
            prop_assert!(!after.lines().any(outer));
        }
    }

    #[test]
    fn untouched_lines_keep_their_bytes(file in file(), at in any::<prop::sample::Index>(), len in 1usize..6, with in prop::collection::vec("[a-z]{0,3}", 0..4)) {
        // A file without `\n` ends lines with `\r`, which is not how this one was made.
        prop_assume!(file.contains(&b'\n') || !file.contains(&b'\r'));
        let lines: Vec<&[u8]> = file.split_inclusive(|b| *b == b'\n').collect();
        prop_assume!(!lines.is_empty());
        let at = at.index(lines.len());
        let end = (at + len).min(lines.len());
        let search = String::from_utf8(lines[at..end].concat()).unwrap();
        let search = if search.ends_with('\n') { search } else { format!("{search}\n") };
        prop_assume!(!search.trim().is_empty());
        let replace: String = with.iter().map(|line| format!("{line}\n")).collect();
        let block = Block::new(0, Some("a.py".to_owned()), search.clone(), replace.clone(), 1);
        let parsed = Parsed { blocks: vec![block.clone()], ..Parsed::default() };
        let proposal = planned(&parsed, &file);
        match locate(&block, &file) {
            // What was cut out of a file is found there, in the place it was cut from unless it stands elsewhere too.
            Ok(hunk) if hunk.rung == Rung::Exact => {
                prop_assert_eq!((hunk.start_line, hunk.end_line), (at + 1, end));
                let after = proposal.edits[0].after.as_ref().unwrap().bytes.to_vec();
                let (before, behind) = (lines[..at].concat(), lines[end..].concat());
                prop_assert!(after.starts_with(&before));
                prop_assert!(after.ends_with(&behind));
                let middle = &after[before.len()..after.len() - behind.len()];
                let middle = String::from_utf8_lossy(middle).replace('\r', "");
                prop_assert_eq!(middle.trim_end_matches('\n'), replace.trim_end_matches('\n'));
            }
            Ok(hunk) => prop_assert_eq!((hunk.rung, search.replace('\r', "")), (Rung::Already, replace)),
            Err(why) => {
                prop_assert!(why.contains("times"), "{}", why);
                prop_assert!(proposal.edits.is_empty());
            }
        }
    }

    #[test]
    fn indented_text_is_found_and_shifted(names in prop::collection::btree_set("[a-z]{4,8}", 2..8), depth in 1usize..4) {
        let body: String = names.iter().enumerate().map(|(nth, name)| format!("{}{name}()\n", "  ".repeat(nth % 3))).collect();
        let inside: String = body.lines().map(|line| format!("{}{line}\n", "    ".repeat(depth))).collect();
        let file = format!("def f():\n{inside}end\n");
        let replace = body.replace("()", "(1)");
        let block = Block::new(0, Some("a.py".to_owned()), body, replace, 1);
        let proposal = planned(&Parsed { blocks: vec![block], ..Parsed::default() }, file.as_bytes());
        prop_assert_eq!(proposal.edits[0].hunks[0].rung, Rung::Indent);
        let expected = format!("def f():\n{}end\n", inside.replace("()", "(1)"));
        prop_assert_eq!(&*proposal.edits[0].after.as_ref().unwrap().bytes, expected.as_bytes());
    }
}
