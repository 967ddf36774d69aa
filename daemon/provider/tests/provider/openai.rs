//! Refusals, retries and the request itself.

use std::time::Duration;

use paird_base::Secret;
use paird_provider::{Endpoint, Error, Http, OpenAi, Provider, ReplyEvent, Role, StopReason};
use serde_json::json;

use crate::fake_provider::{FakeProvider, Step};
use crate::watch::{ask, request};

pub(crate) fn client(server: &FakeProvider) -> OpenAi {
    at(server.base_url())
}

fn at(base_url: &str) -> OpenAi {
    let headers = vec![("x-team".to_owned(), Secret::new("team-secret".to_owned()))];
    OpenAi::new(Endpoint { base_url: base_url.to_owned(), key: Some(Secret::new("sk-secret".to_owned())), headers }, Http::default())
}

#[tokio::test]
async fn a_request_and_its_reply() {
    let server = FakeProvider::start([Step::reply("hello there"), Step::reply("again")]).await;
    let client = client(&server);
    let seen = ask(&client, Role::Main).await;
    assert_eq!((seen.text.as_str(), seen.events.len()), ("hello there", 0));
    let finish = seen.end.unwrap();
    assert_eq!((finish.stop, finish.usage.map(|usage| (usage.input.0, usage.output.0))), (StopReason::Stop, Some((10, 5))));
    ask(&client, Role::Weak).await.end.unwrap();

    let requests = server.requests();
    assert_eq!(requests[0].line, "POST /v1/chat/completions");
    assert_eq!(requests[0].header("authorization"), Some("Bearer sk-secret"));
    assert_eq!(requests[0].header("x-team"), Some("team-secret"));
    assert_eq!(requests[0].header("user-agent"), Some(concat!("paird/", env!("CARGO_PKG_VERSION"))));
    let expected = r#"{"model":"m","messages":[{"role":"user","content":"hello"}],"stream":true,"stream_options":{"include_usage":true},"temperature":0.0}"#;
    assert_eq!(String::from_utf8_lossy(&requests[0].bytes), expected);
    assert_eq!(requests[0].bytes, requests[1].bytes, "the same request has the same bytes");
    server.finish();
}

#[tokio::test]
async fn final_refusals_are_asked_once() {
    type Check = fn(&Error) -> bool;
    let cases: [(u16, &str, Check); 8] = [
        (429, "insufficient_quota", |e| matches!(e, Error::Quota { .. })),
        (400, "invalid_request_error", |e| matches!(e, Error::BadRequest { .. })),
        (400, "context_length_exceeded", |e| matches!(e, Error::ContextOverflow { .. })),
        (401, "invalid_api_key", |e| matches!(e, Error::Auth { .. })),
        (403, "permission_error", |e| matches!(e, Error::Auth { .. })),
        (404, "model_not_found", |e| matches!(e, Error::NotFound { .. })),
        (413, "too_large", |e| matches!(e, Error::ContextOverflow { .. })),
        (422, "unprocessable", |e| matches!(e, Error::BadRequest { .. })),
    ];
    for (status, kind, check) in cases {
        let server = FakeProvider::start([Step::status(status, Some("0"), kind, "no, not with sk-secret of team-secret")]).await;
        let seen = ask(&client(&server), Role::Main).await;
        let error = seen.end.unwrap_err();
        assert!(check(&error) && !error.retryable() && seen.events.is_empty(), "{status} {kind}: {error:?}");
        assert!(error.to_string().contains("no, not with [secret] of [secret]"), "{error}");
        server.finish();
    }
}

#[tokio::test]
async fn transient_refusals_are_asked_again() {
    for (status, kind) in [
        (408, "timeout"),
        (409, "conflict"),
        (429, "rate_limit_exceeded"),
        (500, "server_error"),
        (503, "unavailable"),
        (529, "overloaded_error"),
    ] {
        let server = FakeProvider::start([Step::status(status, Some("0"), kind, "busy"), Step::reply("well")]).await;
        let seen = ask(&client(&server), Role::Main).await;
        assert_eq!((seen.text.as_str(), seen.events), ("well", vec!["retrying"]), "{status}");
        assert_eq!(server.requests()[0].bytes, server.requests()[1].bytes);
        server.finish();
    }
}

#[tokio::test]
async fn sessions_wait_as_long_as_asked_but_not_in_step() {
    let server = FakeProvider::start((0..10).map(|_| Step::status(429, Some("7"), "rate_limit", "slow down"))).await;
    let client = client(&server);
    let mut waits = Vec::new();
    for _ in 0..10 {
        let mut stream = client.start(request(Role::Main));
        match stream.next().await {
            Some(ReplyEvent::Retrying { wait, cause }) => {
                assert!(cause.contains("slow down"), "{cause}");
                waits.push(wait);
            }
            other => panic!("{other:?}"),
        }
    }
    assert!(waits.iter().all(|wait| (Duration::from_secs(7)..Duration::from_secs(9)).contains(wait)), "{waits:?}");
    waits.sort_unstable();
    waits.dedup();
    assert!(waits.len() > 5, "{waits:?}");
    server.finish();
}

