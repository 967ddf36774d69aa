//! How connections and the server end.

use super::*;

#[tokio::test]
async fn a_client_that_has_said_all_gets_its_answers() {
    let daemon = Daemon::start();
    let mut client = daemon.client().await;
    // The last line has no end, as from a here-string.
    client.send(&format!("{}\n{}", request("1", "wait", "{}"), request("2", "null", "{}"))).await;
    client.said_all().await;
    assert_eq!(client.value().await["id"], 2);
    daemon.seen.go_on.notify_one();
    assert_eq!(client.value().await, json!({"jsonrpc": "2.0", "id": 1, "result": "waited"}));
    assert_eq!(client.rest().await, "");
}

#[tokio::test]
async fn a_client_that_goes_away_ends_its_calls() {
    let daemon = Daemon::start();
    let mut client = daemon.client().await;
    client.send(&format!("{}\n", request("1", "subscribe", r#"{"count":0}"#))).await;
    client.line().await;
    client.send(&format!("{}\n", request("2", "wait", "{}"))).await;
    within(daemon.seen.begun.notified()).await;
    drop(client);
    within(daemon.seen.dropped.notified()).await;
    within(daemon.seen.closed.notified()).await;
}

#[tokio::test]
async fn a_client_that_says_all_and_then_goes_away_ends_its_calls() {
    let daemon = Daemon::start();
    let mut client = daemon.client().await;
    client.send(&format!("{}\n{}\n", request("1", "wait", "{}"), request("2", "null", "{}"))).await;
    client.said_all().await;
    // The answer shows that the daemon is past the half-close or will see both ends of it at once.
    assert_eq!(client.value().await["id"], 2);
    drop(client);
    within(daemon.seen.dropped.notified()).await;
}

#[tokio::test]
async fn shutdown_answers_and_ends_this_connection_alone() {
    let daemon = Daemon::start();
    let (mut client, mut other) = (daemon.client().await, daemon.client().await);
    client.send(&format!("{}\n", request("1", "shutdown", "null"))).await;
    assert_eq!(client.rest().await, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n");
    assert_eq!(other.ask(&request("1", "null", "{}")).await, r#"{"jsonrpc":"2.0","id":1,"result":null}"#);
    other.send("{\"jsonrpc\":\"2.0\",\"method\":\"exit\"}\n").await;
    assert_eq!(other.rest().await, "");
}

#[tokio::test]
async fn a_stop_lets_answers_out_and_ends_what_waits_too_long() {
    let daemon = Daemon::start();
    let mut client = daemon.client().await;
    client.send(&format!("{}\n{}\n", request("1", "wait", "{}"), request("2", "wait", "{}"))).await;
    within(daemon.seen.begun.notified()).await;
    // A round trip, so that the second call has begun too.
    assert_eq!(client.ask(&request("3", "null", "{}")).await, r#"{"jsonrpc":"2.0","id":3,"result":null}"#);
    daemon.stop.cancel();
    daemon.seen.go_on.notify_one();
    let mut answers: Vec<Value> = client.rest().await.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    answers.sort_by_key(|answer| answer["id"].as_u64());
    assert_eq!(answers[0]["result"], "waited");
    assert_eq!(answers[1]["result"], json!({"outcome": "cancelled"}));
    within(daemon.task).await.unwrap();
    assert!(UnixStream::connect(&daemon.socket).await.is_err());
}
