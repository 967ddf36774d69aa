//! Cancelling, interrupting, and prompts that wait behind a running turn.

use paird_protocol::methods::{SessionCancel, SessionPrompt};
use paird_protocol::{CancelParams, ErrorKind, Outcome, PromptParams, TurnState};
use paird_tests::fake_provider::{FakeProvider, Step, delta_event};
use paird_tests::{DaemonProcess, Scratch, Wire, block, line, paced};
use serde_json::json;

/// A reply that would take minutes.
fn endless() -> serde_json::Value {
    paced(&"and so on ".repeat(1000), 10, 200)
}

fn prompt(session: &str, text: &str, interrupt: bool) -> PromptParams {
    PromptParams { session_id: session.to_owned(), text: text.to_owned(), selection: None, interrupt }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancelled_turn_ends_at_once_and_keeps_what_was_said() {
    let scratch = Scratch::repo(&[("a.py", "x = 1\n")]);
    let reply = format!("{}{}", block("a.py", "x = 1", "x = 2"), "and so on ".repeat(1000));
    let model = scratch.replay(&[paced(&reply, 10, 50), line("hello")]);
    let daemon = DaemonProcess::start(&scratch).await;
    let client = daemon.client().await;
    let mut events = client.events().await;
    let session = client.session(&model, &["a.py"]).await;
    let turn = client.prompt(&session, "go").await;
    events.wait_kind("reply.delta").await;
    let cancelled = client.call::<SessionCancel>(CancelParams { session_id: session.clone(), turn_id: None }).await;
    assert_eq!(cancelled.cancelled, std::slice::from_ref(&turn));
    let result = client.finished(&turn).await.report;
    assert_eq!(result.outcome, Outcome::Cancelled);
    assert!(!result.reply.is_empty() && reply.starts_with(&result.reply), "{}", result.reply);
    assert_eq!(scratch.read("a.py"), "x = 1\n");
    // The session goes on.
    assert_eq!(client.turn(&session, "and now?").await.report.reply, "hello");
    // Nothing runs, so there is nothing to cancel.
    let again = client.call::<SessionCancel>(CancelParams { session_id: session, turn_id: None }).await;
    assert!(again.cancelled.is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancel_closes_the_stream_of_a_provider_that_says_nothing_more() {
    let scratch = Scratch::repo(&[("a.py", "x = 1\n")]);
    let provider = FakeProvider::start([Step::Stall(vec![delta_event("well")])]).await;
    let daemon = DaemonProcess::start(&scratch).await;
    let client = daemon.client().await;
    client.initialize(false, &[("OPENAI_API_BASE", provider.base_url())]).await;
    let mut events = client.events().await;
    let session = client.session("openai/slow", &["a.py"]).await;
    let turn = client.prompt(&session, "go").await;
    events.wait_kind("reply.delta").await;
    client.call::<SessionCancel>(CancelParams { session_id: session, turn_id: None }).await;
    provider.wait_closed_early(1).await;
    let result = client.finished(&turn).await.report;
    assert_eq!((result.outcome, result.reply.as_str()), (Outcome::Cancelled, "well"));
    provider.finish();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn prompts_wait_their_turn() {
    let scratch = Scratch::repo(&[("a.py", "x = 1\n")]);
    let model = scratch.replay(&[
        paced(&block("a.py", "x = 1", "x = 2"), 10, 10),
        line(&block("a.py", "x = 2", "x = 3")),
        line(&block("a.py", "x = 3", "x = 4")),
    ]);
    let daemon = DaemonProcess::start(&scratch).await;
    let client = daemon.client().await;
    let mut events = client.events().await;
    let session = client.session(&model, &["a.py"]).await;
    let mut turns = Vec::new();
    for (text, state) in [("one", TurnState::Running), ("two", TurnState::Queued), ("three", TurnState::Queued)] {
        let queued = client.call::<SessionPrompt>(prompt(&session, text, false)).await;
        assert_eq!(queued.state, state, "{text}");
        turns.push(queued.turn_id);
    }
    events.wait_finished(&turns[2]).await;
    let marks: Vec<(&str, &str)> = events
        .seen
        .iter()
        .filter(|event| matches!(event.body.kind(), "turn.started" | "turn.finished"))
        .map(|event| (event.turn_id.as_deref().unwrap(), event.body.kind()))
        .collect();
    let expected: Vec<(&str, &str)> =
        turns.iter().flat_map(|turn| [(turn.as_str(), "turn.started"), (turn.as_str(), "turn.finished")]).collect();
    assert_eq!(marks, expected);
    assert_eq!(scratch.read("a.py"), "x = 4\n");
    assert_eq!(scratch.git(&["rev-list", "--count", "HEAD"]).trim(), "4");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancel_drops_what_is_queued() {
    let scratch = Scratch::repo(&[("a.py", "x = 1\n")]);
    let model = scratch.replay(&[endless(), line("never said")]);
    let daemon = DaemonProcess::start(&scratch).await;
    let client = daemon.client().await;
    let session = client.session(&model, &[]).await;
    let (first, second) = (client.prompt(&session, "one").await, client.prompt(&session, "two").await);
    let cancelled = client.call::<SessionCancel>(CancelParams { session_id: session.clone(), turn_id: None }).await;
    assert_eq!(cancelled.cancelled, [first.clone(), second.clone()]);
    for turn in [&first, &second] {
        assert_eq!(client.finished(turn).await.report.outcome, Outcome::Cancelled);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_turn_is_cancelled_alone() {
    let scratch = Scratch::repo(&[("a.py", "x = 1\n")]);
    let model = scratch.replay(&[endless(), line(&block("a.py", "x = 1", "x = 2"))]);
    let daemon = DaemonProcess::start(&scratch).await;
    let client = daemon.client().await;
    let mut events = client.events().await;
    let session = client.session(&model, &["a.py"]).await;
    let (first, second, third) =
        (client.prompt(&session, "one").await, client.prompt(&session, "two").await, client.prompt(&session, "three").await);
    events.wait_kind("reply.delta").await;
    let cancel = |turn: &str| CancelParams { session_id: session.clone(), turn_id: Some(turn.to_owned()) };
    assert_eq!(client.call::<SessionCancel>(cancel(&second)).await.cancelled, std::slice::from_ref(&second));
    assert_eq!(client.finished(&second).await.report.outcome, Outcome::Cancelled);
    let states: Vec<TurnState> = client.read(&session).await.turns.iter().map(|turn| turn.state).collect();
    assert_eq!(states, [TurnState::Running, TurnState::Finished, TurnState::Queued]);
    assert_eq!(client.call::<SessionCancel>(cancel(&first)).await.cancelled, std::slice::from_ref(&first));
    assert_eq!(client.finished(&first).await.report.outcome, Outcome::Cancelled);
    assert_eq!(client.finished(&third).await.report.outcome, Outcome::Done);
    assert_eq!(scratch.read("a.py"), "x = 2\n");
    assert!(client.call::<SessionCancel>(cancel(&third)).await.cancelled.is_empty(), "it has ended already");
    client.fails::<SessionCancel>(cancel("t0"), ErrorKind::NotFound).await;
    events.wait_finished(&third).await;
    assert_eq!(events.kinds_of(&second), ["turn.finished"], "it never started");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_interrupt_takes_the_place_of_what_runs() {
    let scratch = Scratch::repo(&[("a.py", "x = 1\n")]);
    let model = scratch.replay(&[endless(), line(&block("a.py", "x = 1", "x = 2"))]);
    let daemon = DaemonProcess::start(&scratch).await;
    let client = daemon.client().await;
    let mut events = client.events().await;
    let session = client.session(&model, &["a.py"]).await;
    let first = client.prompt(&session, "one").await;
    events.wait_kind("reply.delta").await;
    let second = client.call::<SessionPrompt>(prompt(&session, "two", true)).await.turn_id;
    assert_eq!(client.finished(&first).await.report.outcome, Outcome::Cancelled);
    assert_eq!(client.finished(&second).await.report.outcome, Outcome::Done);
    assert_eq!(scratch.read("a.py"), "x = 2\n");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_queue_of_prompts_is_bounded() {
    let scratch = Scratch::repo(&[("a.py", "x = 1\n")]);
    let model = scratch.replay(&[endless()]);
    let daemon = DaemonProcess::start(&scratch).await;
    let client = daemon.client().await;
    let session = client.session(&model, &[]).await;
    for _ in 0..=paird_base::limits::PROMPTS_QUEUED_MAX {
        client.prompt(&session, "more").await;
    }
    let error = client.fails::<SessionPrompt>(prompt(&session, "too much", false), ErrorKind::Overloaded).await;
    assert!(error.data.retryable);
    client.call::<SessionCancel>(CancelParams { session_id: session, turn_id: None }).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cancelling_a_call_ends_the_wait_and_not_the_turn() {
    let scratch = Scratch::repo(&[("a.py", "x = 1\n")]);
    let model = scratch.replay(&[endless()]);
    let daemon = DaemonProcess::start(&scratch).await;
    let mut wire = Wire::connect(daemon.socket()).await;
    let client = daemon.client().await;
    let session = client.session(&model, &[]).await;
    let turn = client.prompt(&session, "go").await;
    wire.send(&json!({"jsonrpc": "2.0", "id": 7, "method": "session/wait", "params": {"turnId": turn, "timeoutMs": 60_000}})).await;
    wire.send(&json!({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": 7}})).await;
    let answer = wire.receive().await;
    assert_eq!((&answer["id"], &answer["result"]["outcome"]), (&json!(7), &json!("cancelled")));
    let read = client.read(&session).await;
    assert_eq!(read.turns[0].state, TurnState::Running);
}
