//! What git sees: the daemon's own hunks and nothing else, and the way back.

use paird_protocol::methods::{CommitList, CommitShow, CommitStatus, CommitUndo};
use paird_protocol::{CommitListParams, CommitShowParams, CommitUndoParams, EditStatus, ErrorKind, EventBody, NoParams, Outcome};
use paird_tests::{Client, DaemonProcess, EventStream, Scratch, block, create, line};

struct Chat {
    client: Client,
    events: EventStream,
    session: String,
    _daemon: DaemonProcess,
}

async fn chat(scratch: &Scratch, replies: &[&str], files: &[&str]) -> Chat {
    let lines: Vec<_> = replies.iter().map(|reply| line(reply)).collect();
    let model = scratch.replay(&lines);
    let daemon = DaemonProcess::start(scratch).await;
    let client = daemon.client().await;
    let events = client.events().await;
    let session = client.session(&model, files).await;
    Chat { client, events, session, _daemon: daemon }
}

/// The repository is sound and no lock or temporary file is left in it.
fn assert_sound(scratch: &Scratch) {
    scratch.git(&["fsck", "--strict", "--no-dangling"]);
    assert!(!scratch.path(".git/index.lock").exists());
    let temp = scratch.path(".git/paird/tmp");
    let left = std::fs::read_dir(temp).map_or(0, Iterator::count);
    assert_eq!(left, 0, "temporary files are left");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_is_listed_shown_and_taken_back() {
    let scratch = Scratch::repo(&[("a.py", "x = 1\n"), ("b.py", "y = 1\n")]);
    let reply = block("a.py", "x = 1", "x = 2") + &create("c/d.py", "z = 1");
    let mut chat = chat(&scratch, &[&reply], &["a.py"]).await;
    let (before, head) = (scratch.tree(), scratch.head());
    let result = chat.client.turn(&chat.session, "Make x two\n\nand more").await.report;
    let commit = &result.commits[0];
    assert_eq!((commit.subject.as_str(), commit.paths.as_slice()), ("Make x two", ["a.py".to_owned(), "c/d.py".to_owned()].as_slice()));
    assert_eq!((commit.hash.as_str(), scratch.status().as_str()), (scratch.head().as_str(), ""));
    assert_sound(&scratch);
    assert_eq!(scratch.git(&["log", "-1", "--format=%an <%ae>"]).trim(), "A Person <person@example.invalid>");

    let listed = chat.client.call::<CommitList>(CommitListParams::default()).await.commits;
    let marks: Vec<(&str, bool)> = listed.iter().map(|commit| (commit.subject.as_str(), commit.by_paird)).collect();
    assert_eq!(marks, [("Make x two", true), ("first", false)]);
    let shown = chat.client.call::<CommitShow>(CommitShowParams { commit: "HEAD".to_owned() }).await;
    assert_eq!((shown.commit, shown.paths), (listed[0].clone(), commit.paths.clone()));
    assert!(shown.diff.contains("-x = 1\n+x = 2\n"), "{}", shown.diff);
    let status = chat.client.call::<CommitStatus>(NoParams {}).await;
    assert_eq!((status.branch.as_deref(), status.head, status.changed.len()), (Some("main"), Some(commit.hash.clone()), 0));

    let undone = chat.client.call::<CommitUndo>(CommitUndoParams::default()).await;
    assert_eq!((&undone.undone.hash, undone.head.as_str()), (&commit.hash, head.as_str()));
    assert_eq!((scratch.tree(), scratch.head(), scratch.status().as_str()), (before, head, ""));
    assert_sound(&scratch);
    chat.events.wait_kind("commit.undone").await;
    let edits = chat.client.read(&chat.session).await.edits;
    assert!(edits.iter().all(|edit| edit.status == EditStatus::Undone), "{edits:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn commits_that_are_not_ours_or_not_clean_stay() {
    let scratch = Scratch::repo(&[("a.py", "x = 1\n")]);
    let chat = chat(&scratch, &[&block("a.py", "x = 1", "x = 2"), &block("a.py", "x = 2", "x = 3")], &["a.py"]).await;
    let undo = || CommitUndoParams::default();
    chat.client.fails::<CommitUndo>(undo(), ErrorKind::Vcs).await;
    chat.client.turn(&chat.session, "two").await;
    scratch.write("a.py", "x = mine\n");
    let (tree, head) = (scratch.tree(), scratch.head());
    chat.client.fails::<CommitUndo>(undo(), ErrorKind::Vcs).await;
    assert_eq!((scratch.tree(), scratch.head()), (tree, head));
    scratch.git(&["commit", "--quiet", "--all", "--message", "mine"]);
    let error = chat.client.fails::<CommitUndo>(undo(), ErrorKind::Vcs).await;
    assert!(error.data.hint.is_some());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_published_commit_stays() {
    let scratch = Scratch::repo(&[("a.py", "x = 1\n")]);
    let chat = chat(&scratch, &[&block("a.py", "x = 1", "x = 2")], &["a.py"]).await;
    chat.client.turn(&chat.session, "two").await;
    scratch.git(&["update-ref", "refs/remotes/origin/main", "HEAD"]);
    let error = chat.client.fails::<CommitUndo>(CommitUndoParams::default(), ErrorKind::Vcs).await;
    assert!(error.message.contains("origin/main"), "{}", error.message);
    assert_eq!(scratch.read("a.py"), "x = 2\n");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn staged_and_unstaged_work_of_the_person_stays_what_it_is() {
    let lines = |x: &str, m: &str, z: &str| format!("{x}\n1\n2\n3\n4\n{m}\n5\n6\n7\n8\n{z}\n");
    let first = lines("x", "m", "z");
    let scratch = Scratch::repo(&[("a.txt", &first), ("other.txt", "o\n"), ("untouched.txt", "u\n")]);
    scratch.write("a.txt", lines("x staged", "m", "z"));
    scratch.write("other.txt", "staged\n");
    scratch.git(&["add", "a.txt", "other.txt"]);
    scratch.write("a.txt", lines("x staged", "m", "z unstaged"));
    scratch.write("untouched.txt", "unstaged\n");
    scratch.write("untracked.txt", "n\n");
    let chat = chat(&scratch, &[&block("a.txt", "4\nm\n5", "4\nm edited\n5")], &["a.txt"]).await;
    let result = chat.client.turn(&chat.session, "edit").await.report;
    assert_eq!((result.outcome, result.commits.len()), (Outcome::Done, 1), "{result:?}");
    assert_eq!(scratch.git(&["show", "HEAD:a.txt"]), lines("x", "m edited", "z"), "the daemon's hunk alone");
    assert_eq!(scratch.git(&["show", ":a.txt"]), lines("x staged", "m edited", "z"), "what was staged is staged");
    assert_eq!(scratch.read("a.txt"), lines("x staged", "m edited", "z unstaged"));
    assert_eq!(scratch.git(&["diff", "--cached", "--name-only"]), "a.txt\nother.txt\n");
    assert_eq!(scratch.git(&["diff", "--name-only"]), "a.txt\nuntouched.txt\n");
    assert!(scratch.status().contains("? untracked.txt"), "{}", scratch.status());
    assert_sound(&scratch);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lines_that_overlap_uncommitted_ones_are_committed_after_them() {
    let scratch = Scratch::repo(&[("a.py", "x = 1\n")]);
    scratch.write("a.py", "x = mine\n");
    let chat = chat(&scratch, &[&block("a.py", "x = mine", "x = ours")], &["a.py"]).await;
    let result = chat.client.turn(&chat.session, "edit").await.report;
    assert_eq!((result.outcome, result.commits.len()), (Outcome::Done, 2), "{result:?}");
    assert_eq!(scratch.git(&["show", "HEAD~1:a.py"]), "x = mine\n");
    assert_eq!(scratch.git(&["show", "HEAD:a.py"]), "x = ours\n");
    assert_eq!(scratch.status(), "");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_repository_with_hooks_gets_its_edits_uncommitted() {
    let scratch = Scratch::repo(&[("a.py", "x = 1\n")]);
    let marker = scratch.base().join("hook-ran");
    scratch.write(".git/hooks/pre-commit", format!("#!/bin/sh\ntouch {}\n", marker.display()));
    std::fs::set_permissions(scratch.path(".git/hooks/pre-commit"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let mut chat = chat(&scratch, &[&block("a.py", "x = 1", "x = 2")], &["a.py"]).await;
    let head = scratch.head();
    let result = chat.client.turn(&chat.session, "edit").await.report;
    assert_eq!((result.outcome, result.commits.len()), (Outcome::Done, 0));
    let told = chat.events.wait_kind("commit.failed").await;
    assert!(matches!(told.body, EventBody::CommitFailed { reason, .. } if reason.contains("hook")));
    assert_eq!((scratch.read("a.py").as_str(), scratch.head()), ("x = 2\n", head));
    assert!(!marker.exists());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_commit_of_a_repository_and_odd_names() {
    let scratch = Scratch::plain(&[]);
    scratch.git(&["init", "--quiet", "--initial-branch=main"]);
    scratch.git(&["config", "user.name", "A Person"]);
    scratch.git(&["config", "user.email", "person@example.invalid"]);
    let reply = create("Grüße.md", "a") + &create("sub/-n.txt", "b");
    let chat = chat(&scratch, &[&reply], &[]).await;
    let result = chat.client.turn(&chat.session, "begin").await.report;
    assert_eq!(result.outcome, Outcome::Done, "{result:?}");
    assert_eq!(result.commits[0].paths, ["Grüße.md", "sub/-n.txt"]);
    assert_eq!(scratch.git(&["ls-tree", "-r", "-z", "--name-only", "HEAD"]), "Grüße.md\0sub/-n.txt\0");
    assert_eq!(scratch.status(), "");
    assert_sound(&scratch);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_index_that_another_program_holds_keeps_head_and_files_together() {
    let scratch = Scratch::repo(&[("a.py", "x = 1\n")]);
    let mut chat = chat(&scratch, &[&block("a.py", "x = 1", "x = 2"), &block("a.py", "x = 2", "x = 3")], &["a.py"]).await;
    chat.client.turn(&chat.session, "two").await;
    let head = scratch.head();
    let lock = scratch.path(".git/index.lock");

    std::fs::write(&lock, "").unwrap();
    let error = chat.client.fails::<CommitUndo>(CommitUndoParams::default(), ErrorKind::Vcs).await;
    assert!(error.message.contains("index.lock") && error.data.hint.is_some(), "{error:?}");
    assert_eq!((scratch.head(), scratch.read("a.py").as_str()), (head.clone(), "x = 2\n"), "an undo that cannot move HEAD changes nothing");
    let edits = chat.client.read(&chat.session).await.edits;
    assert!(edits.iter().all(|edit| edit.status == EditStatus::Applied), "{edits:?}");

    let result = chat.client.turn(&chat.session, "three").await.report;
    assert_eq!((result.outcome, result.commits.len()), (Outcome::Done, 0), "{result:?}");
    assert!(result.uncommitted[0].path == "a.py" && result.uncommitted[0].reason.contains("index.lock"), "{result:?}");
    let told = chat.events.wait_kind("commit.failed").await;
    assert!(matches!(told.body, EventBody::CommitFailed { reason, .. } if reason.contains("index.lock")));
    assert_eq!((scratch.head(), scratch.read("a.py").as_str()), (head, "x = 3\n"));
    std::fs::remove_file(&lock).unwrap();
    assert_eq!(scratch.git(&["diff", "--cached", "--name-only"]), "", "nothing is staged that nobody staged");
    assert_eq!(scratch.git(&["diff", "--name-only"]), "a.py\n");
    assert_sound(&scratch);
}
