//! A case is written as sections that begin with `@@` and one of these words; other lines with `@@` are text:
//!
//! - `@@ case TITLE` begins one;
//! - `@@ file PATH` and its content; `@@ raw PATH` the same as one text with the escapes `\n`, `\r`, `\t`, `\0` and `\xNN`;
//! - `@@ chat PATH …` names the chat files; without it all files are in the chat;
//! - `@@ format FORMAT` the edit format, `diff` without it; `@@ close MODE` what is done with close matches, `apply` without it;
//! - `@@ reply` and the model's text, or `@@ crlf` for one whose lines end in `\r\n`; `@@ cut` for one without its last line end;
//! - `@@ after PATH` or `@@ rawafter PATH` and the content that the edit gives;
//! - `@@ deleted PATH` a file that is deleted, `@@ moved PATH TO` one that is moved; what it holds then is its `after`;
//! - `@@ rungs RUNG …` the rungs of all hunks, in the order of their blocks;
//! - `@@ lines START-END …` their line ranges;
//! - `@@ failed BLOCK REASON WORDS` a block that fails, with words of its message;
//! - `@@ redirected PATH FROM`, `@@ outside PATH`: flags of an edit;
//! - `@@ problem WORDS` a problem of parsing; `@@ shell` and a suggested command.
//!
//! - `@@ suspicious PATH WORDS` an edit that a person should look at, `@@ held PATH` one that waits as a proposal.
//!
//! What a case does not name must not happen: no other edit, failure, problem or command.

use std::collections::{BTreeMap, BTreeSet};

use paird_base::{Content, RepoPath};
use paird_edit::{CloseMatch, Edit, Format, Hunk, Op, Parser, Proposal, Scope, Seen, Snapshot, propose, wanted_paths};

const WORDS: &[&str] = &[
    "case",
    "file",
    "raw",
    "chat",
    "format",
    "close",
    "held",
    "reply",
    "crlf",
    "cut",
    "after",
    "rawafter",
    "deleted",
    "moved",
    "rungs",
    "lines",
    "failed",
    "redirected",
    "outside",
    "suspicious",
    "problem",
    "shell",
];

#[derive(Debug, Default)]
struct Case {
    title: String,
    files: BTreeMap<String, Vec<u8>>,
    chat: Option<Vec<String>>,
    format: Format,
    close_match: CloseMatch,
    reply: String,
    after: BTreeMap<String, Vec<u8>>,
    gone: BTreeSet<String>,
    rungs: Option<String>,
    lines: Option<String>,
    failed: Vec<String>,
    redirected: BTreeSet<String>,
    outside: BTreeSet<String>,
    held: BTreeSet<String>,
    suspicious: Vec<String>,
    problems: Vec<String>,
    shell: Vec<String>,
}

/// Runs every case of a file.
pub(crate) fn run(text: &str) {
    let mut cases: Vec<Case> = Vec::new();
    for (head, body) in sections(text) {
        let body = match body.trim_end_matches('\n') {
            "" => String::new(),
            text => format!("{text}\n"),
        };
        let (word, rest) = head.split_once(' ').unwrap_or((head, ""));
        if word == "case" {
            cases.push(Case { title: rest.to_owned(), ..Case::default() });
            continue;
        }
        let case = cases.last_mut().expect("a file of cases begins with a case");
        let rest = rest.to_owned();
        match word {
            "file" => drop(case.files.insert(rest, body.into_bytes())),
            "raw" => drop(case.files.insert(rest, unescaped(&body))),
            "chat" => case.chat = Some(rest.split_whitespace().map(str::to_owned).collect()),
            "format" => case.format = rest.parse().unwrap(),
            "close" => case.close_match = serde_json::from_str(&format!("{rest:?}")).unwrap(),
            "reply" => case.reply = body,
            "cut" => case.reply = body.trim_end_matches('\n').to_owned(),
            "crlf" => case.reply = body.replace('\n', "\r\n"),
            "after" => drop(case.after.insert(rest, body.into_bytes())),
            "rawafter" => drop(case.after.insert(rest, unescaped(&body))),
            "deleted" => drop(case.gone.insert(rest)),
            "moved" => drop(case.gone.insert(rest.replacen(' ', " -> ", 1))),
            "held" => drop(case.held.insert(rest)),
            "suspicious" => case.suspicious.push(rest),
            "rungs" => case.rungs = Some(rest),
            "lines" => case.lines = Some(rest),
            "failed" => case.failed.push(rest),
            "redirected" => drop(case.redirected.insert(rest)),
            "outside" => drop(case.outside.insert(rest)),
            "problem" => case.problems.push(rest),
            "shell" => case.shell.push(body.trim_end().to_owned()),
            _ => panic!("{}: unknown section {word}", case.title),
        }
    }
    assert!(!cases.is_empty());
    cases.iter().for_each(check);
}

/// Heads and bodies of the sections.
fn sections(text: &str) -> Vec<(&str, String)> {
    let mut sections: Vec<(&str, String)> = Vec::new();
    for line in text.split_inclusive('\n') {
        let head = line.strip_prefix("@@ ").map(str::trim_end).filter(|head| WORDS.contains(&head.split(' ').next().unwrap()));
        match (head, sections.last_mut()) {
            (Some(head), _) => sections.push((head, String::new())),
            (None, Some((_, body))) => body.push_str(line),
            (None, None) => panic!("text before the first section: {line}"),
        }
    }
    sections
}

