//! Bytes to frames and back, for both sides of the socket.
//!
//! A connection speaks one of two framings, told by its first non-blank byte and kept for its life. What makes one
//! frame unusable is an item ([`Frame::Oversized`]) and the connection goes on; what leaves no way to find the next
//! frame is a [`FrameError`] and ends it. Any split of the bytes gives the same frames as the whole.

mod error;
mod headers;
mod sniff;
#[cfg(test)]
mod tests;

use std::io;

use tokio_util::bytes::{Buf, Bytes, BytesMut};
use tokio_util::codec::{Decoder, Encoder};

pub use error::FrameError;
use headers::{content_length, header_end};

/// Largest message in either framing, in bytes; vscode-jsonrpc and others stay far below.
pub const FRAME_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Largest header block of a `Content-Length` message, in bytes.
pub const HEADER_BYTES_MAX: usize = 8 * 1024;
/// Largest message that is read over and reported, in bytes; a longer one ends the connection.
pub const SKIP_BYTES_MAX: u64 = 1024 * 1024 * 1024;

/// How messages are told apart on one connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// `Content-Length: N`, a blank line, N bytes: the LSP base protocol.
    Headers,
    /// One JSON text a line.
    Lines,
}

impl Framing {
    /// Appends one message. Only what the framing needs is written: Emacs never parses a header block of over 100 bytes.
    pub fn encode(self, text: &str, dst: &mut BytesMut) {
        match self {
            Self::Headers => {
                dst.extend_from_slice(format!("Content-Length: {}\r\n\r\n", text.len()).as_bytes());
                dst.extend_from_slice(text.as_bytes());
            }
            Self::Lines => {
                let start = dst.len();
                dst.extend_from_slice(text.as_bytes());
                // In JSON a raw line end can only stand between tokens, where a blank means the same.
                for byte in &mut dst[start..] {
                    if matches!(byte, b'\n' | b'\r') {
                        *byte = b' ';
                    }
                }
                dst.extend_from_slice(b"\n");
            }
        }
    }
}

/// What the reader found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Frame {
    /// One message, not yet looked into.
    Message(Bytes),
    /// A message of so many bytes, over the bound; it was read over.
    Oversized { bytes: u64 },
}

#[derive(Debug, Clone, Copy)]
struct Bounds {
    frame: usize,
    header: usize,
    skip: u64,
}

const BOUNDS: Bounds = Bounds { frame: FRAME_BYTES_MAX, header: HEADER_BYTES_MAX, skip: SKIP_BYTES_MAX };

#[derive(Debug, Clone, Copy)]
enum State {
    /// Looking for the end of a line or of a header block, which does not begin before `scanned`:
    /// looking again from the start at each read would make a long line cost its length squared.
    Scan { scanned: usize },
    /// The header block is read, its body is awaited.
    Body { bytes: usize },
    /// Reading over a body that is too long.
    SkipBody { left: u64, bytes: u64 },
    /// Reading over a line that is too long.
    SkipLine { bytes: u64 },
}

const START: State = State::Scan { scanned: 0 };

/// The reader's and writer's state for one connection.
#[derive(Debug)]
pub struct FrameCodec {
    framing: Option<Framing>,
    state: State,
    bounds: Bounds,
}

impl FrameCodec {
    /// For the side that is called: the first byte decides the framing.
    #[must_use]
    pub const fn sniffing() -> Self {
        Self { framing: None, state: START, bounds: BOUNDS }
    }

    /// For the side that calls and has chosen.
    #[must_use]
    pub const fn speaking(framing: Framing) -> Self {
        Self { framing: Some(framing), state: START, bounds: BOUNDS }
    }

    /// `None` until the first non-blank byte was read.
    #[must_use]
    pub const fn framing(&self) -> Option<Framing> {
        self.framing
    }

    fn decode_line(&mut self, src: &mut BytesMut) -> Result<Option<Frame>, FrameError> {
        loop {
            let scanned = if let State::Scan { scanned } = self.state { scanned } else { 0 };
            let end = src[scanned..].iter().position(|byte| *byte == b'\n').map(|at| scanned + at);
            match (end, self.state) {
                (Some(end), State::SkipLine { bytes }) => {
                    src.advance(end + 1);
                    self.state = START;
                    return Ok(Some(Frame::Oversized { bytes: bytes + end as u64 }));
                }
                (Some(end), _) => {
                    let line = src.split_to(end + 1);
                    self.state = START;
                    if let Some(frame) = self.line(&line.freeze().slice(..end)) {
                        return Ok(Some(frame));
                    }
                }
                (None, State::SkipLine { bytes }) => {
                    let bytes = bytes + src.len() as u64;
                    src.clear();
                    self.state = State::SkipLine { bytes };
                    return if bytes > self.bounds.skip { Err(FrameError::FarTooLong { bytes: self.bounds.skip }) } else { Ok(None) };
                }
                // One byte of grace: it may be the carriage return of the line's end.
                (None, _) if src.len() > self.bounds.frame + 1 => self.state = State::SkipLine { bytes: 0 },
                (None, _) => {
                    self.state = State::Scan { scanned: src.len() };
                    return Ok(None);
                }
            }
        }
    }

