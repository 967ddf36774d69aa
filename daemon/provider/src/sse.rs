//! Server-sent events out of bytes that arrive in any pieces.
//!
//! A decoder of our own: `eventsource-stream` 0.2.3 cuts a byte order mark in the middle of its three bytes, which
//! panics, has no bound on an event's size, and keeps everything after one invalid UTF-8 byte to itself. This one works on
//! bytes, so a chunk may end anywhere, also inside a character.

/// One event with data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Event {
    /// Empty where the server gave no name.
    pub(crate) name: String,
    pub(crate) data: String,
}

/// An event, or a line, grew beyond the bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooLarge;

#[derive(Debug)]
pub(crate) struct Decoder {
    bytes_max: usize,
    line: Vec<u8>,
    name: String,
    /// Data lines so far, each with its line feed.
    data: String,
    /// The last byte was a carriage return: a line feed that follows belongs to it.
    after_cr: bool,
    first_line: bool,
}

impl Decoder {
    pub(crate) const fn new(bytes_max: usize) -> Self {
        Self { bytes_max, line: Vec::new(), name: String::new(), data: String::new(), after_cr: false, first_line: true }
    }

    /// Takes more bytes and appends the events they complete.
    pub(crate) fn feed(&mut self, mut bytes: &[u8], events: &mut Vec<Event>) -> Result<(), TooLarge> {
        while let Some(&first) = bytes.first() {
            if std::mem::take(&mut self.after_cr) && first == b'\n' {
                bytes = &bytes[1..];
                continue;
            }
            let end = bytes.iter().position(|byte| matches!(byte, b'\r' | b'\n'));
            self.line.extend_from_slice(&bytes[..end.unwrap_or(bytes.len())]);
            if self.line.len() + self.data.len() > self.bytes_max {
                return Err(TooLarge);
            }
            let Some(end) = end else { break };
            self.after_cr = bytes[end] == b'\r';
            bytes = &bytes[end + 1..];
            events.extend(self.end_of_line());
        }
        Ok(())
    }

    /// The event that the end of the stream completes. The standard drops it; servers that forget the last blank line
    /// are common, and what was cut in the middle does not parse as JSON.
    pub(crate) fn finish(&mut self) -> Option<Event> {
        self.end_of_line().or_else(|| self.end_of_line())
    }

    fn end_of_line(&mut self) -> Option<Event> {
        let bytes = std::mem::take(&mut self.line);
        let mut line = &bytes[..];
        if std::mem::take(&mut self.first_line) {
            line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        }
        if line.is_empty() {
            return self.dispatch();
        }
        let line = String::from_utf8_lossy(line);
        let (field, value) = line.split_once(':').unwrap_or((&line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => {
                self.data.push_str(value);
                self.data.push('\n');
            }
            "event" => value.clone_into(&mut self.name),
            // Comments (an empty field name), ids and reconnection times mean nothing here.
            _ => {}
        }
        None
    }

    fn dispatch(&mut self) -> Option<Event> {
        let name = std::mem::take(&mut self.name);
        let mut data = std::mem::take(&mut self.data);
        data.pop()?;
        Some(Event { name, data })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn decode(pieces: &[&[u8]]) -> Vec<Event> {
        let mut decoder = Decoder::new(1000);
        let mut events = Vec::new();
        for piece in pieces {
            decoder.feed(piece, &mut events).unwrap();
        }
        events.extend(decoder.finish());
        events
    }

    fn event(name: &str, data: &str) -> Event {
        Event { name: name.to_owned(), data: data.to_owned() }
    }

    #[test]
    fn line_ends_comments_and_fields() {
        for end in ["\n", "\r", "\r\n"] {
            let text = ": hello|data: one|data:two||event: error|id: 7|data|||retry: 3||data:  x||".replace('|', end);
            assert_eq!(decode(&[text.as_bytes()]), [event("", "one\ntwo"), event("error", ""), event("", " x")], "{end:?}");
        }
    }

    #[test]
    fn byte_order_mark_missing_end_and_bad_bytes() {
        assert_eq!(decode(&[b"\xef", b"\xbb\xbfdata: a\n\nda", b"ta: [DONE]"]), [event("", "a"), event("", "[DONE]")]);
        assert_eq!(decode(&[b"data: \xff!\n\ndata: b\n"]), [event("", "\u{fffd}!"), event("", "b")]);
    }

    #[test]
    fn an_endless_event_is_refused() {
        let mut decoder = Decoder::new(16);
        let mut events = Vec::new();
        assert_eq!(decoder.feed(b"data: 12345\n\ndata: 1234567", &mut events), Ok(()));
        assert_eq!(decoder.feed(b"890123", &mut events), Err(TooLarge));
        assert_eq!(events, [event("", "12345")]);
    }

    proptest! {
        #[test]
        fn any_pieces_give_the_same_events(
            text in r"((data|event|id|:|x)?:? ?[aé→𝄞]{0,3}(\r|\n|\r\n|\n\n)){0,20}",
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
        ) {
            let bytes = text.as_bytes();
            let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
            at.extend([0, bytes.len()]);
            at.sort_unstable();
            let pieces: Vec<&[u8]> = at.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
            prop_assert_eq!(decode(&pieces), decode(&[bytes]));
        }
    }
}
