use proptest::collection::vec;
use proptest::prelude::*;
use tokio_util::bytes::BytesMut;
use tokio_util::codec::{Decoder, Encoder};

use super::*;

/// Small enough that a test can go over each.
const SMALL: Bounds = Bounds { frame: 40, header: 64, skip: 300 };

/// Everything the codec says about `pieces`, the error last if there is one.
fn read(mut codec: FrameCodec, pieces: &[&[u8]]) -> Vec<String> {
    let mut src = BytesMut::new();
    let mut said = Vec::new();
    for piece in pieces {
        src.extend_from_slice(piece);
        loop {
            match codec.decode(&mut src) {
                Ok(Some(frame)) => said.push(show(&frame)),
                Ok(None) => break,
                Err(error) => {
                    said.push(format!("error: {error}"));
                    return said;
                }
            }
        }
    }
    loop {
        match codec.decode_eof(&mut src) {
            Ok(Some(frame)) => said.push(show(&frame)),
            Ok(None) => return said,
            Err(error) => {
                said.push(format!("error: {error}"));
                return said;
            }
        }
    }
}

fn show(frame: &Frame) -> String {
    match frame {
        Frame::Message(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Frame::Oversized { bytes } => format!("oversized {bytes}"),
    }
}

fn small() -> FrameCodec {
    FrameCodec { framing: None, state: START, bounds: SMALL }
}

fn check(input: &str, expected: &[&str]) {
    assert_eq!(read(small(), &[input.as_bytes()]), expected, "{input:?}");
    let bytes: Vec<&[u8]> = input.as_bytes().chunks(1).collect();
    assert_eq!(read(small(), &bytes), expected, "{input:?}, byte by byte");
}

#[test]
fn lines() {
    check("{\"a\":1}\n{\"b\":2}\n", &["{\"a\":1}", "{\"b\":2}"]);
    check("  \r\n\n\t[1]\r\n \n{}", &["[1]", "{}"]);
    check("{\"a\":\"\u{2028}\u{85}\r\"}\n", &["{\"a\":\"\u{2028}\u{85}\r\"}"]);
    check("{}\nGET / HTTP/1.1\n", &["{}", "GET / HTTP/1.1"]);
    check("", &[]);
    check(" \n \n", &[]);
}

#[test]
fn header_blocks() {
    check("Content-Length: 2\r\n\r\n{}", &["{}"]);
    check("content-LENGTH :  02 \n\n{}\r\n\r\nContent-Length:4\r\n\r\nnull", &["{}", "null"]);
    check("Content-Type: a; charset=utf-8\r\nX: y\r\nContent-Length: 5\r\n\r\n\"ü\u{e9}", &["\"ü\u{e9}"]);
    check("Content-Length: 2\r\nContent-Length: 2\r\n\r\n[]", &["[]"]);
    check("Content-Length: 0\r\n\r\nContent-Length: 1\r\n\r\n1", &["", "1"]);
}

#[test]
fn broken_header_blocks_end_the_connection() {
    check("Content-Type: x\r\n\r\n{}", &["error: the header block has no Content-Length"]);
    check("Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}", &["error: Content-Length \"3\" is not one number of bytes"]);
    check("Content-Length: -1\r\n\r\n", &["error: Content-Length \"-1\" is not one number of bytes"]);
    check("Content-Length: +1\r\n\r\n", &["error: Content-Length \"+1\" is not one number of bytes"]);
    check("Content-Length: \r\n\r\n", &["error: Content-Length \"\" is not one number of bytes"]);
    check(
        "Content-Length: 99999999999999999999999\r\n\r\n",
        &["error: Content-Length \"99999999999999999999999\" is not one number of bytes"],
    );
    check("CONNECT\r\n\r\n", &["error: the header line \"CONNECT\" has no colon"]);
    check(&format!("C: {}", "x".repeat(70)), &["error: the header block is longer than 8192 bytes"]);
    check("Content-Length: 5\r\n\r\n{}", &["error: the stream ended inside a message"]);
    check("Content-Le", &["error: the stream ended inside a message"]);
}

#[test]
fn other_protocols_are_named() {
    check("GET / HTTP/1.1\r\nHost: x\r\n\r\n", &["error: this is HTTP, the socket takes JSON-RPC 2.0"]);
    check("\nPOST / HTTP/1.1\r\n", &["error: this is HTTP, the socket takes JSON-RPC 2.0"]);
    check("GETAWAY", &["error: expected a `Content-Length` header or a JSON object, not byte 0x47"]);
    check("GE", &["error: expected a `Content-Length` header or a JSON object, not byte 0x47"]);
    check("\u{16}\u{3}", &["error: expected a `Content-Length` header or a JSON object, not byte 0x16"]);
    assert!(FrameError::Http.plain_answer().unwrap().starts_with("HTTP/1.1 400 "));
    let line = FrameError::Unknown { first: 0 }.plain_answer().unwrap();
    assert_eq!(line.matches('\n').count(), 1);
    assert_eq!(FrameError::NoLength.plain_answer(), None);
}

#[test]
fn a_message_that_is_too_long_is_read_over() {
    let long = "x".repeat(41);
    check(&format!("{{}}\n{long}\n[]\n"), &["{}", "oversized 41", "[]"]);
    check(&format!("{{{}\r\n[]\n", "x".repeat(39)), &[&format!("{{{}", "x".repeat(39)), "[]"]);
    check(&format!("{{}}\n{long}"), &["{}", "oversized 41"]);
    check(&format!("Content-Length: 41\r\n\r\n{long}Content-Length: 2\r\n\r\n{{}}"), &["oversized 41", "{}"]);
    check("Content-Length: 301\r\n\r\n", &["error: a message of 301 bytes or more is not even read over; 1073741824 is the most"]);
    let endless = format!("{{{}", "x".repeat(2000));
    let pieces: Vec<&[u8]> = endless.as_bytes().chunks(7).collect();
    assert_eq!(read(small(), &pieces), ["error: a message of 300 bytes or more is not even read over; 1073741824 is the most"]);
}

/// The bug that the offset is for: the time to read a long line in many pieces must not grow with the square of its length.
#[test]
fn a_long_line_is_scanned_once() {
    let mut codec = FrameCodec::speaking(Framing::Lines);
    let mut src = BytesMut::new();
    for _ in 0..1000 {
        src.extend_from_slice(b"\"0123456789\",");
        assert!(codec.decode(&mut src).unwrap().is_none());
        let State::Scan { scanned } = codec.state else { panic!("not scanning") };
        assert_eq!(scanned, src.len());
    }
}

#[test]
fn what_is_written() {
    let write = |framing: Framing, text: &str| {
        let mut out = BytesMut::new();
        FrameCodec::speaking(framing).encode(text, &mut out).unwrap();
        String::from_utf8(out.to_vec()).unwrap()
    };
    assert_eq!(write(Framing::Headers, "{\"ü\":1}"), "Content-Length: 8\r\n\r\n{\"ü\":1}");
    assert_eq!(write(Framing::Lines, "{\r\n\"a\":\"\\n\"}"), "{  \"a\":\"\\n\"}\n");
}

fn wire() -> impl Strategy<Value = Vec<u8>> {
    let part = prop_oneof![
        Just(b"{\"a\":1}\n".to_vec()),
        Just(b"Content-Length: 2\r\n\r\n{}".to_vec()),
        Just(b"content-length:50\n\n".to_vec()),
        Just(b"\r\n".to_vec()),
        Just(b"GET ".to_vec()),
        vec(any::<u8>(), 0..60),
        vec(Just(b'x'), 0..120),
    ];
    vec(part, 0..8).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn any_split_equals_the_whole(bytes in wire(), cuts in vec(any::<prop::sample::Index>(), 0..10)) {
        let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        at.extend([0, bytes.len()]);
        at.sort_unstable();
        let pieces: Vec<&[u8]> = at.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
        prop_assert_eq!(read(small(), &pieces), read(small(), &[&bytes]));
    }

    #[test]
    fn what_is_written_is_read(texts in vec("[^\r\n]{0,30}", 1..6), headers in any::<bool>()) {
        let framing = if headers { Framing::Headers } else { Framing::Lines };
        let texts: Vec<String> = texts.into_iter().map(|text| format!("{{{text}}}")).collect();
        let mut out = BytesMut::new();
        for text in &texts {
            framing.encode(text, &mut out);
        }
        let mut codec = FrameCodec::sniffing();
        for text in &texts {
            let frame = codec.decode(&mut out).unwrap();
            prop_assert_eq!(frame.map(|frame| show(&frame)), Some(text.clone()));
        }
        prop_assert_eq!(codec.framing(), Some(framing));
        prop_assert!(out.is_empty());
    }
}