#[tokio::test]
async fn a_wait_of_days_is_reported() {
    let server = FakeProvider::start([Step::status(429, Some("400000"), "rate_limit", "weekly rate limit")]).await;
    let error = ask(&client(&server), Role::Main).await.end.unwrap_err();
    assert!(matches!(&error, Error::RateLimited { retry_after: Some(wait), .. } if wait.as_secs() == 400_000), "{error:?}");
    assert!(error.hint().contains("4 d 15 h"));
    server.finish();
}

#[tokio::test]
async fn parameters_that_a_server_refuses_by_name_are_left_out_from_then_on() {
    let refusal = |message: &str| Step::status(400, None, "invalid_request_error", message);
    let quoted = refusal(r#"missing field, input: {"temperature": 0, "stream_options": {}}"#);
    let server = FakeProvider::start([
        quoted.clone(),
        quoted,
        refusal("extra field stream_options"),
        refusal("'temperature' is not supported"),
        Step::reply("a"),
        Step::reply("b"),
    ])
    .await;
    let client = client(&server);
    let stays = ask(&client, Role::Main).await.end.unwrap_err();
    assert!(matches!(stays, Error::BadRequest { .. }), "{stays:?}");
    for _ in 0..2 {
        let seen = ask(&client, Role::Main).await;
        assert!(seen.end.is_ok() && seen.events.is_empty(), "{seen:?}");
    }
    let sent: Vec<_> =
        server.requests().iter().map(|request| (request.body["stream_options"].is_null(), request.body["temperature"].is_null())).collect();
    let expected = [(false, false), (true, true), (false, false), (true, false), (true, true), (true, true)];
    assert_eq!(sent, expected, "nothing is learnt from a refusal that stays");
    server.finish();
}

#[tokio::test]
async fn redirects_stay_at_their_host() {
    let elsewhere = FakeProvider::start([]).await;
    let redirect = |location: String| Step::Status { code: 307, headers: vec![("location".to_owned(), location)], body: String::new() };
    let server =
        FakeProvider::start([redirect("/other".to_owned()), Step::reply("moved"), redirect(format!("{}/x", elsewhere.base_url()))]).await;
    let client = client(&server);
    assert_eq!(ask(&client, Role::Main).await.text, "moved");
    assert_eq!(server.requests()[1].line, "POST /other");
    let error = ask(&client, Role::Main).await.end.unwrap_err();
    assert!(matches!(error, Error::Status { status: 307, .. }) && !error.retryable(), "{error:?}");
    assert!(elsewhere.requests().is_empty());
    elsewhere.finish();
    server.finish();
}

#[tokio::test]
async fn no_server_is_told_without_secrets() {
    // A port that was free a moment ago refuses connections.
    let address = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut stream = at(&format!("http://me:pass@{address}/v1?key=hidden")).start(request(Role::Main));
    let Some(ReplyEvent::Retrying { cause, .. }) = stream.next().await else { panic!("no retry") };
    assert!(cause.starts_with(&format!("connect to http://{address}/v1: ")) && cause.contains("refused"), "{cause}");
    assert!(!cause.contains("pass") && !cause.contains("hidden"), "{cause}");
}

#[tokio::test]
async fn wrong_settings_fail_as_events() {
    let error = ask(&at("nonsense"), Role::Main).await.end.unwrap_err();
    assert!(matches!(error, Error::BaseUrl { .. }), "{error:?}");
    let server = FakeProvider::start([]).await;
    let endpoint = Endpoint { base_url: server.base_url().to_owned(), key: Some(Secret::new("a\nb".to_owned())), headers: Vec::new() };
    let error = ask(&OpenAi::new(endpoint, Http::default()), Role::Main).await.end.unwrap_err();
    assert!(matches!(error, Error::Auth { .. }), "{error:?}");
    server.finish();
}

#[tokio::test]
async fn a_server_that_ignores_stream() {
    let body = json!({"choices": [{"message": {"role": "assistant", "content": "whole", "reasoning": "why"}, "finish_reason": "length"}], "usage": {"prompt_tokens": 3}});
    let error = json!({"error": {"type": "insufficient_quota", "message": "pay"}});
    let server =
        FakeProvider::start([Step::Json(body), Step::Json(json!({"choices": [{"message": {"content": "x"}}]})), Step::Json(error)]).await;
    let client = client(&server);
    let seen = ask(&client, Role::Main).await;
    assert_eq!((seen.text.as_str(), seen.reasoning.as_str(), seen.end.unwrap().stop), ("whole", "why", StopReason::Length));
    assert_eq!(ask(&client, Role::Main).await.text, "x");
    assert!(matches!(ask(&client, Role::Main).await.end, Err(Error::Quota { .. })));
    server.finish();
}

#[tokio::test]
async fn a_web_page_is_not_a_reply() {
    let page = Step::Status {
        code: 200,
        headers: vec![("content-type".to_owned(), "text/html; charset=utf-8".to_owned())],
        body: "<html>".to_owned(),
    };
    let server = FakeProvider::start([page]).await;
    let error = ask(&client(&server), Role::Main).await.end.unwrap_err();
    assert!(error.to_string().contains("web page"), "{error}");
    server.finish();
}