    /// A whole line, without its line feed; nothing if it is blank.
    fn line(&self, line: &Bytes) -> Option<Frame> {
        let text = line.strip_suffix(b"\r").unwrap_or(line);
        if text.len() > self.bounds.frame {
            return Some(Frame::Oversized { bytes: line.len() as u64 });
        }
        (!text.trim_ascii().is_empty()).then(|| Frame::Message(line.slice_ref(text)))
    }

    fn decode_block(&mut self, src: &mut BytesMut) -> Result<Option<Frame>, FrameError> {
        loop {
            match self.state {
                State::Scan { scanned } => {
                    if scanned == 0 {
                        skip_blank(src);
                    }
                    let Some(end) = header_end(src, scanned) else {
                        self.state = State::Scan { scanned: src.len().saturating_sub(2) };
                        return if src.len() > self.bounds.header { Err(FrameError::HeadersTooLong) } else { Ok(None) };
                    };
                    if end > self.bounds.header {
                        return Err(FrameError::HeadersTooLong);
                    }
                    let bytes = content_length(&src.split_to(end))?;
                    self.state = match usize::try_from(bytes) {
                        _ if bytes > self.bounds.skip => return Err(FrameError::FarTooLong { bytes }),
                        Ok(bytes) if bytes <= self.bounds.frame => State::Body { bytes },
                        _ => State::SkipBody { left: bytes, bytes },
                    };
                }
                State::Body { bytes } => {
                    if src.len() < bytes {
                        return Ok(None);
                    }
                    self.state = START;
                    return Ok(Some(Frame::Message(src.split_to(bytes).freeze())));
                }
                State::SkipBody { left, bytes } => {
                    let step = usize::try_from(left).unwrap_or(usize::MAX).min(src.len());
                    src.advance(step);
                    let left = left - step as u64;
                    self.state = if left == 0 { START } else { State::SkipBody { left, bytes } };
                    return Ok((left == 0).then_some(Frame::Oversized { bytes }));
                }
                State::SkipLine { .. } => self.state = START,
            }
        }
    }
}

impl Decoder for FrameCodec {
    type Item = Frame;
    type Error = FrameError;

    fn decode(&mut self, src: &mut BytesMut) -> Result<Option<Frame>, FrameError> {
        if self.framing.is_none() {
            skip_blank(src);
            self.framing = sniff::framing(src)?;
        }
        match self.framing {
            None => Ok(None),
            Some(Framing::Lines) => self.decode_line(src),
            Some(Framing::Headers) => self.decode_block(src),
        }
    }

    /// The last line may lack its line feed: `printf` and here-strings leave it out.
    fn decode_eof(&mut self, src: &mut BytesMut) -> Result<Option<Frame>, FrameError> {
        if let Some(frame) = self.decode(src)? {
            return Ok(Some(frame));
        }
        let rest = src.split().freeze();
        match (self.framing, std::mem::replace(&mut self.state, START)) {
            (None, _) => rest.first().map_or(Ok(None), |first| Err(FrameError::Unknown { first: *first })),
            (Some(Framing::Lines), State::SkipLine { bytes }) => Ok(Some(Frame::Oversized { bytes })),
            (Some(Framing::Lines), _) => Ok(self.line(&rest)),
            (Some(Framing::Headers), State::Scan { .. }) if rest.is_empty() => Ok(None),
            (Some(Framing::Headers), _) => Err(FrameError::Truncated),
        }
    }
}

impl Encoder<&str> for FrameCodec {
    type Error = io::Error;

    /// Before the framing is known, a line.
    fn encode(&mut self, text: &str, dst: &mut BytesMut) -> io::Result<()> {
        self.framing.unwrap_or(Framing::Lines).encode(text, dst);
        Ok(())
    }
}

fn skip_blank(src: &mut BytesMut) {
    let blank = src.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    src.advance(blank);
}
