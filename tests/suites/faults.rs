//! Kinds of damage that programs like this have done, each as data in `fixtures/faults`: files, a reply, what must be.

use std::collections::BTreeMap;
use std::path::Path;

use paird_protocol::methods::{EditApply, EditGet, EditUndo};
use paird_protocol::{EditApplyParams, EditGetParams, EditUndoParams};
use paird_tests::{Client, DaemonProcess, Scratch, Tree};
use serde::Deserialize;

use crate::edits::propose;

/// One kind of damage.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    /// What goes wrong in a program that has the fault.
    fault: String,
    /// Text, or bytes where the text would not do: `\xNN` in it stands for that byte.
    #[serde(default)]
    files: BTreeMap<String, String>,
    reply: String,
    outcome: Outcome,
    /// Files that hold something else afterwards; all others are as they were.
    #[serde(default)]
    after: BTreeMap<String, String>,
    /// What the failure's reason or message, or a problem of the reply, says.
    #[serde(default)]
    says: Option<String>,
    #[serde(default)]
    shell_commands: Vec<String>,
}

#[derive(Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
enum Outcome {
    Applied,
    Refused,
    /// The reply holds no edit at all.
    NoEdit,
    /// Either is right, as long as no marker of the format gets into a file.
    RefusedOrNoMarker,
}

/// Text with `\xNN` as the byte it stands for.
fn bytes(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text;
    while let Some((head, tail)) = rest.split_once("\\x") {
        bytes.extend_from_slice(head.as_bytes());
        bytes.push(u8::from_str_radix(&tail[..2], 16).unwrap());
        rest = &tail[2..];
    }
    bytes.extend_from_slice(rest.as_bytes());
    bytes
}

async fn run(client: &Client, scratch: &Scratch, name: &str, case: &Case) {
    for entry in std::fs::read_dir(scratch.root()).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { std::fs::remove_dir_all(path).unwrap() } else { std::fs::remove_file(path).unwrap() }
    }
    for (path, text) in &case.files {
        scratch.write(path, bytes(text));
    }
    let what = format!("{name}: {}", case.fault);
    let before = scratch.tree();
    let around = Tree::read(&scratch.base().join("home"));
    let files: Vec<&str> = case.files.keys().map(String::as_str).collect();
    let proposed = propose(client, &case.reply, &files).await;
    assert_eq!(scratch.tree(), before, "{what}: proposing writes");
    assert_eq!(proposed.shell_commands, case.shell_commands, "{what}");
    let said: Vec<String> = proposed
        .failed
        .iter()
        .map(|failed| format!("{}: {}", failed.reason, failed.message))
        .chain(proposed.problems.iter().map(|problem| problem.message.clone()))
        .collect();
    if let Some(says) = &case.says {
        assert!(said.iter().any(|message| message.contains(says)), "{what}: {said:?}");
    }
    match case.outcome {
        Outcome::NoEdit => assert!(proposed.edits.is_empty() && proposed.failed.is_empty(), "{what}: {proposed:?}"),
        Outcome::Refused => assert!(!said.is_empty(), "{what}: nothing says why: {proposed:?}"),
        Outcome::RefusedOrNoMarker => {
            for edit in &proposed.edits {
                let shown = client.call::<EditGet>(EditGetParams { edit_id: edit.edit_id.clone() }).await;
                let marker = |line: &str| line.starts_with('+') && (line.contains(" REPLACE") || line.contains(" SEARCH"));
                assert!(!shown.diff.lines().any(marker), "{what}: {}", shown.diff);
            }
        }
        Outcome::Applied => {
            assert!(proposed.failed.is_empty(), "{what}: {said:?}");
            let edit_ids: Vec<String> = proposed.edits.iter().map(|edit| edit.edit_id.clone()).collect();
            client.call::<EditApply>(EditApplyParams { edit_ids: edit_ids.clone() }).await;
            let mut after = before.clone();
            for (path, text) in &case.after {
                let mode = match before.0.get(path) {
                    Some(paird_tests::tree::Node::File(_, mode)) => *mode,
                    _ => 0o644,
                };
                after.0.insert(path.clone(), paird_tests::tree::Node::File(bytes(text), mode));
            }
            assert_eq!(scratch.tree(), after, "{what}");
            if after != before {
                client.call::<EditUndo>(EditUndoParams { edit_ids: Some(edit_ids), ..EditUndoParams::default() }).await;
            }
        }
    }
    assert_eq!(scratch.tree(), before, "{what}: the way back");
    assert_eq!(Tree::read(&scratch.base().join("home")), around, "{what}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn none_of_the_known_damage_is_done() {
    let scratch = Scratch::plain(&[]);
    let daemon = DaemonProcess::start(&scratch).await;
    let client = daemon.client().await;
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/faults");
    let mut cases = 0;
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let file: BTreeMap<String, Case> = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        for (name, case) in &file {
            run(&client, &scratch, name, case).await;
            cases += 1;
        }
    }
    assert!(cases > 30, "{cases} cases");
}
