//! What docs/performance.md states of the edit engine. `cargo bench -p paird-edit` prints a line for each figure: what it is,
//! milliseconds, and their bound; with words behind `--` only those that have them. `tests/bench/run` makes rows of them.
//!
//! Each figure is the best of a few runs, so that what else the machine does counts least. Nothing is decided here.

use std::fmt::Write;
use std::hint::black_box;
use std::time::{Duration, Instant};

use paird_base::{Content, RepoPath};
use paird_edit::{Format, Proposal, Scope, Seen, Snapshot, explain, parse, propose};

const RUNS: usize = 7;
const MEGABYTE: usize = 1_000_000;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let row = |what: &str, case: fn() -> Case, bound: f64| {
        if words.iter().all(|word| what.contains(word)) {
            println!("{what}\t{:.2}\t{bound}", best_of(&case()));
        }
    };
    row("100 exact blocks over 50 files of 400 lines: read, placed and planned", many_files, 2.8);
    row("a block that fails in a file of 5,000 lines, explained", failing, 10.0);
    row("1 MB of reply for 1 MB of file: one exact block", one_block, 300.0);
    row("1 MB of reply for 1 MB of file: blocks of 4,000 lines, none quite right", one_failing_block, 300.0);
    row("1 MB of reply for 1 MB of file: 2,000 blocks that fail", many_failing, 300.0);
    row("1 MB of reply for 1 MB of file: one line again and again", repeated, 300.0);
    row("1 MB of reply for 1 MB of file: every line changed", every_line, 300.0);
    row("1 MB of reply for 1 MB of file: a close match", close, 300.0);
    row("1 MB of reply for 1 MB of file: 2,000 blocks of lines that the file repeats", repeating_blocks, 300.0);
}

fn best_of(case: &Case) -> f64 {
    (0..RUNS).map(|_| case.run()).min().unwrap_or_default().as_secs_f64() * 1000.0
}

/// A reply and the files it is for.
struct Case {
    files: Vec<(String, String)>,
    reply: String,
    applied: usize,
}

impl Case {
    fn run(&self) -> Duration {
        let path = |name: &String| RepoPath::parse(name).expect("the names above are paths");
        let snapshot: Snapshot =
            self.files.iter().map(|(name, text)| (path(name), Seen::File(Content::new(text.as_bytes(), 0o644)))).collect();
        let scope = Scope { chat_files: self.files.iter().map(|(name, _)| path(name)).collect(), ..Scope::default() };
        let start = Instant::now();
        let parsed = parse(Format::Diff, &self.reply);
        let proposal = propose(&parsed, &snapshot, &scope);
        black_box(proposal.plan().is_ok());
        black_box(explain(&parsed, &proposal.failed));
        let taken = start.elapsed();
        assert_eq!(hunks(&proposal), self.applied, "{:?}", proposal.failed.first());
        taken
    }
}

fn hunks(proposal: &Proposal) -> usize {
    proposal.edits.iter().map(|edit| edit.hunks.len()).sum()
}

fn block(path: &str, search: &str, replace: &str) -> String {
    format!("{path}\n```\n<<<<<<< SEARCH\n{search}=======\n{replace}>>>>>>> REPLACE\n```\n\n")
}

fn lines(count: usize, line: impl Fn(usize) -> String) -> String {
    (0..count).fold(String::new(), |mut text, nth| {
        writeln!(text, "{}", line(nth)).expect("strings take all that is written");
        text
    })
}

/// Lines of code, most of them unlike.
fn code(nth: usize) -> String {
    match nth % 10 {
        0 => format!("fn function_{nth}(argument: usize) -> usize {{"),
        9 => "}".to_owned(),
        8 => "    total".to_owned(),
        _ => format!("    let value_{nth} = compute(argument, {nth});"),
    }
}

fn part(text: &str, from: usize, count: usize) -> String {
    text.split_inclusive('\n').skip(from).take(count).collect()
}

fn many_files() -> Case {
    let files: Vec<(String, String)> =
        (0..50).map(|file| (format!("src/part_{file}.rs"), lines(400, |nth| code(file * 400 + nth)))).collect();
    let blocks = files.iter().flat_map(|(path, text)| {
        [120, 310].map(|at| {
            let search = part(text, at, 10);
            block(path, &search, &search.replacen("compute", "compute_anew", 3))
        })
    });
    Case { reply: blocks.collect(), files, applied: 100 }
}

fn failing() -> Case {
    let file = lines(5_000, |nth| format!("    let value_{nth} = compute_the_thing({nth}, other_{});", nth % 7));
    let search = part(&file, 2_000, 40).replace("compute_the", "compute_a");
    Case { reply: block("a.rs", &search, "x\n"), files: vec![("a.rs".to_owned(), file)], applied: 0 }
}

fn large() -> String {
    lines(MEGABYTE / 36, code)
}

fn one_block() -> Case {
    let file = large();
    let reply = block("a.rs", &part(&file, 0, 12_000), &part(&file, 1, 11_000));
    Case { reply, files: vec![("a.rs".to_owned(), file)], applied: 1 }
}

fn one_failing_block() -> Case {
    let file = large();
    let reply = (0..6).map(|nth| {
        let search = part(&file, nth * 4_000, 4_000).replace("value_", "valve_");
        block("a.rs", &search, "x\n")
    });
    Case { reply: reply.collect(), files: vec![("a.rs".to_owned(), file)], applied: 0 }
}

fn many_failing() -> Case {
    let file = large();
    let reply = (0..2_000).map(|nth| block("a.rs", &format!("{}missing {nth}\n", part(&file, nth * 10, 10)), "x\n"));
    Case { reply: reply.collect(), files: vec![("a.rs".to_owned(), file)], applied: 0 }
}

fn repeated() -> Case {
    let file = "    }\n".repeat(MEGABYTE / 6);
    let search = format!("{}x\n", "    }\n".repeat(MEGABYTE / 6 - 10));
    Case { reply: block("a.rs", &search, "y\n"), files: vec![("a.rs".to_owned(), file)], applied: 0 }
}

fn every_line() -> Case {
    let file = lines(MEGABYTE / 20, |nth| format!("old line {nth} here"));
    let reply = block("a.rs", &part(&file, 0, 25_000), &part(&file, 0, 25_000).replace("old", "new"));
    Case { reply, files: vec![("a.rs".to_owned(), file)], applied: 1 }
}

fn close() -> Case {
    let file = large();
    let search = part(&file, 5_000, 12_000);
    let differs = search.replacen("value_5003 ", "valve_5003 ", 1);
    let reply = block("a.rs", &differs, &differs.replacen("value_9005 ", "worth_9005 ", 1));
    Case { reply, files: vec![("a.rs".to_owned(), file)], applied: 1 }
}

fn repeating_blocks() -> Case {
    let file = "{\n}\n".repeat(MEGABYTE / 4);
    let reply = (0..2_000).map(|nth| block("a.rs", &format!("{}}}\n}}\n", "{\n".repeat(1 + nth % 200)), "x\n"));
    Case { reply: reply.collect(), files: vec![("a.rs".to_owned(), file)], applied: 0 }
}
