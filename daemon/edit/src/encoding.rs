//! Which bytes are text that can be edited, and how their lines end.

use paird_base::limits::LINES_MAX;

/// UTF-8's byte order mark; it stays where it is and belongs to no line.
pub(crate) const BOM: &[u8] = b"\xef\xbb\xbf";

/// What a file's bytes say about all of its lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Encoding {
    pub(crate) bom: bool,
    /// Whether the file is valid UTF-8. Other bytes are kept, but nothing beyond ASCII is written beside them: in which
    /// encoding it would have to be is not known.
    pub(crate) utf8: bool,
    /// The byte that ends a line: `\n`, or `\r` in a file that has no other.
    pub(crate) separator: u8,
}

impl Encoding {
    /// Looks at a file's bytes. The error says why they cannot be edited.
    pub(crate) fn of(bytes: &[u8]) -> Result<Self, String> {
        if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
            return Err("it is UTF-16 or UTF-32 text, by its byte order mark; only encodings that contain ASCII can be edited".to_owned());
        }
        if bytes.contains(&0) {
            return Err("it holds NUL bytes, so it is binary, or text in UTF-16 or UTF-32; neither can be edited".to_owned());
        }
        let bom = bytes.starts_with(BOM);
        let body = if bom { &bytes[BOM.len()..] } else { bytes };
        let separator = if body.contains(&b'\r') && !body.contains(&b'\n') { b'\r' } else { b'\n' };
        if body.iter().filter(|b| **b == separator).count() >= LINES_MAX {
            return Err(format!("it has more than {LINES_MAX} lines"));
        }
        Ok(Self { bom, utf8: std::str::from_utf8(body).is_ok(), separator })
    }

    /// The bytes without the byte order mark.
    pub(crate) fn body<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        if self.bom { &bytes[BOM.len()..] } else { bytes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_bytes_are() {
        let of = |bytes: &[u8]| Encoding::of(bytes).unwrap();
        assert_eq!(of(b""), Encoding { bom: false, utf8: true, separator: b'\n' });
        assert_eq!(of(b"\xef\xbb\xbfa\r\n"), Encoding { bom: true, utf8: true, separator: b'\n' });
        assert_eq!(of(b"a\rb\r"), Encoding { bom: false, utf8: true, separator: b'\r' });
        assert_eq!(of(b"a\rb\n"), Encoding { bom: false, utf8: true, separator: b'\n' });
        assert_eq!(of(b"caf\xe9\n"), Encoding { bom: false, utf8: false, separator: b'\n' });
        assert_eq!(of("caf\u{e9}".as_bytes()), Encoding { bom: false, utf8: true, separator: b'\n' });
    }

    #[test]
    fn what_is_refused() {
        for (bytes, why) in [(&b"\xff\xfea\0"[..], "UTF-16"), (b"\xfe\xff\x4e\x2d", "UTF-16"), (b"a\0", "NUL")] {
            assert!(Encoding::of(bytes).unwrap_err().contains(why), "{bytes:?}");
        }
    }
}
