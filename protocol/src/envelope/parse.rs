use std::fmt;

use serde::de::{IgnoredAny, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::{Call, ErrorObject, INVALID_REQUEST, Message, PARSE_ERROR, Parsed, Refusal};
use crate::types::ErrorKind;

/// Reads one frame. `batch_max` is the most members an array may have; `None` refuses arrays.
///
/// # Errors
/// The text is no JSON, or JSON that is no call; the answer to send is in the refusal.
pub fn parse(frame: &[u8], batch_max: Option<usize>) -> Result<Parsed<'_>, Refusal> {
    let text = std::str::from_utf8(frame).map_err(|_| not_json("the message is not UTF-8"))?;
    match (text.trim_ascii_start().as_bytes().first(), batch_max) {
        (Some(b'['), Some(max)) => batch(text, max),
        (Some(b'['), None) => {
            check_json(text)?;
            Err(refuse(None, "batches are taken on newline framing only"))
        }
        _ => message(text).map(Parsed::One),
    }
}

fn batch(text: &str, max: usize) -> Result<Parsed<'_>, Refusal> {
    let mut source = serde_json::Deserializer::from_str(text);
    let members =
        source.deserialize_seq(Members { max }).and_then(|members| source.end().map(|()| members)).map_err(|e| not_json(&e.to_string()))?;
    match members.as_deref() {
        Some([]) => Err(refuse(None, "the batch is empty")),
        Some(members) => Ok(Parsed::Batch(members.iter().map(|member| message(member.get())).collect())),
        None => Err(refuse(None, &format!("a batch takes at most {max} messages"))),
    }
}

/// The members of an array; `None` if there are more than `max`, so that a huge array of tiny members costs no memory.
struct Members {
    max: usize,
}

impl<'de> Visitor<'de> for Members {
    type Value = Option<Vec<&'de RawValue>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while members.len() < self.max {
            match seq.next_element()? {
                Some(member) => members.push(member),
                None => return Ok(Some(members)),
            }
        }
        let mut over = false;
        while seq.next_element::<IgnoredAny>()?.is_some() {
            over = true;
        }
        Ok((!over).then_some(members))
    }
}

/// Every member that matters, as it was written; members of other names are left alone.
#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow, default, deserialize_with = "written")]
    jsonrpc: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "written")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "written")]
    method: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "written")]
    params: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "written")]
    result: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "written")]
    error: Option<&'a RawValue>,
}

/// Tells `null` from an absent member, which `Option` alone does not.
fn written<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

fn message(text: &str) -> Result<Message<'_>, Refusal> {
    // A derived struct would take an array too, by position.
    if text.trim_ascii_start().as_bytes().first() != Some(&b'{') {
        check_json(text)?;
        return Err(refuse(None, "a message must be an object"));
    }
    let members: Envelope<'_> = match serde_json::from_str(text) {
        Ok(members) => members,
        Err(error) => {
            check_json(text)?;
            return Err(refuse(None, &error.to_string()));
        }
    };
    if members.method.is_none() && (members.result.is_some() || members.error.is_some()) {
        return Ok(Message::Reply);
    }
    let id = match members.id {
        Some(id) if matches!(id.get().as_bytes().first(), Some(b'"' | b'-' | b'0'..=b'9' | b'n')) => Some(id),
        Some(_) => return Err(refuse(None, "id must be a string, a number or null")),
        None => None,
    };
    let string = |raw: &RawValue| serde_json::from_str::<String>(raw.get()).ok();
    let version = members.jsonrpc.ok_or_else(|| refuse(id, "the member jsonrpc is missing; it must be \"2.0\""))?;
    if string(version).as_deref() != Some("2.0") {
        return Err(refuse(id, "the member jsonrpc must be \"2.0\""));
    }
    let method = members.method.ok_or_else(|| refuse(id, "the member method is missing"))?;
    let method = string(method).ok_or_else(|| refuse(id, "the member method must be a string"))?;
    Ok(Message::Call(Call { id, method, params: members.params }))
}

fn check_json(text: &str) -> Result<(), Refusal> {
    serde_json::from_str::<IgnoredAny>(text).map(|_| ()).map_err(|error| not_json(&error.to_string()))
}

fn not_json(why: &str) -> Refusal {
    Refusal { id: None, error: ErrorObject::new(ErrorKind::InvalidParams, format!("parse error: {why}")).with_code(PARSE_ERROR) }
}

fn refuse(id: Option<&RawValue>, why: &str) -> Refusal {
    let error = ErrorObject::new(ErrorKind::InvalidParams, format!("invalid request: {why}")).with_code(INVALID_REQUEST);
    Refusal { id: id.map(|raw| raw.get().into()), error }
}
