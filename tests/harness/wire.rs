//! The socket without a client library: what is sent and received, byte by byte.

use std::path::Path;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;

use crate::DEADLINE;

/// A connection whose answers are lines.
#[derive(Debug)]
pub struct Wire {
    stream: BufReader<UnixStream>,
}

impl Wire {
    pub async fn connect(socket: &Path) -> Self {
        let stream = UnixStream::connect(socket).await.expect("the daemon takes connections");
        Self { stream: BufReader::new(stream) }
    }

    /// Sends one message as a line.
    pub async fn send(&mut self, message: &Value) {
        self.send_text(&format!("{message}\n")).await;
    }

    pub async fn send_text(&mut self, text: &str) {
        self.stream.get_mut().write_all(text.as_bytes()).await.expect("the daemon reads");
    }

    /// Sends one message with `Content-Length` and gives the answer in the same framing.
    pub async fn with_header(&mut self, message: &Value) -> Value {
        let text = message.to_string();
        self.send_text(&format!("Content-Length: {}\r\n\r\n{text}", text.len())).await;
        let header = self.line().await;
        let length = header.trim().strip_prefix("Content-Length: ").and_then(|length| length.parse().ok());
        let mut body = vec![0; length.unwrap_or_else(|| panic!("no length in {header:?}"))];
        assert_eq!(self.line().await, "\r\n");
        self.stream.read_exact(&mut body).await.expect("the whole body");
        serde_json::from_slice(&body).expect("an answer is JSON")
    }

    /// The next line's message.
    pub async fn receive(&mut self) -> Value {
        let line = self.line().await;
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{line:?}: {error}"))
    }

    /// The next line; empty when the connection has ended.
    pub async fn line(&mut self) -> String {
        let mut line = String::new();
        let read = tokio::time::timeout(DEADLINE, self.stream.read_line(&mut line)).await;
        read.expect("an answer in time").expect("a socket that can be read");
        line
    }
}
