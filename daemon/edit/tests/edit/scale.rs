//! Large replies and files. The times are far above what is needed and far below what a quadratic search takes.

use std::fmt::Write;
use std::time::{Duration, Instant};

use paird_base::{Content, RepoPath};
use paird_edit::{Format, Parsed, Proposal, Scope, Seen, Snapshot, locate, parse, propose};

const LIMIT: Duration = Duration::from_secs(10);

fn planned(reply: &str, file: &str) -> (Parsed, Proposal) {
    let path = RepoPath::parse("a.txt").unwrap();
    let snapshot: Snapshot = [(path.clone(), Seen::File(Content::new(file.as_bytes(), 0o644)))].into_iter().collect();
    let start = Instant::now();
    let parsed = parse(Format::Diff, reply);
    let proposal = propose(&parsed, &snapshot, &Scope { chat_files: [path].into(), ..Scope::default() });
    let taken = start.elapsed();
    assert!(taken < LIMIT, "took {taken:?}");
    (parsed, proposal)
}

fn block(search: &str, replace: &str) -> String {
    format!("a.txt\n<<<<<<< SEARCH\n{search}=======\n{replace}>>>>>>> REPLACE\n")
}

#[test]
fn many_blocks_in_a_large_file() {
    let file: String = (0..40_000).fold(String::new(), |mut text, nth| {
        writeln!(text, "line number {nth} of them").unwrap();
        text
    });
    let reply: String = (0..1900)
        .map(|nth| {
            let at = nth * 20 + 3;
            let context: String = (at..at + 10).map(|line| format!("line number {line} of them\n")).collect();
            block(&context, &context.replacen("line", "Line", 1).replacen("them\n", "them\nand one more\n", 2))
        })
        .collect();
    let (parsed, proposal) = planned(&reply, &file);
    assert_eq!((parsed.blocks.len(), proposal.failed.len()), (1900, 0), "{:?}", proposal.failed.first());
}

#[test]
fn one_large_block_in_a_file_that_repeats_itself() {
    let lines = "a\n".repeat(250_000);
    for (search, matches) in [(format!("{lines}b\n"), true), (format!("{}b\nb\n", lines), false), ("a\n".repeat(400_000), true)] {
        let file = format!("{lines}b\n{lines}");
        let (_, proposal) = planned(&block(&search, "c\n"), &file);
        assert_eq!(proposal.failed.is_empty(), matches && search.ends_with("b\n"));
    }
}

#[test]
fn one_large_block_that_changes_every_line() {
    let line = |word: &str| (0..30_000).fold(String::new(), |text, nth| text + word + &nth.to_string() + "\n");
    let (_, proposal) = planned(&block(&line("old "), &line("new ")), &line("old "));
    assert_eq!(proposal.edits[0].after.as_ref().unwrap().bytes[..], *line("new ").as_bytes());
}

#[test]
fn many_failing_blocks_in_a_large_file() {
    let file = "    indented()\n  less()\n".repeat(25_000);
    let reply: String = (0..1900).map(|nth| block(&format!("indented()\nless()\nmissing {nth}\n"), "x\n")).collect();
    let (_, proposal) = planned(&reply, &file);
    assert_eq!(proposal.failed.len(), 1900);
}

#[test]
fn many_places_with_uneven_indentation() {
    let file = "    indented()\n  less()\n".repeat(25_000);
    let search = "indented()\nless()\n".repeat(5_000);
    let (_, proposal) = planned(&block(&search, "x\n"), &file);
    assert_eq!(proposal.failed.len(), 1);
}

#[test]
fn many_dividers_and_fences() {
    let (parsed, _) = planned(&block("a\n", &"=======\n".repeat(100_000)), "a\n");
    assert_eq!((parsed.blocks.len(), parsed.problems.len()), (0, 1));
    planned(&"```\n```bash\n<<<<<<< SEARCH\n".repeat(50_000), "a\n");
    planned(&"=".repeat(2_000_000), "a\n");
}

#[test]
fn the_closest_lines_of_a_long_file_are_found_at_once() {
    let file: String = (0..5_000).map(|nth| format!("    let value_{nth} = compute_the_thing({nth}, other_{});\n", nth % 7)).collect();
    let search: String = (2_000..2_040).map(|nth| format!("    let value_{nth} = compute_a_thing({nth}, other_{});\n", nth % 7)).collect();
    let parsed = parse(Format::Diff, &block(&search, "x\n"));
    let start = Instant::now();
    let message = locate(&parsed.blocks[0], file.as_bytes()).unwrap_err();
    assert!(message.contains("not in"), "{message}");
    let (_, proposal) = planned(&block(&search, "x\n"), &file);
    assert_eq!(proposal.failed[0].closest.as_ref().unwrap().start_line, 1998);
    assert!(start.elapsed() < Duration::from_millis(500), "took {:?}", start.elapsed());
}
