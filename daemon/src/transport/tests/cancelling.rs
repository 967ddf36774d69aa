//! `$/cancelRequest` in all its spellings, panics, the bound on calls.

use super::*;

const CANCELLED: &str = r#""result":{"outcome":"cancelled"}}"#;

#[tokio::test]
async fn a_waiting_call_is_ended_with_a_result_in_every_spelling() {
    let daemon = Daemon::start();
    let mut client = daemon.client().await;
    for (id, cancel) in [
        ("1", r#"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}"#),
        ("2", r#"{"jsonrpc":"2.0","method":"$/cancelRequest","id":2}"#),
        ("\"c\"", r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"c"}}"#),
        ("4.0", r#"{"jsonrpc":"2.0","method":"$/cancelRequest","id":99,"params":{"id":4.0}}"#),
    ] {
        client.send(&format!("{}\n", request(id, "wait", "{}"))).await;
        within(daemon.seen.begun.notified()).await;
        assert_eq!(client.ask(cancel).await, format!(r#"{{"jsonrpc":"2.0","id":{id},{CANCELLED}"#));
        within(daemon.seen.dropped.notified()).await;
    }
}

#[tokio::test]
async fn cancelling_what_does_not_wait_does_nothing() {
    let daemon = Daemon::start();
    let mut client = daemon.client().await;
    client.send(&format!("{}\n", request("1", "wait", "{}"))).await;
    within(daemon.seen.begun.notified()).await;
    // Another id, another type of id, no id at all; as requests too, which such a message never is.
    for params in [r#""params":{"id":2}"#, r#""params":{"id":"1"}"#, r#""params":{}"#, r#""id":5"#, r#""params":[1]"#] {
        client.send(&format!("{{\"jsonrpc\":\"2.0\",\"method\":\"$/cancelRequest\",{params}}}\n")).await;
    }
    assert_eq!(client.ask(&request("9", "null", "{}")).await, r#"{"jsonrpc":"2.0","id":9,"result":null}"#);
    daemon.seen.go_on.notify_one();
    assert_eq!(client.value().await, json!({"jsonrpc": "2.0", "id": 1, "result": "waited"}));
}

#[tokio::test]
async fn one_member_of_a_batch_can_be_cancelled() {
    let daemon = Daemon::start();
    let mut client = daemon.client().await;
    client.send(&format!("[{},{}]\n", request("1", "wait", "{}"), request("2", "wait", "{}"))).await;
    within(daemon.seen.begun.notified()).await;
    client.send("{\"jsonrpc\":\"2.0\",\"method\":\"$/cancelRequest\",\"params\":{\"id\":1}}\n").await;
    within(daemon.seen.dropped.notified()).await;
    daemon.seen.go_on.notify_one();
    let answers = client.value().await;
    assert_eq!((&answers[0]["result"]["outcome"], &answers[1]["result"]), (&json!("cancelled"), &json!("waited")));
}

#[tokio::test]
async fn a_panic_is_one_clients_error_and_nobody_elses() {
    let daemon = Daemon::start();
    let mut other = daemon.client().await;
    other.send(&format!("{}\n", request("1", "wait", "{}"))).await;
    within(daemon.seen.begun.notified()).await;
    let mut client = daemon.client().await;
    for method in ["panic", "panicLater"] {
        let answer: Value = serde_json::from_str(&client.ask(&request("1", method, "{}")).await).unwrap();
        assert_eq!(answer["error"]["data"]["kind"], "internal");
    }
    assert_eq!(client.ask(&request("2", "null", "{}")).await, r#"{"jsonrpc":"2.0","id":2,"result":null}"#);
    daemon.seen.go_on.notify_one();
    assert_eq!(other.value().await["result"], "waited");
}

#[tokio::test]
async fn calls_over_the_bound_are_overloaded_and_may_be_repeated() {
    let daemon = Daemon::start();
    let mut client = daemon.client().await;
    let most = paird_base::limits::CALLS_PER_CONNECTION_MAX;
    for id in 0..most {
        client.send(&format!("{}\n", request(&id.to_string(), "wait", "{}"))).await;
    }
    let answer: Value = serde_json::from_str(&client.ask(&request("\"over\"", "wait", "{}")).await).unwrap();
    assert_eq!(
        (&answer["id"], &answer["error"]["data"]["kind"], &answer["error"]["data"]["retryable"]),
        (&json!("over"), &json!("overloaded"), &json!(true))
    );
    assert!(!(-32768..=-32000).contains(&answer["error"]["code"].as_i64().unwrap()));
    // Others have calls of their own, and a call that is answered makes room.
    let mut other = daemon.client().await;
    assert_eq!(other.ask(&request("1", "null", "{}")).await, r#"{"jsonrpc":"2.0","id":1,"result":null}"#);
    assert!(client.ask(r#"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":3}}"#).await.ends_with(CANCELLED));
    client.send(&format!("{}\n", request("\"again\"", "wait", "{}"))).await;
    daemon.seen.go_on.notify_waiters();
    let mut answers = Vec::new();
    while answers.len() < most {
        let value = client.value().await;
        assert_eq!(value["result"], "waited", "{value}");
        answers.push(value["id"].clone());
        daemon.seen.go_on.notify_one();
    }
    assert!(answers.contains(&json!("again")));
}
