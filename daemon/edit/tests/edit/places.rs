//! What must hold for every place that a block is given, whatever the rung: files that repeat themselves, searched by texts
//! that are nearly theirs.

use std::collections::BTreeMap;

use paird_base::{Content, RepoPath};
use paird_edit::{Block, CloseMatch, FileChange, Hunk, Parsed, Plan, Proposal, Rung, Scope, Seen, Snapshot, propose};
use proptest::prelude::*;

fn planned(blocks: Vec<Block>, file: &[u8], close_match: CloseMatch) -> Proposal {
    let path = RepoPath::parse("a.rs").unwrap();
    let snapshot: Snapshot = [(path.clone(), Seen::File(Content::new(file, 0o644)))].into_iter().collect();
    propose(&Parsed { blocks, ..Parsed::default() }, &snapshot, &Scope { chat_files: [path].into(), close_match, ..Scope::default() })
}

fn block(search: &[String], replace: &[String]) -> Block {
    let text = |lines: &[String]| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
    Block::new(0, Some("a.rs".to_owned()), text(search), text(replace), 1)
}

/// The hunk and the file after it, if the block has a place.
fn placed(proposal: &Proposal) -> Option<(&Hunk, &[u8])> {
    let edit = proposal.edits.first()?;
    Some((&edit.hunks[0], &edit.after.as_ref()?.bytes))
}

/// A line of a file, and what a reply may make of it.
fn line() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "a();",
        "  a();",
        "b();",
        "    b();",
        "",
        "{",
        "}",
        "return x;",
        "let y = z;",
        "// end",
        "é = 1",
        "c = 1",
        "d = 2",
        "e = 3",
        "f = 4",
    ])
    .prop_map(str::to_owned)
}

/// Ways to get a line of SEARCH wrong.
#[derive(Debug, Clone)]
enum Slip {
    BlanksAtEnd,
    Blank(usize),
    Dropped(usize),
    Misspelt(usize),
    Indented,
    BlankEdges,
    LeftOut(usize, usize),
}

fn slip() -> impl Strategy<Value = Slip> {
    prop_oneof![
        Just(Slip::BlanksAtEnd),
        (0usize..20).prop_map(Slip::Blank),
        (0usize..20).prop_map(Slip::Dropped),
        (0usize..20).prop_map(Slip::Misspelt),
        Just(Slip::Indented),
        Just(Slip::BlankEdges),
        (1usize..20, 1usize..8).prop_map(|(at, len)| Slip::LeftOut(at, len)),
    ]
}

/// Both sides with the same slip: lines that the block keeps are kept as they are wrong.
fn slipped(lines: &mut Vec<String>, slip: &Slip) {
    match slip {
        Slip::BlanksAtEnd => lines.iter_mut().for_each(|line| line.push_str("  ")),
        Slip::Blank(at) => lines.insert(*at % (lines.len() + 1), String::new()),
        Slip::Dropped(at) if lines.len() > 1 => drop(lines.remove(at % lines.len())),
        Slip::Misspelt(at) if !lines.is_empty() => {
            let at = at % lines.len();
            lines[at].push('?');
        }
        Slip::LeftOut(at, len) if lines.len() > 2 => {
            let at = 1 + at % (lines.len() - 2);
            lines.splice(at..(at + len).min(lines.len() - 1), ["...".to_owned()]);
        }
        Slip::Dropped(_) | Slip::Misspelt(_) | Slip::LeftOut(..) => {}
        Slip::Indented => lines.iter_mut().filter(|line| !line.is_empty()).for_each(|line| line.insert_str(0, "  ")),
        Slip::BlankEdges => {
            lines.insert(0, String::new());
            lines.push(String::new());
        }
    }
}

fn ended(lines: &[String], ends: &[&str]) -> Vec<u8> {
    lines.iter().zip(ends.iter().cycle()).flat_map(|(line, end)| [line.as_bytes(), end.as_bytes()].concat()).collect()
}

/// Lines that are not blank, without their blanks, counted.
fn counts<'l>(lines: impl Iterator<Item = &'l [u8]>) -> BTreeMap<Vec<u8>, i64> {
    let mut counts = BTreeMap::new();
    for line in lines.map(|line| line.trim_ascii()).filter(|line| !line.is_empty()) {
        *counts.entry(line.to_vec()).or_insert(0) += 1;
    }
    counts
}

