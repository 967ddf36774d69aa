//! Events: order, coming back, filters, many listeners, and one that does not read.

use std::time::Duration;

use paird_base::limits::EVENTS_QUEUED_MAX;
use paird_protocol::methods::{ContextAdd, ContextDrop, EventsUnsubscribe};
use paird_protocol::{ContextAddParams, ContextDropParams, ErrorKind, EventBody, SubscribeParams, UnsubscribeParams};
use paird_tests::{Client, DaemonProcess, Scratch, Wire, block, line};
use serde_json::json;

/// Makes two events: a file joins the chat and leaves it.
async fn stir(client: &Client, session: &str) {
    client.call::<ContextAdd>(ContextAddParams { session_id: session.to_owned(), paths: vec!["a.py".to_owned()], read_only: false }).await;
    client.call::<ContextDrop>(ContextDropParams { session_id: session.to_owned(), paths: None }).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_comes_back_gets_what_was_missed() {
    let scratch = Scratch::repo(&[("a.py", "x = 1\n")]);
    let model = scratch.replay(&[line("one"), line(&block("a.py", "x = 1", "x = 2"))]);
    let daemon = DaemonProcess::start(&scratch).await;
    let client = daemon.client().await;
    let session = client.session(&model, &["a.py"]).await;
    let first = daemon.client().await;
    let (subscribed, mut events) = first.subscribe(SubscribeParams::default()).await;
    let turn = client.prompt(&session, "one").await;
    let last = events.wait_finished(&turn).await;
    assert!(events.seen.iter().all(|event| event.seq > subscribed.seq));
    drop((first, events));

    let missed = client.turn(&session, "two").await.turn_id;
    let since = SubscribeParams { since_seq: Some(last.seq), epoch: Some(last.epoch.clone()), ..SubscribeParams::default() };
    let back = daemon.client().await;
    let (subscribed, mut events) = back.subscribe(since).await;
    assert!(!subscribed.gap);
    assert_eq!(subscribed.epoch, last.epoch);
    events.wait_finished(&missed).await;
    // Deltas are not kept: session/read has the text.
    assert_eq!(events.kinds_of(&missed), ["turn.started", "usage.updated", "edit.applied", "commit.created", "turn.finished"]);
    assert!(events.seen.iter().all(|event| event.seq > last.seq && event.seq <= subscribed.seq));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn numbers_of_another_life_are_a_gap() {
    let scratch = Scratch::repo(&[("a.py", "x = 1\n")]);
    let mut daemon = DaemonProcess::start(&scratch).await;
    let client = daemon.client().await;
    let (before, _) = client.subscribe(SubscribeParams::default()).await;
    drop(client);
    daemon.terminate().await;
    daemon.restart().await;
    let client = daemon.client().await;
    let since = SubscribeParams { since_seq: Some(before.seq), epoch: Some(before.epoch.clone()), ..SubscribeParams::default() };
    let (now, mut events) = client.subscribe(since).await;
    assert!(now.gap);
    assert_ne!(now.epoch, before.epoch);
    let session = client.session("replay:unused", &[]).await;
    stir(&client, &session).await;
    assert_eq!(events.next().await.unwrap().epoch, now.epoch);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn filters_by_kind_and_session() {
    let scratch = Scratch::repo(&[("a.py", "x = 1\n")]);
    let daemon = DaemonProcess::start(&scratch).await;
    let client = daemon.client().await;
    let model = scratch.replay(&[line("one")]);
    let (mine, other) = (client.session(&model, &[]).await, client.session(&model, &[]).await);
    let listener = daemon.client().await;
    let kinds = Some(vec!["turn.".to_owned(), "context.changed".to_owned()]);
    let params = SubscribeParams { session_id: Some(mine.clone()), kinds, ..SubscribeParams::default() };
    let (_, mut events) = listener.subscribe(params).await;
    stir(&client, &other).await;
    client.turn(&other, "hello").await;
    stir(&client, &mine).await;
    let turn = client.prompt(&mine, "hello").await;
    events.wait_finished(&turn).await;
    assert_eq!(events.kinds(), ["context.changed", "context.changed", "turn.started", "turn.finished"]);
    assert!(events.seen.iter().all(|event| event.session_id.as_deref() == Some(mine.as_str())));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_could_never_come_is_refused() {
    let scratch = Scratch::plain(&[]);
    let daemon = DaemonProcess::start(&scratch).await;
    let client = daemon.client().await;
    for (params, kind, says) in [
        (json!({"kinds": ["turn.", "turn.finnished"]}), ErrorKind::InvalidParams, "turn.finnished"),
        (json!({"kinds": ["turn"]}), ErrorKind::InvalidParams, "\"turn\""),
        (json!({"kinds": ["nothing."]}), ErrorKind::InvalidParams, "nothing."),
        (json!({"kinds": []}), ErrorKind::InvalidParams, "empty"),
        (json!({"sessionId": "s0"}), ErrorKind::NotFound, "s0"),
    ] {
        let error = client.raw("events/subscribe", params.clone()).await.expect_err(says);
        assert_eq!((error.data.kind, error.message.contains(says)), (kind, true), "{params}: {}", error.message);
        assert!(error.data.hint.is_some(), "{params}");
    }
    for kind in EventBody::KINDS {
        client.raw("events/subscribe", json!({"kinds": [kind]})).await.unwrap();
    }
    // Numbers that are yet to come were heard of in another life.
    let now = client.raw("events/subscribe", json!({})).await.unwrap()["seq"].as_u64().unwrap();
    for (since, gap) in [(now, false), (now + 1, true), (u64::MAX, true)] {
        assert_eq!(client.raw("events/subscribe", json!({"sinceSeq": since})).await.unwrap()["gap"], gap, "{since}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_snapshot_says_which_events_are_in_it() {
    let scratch = Scratch::repo(&[("a.py", "x = 1\n")]);
    let daemon = DaemonProcess::start(&scratch).await;
    let client = daemon.client().await;
    let session = client.session("replay:unused", &[]).await;
    let mut events = client.events().await;
    let added =
        client.call::<ContextAdd>(ContextAddParams { session_id: session.clone(), paths: vec!["a.py".to_owned()], read_only: false }).await;
    let event = events.wait_kind("context.changed").await;
    assert_eq!(added.seq, event.seq);
    let read = client.read(&session).await;
    assert_eq!((read.seq, read.files.len(), read.epoch), (event.seq, 1, event.epoch));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_ended_subscription_is_silent_and_the_bound_holds() {
    let scratch = Scratch::plain(&[("a.py", "x = 1\n")]);
    let daemon = DaemonProcess::start(&scratch).await;
    let client = daemon.client().await;
    let session = client.session("replay:unused", &[]).await;
    let (subscribed, mut events) = client.subscribe(SubscribeParams::default()).await;
    let params = UnsubscribeParams { subscription_id: subscribed.subscription_id };
    client.call::<EventsUnsubscribe>(params.clone()).await;
    client.fails::<EventsUnsubscribe>(params, ErrorKind::NotFound).await;
    stir(&client, &session).await;
    // The answer to a later call comes behind everything that was sent before it.
    client.read(&session).await;
    assert!(events.within(Duration::from_millis(1)).await.is_none());
    for _ in 0..paird_base::limits::SUBSCRIPTIONS_PER_CONNECTION_MAX {
        client.raw("events/subscribe", json!({})).await.unwrap();
    }
    let error = client.raw("events/subscribe", json!({})).await.unwrap_err();
    assert_eq!(error.data.kind, ErrorKind::Overloaded);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_listeners_hear_the_same() {
    let scratch = Scratch::repo(&[("a.py", "x = 1\n")]);
    let model = scratch.replay(&[paird_tests::paced(&"word ".repeat(50), 5, 0)]);
    let daemon = DaemonProcess::start(&scratch).await;
    let client = daemon.client().await;
    let session = client.session(&model, &[]).await;
    let mut listeners = Vec::new();
    for _ in 0..50 {
        let listener = daemon.client().await;
        let events = listener.events().await;
        listeners.push((listener, events));
    }
    let turn = client.prompt(&session, "hello").await;
    let mut heard = Vec::new();
    for (_, events) in &mut listeners {
        events.wait_finished(&turn).await;
        heard.push(events.seen.iter().map(|event| (event.seq, event.body.clone())).collect::<Vec<_>>());
    }
    assert!(heard[0].len() > 50);
    assert!(heard.iter().all(|one| *one == heard[0]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_never_reads_is_cut_off_alone() {
    let scratch = Scratch::repo(&[("a.py", "x = 1\n")]);
    // Each event carries the whole text, so that the system's own buffers are soon full.
    let word = "w".repeat(16 * 1024);
    let count = 2 * EVENTS_QUEUED_MAX + 1000;
    let model = scratch.replay(&[paird_tests::paced(&word.repeat(count / 8), word.len() / 8, 0)]);
    let daemon = DaemonProcess::start(&scratch).await;
    let client = daemon.client().await;
    let session = client.session(&model, &[]).await;
    let mut silent = Wire::connect(daemon.socket()).await;
    silent.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "events/subscribe", "params": {}})).await;
    silent.receive().await;
    let listener = daemon.client().await;
    let mut events = listener.events().await;
    let turn = client.prompt(&session, "go").await;
    events.wait_finished(&turn).await;
    let deltas = events.seen.iter().filter(|event| matches!(event.body, EventBody::ReplyDelta { .. })).count();
    assert!(deltas >= count, "{deltas}: who reads hears everything");
    // What was on its way still comes; then the connection ends, and only this one.
    let ended = async { while !silent.line().await.is_empty() {} };
    ended.await;
    client.read(&session).await;
}
