//! kill -9 and a new start: everything that a client was told is there, under the same ids.

use paird_protocol::methods::{
    ContextAdd, EditGet, EditList, QuestionAnswer, QuestionList, SessionConfigure, SessionList, SessionPrompt, SessionRead,
};
use paird_protocol::{
    ApplyMode, ContextAddParams, EditGetParams, EditListParams, EditStatus, ErrorKind, Outcome, PromptParams, QuestionAnswerParams,
    QuestionListParams, SessionConfigureParams, SessionParams, SessionReadResult, TurnState,
};
use paird_tests::fake_provider::{FakeProvider, Step};
use paird_tests::{Client, DaemonProcess, Scratch, block, create, line, paced};
use serde_json::json;

/// A session as it is read, without what is of the daemon's one life.
async fn state(client: &Client, session: &str) -> SessionReadResult {
    SessionReadResult { seq: 0, epoch: String::new(), ..client.read(session).await }
}

async fn kill_and_restart(daemon: &mut DaemonProcess) {
    daemon.kill9().await;
    daemon.restart().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_is_as_it_was() {
    let scratch = Scratch::repo(&[("a.py", "x = 1\n"), ("b.py", "y = 1\n")]);
    let model = scratch.replay(&[line(&block("a.py", "x = 1", "x = 2")), line(&block("a.py", "x = 2", "x = 3")), line("third")]);
    let mut daemon = DaemonProcess::start(&scratch).await;
    let client = daemon.client().await;
    let session = client.session(&model, &["a.py"]).await;
    client.turn(&session, "two").await;
    let review = SessionConfigureParams { session_id: session.clone(), apply_mode: Some(ApplyMode::Review), ..Default::default() };
    client.call::<SessionConfigure>(review).await;
    let held = client.turn(&session, "three").await.report;
    let params = ContextAddParams { session_id: session.clone(), paths: vec!["b.py".to_owned()], read_only: true };
    client.call::<ContextAdd>(params).await;
    let before = state(&client, &session).await;
    let proposal = EditGetParams { edit_id: held.edits[0].edit_id.clone() };
    let shown = client.call::<EditGet>(proposal.clone()).await;
    kill_and_restart(&mut daemon).await;
    let client = daemon.client().await;
    assert_eq!(state(&client, &session).await, before);
    let listed = client.call::<SessionList>(Default::default()).await.sessions;
    assert_eq!(listed, [before.session]);
    assert_eq!(client.call::<EditGet>(proposal).await, shown);
    // The replay goes on where it stood, with the history, and a proposal can still be applied, and undone.
    assert_eq!(client.turn(&session, "and?").await.report.reply, "third");
    client.raw("edit/apply", json!({"editIds": [held.edits[0].edit_id]})).await.unwrap();
    assert_eq!(scratch.read("a.py"), "x = 3\n");
    client.raw("edit/undo", json!({"sessionId": session})).await.unwrap();
    assert_eq!((scratch.read("a.py").as_str(), scratch.status().as_str()), ("x = 1\n", ""));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_waits_for_its_answer() {
    for (option, x, y) in [("yes", "x = 2\n", true), ("no", "x = 2\n", false)] {
        let scratch = Scratch::repo(&[("a.py", "x = 1\n")]);
        let model = scratch.replay(&[line(&(create("new.py", "y = 1") + &block("a.py", "x = 1", "x = 2")))]);
        let mut daemon = DaemonProcess::start(&scratch).await;
        let client = daemon.able_client().await;
        let mut events = client.events().await;
        let session = client.session(&model, &["a.py"]).await;
        let turn = client.prompt(&session, "go").await;
        let question = events.wait_question().await;
        let (before, tree) = (state(&client, &session).await, scratch.tree());
        assert_eq!(before.questions, std::slice::from_ref(&question));
        kill_and_restart(&mut daemon).await;
        let client = daemon.able_client().await;
        assert_eq!(state(&client, &session).await, before);
        assert_eq!(client.call::<QuestionList>(QuestionListParams::default()).await.questions, before.questions);
        assert_eq!(scratch.tree(), tree);
        client.answer(&question, option).await;
        let result = client.finished(&turn).await.report;
        assert_eq!(result.outcome, Outcome::Done, "{option}: {result:?}");
        assert_eq!((scratch.read("a.py").as_str(), scratch.path("new.py").exists()), (x, y), "{option}");
        assert_eq!(result.commits.len(), 1);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_held_part_is_decided_after_a_restart() {
    for (option, x, status) in
        [("hold", "x = 1\n", EditStatus::Proposed), ("apply", "x = 2\n", EditStatus::Applied), ("discard", "x = 1\n", EditStatus::Rejected)]
    {
        let scratch = Scratch::repo(&[("a.py", "x = 1\n"), ("b.py", "y = 1\n")]);
        let reply = block("a.py", "x = 1", "x = 2") + &block("b.py", "not there", "y = 2");
        let model = scratch.replay(&[line(&reply), line("I cannot.")]);
        let mut daemon = DaemonProcess::start(&scratch).await;
        let client = daemon.able_client().await;
        let mut events = client.events().await;
        let session = client.session(&model, &["a.py", "b.py"]).await;
        let turn = client.prompt(&session, "go").await;
        let question = events.wait_question().await;
        let before = state(&client, &session).await;
        kill_and_restart(&mut daemon).await;
        let client = daemon.able_client().await;
        assert_eq!(state(&client, &session).await, before, "{option}");
        client.answer(&question, option).await;
        let result = client.finished(&turn).await.report;
        assert_eq!((result.outcome, scratch.read("a.py").as_str()), (Outcome::Held, x), "{option}");
        assert_eq!((result.edits.len(), result.edits[0].status), (1, status), "{option}");
        assert_eq!(result.reply, "I cannot.", "{option}: the report says as much as without the restart");
        assert_eq!(client.read(&session).await.edits[0].status, status, "{option}");
        client
            .fails::<QuestionAnswer>(
                QuestionAnswerParams { question_id: question.question_id, option_id: option.to_owned() },
                ErrorKind::NotFound,
            )
            .await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_turn_that_streamed_is_ended_and_the_queue_goes_on() {
    let scratch = Scratch::repo(&[("a.py", "x = 1\n")]);
    let model = scratch.replay(&[paced(&block("a.py", "x = 1", "x = wrong").repeat(50), 10, 50), line(&block("a.py", "x = 1", "x = 2"))]);
    let mut daemon = DaemonProcess::start(&scratch).await;
    let client = daemon.client().await;
    let mut events = client.events().await;
    let session = client.session(&model, &["a.py"]).await;
    let streaming = client.prompt(&session, "one").await;
    events.wait_kind("reply.delta").await;
    let queued = client.prompt(&session, "two").await;
    kill_and_restart(&mut daemon).await;
    let client = daemon.client().await;
    let interrupted = client.finished(&streaming).await.report;
    let error = interrupted.error.unwrap();
    assert_eq!((interrupted.outcome, error.retryable), (Outcome::Failed, true), "{}", error.message);
    assert!(error.hint.is_some());
    let second = client.finished(&queued).await.report;
    // Whether the first line counts as used depends on the moment; a whole reply is what is placed in any case.
    assert_eq!(second.outcome, Outcome::Done, "{second:?}");
    assert_eq!(second.edits.len(), 1);
    assert_eq!(scratch.status(), "");
    let read = client.read(&session).await;
    assert!(read.turns.iter().all(|turn| turn.state == TurnState::Finished));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_restart_without_a_client_asks_no_model_for_an_interrupted_turn() {
    let scratch = Scratch::repo(&[("a.py", "x = 1\n")]);
    let provider = FakeProvider::start([Step::Stall(vec![])]).await;
    let mut daemon = DaemonProcess::start(&scratch).await;
    let client = daemon.client().await;
    client.initialize(false, &[("OPENAI_API_BASE", provider.base_url())]).await;
    let session = client.session("openai/slow", &["a.py"]).await;
    let turn = client.prompt(&session, "one").await;
    provider.wait_requests(1).await;
    kill_and_restart(&mut daemon).await;
    let client = daemon.client().await;
    assert_eq!(client.finished(&turn).await.report.outcome, Outcome::Failed);
    assert_eq!(provider.requests().len(), 1);
    provider.finish();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_torn_log_costs_its_last_entry_alone() {
    let scratch = Scratch::repo(&[("a.py", "x = 1\n")]);
    let model = scratch.replay(&[line("one")]);
    let mut daemon = DaemonProcess::start(&scratch).await;
    let client = daemon.client().await;
    let session = client.session(&model, &["a.py"]).await;
    client.turn(&session, "hello").await;
    let before = state(&client, &session).await;
    daemon.kill9().await;
    let logs = scratch.files_holding("\"hello\"");
    let log = logs.iter().find(|path| path.ends_with(format!("{session}.jsonl"))).unwrap_or_else(|| panic!("{logs:?}"));
    let mut text = std::fs::read_to_string(log).unwrap();
    text.push_str("{\"v\":1,\"at\":1,\"entry\":{\"Conf");
    std::fs::write(log, text).unwrap();
    daemon.restart().await;
    let client = daemon.client().await;
    assert_eq!(state(&client, &session).await, before);
    // And what is said from here on is kept again.
    client
        .call::<SessionConfigure>(SessionConfigureParams {
            session_id: session.clone(),
            apply_mode: Some(ApplyMode::Dry),
            ..Default::default()
        })
        .await;
    kill_and_restart(&mut daemon).await;
    assert_eq!(daemon.client().await.read(&session).await.settings.apply_mode, ApplyMode::Dry);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn deleted_and_closed_sessions_stay_so() {
    let scratch = Scratch::repo(&[("a.py", "x = 1\n")]);
    let model = scratch.replay(&[line("one")]);
    let mut daemon = DaemonProcess::start(&scratch).await;
    let client = daemon.client().await;
    let (gone, closed) = (client.session(&model, &[]).await, client.session(&model, &[]).await);
    client.raw("session/delete", json!({"sessionId": gone})).await.unwrap();
    client.raw("session/close", json!({"sessionId": closed})).await.unwrap();
    kill_and_restart(&mut daemon).await;
    let client = daemon.client().await;
    client.fails::<SessionRead>(SessionParams { session_id: gone }, ErrorKind::NotFound).await;
    assert!(client.read(&closed).await.session.closed);
    // A prompt opens it again.
    let params = PromptParams { session_id: closed.clone(), text: "hello".to_owned(), selection: None, interrupt: false };
    let turn = client.call::<SessionPrompt>(params).await.turn_id;
    assert_eq!(client.finished(&turn).await.report.reply, "one");
    assert!(!client.read(&closed).await.session.closed);
    assert!(client.call::<EditList>(EditListParams { session_id: Some(closed), status: None }).await.edits.is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_prompt_behind_an_old_question_that_nobody_can_answer_has_its_turn() {
    // For each question what the policy does with it: a new file is made, a file outside the chat is left.
    for (reply, outcome, made) in
        [(create("new.py", "y = 1"), Outcome::Done, true), (block("other.py", "z = 1", "z = 2"), Outcome::Held, false)]
    {
        let scratch = Scratch::repo(&[("a.py", "x = 1\n"), ("other.py", "z = 1\n")]);
        let model = scratch.replay(&[line(&reply), line("hello")]);
        let mut daemon = DaemonProcess::start(&scratch).await;
        let client = daemon.able_client().await;
        let mut events = client.events().await;
        let session = client.session(&model, &["a.py"]).await;
        let turn = client.prompt(&session, "go").await;
        events.wait_question().await;
        kill_and_restart(&mut daemon).await;
        let client = daemon.client().await;
        let next = client.turn(&session, "hello?").await.report;
        assert_eq!((next.outcome, next.reply.as_str()), (Outcome::Done, "hello"), "{next:?}");
        let first = client.finished(&turn).await.report;
        assert_eq!((first.outcome, scratch.path("new.py").exists()), (outcome, made), "{first:?}");
        assert_eq!(scratch.read("other.py"), "z = 1\n");
        let kept: Vec<EditStatus> = client.read(&session).await.edits.iter().map(|edit| edit.status).collect();
        assert_eq!(kept, [if made { EditStatus::Applied } else { EditStatus::Proposed }]);
    }
}
