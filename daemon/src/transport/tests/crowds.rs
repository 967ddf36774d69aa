//! Many clients, slow clients, floods.

use super::*;

#[tokio::test]
async fn five_hundred_clients_at_once() {
    let daemon = Daemon::start();
    let mut clients = Vec::new();
    for _ in 0..500 {
        clients.push(daemon.client().await);
    }
    let mut count = daemon.connections.clone();
    within(count.wait_for(|count| *count == 500)).await.unwrap();
    let asked = clients.into_iter().enumerate().map(|(n, mut client)| async move {
        let answer = client.ask(&request(&n.to_string(), "echo", "{}")).await;
        assert_eq!(answer, format!(r#"{{"jsonrpc":"2.0","id":{n},"result":{{}}}}"#));
    });
    futures_util::future::join_all(asked).await;
    within(count.wait_for(|count| *count == 0)).await.unwrap();
}

#[tokio::test]
async fn one_connection_too_many_is_told_so() {
    let daemon = Daemon::with(DEADLINE, 2);
    let mut first = daemon.client().await;
    let second = daemon.client().await;
    let mut count = daemon.connections.clone();
    within(count.wait_for(|count| *count == 2)).await.unwrap();
    let rest = daemon.client().await.rest().await;
    assert!(rest.contains("\"overloaded\"") && rest.ends_with('\n'), "{rest}");
    assert_eq!(first.ask(&request("1", "null", "{}")).await, r#"{"jsonrpc":"2.0","id":1,"result":null}"#);
    drop(second);
    within(count.wait_for(|count| *count == 1)).await.unwrap();
    assert_eq!(daemon.client().await.ask(&request("1", "null", "{}")).await, r#"{"jsonrpc":"2.0","id":1,"result":null}"#);
}

#[tokio::test]
async fn a_client_that_takes_nothing_delays_nobody_and_is_cut_off() {
    let daemon = Daemon::with(Duration::from_millis(200), 10);
    let mut stalled = daemon.client().await;
    stalled.send(&format!("{}\n{}\n", request("1", "subscribe", r#"{"count":1000000}"#), request("2", "wait", "{}"))).await;
    within(daemon.seen.begun.notified()).await;
    let mut other = daemon.client().await;
    for _ in 0..100 {
        assert_eq!(other.ask(&request("1", "null", "{}")).await, r#"{"jsonrpc":"2.0","id":1,"result":null}"#);
    }
    // Its subscription ends, its waiting call is dropped; the other one lives on.
    within(daemon.seen.closed.notified()).await;
    within(daemon.seen.dropped.notified()).await;
    assert_eq!(other.ask(&request("1", "null", "{}")).await, r#"{"jsonrpc":"2.0","id":1,"result":null}"#);
}

#[tokio::test]
async fn a_client_that_sends_and_does_not_read_is_cut_off_too() {
    let daemon = Daemon::with(Duration::from_millis(200), 10);
    let mut flood = daemon.client().await;
    let line = format!("{}\n", request("1", "big", r#"{"bytes":100000}"#));
    let refused = async { while flood.write.write_all(line.as_bytes()).await.is_ok() {} };
    within(refused).await;
    assert_eq!(daemon.client().await.ask(&request("1", "null", "{}")).await, r#"{"jsonrpc":"2.0","id":1,"result":null}"#);
}

#[tokio::test]
async fn the_answer_comes_before_the_events_and_calls_pass_a_flood() {
    let daemon = Daemon::start();
    let mut client = daemon.client().await;
    client.send(&format!("{}\n", request("1", "subscribe", r#"{"count":5000}"#))).await;
    assert_eq!(client.value().await["result"]["subscribed"], true);
    client.send(&format!("{}\n", request("2", "null", "{}"))).await;
    let (mut events, mut answered_after) = (0, None);
    while events < 5000 || answered_after.is_none() {
        let value = client.value().await;
        if value["method"] == "event" {
            assert_eq!(value["params"]["seq"], events);
            events += 1;
        } else {
            answered_after = Some(events);
        }
    }
    assert!(answered_after.unwrap() < 4000, "the answer waited behind {answered_after:?} events");
}

#[tokio::test]
async fn a_full_queue_is_said_at_once() {
    let (sender, mut queue) = tokio::sync::mpsc::channel(1);
    let peer = Peer::new(1, sender, tokio_util::sync::CancellationToken::new());
    let params = serde_json::value::to_raw_value(&json!({})).unwrap();
    assert_eq!(peer.try_notify("event", &params), Ok(()));
    assert_eq!(peer.try_notify("event", &params), Err(crate::transport::NotifyError::Full));
    assert_eq!(queue.recv().await.unwrap(), r#"{"jsonrpc":"2.0","method":"event","params":{}}"#);
    drop(queue);
    assert_eq!(peer.try_notify("event", &params), Err(crate::transport::NotifyError::Closed));
    assert_eq!(peer.notify("event", &params).await, Err(crate::transport::NotifyError::Closed));
}

#[tokio::test]
async fn the_protocols_own_client_speaks_to_it() {
    let daemon = Daemon::start();
    let client = paird_protocol::client::Client::connect(&daemon.socket).await.unwrap();
    let mut events = client.notifications("event").await.unwrap();
    client.request("subscribe", json!({"count": 3})).await.unwrap();
    for seq in 0..3 {
        assert_eq!(within(futures_util::StreamExt::next(&mut events)).await.unwrap()["seq"], seq);
    }
    let error = client.request("nowhere", Value::Null).await.unwrap_err();
    assert!(error.to_string().contains("nowhere"), "{error}");
    daemon.stop.cancel();
    within(client.closed()).await;
}
