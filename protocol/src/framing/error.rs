use std::io;

use super::{HEADER_BYTES_MAX, SKIP_BYTES_MAX};

/// Why nothing more can be read from a connection.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    #[error("this is HTTP, the socket takes JSON-RPC 2.0")]
    Http,
    #[error("expected a `Content-Length` header or a JSON object, not byte 0x{first:02x}")]
    Unknown { first: u8 },
    #[error("the header block is longer than {HEADER_BYTES_MAX} bytes")]
    HeadersTooLong,
    #[error("the header line {line:?} has no colon")]
    HeaderLine { line: String },
    #[error("the header block has no Content-Length")]
    NoLength,
    #[error("Content-Length {value:?} is not one number of bytes")]
    BadLength { value: String },
    #[error("a message of {bytes} bytes or more is not even read over; {SKIP_BYTES_MAX} is the most")]
    FarTooLong { bytes: u64 },
    #[error("the stream ended inside a message")]
    Truncated,
    #[error("read the socket")]
    Io(#[source] io::Error),
}

/// Required by [`Decoder`]; the codec itself reads nothing.
impl From<io::Error> for FrameError {
    fn from(source: io::Error) -> Self {
        Self::Io(source)
    }
}

impl FrameError {
    /// What to say, before closing, to a client that speaks neither framing. `None` if a framing is known:
    /// then the answer is a JSON-RPC error.
    #[must_use]
    pub fn plain_answer(&self) -> Option<String> {
        let advice = "paird: this socket takes JSON-RPC 2.0, one object a line or after a Content-Length header; from a shell use `pair`\n";
        match self {
            Self::Http => Some(format!(
                "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{advice}",
                advice.len()
            )),
            Self::Unknown { .. } => Some(advice.to_owned()),
            _ => None,
        }
    }
}
