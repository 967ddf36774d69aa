use super::FrameError;

/// Where the body begins: after the first empty line, whose start is not before `from`.
pub(super) fn header_end(src: &[u8], from: usize) -> Option<usize> {
    (from..src.len()).filter(|at| src[*at] == b'\n').find_map(|at| match &src[at + 1..] {
        [b'\n', ..] => Some(at + 2),
        [b'\r', b'\n', ..] => Some(at + 3),
        _ => None,
    })
}

/// The one header that is read; names are case-insensitive, other headers are left alone.
pub(super) fn content_length(block: &[u8]) -> Result<u64, FrameError> {
    let mut length = None;
    for line in block.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).filter(|line| !line.is_empty()) {
        let Some(colon) = line.iter().position(|byte| *byte == b':') else {
            return Err(FrameError::HeaderLine { line: String::from_utf8_lossy(line).into_owned() });
        };
        if !line[..colon].trim_ascii().eq_ignore_ascii_case(b"content-length") {
            continue;
        }
        let value = line[colon + 1..].trim_ascii();
        let bad = || FrameError::BadLength { value: String::from_utf8_lossy(value).into_owned() };
        let digits = std::str::from_utf8(value).ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit())).ok_or_else(bad)?;
        let bytes = digits.parse().map_err(|_| bad())?;
        if length.replace(bytes).is_some_and(|earlier| earlier != bytes) {
            return Err(bad());
        }
    }
    length.ok_or(FrameError::NoLength)
}
