//! Framings, envelopes, ids, batches.

use super::*;

fn code(answer: &str) -> i64 {
    serde_json::from_str::<Value>(answer).unwrap()["error"]["code"].as_i64().unwrap()
}

#[tokio::test]
async fn lines_are_answered_with_lines() {
    let daemon = Daemon::start();
    let mut client = daemon.client().await;
    assert_eq!(client.ask(&request("1", "echo", r#"{"a":"ü"}"#)).await, r#"{"jsonrpc":"2.0","id":1,"result":{"a":"ü"}}"#);
    assert_eq!(client.ask(&request("2", "null", "null")).await, r#"{"jsonrpc":"2.0","id":2,"result":null}"#);
}

#[tokio::test]
async fn header_blocks_are_answered_with_header_blocks_of_one_header() {
    let daemon = Daemon::start();
    let mut client = daemon.client().await;
    let text = request("7", "echo", "{}");
    client.send(&format!("Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: {}\r\n\r\n{text}", text.len())).await;
    let body = r#"{"jsonrpc":"2.0","id":7,"result":{}}"#;
    let batch = "[]";
    client.send(&format!("content-length:{}\n\n{batch}", batch.len())).await;
    client.said_all().await;
    let rest = client.rest().await;
    let (first, second) = rest.split_at(format!("Content-Length: {}\r\n\r\n{body}", body.len()).len());
    assert_eq!(first, format!("Content-Length: {}\r\n\r\n{body}", body.len()));
    assert!(second.starts_with("Content-Length: ") && second.contains("-32600"), "{second}");
}

#[tokio::test]
async fn ids_come_back_byte_for_byte() {
    let daemon = Daemon::start();
    let mut client = daemon.client().await;
    for id in ["0", "-1", "1.50", "1e3", "123456789012345678901234567890", "\"a\\u00fc/\\/\"", "\"\"", "null"] {
        for (method, member) in [("echo", "result"), ("nowhere", "error"), ("fail", "error"), ("strict", "result")] {
            let answer = client.ask(&request(id, method, "{}")).await;
            assert!(answer.starts_with(&format!(r#"{{"jsonrpc":"2.0","id":{id},"{member}":"#)), "{answer}");
        }
    }
}

#[tokio::test]
async fn every_error_has_a_kind() {
    let daemon = Daemon::start();
    let mut client = daemon.client().await;
    for (text, code, kind, word) in [
        ("{nonsense".to_owned(), -32700, "invalid_params", "parse error"),
        (r#"{"id":1,"method":"echo"}"#.to_owned(), -32600, "invalid_params", "jsonrpc"),
        (r#"{"jsonrpc":"1.0","id":1,"method":"echo"}"#.to_owned(), -32600, "invalid_params", "2.0"),
        (request("1", "no/such", "{}"), -32601, "not_found", "no/such"),
        (request("1", "echo", "[1]"), -32602, "invalid_params", "object"),
        (request("1", "strict", r#"{"misspelt":1}"#), -32602, "invalid_params", "misspelt"),
        (request("1", "fail", "{}"), 5, "internal", "broken"),
        (request("1", "big", r#"{"bytes":70000000}"#), -32602, "invalid_params", "too large"),
        (request("1", "panic", "{}"), -32603, "internal", "panic"),
        (request("1", "panicLater", "{}"), -32603, "internal", "panicLater"),
    ] {
        let answer = client.ask(&text).await;
        let value: Value = serde_json::from_str(&answer).unwrap();
        assert_eq!((value["error"]["code"].as_i64(), &value["error"]["data"]["kind"]), (Some(code), &json!(kind)), "{answer}");
        assert!(value["error"]["message"].as_str().unwrap().contains(word), "{answer}");
        assert!(value["error"]["data"]["retryable"].is_boolean() && value.get("result").is_none(), "{answer}");
    }
}

#[tokio::test]
async fn empty_params_in_every_spelling() {
    let daemon = Daemon::start();
    let mut client = daemon.client().await;
    for params in ["", r#","params":null"#, r#","params":{}"#, r#","params":[]"#] {
        let answer = client.ask(&format!(r#"{{"jsonrpc":"2.0","id":1,"method":"strict"{params}}}"#)).await;
        assert_eq!(answer, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, "{params}");
    }
}

#[tokio::test]
async fn a_notification_is_run_and_not_answered() {
    let daemon = Daemon::start();
    let mut client = daemon.client().await;
    for text in [
        r#"{"jsonrpc":"2.0","method":"note"}"#,
        r#"{"jsonrpc":"2.0","method":"nowhere"}"#,
        r#"{"jsonrpc":"2.0","method":"$/setTrace","params":{}}"#,
    ] {
        client.send(&format!("{text}\n")).await;
    }
    client.send("{\"jsonrpc\":\"2.0\",\"method\":\"panic\"}\n{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":2}\n").await;
    assert_eq!(client.ask(&request("9", "echo", "{}")).await, r#"{"jsonrpc":"2.0","id":9,"result":{}}"#);
    assert_eq!(daemon.seen.noted.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn batches_on_lines() {
    let daemon = Daemon::start();
    let mut client = daemon.client().await;
    let answer = client
        .ask(&format!(
            "[{},1,{{\"jsonrpc\":\"2.0\",\"method\":\"note\"}},{}]",
            request("1", "echo", "{}"),
            request("\"b\"", "nowhere", "{}")
        ))
        .await;
    let value: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(value[0], json!({"jsonrpc": "2.0", "id": 1, "result": {}}));
    assert_eq!((&value[1]["id"], &value[1]["error"]["code"]), (&Value::Null, &json!(-32600)));
    assert_eq!((&value[2]["id"], &value[2]["error"]["code"], value.as_array().unwrap().len()), (&json!("b"), &json!(-32601), 3));
    assert_eq!(code(&client.ask("[]").await), -32600);
    assert_eq!(code(&client.ask("[1,").await), -32700);
    let many = vec![request("1", "echo", "{}"); paird_base::limits::BATCH_MAX + 1];
    assert_eq!(code(&client.ask(&format!("[{}]", many.join(","))).await), -32600);
    // A batch of notifications is not answered at all: the next line is the next call's.
    client.send("[{\"jsonrpc\":\"2.0\",\"method\":\"note\"},{\"jsonrpc\":\"2.0\",\"method\":\"note\"}]\n").await;
    assert_eq!(client.ask(&request("2", "null", "{}")).await, r#"{"jsonrpc":"2.0","id":2,"result":null}"#);
    assert_eq!(daemon.seen.noted.load(Ordering::SeqCst), 3);
}

#[tokio::test]
async fn a_batch_waits_for_its_slowest_call_and_nothing_else_waits() {
    let daemon = Daemon::start();
    let mut client = daemon.client().await;
    client.send(&format!("[{},{}]\n", request("1", "wait", "{}"), request("2", "echo", "{}"))).await;
    within(daemon.seen.begun.notified()).await;
    assert_eq!(client.ask(&request("3", "null", "{}")).await, r#"{"jsonrpc":"2.0","id":3,"result":null}"#);
    daemon.seen.go_on.notify_one();
    assert_eq!(client.value().await, json!([{"jsonrpc": "2.0", "id": 1, "result": "waited"}, {"jsonrpc": "2.0", "id": 2, "result": {}}]));
}

#[tokio::test]
async fn a_message_too_long_is_answered_and_the_connection_lives() {
    let daemon = Daemon::start();
    let mut client = daemon.client().await;
    let long = "x".repeat(paird_protocol::framing::FRAME_BYTES_MAX + 10);
    let answer = client.ask(&format!("[\"{long}\"]")).await;
    assert_eq!(code(&answer), -32600);
    assert_eq!(client.ask(&request("1", "null", "{}")).await, r#"{"jsonrpc":"2.0","id":1,"result":null}"#);
}

#[tokio::test]
async fn other_protocols_get_a_word_and_the_end() {
    let daemon = Daemon::start();
    for (said, answer) in [("GET / HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 400 "), ("hello\n", "paird: "), ("\u{16}\u{3}\u{1}", "paird: ")]
    {
        let mut client = daemon.client().await;
        client.send(said).await;
        let rest = client.rest().await;
        assert!(rest.starts_with(answer), "{said:?}: {rest:?}");
    }
    let mut client = daemon.client().await;
    client.send("Content-Length: many\r\n\r\n").await;
    let rest = client.rest().await;
    assert!(rest.starts_with("Content-Length: ") && rest.contains("many"), "{rest:?}");
}
