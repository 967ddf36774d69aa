//! jsonrpsee's answers with the client's own id in them.
//!
//! jsonrpsee reads an id into a number or a string and writes that; a large or fractional number would come back as
//! another text, or not at all. So it is given [`PLACEHOLDER`] and the id is put back here.

use jsonrpsee::MethodResponse;
use jsonrpsee::types::Id;
use jsonrpsee::types::error::{INVALID_PARAMS_CODE, METHOD_NOT_FOUND_CODE, OVERSIZED_RESPONSE_CODE};
use paird_protocol::envelope::{self, ErrorObject};
use paird_protocol::{ErrorData, ErrorKind};
use serde::Deserialize;
use serde_json::value::RawValue;

pub(super) const PLACEHOLDER: Id<'static> = Id::Number(0);
const HEAD: &str = r#"{"jsonrpc":"2.0","id":0,"#;

#[derive(Deserialize)]
struct Answer<'a> {
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    error: Option<RpcError>,
}

#[derive(Deserialize)]
struct RpcError {
    code: i32,
    message: String,
    data: Option<Box<RawValue>>,
}

/// The answer's text for the request with this id.
pub(super) fn answer(id: &str, response: &MethodResponse) -> String {
    let json = response.as_json().get();
    match json.strip_prefix(HEAD) {
        Some(rest) if response.is_success() => format!(r#"{{"jsonrpc":"2.0","id":{id},{rest}"#),
        _ => rebuilt(id, json),
    }
}

/// For errors, which must carry their kind, and for a layout that jsonrpsee may have one day.
fn rebuilt(id: &str, json: &str) -> String {
    match serde_json::from_str::<Answer<'_>>(json) {
        Ok(Answer { error: Some(error), .. }) => error_answer(id, error),
        // `Option` reads a result of `null` as absent.
        Ok(Answer { result, error: None }) => envelope::reply(id, result.map_or("null", RawValue::get)),
        Err(error) => {
            tracing::error!(%error, "jsonrpsee wrote an answer that cannot be read");
            envelope::error_reply(id, &ErrorObject::new(ErrorKind::Internal, "the answer could not be written"))
        }
    }
}

fn error_answer(id: &str, error: RpcError) -> String {
    let RpcError { code, message, data } = error;
    if let Some(data) = &data
        && serde_json::from_str::<ErrorData>(data.get()).is_ok()
    {
        let message = serde_json::Value::String(message);
        return format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":{message},"data":{}}}}}"#, data.get());
    }
    let error = match code {
        OVERSIZED_RESPONSE_CODE => {
            ErrorObject::new(ErrorKind::InvalidParams, "the result is too large to send").with_hint("ask for less at a time")
        }
        INVALID_PARAMS_CODE => {
            // jsonrpsee puts what was wrong with the params into the data, as a string.
            let detail = data.and_then(|data| serde_json::from_str::<String>(data.get()).ok());
            ErrorObject::new(ErrorKind::InvalidParams, detail.map_or(message.clone(), |detail| format!("invalid params: {detail}")))
        }
        METHOD_NOT_FOUND_CODE => ErrorObject::new(ErrorKind::NotFound, message).with_code(code),
        _ => ErrorObject::new(ErrorKind::Internal, message).with_code(code),
    };
    envelope::error_reply(id, &error)
}