/// How often each line is there more than before.
fn gained(before: &[u8], after: &[u8]) -> BTreeMap<Vec<u8>, i64> {
    let lines = |text: &[u8]| counts(text.split(|byte| *byte == b'\n'));
    let mut gained = lines(after);
    for (line, count) in lines(before) {
        *gained.entry(line).or_insert(0) -= count;
    }
    gained.retain(|_, count| *count != 0);
    gained
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 2048, ..ProptestConfig::default() })]

    /// The file gains and loses the lines that REPLACE has more and less than SEARCH, and no others; lines outside the place
    /// keep their bytes.
    #[test]
    fn a_file_changes_by_what_the_block_says(
        file in prop::collection::vec(line(), 1..30),
        ends in prop::sample::select(vec![vec!["\n"], vec!["\r\n"], vec!["\n", "\r\n", "\n"]]),
        (at, len) in (0usize..30, 1usize..16),
        slips in prop::collection::vec(slip(), 0..3),
        (from, to, with) in (0usize..16, 0usize..16, prop::collection::vec(line(), 0..3)),
    ) {
        let bytes = ended(&file, &ends);
        let at = at % file.len();
        let mut search = file[at..(at + len).min(file.len())].to_vec();
        slips.iter().for_each(|slip| slipped(&mut search, slip));
        let (from, to) = (from % (search.len() + 1), to % (search.len() + 1));
        let mut replace = search.clone();
        replace.splice(from.min(to)..from.max(to), with);
        let block = block(&search, &replace);
        let proposal = planned(vec![block.clone()], &bytes, CloseMatch::Apply);
        let Some((hunk, after)) = placed(&proposal) else {
            prop_assert_eq!(proposal.failed.len(), 1);
            return Ok(());
        };
        if matches!(hunk.rung, Rung::Already | Rung::Create) {
            prop_assume!(hunk.rung == Rung::Already);
            prop_assert_eq!(after, &bytes[..]);
            return Ok(());
        }
        prop_assert_eq!(gained(&bytes, after), gained(block.search.as_bytes(), block.replace.as_bytes()), "{:?}", hunk);
        let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
        prop_assert!(after.starts_with(&lines[..hunk.start_line - 1].concat()));
        prop_assert!(after.ends_with(&lines[hunk.end_line..].concat()));
        if hunk.rung != Rung::Exact {
            let strict = planned(vec![block], &bytes, CloseMatch::Off);
            prop_assert_eq!(strict.edits.is_empty(), hunk.rung == Rung::Close);
        }
    }

    /// Copies of one piece of code that differ in a few lines; SEARCH is one of them with slips. No other one is changed,
    /// unless the slips have made SEARCH more like that one.
    #[test]
    fn of_near_copies_none_but_the_one_that_is_meant_is_changed(
        len in 5usize..16,
        // Few lines are changed, so that often the same one is in a copy, in SEARCH and in REPLACE.
        copies in prop::collection::vec(prop::collection::vec((0usize..6, 0usize..2), 0..3), 2..4),
        meant in 0usize..4,
        slips in prop::collection::vec((0usize..6, prop_oneof![1 => Just(None), 3 => (0usize..4).prop_map(Some)]), 0..3),
        change in 0usize..6,
        close_match in prop::sample::select(vec![CloseMatch::Apply, CloseMatch::Off]),
    ) {
        let made: Vec<Vec<String>> = copies
            .iter()
            .map(|changed| {
                let mut lines: Vec<String> = (0..len).map(|nth| format!("step_{nth}();")).collect();
                changed.iter().for_each(|(at, what)| lines[at % len] = format!("other_{}_{what}();", at % len));
                lines
            })
            .collect();
        let meant = meant % made.len();
        let mut search = made[meant].clone();
        for (at, from) in &slips {
            let at = at % len;
            search[at] = match from {
                Some(copy) => made[copy % made.len()][at].clone(),
                None => format!("{} // slip", search[at]),
            };
        }
        let mut replace = search.clone();
        replace[change % len] = "changed();".to_owned();
        let file = ended(&made.concat(), &["\n"]);
        let proposal = planned(vec![block(&search, &replace)], &file, close_match);
        let Some((hunk, _)) = placed(&proposal) else { return Ok(()) };
        let copy = (hunk.start_line - 1) / len;
        prop_assert_eq!((hunk.start_line - 1) % len, 0);
        let unlike = |copy: usize| made[copy].iter().zip(&search).filter(|(line, wanted)| line != wanted).count();
        prop_assert!(copy == meant || unlike(copy) < unlike(meant), "{:?} is copy {}, not {}", hunk, copy, meant);
        prop_assert!(hunk.rung != Rung::Close || close_match == CloseMatch::Apply);
    }

    /// A block and then the block with its sides exchanged give back the file.
    #[test]
    fn a_block_turned_round_takes_it_back(
        file in prop::collection::vec("[a-z]{1,2}", 1..20),
        (at, len) in (0usize..20, 1usize..8),
        with in prop::collection::vec("[A-Z]{6}", 1..6),
        end in prop::sample::select(vec!["\n", "\r\n", "\r"]),
        unended in any::<bool>(),
    ) {
        let mut bytes = ended(&file, &[end]);
        if unended {
            bytes.truncate(bytes.len() - end.len());
        }
        let at = at % file.len();
        let old = file[at..(at + len).min(file.len())].to_vec();
        let proposal = planned(vec![block(&old, &with)], &bytes, CloseMatch::Apply);
        let Some((hunk, after)) = placed(&proposal) else {
            prop_assert!(proposal.failed[0].message.contains("times"), "{}", proposal.failed[0].message);
            return Ok(());
        };
        prop_assert_eq!((hunk.start_line, hunk.end_line), (at + 1, at + old.len()));
        // One line without an end says nothing of how others would end.
        prop_assume!(!unended || after.windows(end.len()).any(|bytes| bytes == end.as_bytes()));
        let back = planned(vec![block(&with, &old)], after, CloseMatch::Apply);
        // A last line without an end has got one if a block has stated it.
        let stated = unended && at + old.len() == file.len();
        let expected = if stated { ended(&file, &[end]) } else { bytes.clone() };
        prop_assert_eq!(placed(&back).map(|(_, bytes)| bytes), Some(&expected[..]));
        let change = |edit: &paird_edit::Edit| FileChange { path: edit.path.clone(), before: edit.before.clone(), after: edit.after.clone() };
        let plan = Plan::new(proposal.edits.iter().map(change)).unwrap();
        let undone = plan.reversed();
        prop_assert_eq!(&undone.changes()[0].after.as_ref().unwrap().bytes[..], &bytes[..]);
    }
}