fn check(case: &Case) {
    let title = &case.title;
    let path = |text: &String| RepoPath::parse(text).unwrap();
    let scope = Scope {
        chat_files: case.chat.as_ref().map_or_else(|| case.files.keys().map(path).collect(), |chat| chat.iter().map(path).collect()),
        close_match: case.close_match,
        ..Scope::default()
    };
    let parsed = parsed(case, &scope);
    let snapshot: Snapshot = wanted_paths(&parsed, &scope)
        .into_iter()
        .map(|path| {
            let entry = case.files.get(path.as_str()).map_or(Seen::Absent, |bytes| Seen::File(Content::new(bytes.clone(), 0o755)));
            (path, entry)
        })
        .collect();
    let proposal = propose(&parsed, &snapshot, &scope);

    let after: BTreeMap<String, Vec<u8>> = changes(&proposal);
    let text = |files: &BTreeMap<String, Vec<u8>>| {
        files.iter().map(|(path, bytes)| format!("{path}: {}", bytes.escape_ascii())).collect::<Vec<_>>()
    };
    assert_eq!(text(&after), text(&case.after), "{title}: {:#?} {:#?}", proposal.failed, parsed.problems);

    let gone = proposal.edits.iter().filter_map(gone).collect();
    assert_eq!(case.gone, gone, "{title}");

    let mut hunks: Vec<&Hunk> = proposal.edits.iter().flat_map(|edit| &edit.hunks).collect();
    hunks.sort_by_key(|hunk| hunk.block);
    if let Some(rungs) = &case.rungs {
        let found: Vec<String> = hunks.iter().map(|hunk| serde_json::to_string(&hunk.rung).unwrap().trim_matches('"').to_owned()).collect();
        assert_eq!(&found.join(" "), rungs, "{title}");
    }
    if let Some(lines) = &case.lines {
        let found: Vec<String> = hunks.iter().map(|hunk| format!("{}-{}", hunk.start_line, hunk.end_line)).collect();
        assert_eq!(&found.join(" "), lines, "{title}");
    }

    assert_eq!(proposal.failed.len(), case.failed.len(), "{title}: {:#?}", proposal.failed);
    for (failed, expected) in proposal.failed.iter().zip(&case.failed) {
        let reason = serde_json::to_string(&failed.reason).unwrap();
        let found = format!("{} {} {}", failed.block, reason.trim_matches('"'), failed.message);
        let (block_and_reason, words) =
            expected.match_indices(' ').nth(1).map_or((&expected[..], ""), |(at, _)| (&expected[..at], expected[at..].trim()));
        assert!(found.starts_with(block_and_reason) && found.contains(words), "{title}: expected {expected:?}, found {found:?}");
    }

    let redirected = proposal.edits.iter().filter_map(|edit| Some(format!("{} {}", edit.path, edit.redirected_from.as_ref()?))).collect();
    assert_eq!(case.redirected, redirected, "{title}");
    let outside = proposal.edits.iter().filter(|edit| edit.outside_chat).map(|edit| edit.path.to_string()).collect();
    assert_eq!(case.outside, outside, "{title}");

    let held = proposal.edits.iter().filter(|edit| edit.held).map(|edit| edit.path.to_string()).collect();
    assert_eq!(case.held, held, "{title}");

    let suspicious: Vec<String> =
        proposal.edits.iter().flat_map(|edit| edit.suspicious.iter().map(|why| format!("{} {why}", edit.path))).collect();
    assert_eq!(suspicious.len(), case.suspicious.len(), "{title}: {suspicious:#?}");
    for (found, expected) in suspicious.iter().zip(&case.suspicious) {
        let (path, words) = expected.split_once(' ').unwrap_or((expected, ""));
        assert!(found.starts_with(path) && found.contains(words), "{title}: expected {expected:?}, found {found:?}");
    }

    assert_eq!(proposal.problems.len(), case.problems.len(), "{title}: {:#?}", proposal.problems);
    for (problem, words) in proposal.problems.iter().zip(&case.problems) {
        assert!(problem.message.contains(words), "{title}: expected {words:?}, found {problem:?}");
    }
    assert_eq!(parsed.shell_commands, case.shell, "{title}");
}

/// The reply as it is read, whole and in pieces.
fn parsed(case: &Case, scope: &Scope) -> paird_edit::Parsed {
    let mut parser = Parser::new(case.format).with_known(&scope.chat_files);
    for piece in case.reply.split_inclusive(|c: char| !c.is_alphanumeric()) {
        parser.push(piece);
    }
    let parsed = parser.finish();
    let mut parser = Parser::new(case.format).with_known(&scope.chat_files);
    parser.push(&case.reply);
    assert_eq!(parser.finish(), parsed, "{}", case.title);
    parsed
}

/// A name that is no longer in the tree, and the new one of a file that is moved.
fn gone(edit: &Edit) -> Option<String> {
    match &edit.op {
        Op::Add | Op::Modify => None,
        Op::Delete => Some(edit.path.to_string()),
        Op::Move { to } => Some(format!("{} -> {to}", edit.path)),
    }
}

/// What the plan would write.
fn changes(proposal: &Proposal) -> BTreeMap<String, Vec<u8>> {
    let plan = proposal.plan().unwrap();
    let moved: BTreeSet<&RepoPath> = proposal.edits.iter().filter_map(Edit::to_path).collect();
    let written = plan.changes().iter().filter_map(|change| Some((change, change.after.as_ref()?)));
    written
        .map(|(change, after)| {
            let is_new = change.before.is_none() && !moved.contains(&change.path);
            assert_eq!(after.mode, if is_new { 0o644 } else { 0o755 });
            (change.path.to_string(), after.bytes.to_vec())
        })
        .collect()
}

fn unescaped(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text.trim_end_matches('\n').bytes();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        bytes.push(match rest.next().unwrap() {
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'0' => 0,
            b'x' => u8::from_str_radix(&String::from_utf8(rest.by_ref().take(2).collect()).unwrap(), 16).unwrap(),
            other => other,
        });
    }
    bytes
}
