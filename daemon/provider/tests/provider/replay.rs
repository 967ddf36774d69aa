use std::path::PathBuf;

use paird_provider::{Cursor, Error, Provider, Replay, ReplyEvent, Role, WEAK_DEFAULT};

use crate::watch::{ask, request};

/// A replay file with these lines.
fn file(lines: &[&str]) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("replies.jsonl");
    std::fs::write(&path, lines.join("\n")).unwrap();
    (dir, path)
}

#[tokio::test]
async fn each_role_takes_its_own_lines_in_order() {
    let (_dir, path) = file(&[
        r#"{"reply":"one"}"#,
        r#"{"reply":"subject","role":"weak"}"#,
        "",
        r#"{"reply":"edits","role":"editor"}"#,
        r#"{"reply":"two","role":"main","reasoning":"because","usage":{"input":7,"cachedRead":3}}"#,
    ]);
    let replay = Replay::open(&path).unwrap();
    assert_eq!(ask(&replay, Role::Weak).await.text, "subject");
    assert_eq!(ask(&replay, Role::Weak).await.text, WEAK_DEFAULT);
    assert_eq!(ask(&replay, Role::Main).await.text, "one");
    assert_eq!(ask(&replay, Role::Editor).await.text, "edits");
    assert_eq!(ask(&replay, Role::Editor).await.text, "");
    let seen = ask(&replay, Role::Main).await;
    let usage = seen.end.unwrap().usage.unwrap();
    assert_eq!((seen.text.as_str(), seen.reasoning.as_str(), usage.input.0, usage.cached_read.0), ("two", "because", 7, 3));
    let error = ask(&replay, Role::Main).await.end.unwrap_err();
    assert!(error.to_string().ends_with("no line is left for the main model; 2 of its lines are used"), "{error}");
    assert!(!error.retryable());
}

#[tokio::test]
async fn a_cursor_survives_a_restart() {
    let (_dir, path) = file(&[r#"{"reply":"one"}"#, r#"{"reply":"w","role":"weak"}"#, r#"{"reply":"two"}"#]);
    let replay = Replay::new(&path);
    assert_eq!(ask(&replay, Role::Main).await.text, "one");
    let saved = serde_json::to_string(&replay.cursor()).unwrap();
    assert_eq!(saved, "[1]");
    let cursor: Cursor = serde_json::from_str(&saved).unwrap();
    let replay = Replay::new(&path).with_cursor(cursor);
    assert_eq!(ask(&replay, Role::Main).await.text, "two");
    assert_eq!(ask(&replay, Role::Weak).await.text, "w");
    assert_eq!(ask(&Replay::new(&path), Role::Main).await.text, "one", "another cursor is not touched");
}

#[tokio::test]
async fn faults_of_the_file_are_named_by_line() {
    let (_dir, path) = file(&[r#"{"reply":"one"}"#, "", r#"{"reply":"two","chunkByte":3}"#]);
    for error in [Replay::open(&path).unwrap_err(), ask(&Replay::new(&path), Role::Weak).await.end.unwrap_err()] {
        assert!(matches!(error, Error::Replay { line: Some(3), .. }), "{error:?}");
        assert!(error.to_string().contains("replies.jsonl, line 3: unknown field `chunkByte`"), "{error}");
    }
    let error = ask(&Replay::new(path.with_file_name("missing.jsonl")), Role::Main).await.end.unwrap_err();
    assert!(matches!(error, Error::Replay { line: None, .. }), "{error:?}");
    assert!(Replay::open(path.parent().unwrap()).is_err());
}

#[tokio::test(start_paused = true)]
async fn chunks_and_delays() {
    let (_dir, path) = file(&[r#"{"reply":"aé→b","reasoning":"xyz","chunkBytes":2,"delayMs":100}"#]);
    let start = tokio::time::Instant::now();
    let mut stream = Replay::new(&path).start(request(Role::Main));
    let mut pieces = Vec::new();
    while let Some(event) = stream.next().await {
        match event {
            ReplyEvent::Delta(text) => pieces.push(text),
            ReplyEvent::Reasoning(text) => pieces.push(format!("({text})")),
            _ => {}
        }
    }
    assert_eq!(pieces, ["(xy)", "(z)", "a", "é", "→", "b"]);
    assert_eq!(start.elapsed().as_millis(), 600);
}

#[tokio::test(start_paused = true)]
async fn played_refusals_are_classified_and_retried() {
    let (_dir, path) = file(&[
        r#"{"error":{"status":429,"retryAfter":7}}"#,
        r#"{"reply":"","error":{"status":503}}"#,
        r#"{"reply":"after all"}"#,
        r#"{"error":{"status":401}}"#,
        r#"{"error":{"status":429,"retryAfter":400000}}"#,
        r#"{"error":{"status":429}}"#,
    ]);
    let replay = Replay::new(&path);
    let start = tokio::time::Instant::now();
    let seen = ask(&replay, Role::Main).await;
    assert_eq!((seen.text.as_str(), seen.events), ("after all", vec!["retrying", "retrying"]));
    assert!(start.elapsed().as_secs() >= 7);
    assert!(matches!(ask(&replay, Role::Main).await.end, Err(Error::Auth { .. })));
    assert!(matches!(ask(&replay, Role::Main).await.end, Err(Error::RateLimited { retry_after: Some(_), .. })));
    let seen = ask(&replay, Role::Main).await;
    assert!(matches!(seen.end, Err(Error::RateLimited { retry_after: None, .. })), "no line is left for a retry: {seen:?}");
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_request_has_used_its_own_line_only() {
    let (_dir, path) = file(&[r#"{"error":{"status":429,"retryAfter":30}}"#, r#"{"reply":"next"}"#]);
    let replay = Replay::new(&path);
    let mut stream = replay.start(request(Role::Main));
    assert!(matches!(stream.next().await, Some(ReplyEvent::Retrying { .. })));
    drop(stream);
    assert_eq!(ask(&replay, Role::Main).await.text, "next");
}
