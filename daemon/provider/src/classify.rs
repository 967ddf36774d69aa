//! What a provider's refusal means, whether it came as an HTTP status or inside a stream that began well.

use std::time::Duration;

use paird_base::limits::ERROR_BODY_BYTES_MAX;
use serde_json::Value;

use crate::Error;

/// Sorts a refusal. `status` is `None` inside a stream, where the body's own code or type has to say it.
pub(crate) fn classify(status: Option<u16>, retry_after: Option<Duration>, body: &str, model: &str) -> Error {
    let refusal = Refusal::read(body);
    let message = refusal.message;
    let said = refusal.kind.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| said.contains(word));
    let status = status.filter(|status| *status >= 300).or(refusal.status).unwrap_or_else(|| status_of(&said));

    if says(&["context_length_exceeded"]) || status == 413 || (!matches!(status, 401..=404 | 429) && overflows(&message)) {
        return Error::ContextOverflow { message };
    }
    if status == 402 || says(&["insufficient_quota", "insufficient_credits", "billing"]) || message.contains("credit balance is too low") {
        return Error::Quota { message };
    }
    if says(&["model_not_found"]) {
        return Error::NotFound { model: model.to_owned(), message };
    }
    match status {
        401 | 403 => Error::Auth { message },
        400 if says(&["invalid_api_key", "api_key_invalid"]) || message.contains("API key not valid") => Error::Auth { message },
        404 => Error::NotFound { model: model.to_owned(), message },
        429 => Error::RateLimited { retry_after, message },
        408 | 409 | 425 | 500.. => Error::Status { status, message, retry_after },
        300..=399 => Error::Status { status, message: "it redirects to another host, which is not followed".to_owned(), retry_after },
        _ => Error::BadRequest { message },
    }
}

/// The HTTP status that an error's type or code stands for. What is not known is taken for the server's fault, which
/// is tried again a few times.
fn status_of(said: &str) -> u16 {
    let table: &[(&str, u16)] = &[
        ("overloaded", 529),
        ("unavailable", 503),
        ("rate_limit", 429),
        ("resource_exhausted", 429),
        ("too_many_requests", 429),
        ("insufficient_quota", 429),
        ("authentication", 401),
        ("invalid_api_key", 401),
        ("unauthorized", 401),
        ("permission", 403),
        ("not_found", 404),
        ("too_large", 413),
        ("invalid", 400),
        ("bad_request", 400),
        ("badrequest", 400),
    ];
    table.iter().find(|row| said.contains(row.0)).map_or(500, |row| row.1)
}

/// The ways in which servers say that the prompt is too long; OpenAI and vLLM, Anthropic, Gemini, llama.cpp, Ollama, Mistral.
fn overflows(message: &str) -> bool {
    let message = message.to_lowercase();
    [
        "context length",
        "context window",
        "context_length",
        "context size",
        "prompt is too long",
        "input token count",
        "too large for model",
        "input length",
    ]
    .iter()
    .any(|phrase| message.contains(phrase))
}

struct Refusal {
    message: String,
    /// Code, type and status name, joined.
    kind: String,
    /// A code that is an HTTP status.
    status: Option<u16>,
}

impl Refusal {
    /// Reads `{"error": {…}}`, `{"error": "…"}`, `{"message": …}`, `{"detail": …}`, a list of one of these, or plain text.
    fn read(body: &str) -> Self {
        let Ok(value) = serde_json::from_str::<Value>(body) else {
            let message = if body.trim_start().starts_with('<') { "(a web page)" } else { body };
            return Self { message: tidy(message), kind: String::new(), status: None };
        };
        let outer = value.get(0).unwrap_or(&value);
        let inner = outer.get("error").filter(|error| !error.is_null()).unwrap_or(outer);
        let message = match inner {
            Value::String(text) => text.clone(),
            _ => ["message", "detail", "error"]
                .iter()
                .find_map(|name| inner.get(name))
                .map_or_else(|| inner.to_string(), |message| message.as_str().map_or_else(|| message.to_string(), str::to_owned)),
        };
        let names = ["code", "type", "status"].iter().filter_map(|name| inner.get(name)?.as_str());
        let status = inner.get("code").and_then(|code| code.as_u64().or_else(|| code.as_str()?.parse().ok()));
        Self {
            message: tidy(&message),
            kind: names.collect::<Vec<_>>().join(" "),
            status: status.and_then(|code| u16::try_from(code).ok()).filter(|code| (400..600).contains(code)),
        }
    }
}

