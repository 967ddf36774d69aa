//! What can happen to a stream that began well.

use paird_base::limits::{REPLY_BYTES_MAX, SSE_EVENT_BYTES_MAX, STREAM_SILENCE_MAX, STREAM_TAIL_MAX};
use paird_provider::{Error, Provider, ReplyEvent, Role, StopReason};
use proptest::prelude::*;

use crate::fake_provider::{FakeProvider, Step, delta_event, event, reply_events};
use crate::openai::client;
use crate::watch::{Seen, ask, request};

/// Sends these bytes as one stream and reads the reply.
async fn stream(bytes: impl Into<Vec<u8>>) -> Seen {
    chunks(vec![bytes.into()]).await
}

async fn chunks(chunks: Vec<Vec<u8>>) -> Seen {
    let server = FakeProvider::start([Step::Chunks(chunks)]).await;
    let seen = ask(&client(&server), Role::Main).await;
    server.finish();
    seen
}

#[tokio::test]
async fn odd_events_are_no_reason_to_fail() {
    // PR06, PR08: choices missing, null or empty, usage alone, a null delta, comments, unknown events.
    let text = [
        ": keep-alive\n\n",
        "event: ping\ndata: {}\n\n",
        &delta_event("complete"),
        "data: {\"choices\":null}\n\ndata: {\"choices\":[{\"delta\":null,\"finish_reason\":\"stop\"}]}\n\n",
        "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":2,\"prompt_cache_hit_tokens\":1}}\n\n",
        "data: [DONE]\n\n",
    ]
    .concat();
    let seen = stream(text).await;
    let finish = seen.end.unwrap();
    assert_eq!((seen.text.as_str(), finish.stop), ("complete", StopReason::Stop));
    assert_eq!(finish.usage.map(|usage| (usage.input.0, usage.output.0, usage.cached_read.0)), Some((1, 2, 1)));
}

#[tokio::test]
async fn reasoning_alone_is_a_cut_reply() {
    // ST09: all tokens went into reasoning.
    let seen = stream("data: {\"choices\":[{\"delta\":{\"reasoning\":\"hm\"}}]}\n\ndata: {\"choices\":[{\"finish_reason\":\"length\"}]}\n\ndata: [DONE]\n\n").await;
    assert_eq!((seen.text.as_str(), seen.reasoning.as_str(), seen.end.unwrap().stop), ("", "hm", StopReason::Length));
    assert!(seen.events.is_empty(), "no blind retry");
}

#[tokio::test]
async fn cut_tool_arguments_are_no_text() {
    // PR11: the reply says that it is cut, and holds nothing that could be executed.
    let seen = stream("data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"function\":{\"name\":\"write\",\"arguments\":\"{\\\"pa\"}}]}}]}\n\ndata: {\"choices\":[{\"finish_reason\":\"length\"}]}\n\n").await;
    assert_eq!((seen.text.as_str(), seen.end.unwrap().stop), ("", StopReason::Length));
}

#[tokio::test]
async fn an_error_as_the_only_event_is_retried() {
    // ST03, ST04: reported after the headers, in three shapes.
    for text in [
        "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n",
        "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\ndata: {\"error\":{\"code\":503,\"message\":\"overloaded\"}}\n\n",
        "event: error\ndata: overloaded\n\n",
    ] {
        let server = FakeProvider::start([Step::Chunks(vec![text.into()]), Step::reply("well")]).await;
        let seen = ask(&client(&server), Role::Main).await;
        assert_eq!((seen.text.as_str(), seen.events), ("well", vec!["retrying"]), "{text}");
        server.finish();
    }
}

