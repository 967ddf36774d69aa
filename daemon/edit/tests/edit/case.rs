//! A case is written as sections that begin with `@@`:
//!
//! - `@@ case TITLE` begins one;
//! - `@@ file PATH` and its content; `@@ raw PATH` the same as one text with the escapes `\n`, `\r`, `\t`, `\0` and `\xNN`;
//! - `@@ chat PATH …` names the chat files; without it all files are in the chat;
//! - `@@ reply` and the model's text, or `@@ crlf` for one whose lines end in `\r\n`;
//! - `@@ after PATH` or `@@ rawafter PATH` and the content that the edit gives;
//! - `@@ rungs RUNG …` the rungs of all hunks, in the order of their blocks;
//! - `@@ lines START-END …` their line ranges;
//! - `@@ failed BLOCK REASON WORDS` a block that fails, with words of its message;
//! - `@@ redirected PATH FROM`, `@@ outside PATH`: flags of an edit;
//! - `@@ problem WORDS` a problem of parsing; `@@ shell` and a suggested command.
//!
//! What a case does not name must not happen: no other edit, failure, problem or command.

use std::collections::{BTreeMap, BTreeSet};

use paird_base::{Content, RepoPath};
use paird_edit::{DiffParser, Hunk, Proposal, Scope, Seen, Snapshot, propose, wanted_paths};

#[derive(Debug, Default)]
struct Case {
    title: String,
    files: BTreeMap<String, Vec<u8>>,
    chat: Option<Vec<String>>,
    reply: String,
    after: BTreeMap<String, Vec<u8>>,
    rungs: Option<String>,
    lines: Option<String>,
    failed: Vec<String>,
    redirected: BTreeSet<String>,
    outside: BTreeSet<String>,
    problems: Vec<String>,
    shell: Vec<String>,
}

/// Runs every case of a file.
pub(crate) fn run(text: &str) {
    let mut cases: Vec<Case> = Vec::new();
    for section in format!("\n{text}").split("\n@@ ").skip(1) {
        let (head, body) = section.split_once('\n').unwrap_or((section, ""));
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
            "reply" => case.reply = body,
            "crlf" => case.reply = body.replace('\n', "\r\n"),
            "after" => drop(case.after.insert(rest, body.into_bytes())),
            "rawafter" => drop(case.after.insert(rest, unescaped(&body))),
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

fn check(case: &Case) {
    let title = &case.title;
    let path = |text: &String| RepoPath::parse(text).unwrap();
    let scope = Scope {
        chat_files: case.chat.as_ref().map_or_else(|| case.files.keys().map(path).collect(), |chat| chat.iter().map(path).collect()),
        ..Scope::default()
    };
    let mut parser = DiffParser::with_known(&scope.chat_files);
    parser.push(&case.reply);
    let parsed = parser.finish();
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

    assert_eq!(proposal.problems.len(), case.problems.len(), "{title}: {:#?}", proposal.problems);
    for (problem, words) in proposal.problems.iter().zip(&case.problems) {
        assert!(problem.message.contains(words), "{title}: expected {words:?}, found {problem:?}");
    }
    assert_eq!(parsed.shell_commands, case.shell, "{title}");
}

/// What the plan would write.
fn changes(proposal: &Proposal) -> BTreeMap<String, Vec<u8>> {
    let plan = proposal.plan().unwrap();
    for change in plan.changes() {
        let mode = if change.before.is_none() { 0o644 } else { 0o755 };
        assert_eq!(change.after.as_ref().unwrap().mode, mode);
    }
    plan.changes().iter().map(|change| (change.path.to_string(), change.after.as_ref().unwrap().bytes.to_vec())).collect()
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