/// One short line: no control characters, which a terminal might obey.
pub(crate) fn tidy(text: &str) -> String {
    let kept = text.trim().char_indices().take_while(|(at, c)| at + c.len_utf8() <= ERROR_BODY_BYTES_MAX);
    let line: String = kept.map(|(_, c)| if c.is_control() { ' ' } else { c }).collect();
    if line.is_empty() { "(no message)".to_owned() } else { line }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sort(status: Option<u16>, body: &str) -> String {
        let name = format!("{:?}", classify(status, None, body, "m"));
        name.split([' ', '{']).next().unwrap().to_owned()
    }

    #[test]
    fn statuses() {
        for (status, expected) in [
            (400, "BadRequest"),
            (401, "Auth"),
            (402, "Quota"),
            (403, "Auth"),
            (404, "NotFound"),
            (405, "BadRequest"),
            (408, "Status"),
            (409, "Status"),
            (413, "ContextOverflow"),
            (422, "BadRequest"),
            (429, "RateLimited"),
            (500, "Status"),
            (529, "Status"),
            (307, "Status"),
        ] {
            assert_eq!(sort(Some(status), "{}"), expected, "{status}");
            let retryable = matches!(status, 408 | 409 | 429 | 500..);
            assert_eq!(classify(Some(status), None, "", "m").retryable(), retryable, "{status}");
        }
    }

    #[test]
    fn bodies() {
        for (status, body, expected) in [
            (
                429,
                r#"{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}"#,
                "Quota",
            ),
            (
                429,
                r#"[{"error":{"code":429,"message":"Resource exhausted: input token count","status":"RESOURCE_EXHAUSTED"}}]"#,
                "RateLimited",
            ),
            (
                400,
                r#"{"error":{"message":"This model's maximum context length is 8192 tokens","code":"context_length_exceeded"}}"#,
                "ContextOverflow",
            ),
            (
                400,
                r#"{"error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}"#,
                "ContextOverflow",
            ),
            (500, r#"{"error":"the request exceeds the available context size"}"#, "ContextOverflow"),
            (429, r#"{"error":{"message":"context window tokens per minute","code":"rate_limit_exceeded"}}"#, "RateLimited"),
            (400, r#"{"error":{"message":"Your credit balance is too low to access the API"}}"#, "Quota"),
            (400, r#"{"error":{"message":"API key not valid.","status":"INVALID_ARGUMENT"}}"#, "Auth"),
            (403, r#"{"error":{"code":"model_not_found","message":"no access"}}"#, "NotFound"),
            (422, r#"{"detail":[{"msg":"field required"}]}"#, "BadRequest"),
        ] {
            assert_eq!(sort(Some(status), body), expected, "{body}");
        }
    }

    #[test]
    fn inside_a_stream() {
        for (body, expected) in [
            (r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#, "Status"),
            (r#"{"error":{"code":502,"message":"bad gateway"}}"#, "Status"),
            (r#"{"error":{"code":"429","message":"slow down"}}"#, "RateLimited"),
            (r#"{"error":{"type":"rate_limit_error","message":"slow down"}}"#, "RateLimited"),
            (r#"{"error":{"type":"insufficient_quota","message":"pay"}}"#, "Quota"),
            (r#"{"error":{"type":"invalid_request_error","message":"no"}}"#, "BadRequest"),
            (r#"{"object":"error","message":"no","type":"BadRequestError","code":400}"#, "BadRequest"),
            ("boom", "Status"),
        ] {
            assert_eq!(sort(None, body), expected, "{body}");
        }
    }

    #[test]
    fn messages_are_one_short_line() {
        let message = |body: &str| match classify(Some(400), None, body, "m") {
            Error::BadRequest { message } => message,
            other => panic!("{other}"),
        };
        assert_eq!(message("{\"error\":{\"message\":\"a\\u001b[31mb\\nc\"}}"), "a [31mb c");
        assert_eq!(message("<html><body>nope</body></html>"), "(a web page)");
        assert_eq!(message("  "), "(no message)");
        assert_eq!(message(&"é".repeat(5000)).len(), ERROR_BODY_BYTES_MAX);
        assert_eq!(message(r#"{"detail":[{"msg":"x"}]}"#), r#"[{"msg":"x"}]"#);
    }
}
