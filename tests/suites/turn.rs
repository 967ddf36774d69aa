//! A turn, from the message to its result.

use paird_protocol::methods::{ContextAdd, EditApply, EditList, SessionConfigure};
use paird_protocol::{
    ApplyMode, CommitMode, ContextAddParams, EditApplyParams, EditListParams, EditStatus, ErrorKind, EventBody, Mode, OnPartial, Outcome,
    SessionConfigureParams, SessionNewParams,
};
use paird_tests::{DaemonProcess, Scratch, block, line, paced};
use serde_json::json;

/// A session in the scratch repository with a model that gives these replies.
fn with_model(scratch: &Scratch, replies: &[&str], files: &[&str]) -> SessionNewParams {
    let lines: Vec<_> = replies.iter().map(|reply| line(reply)).collect();
    SessionNewParams {
        model: Some(scratch.replay(&lines)),
        files: Some(files.iter().map(|&file| file.to_owned()).collect()),
        ..SessionNewParams::default()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_turn_streams_writes_and_commits_in_this_order() {
    let scratch = Scratch::repo(&[("a.py", "x = 1\n"), ("b.py", "y = 1\n")]);
    let reply = format!("Two it is.\n\n{}", block("a.py", "x = 1", "x = 2"));
    let model = scratch.replay(&[paced(&reply, 7, 0)]);
    let daemon = DaemonProcess::start(&scratch).await;
    let client = daemon.client().await;
    let mut events = client.events().await;
    let session = client.session(&model, &["a.py"]).await;
    let turn = client.prompt(&session, "make it two").await;
    let finished = events.wait_finished(&turn).await;

    let kinds = events.kinds_of(&turn);
    let expected = ["turn.started", "reply.delta", "edit.proposed", "usage.updated", "edit.applied", "commit.created", "turn.finished"];
    assert_eq!(kinds, expected, "a block is told of when it is complete");
    let mut streamed = String::new();
    for event in &events.seen {
        if let EventBody::ReplyDelta { offset, text } = &event.body {
            assert_eq!(*offset, streamed.len());
            streamed.push_str(text);
        }
    }
    assert_eq!(streamed, reply);
    let seqs: Vec<u64> = events.seen.iter().map(|event| event.seq).collect();
    assert!(seqs.is_sorted_by(|a, b| a < b), "{seqs:?}");

    let result = client.finished(&turn).await;
    let report = &result.report;
    assert!(matches!(finished.body, EventBody::TurnFinished { report: told } if *told == *report));
    assert_eq!((report.outcome, report.stop_reason.as_deref()), (Outcome::Done, Some("stop")));
    assert_eq!((report.reply.as_str(), report.reflections.len(), report.failed.len()), (reply.as_str(), 0, 0));
    assert_eq!((report.edits.len(), report.edits[0].status), (1, EditStatus::Applied));
    assert_eq!((report.edits[0].hunks[0].start_line, report.edits[0].hunks[0].end_line), (1, 1));
    assert_eq!(report.commits.len(), 1);
    assert_eq!(report.commits[0].hash, scratch.head());
    assert_eq!(report.commits[0].paths, ["a.py"]);
    assert_eq!(scratch.read("a.py"), "x = 2\n");
    assert_eq!(scratch.status(), "");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn line_changes_of_an_event_patch_a_buffer() {
    let before = "a\nb\nc\nd\n";
    let scratch = Scratch::repo(&[("t.txt", before)]);
    let reply = block("t.txt", "b\nc", "B\nnew\nC") + &block("t.txt", "d", "");
    let daemon = DaemonProcess::start(&scratch).await;
    let client = daemon.client().await;
    let mut events = client.events().await;
    let session = client.session_with(with_model(&scratch, &[&reply], &["t.txt"])).await;
    client.turn(&session, "go").await;
    let event = events.wait_kind("edit.applied").await;
    let EventBody::EditApplied { changes, .. } = event.body else { unreachable!() };
    let mut buffer: Vec<String> = before.lines().map(str::to_owned).collect();
    for change in changes.iter().rev() {
        buffer.splice(change.start_line - 1..change.end_line, change.lines.clone());
    }
    let buffer: String = buffer.iter().map(|line| format!("{line}\n")).collect();
    assert_eq!(buffer, scratch.read("t.txt"));
    assert_eq!(buffer, "a\nB\nnew\nC\n");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_written_until_a_reflection_has_placed_every_block() {
    let scratch = Scratch::repo(&[("a.py", "x = 1\n"), ("b.py", "y = 1\n")]);
    let first = block("a.py", "x = 1", "x = 2") + &block("b.py", "y = one", "y = 2");
    let second = block("b.py", "y = 1", "y = 2");
    // The second reply comes slowly enough to look at the files meanwhile, and quickly enough not to wait for.
    let model = scratch.replay(&[line(&first), paced(&second, 8, 20)]);
    let daemon = DaemonProcess::start(&scratch).await;
    let client = daemon.client().await;
    let mut events = client.events().await;
    let session = client.session(&model, &["a.py", "b.py"]).await;
    let before = scratch.tree();
    let turn = client.prompt(&session, "make both two").await;
    events.wait_kind("edit.failed").await;
    events.wait_kind("reply.delta").await;
    assert_eq!(scratch.tree(), before);
    let result = client.finished(&turn).await.report;
    assert_eq!(result.outcome, Outcome::Done, "{result:?}");
    assert_eq!((result.reflections.len(), result.failed.len(), result.usage.requests), (1, 0, 2));
    assert_eq!(result.commits.len(), 1, "written and committed as one");
    assert_eq!(result.commits[0].paths, ["a.py", "b.py"]);
    assert_eq!(scratch.tree(), before.with("a.py", "x = 2\n").with("b.py", "y = 2\n"));
}

/// Replies that never place their second block: as many as a turn takes.
const HOPELESS: usize = 4;

fn hopeless() -> Vec<String> {
    let reply = |n: usize| block("a.py", "x = 1", "x = 2") + &block("b.py", &format!("not there {n}"), "y = 2");
    (0..HOPELESS).map(reply).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_matched_is_held_when_the_tries_are_used_up() {
    let scratch = Scratch::repo(&[("a.py", "x = 1\n"), ("b.py", "y = 1\n")]);
    let replies = hopeless();
    let replies: Vec<&str> = replies.iter().map(String::as_str).collect();
    let daemon = DaemonProcess::start(&scratch).await;
    let client = daemon.client().await;
    let session = client.session_with(with_model(&scratch, &replies, &["a.py", "b.py"])).await;
    let before = scratch.tree();
    let result = client.turn(&session, "make both two").await.report;
    assert_eq!(result.outcome, Outcome::Held, "{result:?}");
    assert_eq!((result.reflections.len(), result.usage.requests), (3, 4));
    assert_eq!((result.failed.len(), result.failed[0].reason.as_str()), (1, "no_match"));
    assert_eq!((result.edits.len(), result.edits[0].status), (1, EditStatus::Proposed));
    assert_eq!(scratch.tree(), before);
    let listed = client.call::<EditList>(EditListParams { session_id: Some(session), status: Some(EditStatus::Proposed) }).await;
    assert_eq!(listed.edits, result.edits);
}

/// A reply of which one half fits is no half commit, whatever comes after it; a person may ask for the half.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn seed_half_applied_commit() {
    let files = [("a.py", "x = 1\n"), ("b.py", "y = 1\n")];
    for on_partial in [OnPartial::Hold, OnPartial::Apply] {
        let scratch = Scratch::repo(&files);
        let (before, head) = (scratch.tree(), scratch.head());
        let replies = hopeless();
        let replies: Vec<&str> = replies.iter().map(String::as_str).collect();
        let daemon = DaemonProcess::start(&scratch).await;
        let client = daemon.client().await;
        let params = SessionNewParams { on_partial: Some(on_partial), ..with_model(&scratch, &replies, &["a.py", "b.py"]) };
        let session = client.session_with(params).await;
        let result = client.turn(&session, "make both two").await.report;
        assert_eq!((result.outcome, result.failed.len()), (Outcome::Held, 1), "never called done: {result:?}");
        if on_partial == OnPartial::Hold {
            assert_eq!((scratch.tree(), scratch.head(), result.commits.len()), (before, head, 0));
        } else {
            assert_eq!((scratch.tree(), result.commits.len()), (before.with("a.py", "x = 2\n"), 1), "as the person chose beforehand");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_read_is_never_done() {
    let cut = "a.py\n```\n<<<<<<< SEARCH\nx = ";
    for replies in [[cut, "-"], ["a.py\n```\n<<<<<<< SEARCH\nx=======\ny\n>>>>>>> REPLACE\n```\n", "I cannot."]] {
        let scratch = Scratch::repo(&[("a.py", "x = 1\n")]);
        let daemon = DaemonProcess::start(&scratch).await;
        let client = daemon.client().await;
        let session = client.session_with(with_model(&scratch, &replies, &["a.py"])).await;
        let result = client.turn(&session, "two").await.report;
        assert_eq!((result.outcome, result.edits.len()), (Outcome::Held, 0), "{result:?}");
        assert_eq!((result.failed.len(), result.failed[0].reason.as_str()), (1, "unreadable"), "{result:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reply_that_has_problems_and_no_block_is_asked_for_again() {
    let unread = "a.py\n```\n<<<<<<< SEARCH\nx = 1\n>>>>>>> REPLACE\n```\n";
    for (second, outcome, text) in
        [(block("a.py", "x = 1", "x = 2"), Outcome::Done, "x = 2\n"), ("I have done it.".to_owned(), Outcome::Held, "x = 1\n")]
    {
        let scratch = Scratch::repo(&[("a.py", "x = 1\n")]);
        let daemon = DaemonProcess::start(&scratch).await;
        let client = daemon.client().await;
        let session = client.session_with(with_model(&scratch, &[unread, &second], &["a.py"])).await;
        let result = client.turn(&session, "two").await.report;
        assert_eq!((result.outcome, result.reflections.len(), scratch.read("a.py").as_str()), (outcome, 1, text), "{result:?}");
        assert_eq!(result.failed.len(), usize::from(outcome == Outcome::Held), "{result:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_block_that_the_model_forgets_is_asked_for_again_and_then_told() {
    let scratch = Scratch::repo(&[("a.py", "x = 1\n\nclass A:\n    pass\n")]);
    let first = block("a.py", "nowhere to be found", "y = 2") + &block("a.py", "x = 1", "x = 2");
    let other = block("a.py", "class A:", "class B:");
    let daemon = DaemonProcess::start(&scratch).await;
    let client = daemon.client().await;
    let session = client.session_with(with_model(&scratch, &[&first, &other, "That is all."], &["a.py"])).await;
    let result = client.turn(&session, "change it").await.report;
    assert_eq!((result.outcome, result.failed.len(), result.reflections.len()), (Outcome::Held, 1, 2), "{result:?}");
    assert_eq!((result.failed[0].reason.as_str(), result.edits.len(), result.edits[0].hunks.len()), ("no_match", 1, 2), "{result:?}");
    assert!(scratch.read("a.py").starts_with("x = 1"), "nothing is half applied");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_matched_is_held_when_the_model_fails_over_the_rest() {
    let scratch = Scratch::repo(&[("a.py", "x = 1\n"), ("b.py", "y = 1\n")]);
    let reply = block("a.py", "x = 1", "x = 2") + &block("b.py", "not there", "y = 2");
    let model = scratch.replay(&[line(&reply), json!({"reply": "", "error": {"status": 400}})]);
    let daemon = DaemonProcess::start(&scratch).await;
    let client = daemon.client().await;
    let session = client.session(&model, &["a.py", "b.py"]).await;
    let before = scratch.tree();
    let result = client.turn(&session, "make both two").await.report;
    assert_eq!((result.outcome, result.error.as_ref().map(|e| e.kind)), (Outcome::Held, Some(ErrorKind::Provider)), "{result:?}");
    assert_eq!((result.failed.len(), result.edits.len(), result.edits[0].status), (1, 1, EditStatus::Proposed));
    assert_eq!(scratch.tree(), before);
    let applied = client.call::<EditApply>(EditApplyParams { edit_ids: vec![result.edits[0].edit_id.clone()] }).await;
    assert_eq!((applied.applied.len(), scratch.read("a.py").as_str()), (1, "x = 2\n"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_matched_is_written_where_the_policy_says_so() {
    let scratch = Scratch::repo(&[("a.py", "x = 1\n"), ("b.py", "y = 1\n")]);
    let replies = hopeless();
    let replies: Vec<&str> = replies.iter().map(String::as_str).collect();
    let daemon = DaemonProcess::start(&scratch).await;
    let client = daemon.client().await;
    let params = SessionNewParams { on_partial: Some(OnPartial::Apply), ..with_model(&scratch, &replies, &["a.py", "b.py"]) };
    let session = client.session_with(params).await;
    let result = client.turn(&session, "make both two").await.report;
    assert_eq!(result.outcome, Outcome::Held, "one block is still without a place: {result:?}");
    assert_eq!((result.edits.len(), result.edits[0].status, result.commits.len()), (1, EditStatus::Applied, 1));
    assert_eq!((scratch.read("a.py"), scratch.read("b.py")), ("x = 2\n".to_owned(), "y = 1\n".to_owned()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn review_keeps_and_dry_forgets() {
    let scratch = Scratch::repo(&[("a.py", "x = 1\n")]);
    let reply = block("a.py", "x = 1", "x = 2");
    let daemon = DaemonProcess::start(&scratch).await;
    let client = daemon.client().await;
    let before = scratch.tree();
    for (mode, outcome, kept) in [(ApplyMode::Review, Outcome::Held, 1), (ApplyMode::Dry, Outcome::Done, 0)] {
        let params = SessionNewParams { apply_mode: Some(mode), ..with_model(&scratch, &[&reply], &["a.py"]) };
        let session = client.session_with(params).await;
        let result = client.turn(&session, "two").await.report;
        assert_eq!((result.outcome, result.edits.len(), result.edits[0].status), (outcome, 1, EditStatus::Proposed), "{mode:?}");
        let listed = client.call::<EditList>(EditListParams { session_id: Some(session), status: None }).await;
        assert_eq!(listed.edits.len(), kept, "{mode:?}");
        assert_eq!(scratch.tree(), before, "{mode:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ask_never_writes_and_none_never_commits() {
    let scratch = Scratch::repo(&[("a.py", "x = 1\n")]);
    let reply = block("a.py", "x = 1", "x = 2");
    let daemon = DaemonProcess::start(&scratch).await;
    let client = daemon.client().await;
    let head = scratch.head();
    let params = SessionNewParams { mode: Some(Mode::Ask), ..with_model(&scratch, &[&reply, &reply], &["a.py"]) };
    let session = client.session_with(params).await;
    let result = client.turn(&session, "what would you do?").await.report;
    assert_eq!((result.outcome, result.edits.len(), result.reply), (Outcome::Done, 0, reply.clone()));
    assert_eq!(scratch.read("a.py"), "x = 1\n");

    client
        .call::<SessionConfigure>(SessionConfigureParams {
            session_id: session.clone(),
            mode: Some(Mode::Code),
            commit_mode: Some(CommitMode::None),
            ..SessionConfigureParams::default()
        })
        .await;
    let result = client.turn(&session, "do it").await.report;
    assert_eq!((result.outcome, result.commits.len()), (Outcome::Done, 0));
    assert_eq!((scratch.read("a.py"), scratch.head()), ("x = 2\n".to_owned(), head));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn read_only_files_are_never_edited() {
    let scratch = Scratch::repo(&[("a.py", "x = 1\n")]);
    let replies = [block("a.py", "x = 1", "x = 2"), "I leave it then.".to_owned()];
    let daemon = DaemonProcess::start(&scratch).await;
    let client = daemon.client().await;
    let session = client.session_with(with_model(&scratch, &[&replies[0], &replies[1]], &[])).await;
    let params = ContextAddParams { session_id: session.clone(), paths: vec!["a.py".to_owned()], read_only: true };
    client.call::<ContextAdd>(params).await;
    let result = client.turn(&session, "two").await.report;
    assert_eq!((result.outcome, result.edits.len()), (Outcome::Held, 0), "{result:?}");
    assert_eq!((result.failed.len(), result.failed[0].reason.as_str()), (1, "ignored"));
    assert_eq!(scratch.read("a.py"), "x = 1\n");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_turn_in_a_plain_directory_writes_and_can_be_taken_back() {
    let scratch = Scratch::plain(&[("a.txt", "one\n")]);
    let daemon = DaemonProcess::start(&scratch).await;
    let client = daemon.client().await;
    let before = scratch.tree();
    let session = client.session_with(with_model(&scratch, &[&block("a.txt", "one", "two")], &["a.txt"])).await;
    let result = client.turn(&session, "two").await;
    assert_eq!((result.report.outcome, result.report.commits.len()), (Outcome::Done, 0));
    assert_eq!(scratch.tree(), before.clone().with("a.txt", "two\n"));
    let undo = json!({"turnId": result.turn_id});
    client.raw("edit/undo", undo).await.unwrap();
    assert_eq!(scratch.tree(), before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_provider_that_refuses_fails_the_turn_with_a_kind() {
    let scratch = Scratch::repo(&[("a.py", "x = 1\n")]);
    let daemon = DaemonProcess::start(&scratch).await;
    let client = daemon.client().await;
    let refusal = |status: u16| scratch.replay(&[json!({"error": {"status": status}})]);
    for (model, kind) in [
        (Some(refusal(401)), ErrorKind::Provider),
        (Some(refusal(429)), ErrorKind::RateLimited),
        (Some(refusal(500)), ErrorKind::Provider),
        (Some(scratch.replay(&[])), ErrorKind::Provider),
        (Some("replay:not/there.jsonl".to_owned()), ErrorKind::Provider),
        (Some("openai/gpt-x".to_owned()), ErrorKind::Config),
        (None, ErrorKind::Config),
    ] {
        let session = client.session_with(SessionNewParams { model: model.clone(), ..SessionNewParams::default() }).await;
        let result = client.turn(&session, "hello").await.report;
        assert_eq!(result.outcome, Outcome::Failed, "{model:?}");
        let error = result.error.unwrap();
        assert_eq!(error.kind, kind, "{model:?}: {}", error.message);
        assert!(error.hint.is_some_and(|hint| !hint.is_empty()), "{model:?}: {}", error.message);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refusal_is_retried_before_the_first_word() {
    let scratch = Scratch::repo(&[("a.py", "x = 1\n")]);
    let refused = json!({"error": {"status": 503}});
    let model = scratch.replay(&[refused.clone(), refused, line("hello")]);
    let daemon = DaemonProcess::start(&scratch).await;
    let client = daemon.client().await;
    let mut events = client.events().await;
    let session = client.session(&model, &[]).await;
    let turn = client.prompt(&session, "hello").await;
    events.wait_finished(&turn).await;
    let result = client.finished(&turn).await.report;
    assert_eq!((result.outcome, result.reply.as_str()), (Outcome::Done, "hello"));
    let told =
        |event: &paird_protocol::Event| matches!(&event.body, EventBody::TurnState { detail: Some(why), .. } if why.contains("again"));
    assert_eq!(events.seen.iter().filter(|event| told(event)).count(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_save_while_the_model_thinks_is_kept() {
    let scratch = Scratch::repo(&[("a.py", "x = 1\ny = 1\n")]);
    let model = scratch.replay(&[paced(&block("a.py", "x = 1", "x = 2"), 8, 10)]);
    let daemon = DaemonProcess::start(&scratch).await;
    let client = daemon.client().await;
    let mut events = client.events().await;
    let session = client.session(&model, &["a.py"]).await;
    let turn = client.prompt(&session, "two").await;
    events.wait_kind("reply.delta").await;
    scratch.write("a.py", "x = 1\ny = 1\nz = mine\n");
    let result = client.finished(&turn).await.report;
    assert_eq!(result.outcome, Outcome::Done);
    assert_eq!(scratch.read("a.py"), "x = 2\ny = 1\nz = mine\n");
    assert_eq!(scratch.git(&["show", "HEAD:a.py"]), "x = 2\ny = 1\n", "only the daemon's own lines are committed");
}