#[tokio::test]
async fn a_final_error_inside_the_stream_is_final() {
    let seen = stream(delta_event("part") + &event(r#"{"error":{"code":"insufficient_quota","message":"pay"}}"#)).await;
    assert!(matches!(seen.end, Err(Error::Quota { .. })), "{seen:?}");
    assert_eq!(seen.events.len(), 0);
}

#[tokio::test]
async fn a_broken_reply_is_discarded_and_asked_for_anew() {
    let deltas = vec!["one ".to_owned(), "two".to_owned()];
    let whole = reply_events(&deltas, None).concat();
    let end = whole.find("data: {\"choices\":[{\"delta\":{},").unwrap();
    let broken = [
        Step::CutAfter { deltas: deltas.clone(), bytes: 0 },
        Step::CutAfter { deltas: deltas.clone(), bytes: end },
        Step::Chunks(vec![whole[..end].into()]),
        Step::Chunks(vec![whole[..end - 9].into()]),
        Step::Garbage(b"\x16\x03\x01 not http\r\n\r\n".to_vec()),
        Step::Garbage(Vec::new()),
    ];
    for step in broken {
        let server = FakeProvider::start([step.clone(), Step::reply("whole reply")]).await;
        let seen = ask(&client(&server), Role::Main).await;
        assert_eq!(seen.text, "whole reply", "{step:?}");
        let shown = matches!(step, Step::CutAfter { bytes: 1.., .. } | Step::Chunks(_));
        let expected: &[&str] = if shown { &["restarted", "retrying"] } else { &["retrying"] };
        assert_eq!(seen.events, expected, "{step:?}");
        server.finish();
    }
}

#[tokio::test]
async fn a_reply_that_always_breaks_is_given_up() {
    let server = FakeProvider::start((0..4).map(|_| Step::Chunks(vec![delta_event("part").into()]))).await;
    let seen = ask(&client(&server), Role::Main).await;
    assert!(matches!(&seen.end, Err(Error::Broken { detail }) if detail.contains("end mark")), "{seen:?}");
    assert_eq!(seen.text, "part");
    server.finish();
}

#[tokio::test]
async fn a_stop_reason_without_the_mark_is_an_end() {
    let seen = stream(delta_event("x") + "data: {\"choices\":[{\"finish_reason\":\"content_filter\"}]}\n\n").await;
    assert_eq!((seen.text.as_str(), seen.end.unwrap().stop), ("x", StopReason::ContentFilter));
    let seen = stream("\u{feff}".to_owned() + &delta_event("x").replace('\n', "\r") + "data: [DONE]").await;
    assert_eq!((seen.text.as_str(), seen.end.unwrap().stop), ("x", StopReason::Stop));
}

#[tokio::test]
async fn dropping_the_stream_closes_the_connection() {
    let server = FakeProvider::start([Step::Stall(vec![delta_event("part")]), Step::Stall(Vec::new())]).await;
    let client = client(&server);
    let mut stream = client.start(request(Role::Main));
    assert!(matches!(stream.next().await, Some(ReplyEvent::Delta(text)) if text == "part"));
    drop(stream);
    server.wait_closed_early(1).await;

    let stream = client.start(request(Role::Main));
    server.wait_requests(2).await;
    drop(stream);
    server.wait_closed_early(2).await;
    server.finish();
}

/// Time is held still, and so jumps, only while the server has nothing more to send.
#[tokio::test]
async fn silence_ends_a_try_but_not_a_reply_that_has_its_stop_reason() {
    let stop = event(r#"{"choices":[{"delta":{"content":"all"},"finish_reason":"stop"}]}"#);
    let server = FakeProvider::start([Step::Stall(vec![delta_event("part")]), Step::Stall(vec![stop])]).await;
    let mut stream = client(&server).start(request(Role::Main));
    assert!(matches!(stream.next().await, Some(ReplyEvent::Delta(text)) if text == "part"));
    tokio::time::pause();
    let start = tokio::time::Instant::now();
    assert!(matches!(stream.next().await, Some(ReplyEvent::Restarted)));
    assert!(start.elapsed() > STREAM_SILENCE_MAX - STREAM_TAIL_MAX);
    tokio::time::resume();
    assert!(matches!(stream.next().await, Some(ReplyEvent::Retrying { cause, .. }) if cause.contains("nothing came for 600 s")));

    assert!(matches!(stream.next().await, Some(ReplyEvent::Delta(text)) if text == "all"));
    tokio::time::pause();
    let start = tokio::time::Instant::now();
    assert!(matches!(stream.next().await, Some(ReplyEvent::Finished(finish)) if finish.usage.is_none()));
    assert!(start.elapsed() < 2 * STREAM_TAIL_MAX);
    server.wait_closed_early(2).await;
    server.finish();
}

#[tokio::test]
async fn deltas_come_as_they_are_sent() {
    let server = FakeProvider::start([Step::Gate(vec!["a".to_owned(), "b".to_owned()])]).await;
    let mut stream = client(&server).start(request(Role::Main));
    for expected in ["a", "b"] {
        server.release(1);
        assert!(matches!(stream.next().await, Some(ReplyEvent::Delta(text)) if text == expected));
    }
    server.release(2);
    assert!(matches!(stream.next().await, Some(ReplyEvent::Finished(_))));
    server.finish();
}

#[tokio::test]
async fn what_has_no_bound_is_cut() {
    let big = delta_event(&"x".repeat(SSE_EVENT_BYTES_MAX / 2));
    let seen = chunks(vec![big.into(); 2 * REPLY_BYTES_MAX / SSE_EVENT_BYTES_MAX + 1]).await;
    assert!(matches!(seen.end, Err(Error::TooLong)), "{:?}", seen.end);
    assert!(seen.text.len() <= REPLY_BYTES_MAX);
    let seen = chunks(vec![b"data: ".to_vec(), vec![b'x'; SSE_EVENT_BYTES_MAX]]).await;
    assert!(matches!(seen.end, Err(Error::TooLong)), "{:?}", seen.end);
}

#[tokio::test]
async fn every_cut_in_two_and_single_bytes() {
    // ST06, ST08: chunk borders inside characters, events and line ends.
    let text = reply_events(&["é→".to_owned(), "𝄞 ok".to_owned()], None).concat().replace('\n', "\r\n").into_bytes();
    let mut script: Vec<Step> = (1..text.len()).map(|at| Step::Chunks(vec![text[..at].to_vec(), text[at..].to_vec()])).collect();
    script.push(Step::Chunks(text.iter().map(|byte| vec![*byte]).collect()));
    let count = script.len();
    let server = FakeProvider::start(script).await;
    let client = client(&server);
    for _ in 0..count {
        let seen = ask(&client, Role::Main).await;
        assert_eq!((seen.text.as_str(), seen.end.is_ok(), seen.events.len()), ("é→𝄞 ok", true, 0));
    }
    server.finish();
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(24) })]

    #[test]
    fn any_chunking_gives_the_same_text(deltas in prop::collection::vec("[a\"\\\\é→𝄞\n\r]{0,6}", 0..8), chunk_bytes in 1usize..40) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let seen = runtime.block_on(async {
            let server = FakeProvider::start([Step::Reply { deltas: deltas.clone(), usage: None, chunk_bytes }]).await;
            let seen = ask(&client(&server), Role::Main).await;
            server.finish();
            seen
        });
        prop_assert_eq!((seen.text, seen.end.is_ok()), (deltas.concat(), true));
    }
}
