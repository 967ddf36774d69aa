use serde_json::json;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};

use super::*;

/// A client, and the lines that a daemon would read and write.
fn pair() -> (Client, BufReader<OwnedReadHalf>, OwnedWriteHalf) {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let (read, write) = theirs.into_split();
    (Client::over(ours), BufReader::new(read), write)
}

#[tokio::test]
async fn a_call_and_its_answers() {
    let (client, mut lines, mut answers) = pair();
    let daemon = async {
        let mut line = String::new();
        lines.read_line(&mut line).await.unwrap();
        answers.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{\"seq\":1}}\n").await.unwrap();
        lines.read_line(&mut line).await.unwrap();
        let error =
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":1002,"message":"no session","data":{"kind":"not_found","retryable":false}}}"#;
        answers.write_all(format!("{error}\n").as_bytes()).await.unwrap();
        line
    };
    let calls = async {
        let good = client.request("a/b", json!({"x": [1]})).await;
        let bad = client.request("c", Value::Null).await;
        (good, bad)
    };
    let (sent, (good, bad)) = tokio::join!(daemon, calls);
    assert_eq!(
        sent,
        "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"a/b\",\"params\":{\"x\":[1]}}\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"c\"}\n"
    );
    assert_eq!(good.unwrap(), json!({"seq": 1}));
    let ClientError::Call(error) = bad.unwrap_err() else { panic!("not the daemon's error") };
    assert_eq!((error.code, error.message.as_str(), error.data.kind), (1002, "no session", ErrorKind::NotFound));
}

#[tokio::test]
async fn events_then_the_end() {
    let (client, _lines, mut answers) = pair();
    let mut events = client.notifications("event").await.unwrap();
    answers.write_all(b"{\"jsonrpc\":\"2.0\",\"method\":\"event\",\"params\":{\"seq\":1}}\n").await.unwrap();
    answers.write_all(b"{\"jsonrpc\":\"2.0\",\"method\":\"other\",\"params\":{}}\n").await.unwrap();
    answers.write_all(b"{\"jsonrpc\":\"2.0\",\"method\":\"event\",\"params\":{\"seq\":2}}\n").await.unwrap();
    assert_eq!(events.next().await, Some(json!({"seq": 1})));
    assert_eq!(events.next().await, Some(json!({"seq": 2})));
    drop((answers, _lines));
    assert_eq!(events.next().await, None);
    let error = client.request("x", Value::Null).await.unwrap_err();
    assert_eq!((error.is_loss(), error.to_string().as_str()), (true, "the daemon has ended"));
    assert!(client.is_over() && matches!(client.closed().await, ClientError::Ended));
}

/// The clock stands still but for waits that nothing else can end.
#[tokio::test(start_paused = true)]
async fn silence_ends_quick_calls_alone() {
    let (client, mut lines, mut answers) = pair();
    let start = tokio::time::Instant::now();
    let waited = async {
        let answer = client.request("session/wait", json!({})).await;
        (answer, start.elapsed())
    };
    let late = async {
        lines.read_line(&mut String::new()).await.unwrap();
        tokio::time::advance(6 * QUICK_ANSWER_TIMEOUT).await;
        answers.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{}}\n").await.unwrap();
    };
    let ((answer, elapsed), ()) = tokio::join!(waited, late);
    assert!(answer.is_ok() && elapsed >= 6 * QUICK_ANSWER_TIMEOUT && !client.is_over());

    let start = tokio::time::Instant::now();
    for method in ["daemon/status", "session/wait"] {
        let error = client.request(method, Value::Null).await.unwrap_err();
        assert!(matches!(&error, ClientError::Silent { pid: Some(_), .. }) && error.to_string().contains("does not answer"), "{error}");
    }
    assert!(start.elapsed() < 2 * QUICK_ANSWER_TIMEOUT, "who was given up is not asked again");
    assert!(client.is_over());
}

#[tokio::test]
async fn nobody_listens() {
    let error = Client::connect(Path::new("/nonexistent/x.sock")).await.unwrap_err();
    assert!(matches!(&error, ClientError::Connect { .. }));
    assert!(error.to_string().contains("/nonexistent/x.sock"));
}
