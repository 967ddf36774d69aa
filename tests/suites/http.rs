//! A turn with a provider over real HTTP.

use paird_protocol::methods::SessionPrompt;
use paird_protocol::{ErrorKind, EventBody, Outcome, PromptParams, Selection};
use paird_tests::fake_provider::{FakeProvider, Step, delta_event, event};
use paird_tests::{Client, DaemonProcess, Launch, Scratch, block};
use serde_json::json;

const KEY: &str = "sk-3f9c0d7e-not-to-be-told";

/// A client that brings the provider's address and a key.
async fn client(daemon: &DaemonProcess, provider: &FakeProvider) -> Client {
    let client = daemon.client().await;
    client.initialize(false, &[("OPENAI_API_BASE", provider.base_url()), ("OPENAI_API_KEY", KEY)]).await;
    client
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_turn_over_http_streams_and_writes() {
    let scratch = Scratch::repo(&[("a.py", "x = 1\n")]);
    let reply = format!("Here.\n\n{}", block("a.py", "x = 1", "x = 2"));
    let usage = json!({"prompt_tokens": 11, "completion_tokens": 7});
    let deltas = reply.split_inclusive(' ').map(str::to_owned).collect();
    let provider = FakeProvider::start([Step::Reply { deltas, usage: Some(usage), chunk_bytes: 3 }]).await;
    let daemon = DaemonProcess::start(&scratch).await;
    let client = client(&daemon, &provider).await;
    let mut events = client.events().await;
    let session = client.session("openai/small", &["a.py"]).await;
    let selection = Some(Selection { path: "a.py".to_owned(), start_line: 1, end_line: 1 });
    let params = PromptParams { session_id: session, text: "make it two".to_owned(), selection, interrupt: false };
    let turn = client.call::<SessionPrompt>(params).await.turn_id;
    events.wait_finished(&turn).await;
    let result = client.finished(&turn).await.report;
    assert_eq!((result.outcome, result.reply), (Outcome::Done, reply));
    assert_eq!((result.usage.input_tokens, result.usage.output_tokens, result.usage.reported), (11, 7, true));
    assert_eq!(scratch.read("a.py"), "x = 2\n");
    assert!(events.seen.iter().filter(|event| matches!(event.body, EventBody::ReplyDelta { .. })).count() > 1, "it streams");

    let request = &provider.requests()[0];
    assert_eq!((&request.body["model"], &request.body["stream"]), (&json!("small"), &json!(true)));
    assert_eq!(request.header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    let messages = request.body["messages"].as_array().unwrap();
    assert_eq!(messages[0]["role"], "system");
    let last = messages.last().unwrap()["content"].as_str().unwrap();
    assert!(last.contains("make it two") && last.contains("lines 1-1 of a.py"), "{last}");
    let files = messages.iter().position(|message| message["content"].as_str().unwrap().contains("a.py\n```\nx = 1\n"));
    assert!(files.is_some_and(|at| at < messages.len() - 1), "the chat's files stand before what is asked");
    provider.finish();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reply_that_a_filter_stopped_is_not_whole() {
    let scratch = Scratch::repo(&[("a.py", "x = 1\n")]);
    let stopped = event(r#"{"choices":[{"index":0,"delta":{},"finish_reason":"content_filter"}]}"#);
    let chunks = [delta_event(&block("a.py", "x = 1", "x = 2")), stopped, event("[DONE]")].map(String::into_bytes);
    let provider = FakeProvider::start([Step::Chunks(chunks.to_vec()), Step::reply("I may not.")]).await;
    let daemon = DaemonProcess::start(&scratch).await;
    let client = client(&daemon, &provider).await;
    let session = client.session("openai/small", &["a.py"]).await;
    let result = client.turn(&session, "two").await.report;
    assert_eq!((result.outcome, result.commits.len()), (Outcome::Held, 0), "{result:?}");
    assert_eq!((result.failed.len(), result.edits.len(), scratch.read("a.py").as_str()), (1, 1, "x = 1\n"));
    provider.finish();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_model_is_told_what_became_of_its_edits() {
    let scratch = Scratch::repo(&[("a.py", "x = 1\n")]);
    let provider = FakeProvider::start([Step::reply(&block("a.py", "x = 1", "x = 2")), Step::reply("ok"), Step::reply("ok")]).await;
    let daemon = DaemonProcess::start(&scratch).await;
    let client = client(&daemon, &provider).await;
    let session = client.session("openai/small", &["a.py"]).await;
    let first = client.turn(&session, "two").await;
    let asked =
        |n: usize| provider.requests()[n].body["messages"].as_array().unwrap().last().unwrap()["content"].as_str().unwrap().to_owned();
    client.turn(&session, "and now?").await;
    assert!(asked(1).contains(&first.report.commits[0].hash[..8]), "{}", asked(1));
    client.raw("edit/undo", json!({"turnId": first.turn_id})).await.unwrap();
    assert_eq!(provider.requests().len(), 2, "an undo asks no model");
    client.turn(&session, "and now?").await;
    assert!(asked(2).contains("took back your edits to a.py"), "{}", asked(2));
    provider.finish();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_provider_that_is_busy_is_asked_again() {
    let scratch = Scratch::repo(&[]);
    let busy = || Step::status(429, Some("0"), "rate_limit_exceeded", "slow down");
    let provider = FakeProvider::start([busy(), busy(), Step::reply("hello")]).await;
    let daemon = DaemonProcess::start(&scratch).await;
    let client = client(&daemon, &provider).await;
    let session = client.session("openai/small", &[]).await;
    let result = client.turn(&session, "hello").await.report;
    assert_eq!((result.outcome, result.reply.as_str()), (Outcome::Done, "hello"));
    provider.finish();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wait_that_is_too_long_is_an_error_and_not_a_wait() {
    let scratch = Scratch::repo(&[]);
    let provider = FakeProvider::start([Step::status(429, Some("3600"), "rate_limit_exceeded", "come back in an hour")]).await;
    let daemon = DaemonProcess::start(&scratch).await;
    let client = client(&daemon, &provider).await;
    let session = client.session("openai/small", &[]).await;
    let result = client.turn(&session, "hello").await.report;
    let error = result.error.unwrap();
    assert_eq!((result.outcome, error.kind, error.retryable), (Outcome::Failed, ErrorKind::RateLimited, true));
    provider.finish();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reply_that_breaks_off_is_never_taken_as_whole() {
    let scratch = Scratch::repo(&[("a.py", "x = 1\n")]);
    let reply = block("a.py", "x = 1", "x = 2");
    // The whole text has come, but not the end of the stream.
    let wrong = block("a.py", "x = 1", "x = wrong");
    let cut = Step::CutAfter { bytes: delta_event(&wrong).len(), deltas: vec![wrong] };
    let provider = FakeProvider::start([cut, Step::reply(&reply)]).await;
    let daemon = DaemonProcess::start(&scratch).await;
    let client = client(&daemon, &provider).await;
    let mut events = client.events().await;
    let session = client.session("openai/small", &["a.py"]).await;
    let turn = client.prompt(&session, "two").await;
    events.wait_finished(&turn).await;
    let result = client.finished(&turn).await.report;
    assert_eq!((result.outcome, result.reply.as_str()), (Outcome::Done, reply.as_str()));
    let anew = events.seen.iter().filter(|event| matches!(event.body, EventBody::ReplyDelta { offset: 0, .. })).count();
    assert_eq!(anew, 2, "the text starts anew");
    assert_eq!(scratch.read("a.py"), "x = 2\n");
    provider.finish();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn errors_of_the_provider_have_their_kinds() {
    let scratch = Scratch::repo(&[]);
    let daemon = DaemonProcess::start(&scratch).await;
    for (step, kind) in [
        (Step::status(401, None, "invalid_api_key", &format!("Incorrect API key provided: {KEY}")), ErrorKind::Provider),
        (Step::status(404, None, "model_not_found", "no such model"), ErrorKind::Provider),
        (
            Step::status(400, None, "context_length_exceeded", "This model's maximum context length is 8192 tokens"),
            ErrorKind::ContextOverflow,
        ),
    ] {
        let provider = FakeProvider::start([step.clone()]).await;
        let client = client(&daemon, &provider).await;
        let session = client.session("openai/small", &[]).await;
        let result = client.turn(&session, "hello").await.report;
        let error = result.error.unwrap();
        assert_eq!((result.outcome, error.kind), (Outcome::Failed, kind), "{step:?}: {}", error.message);
        assert!(!error.message.contains(KEY), "{}", error.message);
        provider.finish();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_is_never_written_or_told() {
    let scratch = Scratch::repo(&[("a.py", "x = 1\n")]);
    let provider = FakeProvider::start([
        Step::status(401, None, "invalid_api_key", &format!("Incorrect API key provided: {KEY}")),
        Step::reply(&block("a.py", "x = 1", "x = 2")),
    ])
    .await;
    let daemon = Launch::new(&scratch).env("RUST_LOG", "trace").start().await;
    let client = client(&daemon, &provider).await;
    let mut events = client.events().await;
    let session = client.session("openai/small", &["a.py"]).await;
    client.turn(&session, "hello").await;
    let turn = client.prompt(&session, "two").await;
    events.wait_finished(&turn).await;
    assert!(!format!("{:?}", events.seen).contains(KEY));
    for (method, params) in [
        ("session/read", json!({"sessionId": session})),
        ("daemon/status", json!({})),
        ("edit/list", json!({"sessionId": session})),
        ("commit/show", json!({"commit": "HEAD"})),
    ] {
        assert!(!client.raw(method, params).await.unwrap().to_string().contains(KEY), "{method}");
    }
    assert!(!daemon.log().is_empty(), "the log was on");
    assert_eq!(scratch.files_holding(KEY), Vec::<std::path::PathBuf>::new());
    assert_eq!(provider.requests().len(), 2);
}
