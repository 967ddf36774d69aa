//! Hunks that leave out lines of the file: what was cut out of a file is found there or nowhere.

use std::time::{Duration, Instant};

use paird_base::{Content, RepoPath};
use paird_edit::{CloseMatch, Format, Proposal, Rung, Scope, Seen, Snapshot, parse, propose};
use proptest::prelude::*;

fn planned(hunk: &str, file: &str, close_match: CloseMatch) -> Proposal {
    let path = RepoPath::parse("a.txt").unwrap();
    let snapshot: Snapshot = [(path.clone(), Seen::File(Content::new(file.as_bytes(), 0o644)))].into_iter().collect();
    let reply = format!("```diff\n--- a.txt\n+++ a.txt\n@@ ... @@\n{hunk}```\n");
    propose(&parse(Format::Udiff, &reply), &snapshot, &Scope { chat_files: [path].into(), close_match, ..Scope::default() })
}

fn text(lines: impl IntoIterator<Item = String>) -> String {
    lines.into_iter().map(|line| line + "\n").collect()
}

/// A line that no other resembles.
fn unlike(nth: usize) -> String {
    format!("{:x} {nth}", (nth as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Of lines that are alike or not, a hunk states some and changes some of those. Whatever it leaves out stays, and what
    /// it changes is changed there: everything else is a failure.
    #[test]
    fn lines_left_out_stay(
        file in prop::collection::vec("[a-d]{1,2}", 6..30),
        signs in prop::collection::vec(prop::sample::select(vec![' ', ' ', ' ', ' ', '-', '.']), 30),
    ) {
        let (mut hunk, mut after) = (String::new(), Vec::new());
        let mut changes = false;
        for (nth, (line, sign)) in file.iter().zip(&signs).enumerate() {
            match sign {
                '.' => after.push(line.clone()),
                ' ' => {
                    hunk += &format!(" {line}\n");
                    after.push(line.clone());
                }
                _ => {
                    changes = true;
                    hunk += &format!("-{line}\n+CHANGED {nth}\n");
                    after.push(format!("CHANGED {nth}"));
                }
            }
        }
        prop_assume!(changes);
        let proposal = planned(&hunk, &text(file), CloseMatch::Apply);
        // In so few letters a hunk may stand together in another place, which is then what it says.
        for edit in proposal.edits.iter().filter(|edit| edit.hunks[0].rung == Rung::Close) {
            let got = edit.after.as_ref().unwrap().bytes.to_vec();
            prop_assert_eq!(String::from_utf8(got).unwrap(), text(after.clone()));
        }
    }

    /// The same of lines that are all different: the place is certain.
    #[test]
    fn lines_left_out_between_kept_ones_are_found(len in 12usize..60, cuts in prop::collection::btree_set(1usize..20, 0..4)) {
        let file: Vec<String> = (0..len).map(unlike).collect();
        // Of six lines the first is changed and the fourth may be left out.
        let (mut hunk, mut after) = (String::new(), Vec::new());
        for (nth, line) in file.iter().enumerate() {
            let is_cut = nth % 6 == 3 && (nth == 3 || cuts.contains(&(nth / 6))) && nth + 2 < len;
            if is_cut {
                after.push(line.clone());
            } else if nth % 6 == 0 {
                hunk += &format!("-{line}\n+changed\n");
                after.push("changed".to_owned());
            } else {
                hunk += &format!(" {line}\n");
                after.push(line.clone());
            }
        }
        let proposal = planned(&hunk, &text(file.clone()), CloseMatch::Apply);
        prop_assert!(proposal.failed.is_empty(), "{:?}", proposal.failed);
        let edit = &proposal.edits[0];
        prop_assert_eq!(edit.hunks[0].rung, Rung::Close);
        prop_assert_eq!(String::from_utf8(edit.after.as_ref().unwrap().bytes.to_vec()).unwrap(), text(after));
    }
}

/// It is a close match: held where those are, and none where they are off.
#[test]
fn what_is_left_out_is_a_close_match() {
    let file = "def f():\n    one()\n    two()\n    three()\n    four()\n";
    let hunk = " def f():\n-    one()\n+    1()\n     three()\n     four()\n";
    let applied = planned(hunk, file, CloseMatch::Apply);
    assert_eq!((applied.edits[0].hunks[0].rung, applied.edits[0].held), (Rung::Close, false));
    assert!(planned(hunk, file, CloseMatch::Hold).edits[0].held);
    assert!(planned(hunk, file, CloseMatch::Off).edits.is_empty());
}

/// A large hunk with many cuts, and one that repeats itself, are told at once.
#[test]
fn large_hunks_that_leave_out_lines() {
    let lines: Vec<String> = (0..30_000).map(unlike).collect();
    let hunk = |every: usize| -> String {
        let stated = lines.iter().enumerate().filter(|(nth, _)| nth % every != every - 1);
        stated.map(|(nth, line)| if nth == 3 { format!("-{line}\n+changed\n") } else { format!(" {line}\n") }).collect()
    };
    let start = Instant::now();
    assert_eq!(planned(&hunk(10_000), &text(lines.clone()), CloseMatch::Apply).edits.len(), 1);
    let many = planned(&hunk(10), &text(lines.clone()), CloseMatch::Apply);
    assert_eq!((many.edits.len(), many.failed.len()), (0, 1), "{:?}", many.edits.first().map(|edit| &edit.hunks));
    let repeated = "a\n".repeat(100_000) + "b\n" + &"a\n".repeat(100_000);
    let hunk = " a\n".repeat(90_000) + " b\n-c\n+d\n" + &" a\n".repeat(90_000);
    let proposal = planned(&hunk, &(repeated + "c\n"), CloseMatch::Apply);
    assert_eq!((proposal.failed.len(), proposal.edits.len()), (1, 0), "{:?}", proposal.problems);
    let taken = start.elapsed();
    assert!(taken < Duration::from_secs(10), "took {taken:?}");
}
