//! The message that asks the model for failed blocks again.

use std::collections::{BTreeMap, BTreeSet};

use paird_base::limits::{EXPLAIN_BYTES_MAX, EXPLAIN_FILES_MAX, FAILED_BLOCK_BYTES_MAX};

use crate::block::{Block, Parsed};
use crate::fail::{Closest, Failed};

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
    let mut text = match failed.len() {
        0 => "# Parts of your reply could not be read\n\n".to_owned(),
        1 => format!("# 1 of {} SEARCH/REPLACE blocks does not apply\n\n", parsed.blocks.len()),
        count => format!("# {count} of {} SEARCH/REPLACE blocks do not apply\n\n", parsed.blocks.len()),
    };
    for (nth, part) in parts.iter().enumerate() {
        if nth > 0 && text.len() + part.len() > EXPLAIN_BYTES_MAX {
            text.push_str(&format!("{} more are not shown; send these first.\n\n", parts.len() - nth));
            break;
        }
        text.push_str(part);
        text.push('\n');
    }
    text.push_str(&what_to_send(parsed, failed));
    text
}

fn failed_part(failed: &Failed, block: Option<&Block>) -> String {
    let path = failed.path.as_deref().unwrap_or("no file");
    let mut part = format!("## Block {}, {path}\n\n{}\n", failed.block + 1, failed.message);
    if let Some(block) = block {
        let search = first_bytes(&block.search, FAILED_BLOCK_BYTES_MAX / 2);
        let replace = first_bytes(&block.replace, FAILED_BLOCK_BYTES_MAX - search.len());
        let sides = format!("{search}=======\n{replace}>>>>>>> REPLACE\n");
        part.push_str(&fenced(&format!("<<<<<<< SEARCH\n{sides}")));
    }
    if let Some(Closest { start_line, lines }) = &failed.closest {
        part.push_str(&format!("\nThe lines of {path} that come closest, with their numbers:\n"));
        let numbered: String = lines.iter().enumerate().map(|(nth, line)| format!("{:>5}  {line}\n", start_line + nth)).collect();
        part.push_str(&fenced(&numbered));
    }
    part
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

fn what_to_send(parsed: &Parsed, failed: &[Failed]) -> String {
    let lost: BTreeSet<usize> = failed.iter().map(|failed| failed.block).collect();
    let mut fine: BTreeMap<&str, usize> = BTreeMap::new();
    for block in parsed.blocks.iter().filter(|block| !lost.contains(&block.index)) {
        *fine.entry(block.path.as_deref().unwrap_or_default()).or_default() += 1;
    }
    let mut text = "SEARCH must hold the file's lines as they are, blanks, comments and all, and must fit one place only.\n".to_owned();
    let count: usize = fine.values().sum();
    if count > 0 {
        let files: Vec<String> = fine.iter().take(EXPLAIN_FILES_MAX).map(|(path, blocks)| format!("{path}: {blocks}")).collect();
        let (blocks, them) = if count == 1 { ("block applies", "it") } else { ("blocks apply", "them") };
        text.push_str(&format!("The other {count} {blocks} ({}); do not send {them} again.\n", files.join(", ")));
    }
    text.push_str("Reply with corrected versions of the parts above only.\n");
    text
}
