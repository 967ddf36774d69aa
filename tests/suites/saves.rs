//! What a person saves between the model's look and the write: edits of whole files never take it away.

use paird_protocol::methods::{EditApply, EditPropose, EditResolve};
use paird_protocol::{
    ApplyMode, EditApplyParams, EditFormat, EditProposeParams, EditResolveParams, EditStatus, ErrorKind, Outcome, SessionNewParams,
};
use paird_tests::{DaemonProcess, Scratch, line, paced};
use serde_json::Value;

const PY: &str = "def one():\n    return 1\n\n\ndef two():\n    return 2\n";
const MINE: &str = "def one():\n    return 1\n\n\ndef two():\n    return 2\n\n\nMINE = 1\n";

fn listing(path: &str, text: &str) -> String {
    format!("{path}\n```\n{text}```\n")
}

fn session(scratch: &Scratch, format: EditFormat, replies: &[Value]) -> SessionNewParams {
    SessionNewParams {
        model: Some(scratch.replay(replies)),
        edit_format: Some(format),
        files: Some(vec!["a.py".to_owned()]),
        ..SessionNewParams::default()
    }
}

/// A reply that is slow enough to save a file meanwhile, and quick enough not to wait for.
fn slow(reply: &str) -> Value {
    paced(&format!("{}\n\n{reply}", "Some words first. ".repeat(8)), 8, 10)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_whole_file_that_somebody_saved_is_asked_for_again_and_then_held() {
    let patch = |body: &str| format!("*** Begin Patch\n{body}*** End Patch\n");
    let shown: String = PY.lines().map(|line| format!("-{line}\n")).collect();
    for (format, reply) in [
        (EditFormat::Whole, listing("a.py", &PY.replace("return 2", "return 3"))),
        (EditFormat::Patch, patch("*** Delete File: a.py\n")),
        (EditFormat::Patch, patch("*** Update File: a.py\n*** Move to: b.py\n@@ def two():\n-    return 2\n+    return 3\n")),
        (EditFormat::Udiff, format!("```diff\n--- a.py\n+++ /dev/null\n@@ -1,6 +0,0 @@\n{shown}```\n")),
    ] {
        let scratch = Scratch::repo(&[("a.py", PY)]);
        let daemon = DaemonProcess::start(&scratch).await;
        let client = daemon.client().await;
        let mut events = client.events().await;
        let session = client.session_with(session(&scratch, format, &[slow(&reply), line("I cannot.")])).await;
        let turn = client.prompt(&session, "three").await;
        events.wait_kind("reply.delta").await;
        scratch.write("a.py", MINE);
        let (before, head) = (scratch.tree(), scratch.head());
        let result = client.finished(&turn).await.report;
        assert_eq!((result.outcome, result.edits.len(), result.reflections.len()), (Outcome::Held, 0, 1), "{reply}: {result:?}");
        assert!(result.failed.iter().all(|failed| failed.reason == "differs"), "{reply}: {result:?}");
        assert_eq!((scratch.tree(), scratch.head()), (before, head), "{reply}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_model_that_sees_the_save_writes_the_file_anew() {
    let scratch = Scratch::repo(&[("a.py", PY)]);
    let three = |text: &str| listing("a.py", &text.replace("return 2", "return 3"));
    let daemon = DaemonProcess::start(&scratch).await;
    let client = daemon.client().await;
    let mut events = client.events().await;
    let session = client.session_with(session(&scratch, EditFormat::Whole, &[slow(&three(PY)), line(&three(MINE))])).await;
    let turn = client.prompt(&session, "three").await;
    events.wait_kind("reply.delta").await;
    scratch.write("a.py", MINE);
    let result = client.finished(&turn).await.report;
    assert_eq!((result.outcome, result.reflections.len(), result.failed.len()), (Outcome::Done, 1, 0), "{result:?}");
    assert_eq!(scratch.read("a.py"), MINE.replace("return 2", "return 3"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_save_while_a_question_is_open_and_the_daemon_down_is_kept() {
    let scratch = Scratch::repo(&[("a.py", PY)]);
    let reply = listing("a.py", &PY.replace("return 2", "return 3")) + "\n" + &listing("new.py", "x = 1\n");
    let mut daemon = DaemonProcess::start(&scratch).await;
    let client = daemon.able_client().await;
    let mut events = client.events().await;
    let session = client.session_with(session(&scratch, EditFormat::Whole, &[line(&reply), line("I cannot.")])).await;
    let turn = client.prompt(&session, "three").await;
    let question = events.wait_question().await;
    daemon.kill9().await;
    scratch.write("a.py", MINE);
    let before = scratch.tree();
    daemon.restart().await;
    let client = daemon.able_client().await;
    let mut events = client.events().await;
    client.answer(&question, "yes").await;
    let partial = events.wait_question().await;
    client.answer(&partial, "hold").await;
    let result = client.finished(&turn).await.report;
    assert_eq!((result.outcome, result.failed.len(), result.failed[0].reason.as_str()), (Outcome::Held, 1, "differs"), "{result:?}");
    assert_eq!(scratch.tree(), before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_a_person_makes_while_they_are_asked_is_kept() {
    let scratch = Scratch::repo(&[("a.py", PY)]);
    let daemon = DaemonProcess::start(&scratch).await;
    let client = daemon.able_client().await;
    let mut events = client.events().await;
    let replies = [line(&listing("new.py", "x = 1\n")), line("I cannot.")];
    let session = client.session_with(session(&scratch, EditFormat::Whole, &replies)).await;
    let turn = client.prompt(&session, "make one").await;
    let question = events.wait_question().await;
    scratch.write("new.py", "mine = 1\n");
    client.answer(&question, "yes").await;
    let result = client.finished(&turn).await.report;
    assert_eq!((result.outcome, result.failed[0].reason.as_str()), (Outcome::Held, "differs"), "{result:?}");
    assert_eq!(scratch.read("new.py"), "mine = 1\n");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_proposal_of_a_whole_file_holds_for_the_file_it_was_made_for() {
    let scratch = Scratch::repo(&[("a.py", PY), ("b.py", PY)]);
    let whole = listing("a.py", &PY.replace("return 2", "return 3"));
    let daemon = DaemonProcess::start(&scratch).await;
    let client = daemon.client().await;
    let params = SessionNewParams { apply_mode: Some(ApplyMode::Review), ..session(&scratch, EditFormat::Whole, &[line(&whole)]) };
    let session = client.session_with(params).await;
    let in_turn = client.turn(&session, "three").await.report.edits.remove(0);
    let propose = async |format: EditFormat, text: String, session: Option<&str>| {
        let (files, session_id) = (Some(vec!["a.py".to_owned(), "b.py".to_owned()]), session.map(str::to_owned));
        client.call::<EditPropose>(EditProposeParams { text, format, files, session_id }).await.edits.remove(0)
    };
    let patch = |body: &str| format!("*** Begin Patch\n{body}*** End Patch\n");
    let proposed = [
        in_turn,
        propose(EditFormat::Whole, whole, None).await,
        propose(EditFormat::Whole, listing("new.py", "x = 1\n"), None).await,
        propose(EditFormat::Whole, listing("new.py", "x = 1\n"), Some(&session)).await,
        propose(EditFormat::Patch, patch("*** Delete File: b.py\n"), Some(&session)).await,
    ];
    for path in ["a.py", "b.py", "new.py"] {
        scratch.write(path, MINE);
    }
    let before = scratch.tree();
    for edit in &proposed {
        let error = client.fails::<EditApply>(EditApplyParams { edit_ids: vec![edit.edit_id.clone()] }, ErrorKind::Conflict).await;
        assert_eq!(error.data.paths, [edit.path.as_str()], "{edit:?}");
        let accept = Some(edit.hunks.iter().map(|hunk| hunk.hunk_id.clone()).collect());
        let params = EditResolveParams { edit_id: edit.edit_id.clone(), accept, ..EditResolveParams::default() };
        client.fails::<EditResolve>(params, ErrorKind::Conflict).await;
    }
    assert_eq!(scratch.tree(), before);
    // Once the file is what it was, the proposal is as good as it was.
    scratch.write("a.py", PY);
    client.call::<EditApply>(EditApplyParams { edit_ids: vec![proposed[0].edit_id.clone()] }).await;
    assert_eq!(scratch.read("a.py"), PY.replace("return 2", "return 3"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_move_follows_the_hunks_that_were_accepted_before_it() {
    let scratch = Scratch::repo(&[("a.py", PY)]);
    let reply = "*** Begin Patch\n*** Update File: a.py\n*** Move to: b.py\n@@ def two():\n-    return 2\n+    return 3\n*** End Patch\n";
    let daemon = DaemonProcess::start(&scratch).await;
    let client = daemon.client().await;
    let params = SessionNewParams { apply_mode: Some(ApplyMode::Review), ..session(&scratch, EditFormat::Patch, &[line(reply)]) };
    let session = client.session_with(params).await;
    let edit = client.turn(&session, "three").await.report.edits.remove(0);
    let whole = edit.hunks.iter().position(|hunk| hunk.rung == paird_protocol::Rung::Whole).unwrap();
    let accept = |nth: usize| EditResolveParams {
        edit_id: edit.edit_id.clone(),
        accept: Some(vec![edit.hunks[nth].hunk_id.clone()]),
        ..EditResolveParams::default()
    };
    client.call::<EditResolve>(accept(1 - whole)).await;
    assert_eq!(scratch.read("a.py"), PY.replace("return 2", "return 3"));
    let done = client.call::<EditResolve>(accept(whole)).await;
    assert_eq!(done.edit.unwrap().status, EditStatus::Applied);
    assert_eq!((scratch.path("a.py").exists(), scratch.read("b.py")), (false, PY.replace("return 2", "return 3")));
}
