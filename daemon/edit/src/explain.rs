//! The message that asks the model for failed blocks again.

use std::collections::{BTreeMap, BTreeSet};

use paird_base::limits::{EXPLAIN_BYTES_MAX, EXPLAIN_FILES_MAX, FAILED_BLOCK_BYTES_MAX};

use crate::block::{Block, BlockKind, Parsed};
use crate::fail::{Closest, Failed};
use crate::lines::without_cr;
use crate::sides::Sides;

/// Says which blocks of a reply failed and why, with the lines that come closest, what was not understood, and what need
/// not be sent again. About [`EXPLAIN_BYTES_MAX`] at most; empty if there is nothing to say.
#[must_use]
pub fn explain(parsed: &Parsed, failed: &[Failed]) -> String {
    let blocks: BTreeMap<usize, &Block> = parsed.blocks.iter().map(|block| (block.index, block)).collect();
    let mut parts: Vec<String> = failed.iter().map(|failed| failed_part(failed, blocks.get(&failed.block).copied())).collect();
    parts.extend(parsed.problems.iter().map(|problem| match problem.line {
        Some(line) => format!("## Line {line} of your reply\n\n{}\n", problem.message),
        None => format!("## Your reply\n\n{}\n", problem.message),
    }));
    if parts.is_empty() {
        return String::new();
    }
    let names = Names::of(parsed);
    let mut text = match failed.len() {
        0 => "# Parts of your reply could not be read\n\n".to_owned(),
        1 => format!("# 1 of {} {} does not apply\n\n", parsed.blocks.len(), names.blocks),
        count => format!("# {count} of {} {} do not apply\n\n", parsed.blocks.len(), names.blocks),
    };
    for (nth, part) in parts.iter().enumerate() {
        if nth > 0 && text.len() + part.len() > EXPLAIN_BYTES_MAX {
            text.push_str(&format!("{} more are not shown; send these first.\n\n", parts.len() - nth));
            break;
        }
        text.push_str(part);
        text.push('\n');
    }
    text.push_str(&what_to_send(parsed, failed, &names));
    text
}

fn failed_part(failed: &Failed, block: Option<&Block>) -> String {
    let path = failed.path.as_deref().unwrap_or("no file");
    let mut part = format!("## Block {}, {path}\n\n{}\n", failed.block + 1, failed.message);
    if let Some(block) = block {
        part.push_str(&fenced(&shown(block)));
    }
    if let Some(Closest { start_line, lines }) = &failed.closest {
        part.push_str(&format!("\nThe lines of {path} that come closest, with their numbers:\n"));
        let numbered: String = lines.iter().enumerate().map(|(nth, line)| format!("{:>5}  {line}\n", start_line + nth)).collect();
        part.push_str(&fenced(&numbered));
    }
    part
}

/// The block as its format has it, bounded.
fn shown(block: &Block) -> String {
    let sides = || {
        let search = first_bytes(&block.search, FAILED_BLOCK_BYTES_MAX / 2);
        let replace = first_bytes(&block.replace, FAILED_BLOCK_BYTES_MAX - search.len());
        (search, replace)
    };
    match (&block.kind, block.format.has_hunks()) {
        (BlockKind::Replace, false) => {
            let (search, replace) = sides();
            format!("<<<<<<< SEARCH\n{search}=======\n{replace}>>>>>>> REPLACE\n")
        }
        (BlockKind::Replace, true) => {
            let anchors: String = block.anchors.iter().map(|anchor| format!("@@ {anchor}\n")).collect();
            anchors + &first_bytes(&hunk(block), FAILED_BLOCK_BYTES_MAX)
        }
        (BlockKind::Add | BlockKind::Whole { .. }, _) => sides().1,
        (BlockKind::Delete, _) => "delete the file\n".to_owned(),
        (BlockKind::Move { to }, _) => format!("move the file to {to}\n"),
    }
}

/// Both sides of a block as lines that are kept, removed and added.
fn hunk(block: &Block) -> String {
    let split = block.first_split();
    let sides = Sides::of(&split);
    let text = |sign: char, line: &[u8]| format!("{sign}{}\n", String::from_utf8_lossy(line));
    let (mut old, mut new, mut lines) = (0, 0, String::new());
    let ends = (sides.search.len(), sides.replace.len());
    for (kept_old, kept_new) in sides.kept().iter().copied().chain([ends]) {
        sides.search[old..kept_old].iter().for_each(|line| lines.push_str(&text('-', without_cr(line))));
        sides.replace[new..kept_new].iter().for_each(|line| lines.push_str(&text('+', line)));
        if let Some(line) = sides.replace.get(kept_new) {
            lines.push_str(&text(' ', line));
        }
        (old, new) = (kept_old + 1, kept_new + 1);
    }
    lines
}

/// What the parts of a reply are called, and what is asked of them.
struct Names {
    blocks: &'static str,
    rule: &'static str,
}

impl Names {
    fn of(parsed: &Parsed) -> Self {
        let block = parsed.blocks.first();
        let whole = block.is_some_and(|block| matches!(block.kind, BlockKind::Whole { .. }));
        match block {
            Some(block) if block.format.has_hunks() => Self {
                blocks: "hunks",
                rule: "SEARCH is a hunk's kept and removed lines, REPLACE its kept and added ones. The kept and removed lines must be the \
                       file's as they are, blanks, comments and all, and must fit one place only.\n",
            },
            Some(_) if whole => Self { blocks: "file listings", rule: "A listing must hold the whole text of its file, below its path.\n" },
            _ => Self {
                blocks: "SEARCH/REPLACE blocks",
                rule: "SEARCH must hold the file's lines as they are, blanks, comments and all, and must fit one place only.\n",
            },
        }
    }
}

/// Text between fences longer than any in it.
fn fenced(text: &str) -> String {
    let longest = text.lines().map(|line| line.trim_start().bytes().take_while(|b| *b == b'`').count()).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}\n{text}{fence}\n")
}

/// Whole lines of at most so many bytes, and a note if there were more.
fn first_bytes(text: &str, max: usize) -> String {
    if text.len() <= max {
        return text.to_owned();
    }
    let mut shown = String::new();
    let mut lines = text.split_inclusive('\n');
    while let Some(line) = lines.next().filter(|line| shown.len() + line.len() <= max) {
        shown.push_str(line);
    }
    shown.push_str(&format!("[{} bytes more]\n", text.len() - shown.len()));
    shown
}

fn what_to_send(parsed: &Parsed, failed: &[Failed], names: &Names) -> String {
    let lost: BTreeSet<usize> = failed.iter().map(|failed| failed.block).collect();
    let mut fine: BTreeMap<&str, usize> = BTreeMap::new();
    for block in parsed.blocks.iter().filter(|block| !lost.contains(&block.index)) {
        *fine.entry(block.path.as_deref().unwrap_or_default()).or_default() += 1;
    }
    let mut text = names.rule.to_owned();
    let count: usize = fine.values().sum();
    if count > 0 {
        let files: Vec<String> = fine.iter().take(EXPLAIN_FILES_MAX).map(|(path, blocks)| format!("{path}: {blocks}")).collect();
        let (blocks, them) = if count == 1 { ("block applies", "it") } else { ("blocks apply", "them") };
        text.push_str(&format!("The other {count} {blocks} ({}); do not send {them} again.\n", files.join(", ")));
    }
    text.push_str("Reply with corrected versions of the parts above only.\n");
    text
}
