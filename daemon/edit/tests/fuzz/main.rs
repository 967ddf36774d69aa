//! Replies and files changed at random: every parser, the matcher, the planner and the message to the model.
//!
//! Runs each target for `PAIRD_FUZZ_SECONDS` (one without it), from the seed `PAIRD_FUZZ_SEED` (one without it), and says
//! how many replies it tried. A target's name as an argument runs it alone. What fails is written out to be tried again.

#![allow(clippy::unwrap_used)]

mod mutate;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use mutate::{Random, seeds};
use paird_base::{Content, RepoPath};
use paird_edit::{Block, Format, Hunk, Parsed, Parser, Scope, Seen, Snapshot, explain, locate, parse, propose, wanted_paths};

/// Time of the processor within which any input is done, its reply read twice.
const TIME_MAX: Duration = Duration::from_secs(2);
/// One input in so many is repeated until it is [`LARGE_BYTES`] long: what is quadratic shows there.
const LARGE_ONE_IN: usize = 400;
const LARGE_BYTES: usize = 300_000;

fn main() -> ExitCode {
    let number = |name: &str| std::env::var(name).ok().map_or(1, |value| value.parse().unwrap());
    let (time, seed) = (Duration::from_secs(number("PAIRD_FUZZ_SECONDS")), number("PAIRD_FUZZ_SEED"));
    let wanted: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let mut targets: Vec<(String, Option<Format>)> = Format::ALL.iter().map(|format| (format.to_string(), Some(*format))).collect();
    targets.retain(|(name, _)| !name.contains("editor-") && name != "diff-fenced");
    targets.push(("matcher".to_owned(), None));
    for (name, format) in targets.into_iter().filter(|(name, _)| wanted.is_empty() || wanted.contains(name)) {
        let Some(executions) = run(&name, format, time, seed) else {
            return ExitCode::FAILURE;
        };
        println!("{name}: {executions} executions");
    }
    ExitCode::SUCCESS
}

/// How many inputs were tried; `None` after a failure.
fn run(name: &str, format: Option<Format>, time: Duration, seed: u64) -> Option<usize> {
    let mut random = Random::new(seed);
    let seeds = seeds();
    let start = Instant::now();
    let mut executions = 0;
    while start.elapsed() < time {
        executions += 1;
        let mut reply = random.mutated(&seeds);
        let mut file = random.mutated(&seeds);
        if random.below(LARGE_ONE_IN) == 0 {
            reply = reply.repeat(LARGE_BYTES / reply.len().max(1) + 1);
            file = file.repeat(LARGE_BYTES / file.len().max(1) + 1);
        }
        let began = processor_time();
        let tried = catch_unwind(AssertUnwindSafe(|| match format {
            Some(format) => try_reply(format, &reply, &file, &mut random),
            None => try_block(&reply, &file, &mut random),
        }));
        let taken = processor_time().saturating_sub(began);
        if tried.is_err() || taken > TIME_MAX {
            let dir = std::env::temp_dir().join(format!("paird-fuzz-{name}-{}", std::process::id()));
            std::fs::create_dir_all(&dir).unwrap();
            std::fs::write(dir.join("reply"), &reply).unwrap();
            std::fs::write(dir.join("file"), &file).unwrap();
            eprintln!("{name}: execution {executions} from seed {seed} took {taken:?}; reply and file are in {}", dir.display());
            return None;
        }
    }
    Some(executions)
}

/// What this thread has had of the processor, which other processes do not change.
fn processor_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// A reply is read, in pieces as in one, and its blocks are planned, taken back and explained.
fn try_reply(format: Format, reply: &str, file: &str, random: &mut Random) {
    let parsed = parse(format, reply);
    let mut parser = Parser::new(format);
    let mut rest = reply;
    while !rest.is_empty() {
        let cut = (0..=random.below(rest.len()) + 1).rev().find(|at| rest.is_char_boundary(*at)).unwrap_or(0).max(1);
        let cut = (cut..=rest.len()).find(|at| rest.is_char_boundary(*at)).unwrap();
        parser.push(&rest[..cut]);
        parser.take_new();
        rest = &rest[cut..];
    }
    assert_eq!(parser.finish(), parsed, "pieces differ from the whole");
    planned(&parsed, file);
}

/// A part of a file, changed at random, is looked for in it.
fn try_block(reply: &str, file: &str, random: &mut Random) {
    let lines: Vec<&str> = file.split_inclusive('\n').collect();
    let from = random.below(lines.len().max(1));
    let len = 1 + random.below(8);
    let part: String = lines.iter().skip(from).take(len).copied().collect();
    let search = random.changed(&part);
    let block = Block::new(0, Some("a.py".to_owned()), search, reply.get(..reply.len().min(200)).unwrap_or("x\n"), 1);
    let found = locate(&block, file.as_bytes());
    let proposal = planned(&Parsed { blocks: vec![block], ..Parsed::default() }, file);
    if let (Ok(hunk), Some(edit)) = (&found, proposal.edits.first())
        && edit.path.as_str() == "a.py"
    {
        let range = |hunk: &Hunk| (hunk.start_line, hunk.end_line);
        assert_eq!(range(&edit.hunks[0]), range(hunk), "a block alone stands where it stands");
    }
}

fn planned(parsed: &Parsed, file: &str) -> paird_edit::Proposal {
    let scope = Scope { chat_files: [RepoPath::parse("a.py").unwrap()].into(), ..Scope::default() };
    let seen = |path: RepoPath| {
        // Half of the names that a reply comes up with are files.
        let seen = if path.as_str().len().is_multiple_of(2) { Seen::File(Content::new(file.as_bytes(), 0o644)) } else { Seen::Absent };
        (path, seen)
    };
    let snapshot: Snapshot = wanted_paths(parsed, &scope).into_iter().map(seen).collect();
    let proposal = propose(parsed, &snapshot, &scope);
    let hunks: usize = proposal.edits.iter().map(|edit| edit.hunks.len()).sum();
    assert_eq!(hunks + proposal.failed.len(), parsed.blocks.len(), "a block is neither placed nor failed");
    let plan = proposal.plan().unwrap();
    assert_eq!(plan.clone().reversed().reversed(), plan);
    let said = !explain(parsed, &proposal.failed).is_empty();
    assert_eq!(said, !proposal.failed.is_empty() || !parsed.problems.is_empty());
    proposal
}
