use super::{FrameError, Framing};

/// Verbs by which a web client gives itself away, with the blank that must follow.
const HTTP_VERBS: [&[u8]; 8] = [b"GET ", b"POST ", b"PUT ", b"HEAD ", b"DELETE ", b"OPTIONS ", b"PATCH ", b"TRACE "];

/// Tells the framing from bytes that do not begin with a blank; `None` if it needs more of them.
pub(super) fn framing(src: &[u8]) -> Result<Option<Framing>, FrameError> {
    match src.first() {
        None => Ok(None),
        Some(b'C' | b'c') => Ok(Some(Framing::Headers)),
        Some(b'{' | b'[') => Ok(Some(Framing::Lines)),
        Some(_) if HTTP_VERBS.iter().any(|verb| src.starts_with(verb)) => Err(FrameError::Http),
        Some(_) if HTTP_VERBS.iter().any(|verb| verb.starts_with(src)) => Ok(None),
        Some(first) => Err(FrameError::Unknown { first: *first }),
    }
}
