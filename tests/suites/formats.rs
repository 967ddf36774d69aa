//! Every edit format through a whole turn, and a person who decides hunk by hunk.

use paird_protocol::methods::{CommitUndo, EditApply, EditGet, EditList, EditRedo, EditResolve, EditUndo};
use paird_protocol::{
    ApplyMode, CloseMatch, CommitUndoParams, EditApplyParams, EditFormat, EditGetParams, EditListParams, EditResolveParams, EditStatus,
    EditUndoParams, ErrorKind, EventBody, HunkText, Outcome, SessionNewParams,
};
use paird_tests::{DaemonProcess, Scratch, block, line, paced};

const PY: &str = "def one():\n    return 1\n\n\ndef two():\n    return 2\n";

fn session(scratch: &Scratch, format: EditFormat, replies: &[&str]) -> SessionNewParams {
    let lines: Vec<_> = replies.iter().map(|reply| line(reply)).collect();
    SessionNewParams {
        model: Some(scratch.replay(&lines)),
        edit_format: Some(format),
        files: Some(vec!["a.py".to_owned()]),
        ..SessionNewParams::default()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_format_edits_the_same_line() {
    let fenced = "```python\na.py\n<<<<<<< SEARCH\n    return 2\n=======\n    return 3\n>>>>>>> REPLACE\n```\n";
    let whole = format!("Here it is.\n\na.py\n```\n{}```\n", PY.replace("return 2", "return 3"));
    let udiff = "```diff\n--- a.py\n+++ a.py\n@@ ... @@\n def two():\n-    return 2\n+    return 3\n```\n";
    let patch = "*** Begin Patch\n*** Update File: a.py\n@@ def two():\n-    return 2\n+    return 3\n*** End Patch\n";
    let above = block("a.py", "    return 2", "    return 3");
    for (format, reply) in [
        (EditFormat::Diff, above.as_str()),
        (EditFormat::DiffFenced, fenced),
        (EditFormat::Whole, &whole),
        (EditFormat::Udiff, udiff),
        (EditFormat::Patch, patch),
        (EditFormat::EditorDiff, &above),
        (EditFormat::EditorDiffFenced, fenced),
        (EditFormat::EditorWhole, &whole),
    ] {
        let scratch = Scratch::repo(&[("a.py", PY)]);
        let daemon = DaemonProcess::start(&scratch).await;
        let client = daemon.client().await;
        let session = client.session_with(session(&scratch, format, &[reply])).await;
        let result = client.turn(&session, "three").await.report;
        assert_eq!((result.outcome, result.commits.len()), (Outcome::Done, 1), "{format:?}: {result:?}");
        assert_eq!(scratch.read("a.py"), PY.replace("return 2", "return 3"), "{format:?}");
        assert_eq!(scratch.status(), "", "{format:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_patch_moves_and_deletes_and_all_of_it_comes_back() {
    let scratch = Scratch::repo(&[("a.py", PY), ("old.txt", "gone\n")]);
    let reply = "*** Begin Patch\n*** Update File: a.py\n*** Move to: lib/b.py\n@@ def two():\n-    return 2\n+    return 3\n\
                 *** Delete File: old.txt\n*** Add File: new.txt\n+new\n*** End Patch\n";
    let daemon = DaemonProcess::start(&scratch).await;
    let client = daemon.client().await;
    let (before, head) = (scratch.tree(), scratch.head());
    let mut params = session(&scratch, EditFormat::Patch, &[reply]);
    params.files = Some(vec!["a.py".to_owned(), "old.txt".to_owned()]);
    let session = client.session_with(params).await;
    let turn = client.turn(&session, "tidy up").await;
    assert_eq!((turn.report.outcome, turn.report.commits.len()), (Outcome::Done, 1), "{:?}", turn.report);
    let after = scratch.tree();
    assert_eq!(scratch.read("lib/b.py"), PY.replace("return 2", "return 3"));
    assert_eq!(
        (scratch.path("a.py").exists(), scratch.path("old.txt").exists(), scratch.read("new.txt").as_str()),
        (false, false, "new\n")
    );
    assert_eq!(scratch.status(), "");
    let files = client.read(&session).await.files;
    assert!(
        files.contains(&"lib/b.py".to_owned()) && !files.contains(&"a.py".to_owned()) && !files.contains(&"old.txt".to_owned()),
        "{files:?}"
    );

    let moved = turn.report.edits.iter().find(|edit| edit.to_path.is_some()).unwrap();
    let shown = client.call::<EditGet>(EditGetParams { edit_id: moved.edit_id.clone() }).await.diff;
    assert!(shown.starts_with("rename from a.py\nrename to lib/b.py\n") && shown.contains("-    return 2\n+    return 3\n"), "{shown}");

    let params = || EditUndoParams { turn_id: Some(turn.turn_id.clone()), ..EditUndoParams::default() };
    client.call::<EditUndo>(params()).await;
    assert_eq!(scratch.tree(), before, "undo gives every byte back");
    client.call::<EditRedo>(params()).await;
    assert_eq!(scratch.tree(), after, "redo makes it again");
    client.call::<EditUndo>(params()).await;
    assert_eq!((scratch.tree(), scratch.status().as_str()), (before, ""));
    assert_ne!(scratch.head(), head, "edit/undo commits");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_that_moved_a_file_is_taken_back() {
    let scratch = Scratch::repo(&[("a.py", PY)]);
    let reply = "*** Begin Patch\n*** Update File: a.py\n*** Move to: b.py\n*** End Patch\n";
    let daemon = DaemonProcess::start(&scratch).await;
    let client = daemon.client().await;
    let (before, head) = (scratch.tree(), scratch.head());
    let session = client.session_with(session(&scratch, EditFormat::Patch, &[reply])).await;
    let result = client.turn(&session, "rename").await.report;
    assert_eq!((result.outcome, scratch.read("b.py").as_str()), (Outcome::Done, PY), "{result:?}");
    client.call::<CommitUndo>(CommitUndoParams::default()).await;
    assert_eq!((scratch.tree(), scratch.head(), scratch.status().as_str()), (before, head, ""));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn edits_are_told_while_the_reply_streams() {
    let scratch = Scratch::repo(&[("a.py", PY)]);
    let reply =
        block("a.py", "    return 1", "    return 7") + &block("a.py", "    return 2", "    return 8") + "Done, and some more words.\n";
    let daemon = DaemonProcess::start(&scratch).await;
    let client = daemon.client().await;
    let mut events = client.events().await;
    let model = scratch.replay(&[paced(&reply, 16, 0)]);
    let session = client.session(&model, &["a.py"]).await;
    let turn = client.prompt(&session, "change both").await;
    events.wait_finished(&turn).await;
    let found: Vec<(usize, &str)> = events
        .seen
        .iter()
        .filter_map(|event| match &event.body {
            EventBody::EditProposed { edit_id, block: Some(block), .. } => Some((*block, edit_id.as_str())),
            _ => None,
        })
        .collect();
    let result = client.finished(&turn).await.report;
    let id = result.edits[0].edit_id.as_str();
    assert_eq!(found, [(0, id), (1, id)], "one edit for each path, known before the reply's end");
    let at = |kind: &str| events.seen.iter().position(|event| event.body.kind() == kind);
    let last_delta = events.seen.iter().rposition(|event| event.body.kind() == "reply.delta");
    assert!(at("edit.proposed") < last_delta && at("edit.applied") > last_delta);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hunks_are_accepted_rejected_and_replaced_one_by_one() {
    let scratch = Scratch::repo(&[("a.py", "one\n\ntwo\n\nthree\n\nfour\n")]);
    let reply = block("a.py", "one", "1") + &block("a.py", "two", "2") + &block("a.py", "three", "3") + &block("a.py", "four", "4");
    let daemon = DaemonProcess::start(&scratch).await;
    let client = daemon.client().await;
    let params = SessionNewParams { apply_mode: Some(ApplyMode::Review), ..session(&scratch, EditFormat::Diff, &[&reply]) };
    let session = client.session_with(params).await;
    let edit = client.turn(&session, "digits").await.report.edits.remove(0);
    let hunk = |n: usize| edit.hunks[n].hunk_id.clone();
    let resolve = |accept: &[usize], reject: &[usize], replace: Option<(usize, &str)>| EditResolveParams {
        edit_id: edit.edit_id.clone(),
        accept: Some(accept.iter().map(|n| hunk(*n)).collect()),
        reject: Some(reject.iter().map(|n| hunk(*n)).collect()),
        replace: replace.map(|(n, text)| vec![HunkText { hunk_id: hunk(n), text: text.to_owned() }]),
    };
    client.fails::<EditResolve>(resolve(&[], &[], None), ErrorKind::InvalidParams).await;
    client.fails::<EditResolve>(resolve(&[0], &[0], None), ErrorKind::InvalidParams).await;

    let done = client.call::<EditResolve>(resolve(&[3], &[1], None)).await;
    assert_eq!(scratch.read("a.py"), "one\n\ntwo\n\nthree\n\n4\n");
    assert_eq!((done.applied.len(), done.commit.is_some()), (1, true));
    let rest = done.edit.unwrap();
    let waiting: Vec<&str> = rest.hunks.iter().map(|hunk| hunk.hunk_id.as_str()).collect();
    assert_eq!((rest.status, waiting), (EditStatus::Proposed, vec![hunk(0).as_str(), hunk(2).as_str()]), "ids stay");
    assert_ne!(done.applied[0].edit_id, edit.edit_id, "what is written while something waits is an edit of its own");
    client.fails::<EditResolve>(resolve(&[3], &[], None), ErrorKind::InvalidParams).await;

    let done = client.call::<EditResolve>(resolve(&[0], &[], Some((2, "drei")))).await;
    assert_eq!(scratch.read("a.py"), "1\n\ntwo\n\ndrei\n\n4\n");
    assert_eq!((done.edit.unwrap().status, done.applied[0].edit_id.as_str()), (EditStatus::Applied, edit.edit_id.as_str()));
    assert_eq!(scratch.status(), "");
    let edits = vec![edit.edit_id.clone()];
    client.call::<EditUndo>(EditUndoParams { edit_ids: Some(edits), ..EditUndoParams::default() }).await;
    assert_eq!(scratch.read("a.py"), "one\n\ntwo\n\nthree\n\n4\n", "each part is taken back by itself");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hunk_whose_place_is_gone_is_a_conflict_and_nothing_is_written() {
    let scratch = Scratch::repo(&[("a.py", "one\n\ntwo\n")]);
    let reply = block("a.py", "one", "1") + &block("a.py", "two", "2");
    let daemon = DaemonProcess::start(&scratch).await;
    let client = daemon.client().await;
    let params = SessionNewParams { apply_mode: Some(ApplyMode::Review), ..session(&scratch, EditFormat::Diff, &[&reply]) };
    let session = client.session_with(params).await;
    let edit = client.turn(&session, "digits").await.report.edits.remove(0);
    scratch.write("a.py", "mine\n\ntwo\n");
    let all = EditResolveParams {
        edit_id: edit.edit_id.clone(),
        accept: Some(edit.hunks.iter().map(|hunk| hunk.hunk_id.clone()).collect()),
        ..EditResolveParams::default()
    };
    client.fails::<EditResolve>(all, ErrorKind::Conflict).await;
    assert_eq!(scratch.read("a.py"), "mine\n\ntwo\n");
    let one = EditResolveParams {
        edit_id: edit.edit_id.clone(),
        accept: Some(vec![edit.hunks[1].hunk_id.clone()]),
        ..EditResolveParams::default()
    };
    client.call::<EditResolve>(one).await;
    assert_eq!(scratch.read("a.py"), "mine\n\n2\n");
    let left = client.call::<EditGet>(EditGetParams { edit_id: edit.edit_id.clone() }).await.edit;
    assert_eq!((left.status, left.hunks.len()), (EditStatus::Proposed, 1));
    let all =
        EditResolveParams { edit_id: edit.edit_id, reject: Some(vec![left.hunks[0].hunk_id.clone()]), ..EditResolveParams::default() };
    assert_eq!(client.call::<EditResolve>(all).await.edit.unwrap().status, EditStatus::Rejected);
}

/// A kept line is not as in the file; the line to be changed is.
fn nearly() -> String {
    block(
        "a.py",
        "alpha = 1\nbeta = 2\ngamma = 3  # the thrid\ndelta = 4\nepsilon = 5",
        "alpha = 1\nbeta = 22\ngamma = 3  # the thrid\ndelta = 4\nepsilon = 5",
    )
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_close_match_is_applied_held_or_none() {
    let text = "alpha = 1\nbeta = 2\ngamma = 3  # the third\ndelta = 4\nepsilon = 5\n";
    for (close, outcome, after) in [
        (CloseMatch::Apply, Outcome::Done, text.replace("beta = 2", "beta = 22")),
        (CloseMatch::Hold, Outcome::Held, text.to_owned()),
        (CloseMatch::Off, Outcome::Held, text.to_owned()),
    ] {
        let scratch = Scratch::repo(&[("a.py", text)]);
        let daemon = DaemonProcess::start(&scratch).await;
        let client = daemon.client().await;
        let params = SessionNewParams { close_match: Some(close), ..session(&scratch, EditFormat::Diff, &[&nearly(), "I cannot."]) };
        let session = client.session_with(params).await;
        let result = client.turn(&session, "beta").await.report;
        assert_eq!((result.outcome, scratch.read("a.py")), (outcome, after), "{close:?}: {result:?}");
        assert_eq!((result.edits.len(), result.failed.len()), if close == CloseMatch::Off { (0, 1) } else { (1, 0) }, "{close:?}");
        if close == CloseMatch::Hold {
            let ids = vec![result.edits[0].edit_id.clone()];
            client.call::<EditApply>(EditApplyParams { edit_ids: ids }).await;
            assert_eq!(scratch.read("a.py"), text.replace("beta = 2", "beta = 22"), "a person lets it pass");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_becomes_a_stub_is_asked_about() {
    let long: String = (0..40).map(|n| format!("line {n}\n")).collect();
    let reply = "a.py\n```\nline 0\n```\n";
    for (answer, kept) in [(None, true), (Some("no"), true), (Some("yes"), false)] {
        let scratch = Scratch::repo(&[("a.py", &long)]);
        let daemon = DaemonProcess::start(&scratch).await;
        let client = if answer.is_some() { daemon.able_client().await } else { daemon.client().await };
        let mut events = client.events().await;
        let session = client.session_with(session(&scratch, EditFormat::Whole, &[reply])).await;
        let turn = client.prompt(&session, "shorten").await;
        if let Some(answer) = answer {
            let question = events.wait_question().await;
            assert_eq!(question.kind, paird_protocol::QuestionKind::SuspiciousEdit);
            client.answer(&question, answer).await;
        }
        let result = client.finished(&turn).await.report;
        assert_eq!(scratch.read("a.py") == long, kept, "{answer:?}: {result:?}");
        let waiting = client.call::<EditList>(EditListParams { session_id: Some(session), status: Some(EditStatus::Proposed) }).await.edits;
        assert_eq!(waiting.len(), usize::from(answer.is_none()), "{answer:?}");
        if let [edit] = &waiting[..] {
            assert!(!edit.suspicious.is_empty());
        }
    }
}
