use paird_base::Tokens;
use serde_json::Value;

use crate::classify::classify;
use crate::sse::Event;
use crate::{Error, Finish, StopReason, Usage};

/// Text that an event adds.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece {
    Text(String),
    Reasoning(String),
}

/// What is known of a reply so far. Any member of any event may be missing, null or new.
#[derive(Debug)]
pub(super) struct Reading<'a> {
    model: &'a str,
    stop: Option<StopReason>,
    usage: Option<Usage>,
    ended: bool,
}

impl<'a> Reading<'a> {
    pub(super) const fn new(model: &'a str) -> Self {
        Self { model, stop: None, usage: None, ended: false }
    }

    /// The end mark was read: nothing follows.
    pub(super) const fn ended(&self) -> bool {
        self.ended
    }

    /// The model has given its reason to stop: no text follows.
    pub(super) const fn stopped(&self) -> bool {
        self.stop.is_some()
    }

    /// Takes an event of the stream. An error that it brings is sorted like an HTTP status.
    pub(super) fn event(&mut self, event: &Event) -> Result<Vec<Piece>, Error> {
        let data = event.data.trim();
        if data == "[DONE]" {
            self.ended = true;
            return Ok(Vec::new());
        }
        if self.ended || data.is_empty() {
            return Ok(Vec::new());
        }
        if event.name == "error" {
            return Err(classify(None, None, data, self.model));
        }
        self.take(data)
    }

    /// Takes an answer that is one JSON object, which is complete by itself.
    pub(super) fn whole(&mut self, body: &str) -> Result<Vec<Piece>, Error> {
        let pieces = self.take(body)?;
        self.ended = true;
        Ok(pieces)
    }

    /// How the reply ended; an error if it did not.
    pub(super) fn finish(self) -> Result<Finish, Error> {
        match self.stop {
            Some(stop) => Ok(Finish { stop, usage: self.usage }),
            None if self.ended => Ok(Finish { stop: StopReason::Stop, usage: self.usage }),
            None => Err(Error::Broken { detail: "the stream ended without its end mark".to_owned() }),
        }
    }

    fn take(&mut self, data: &str) -> Result<Vec<Piece>, Error> {
        let value: Value =
            serde_json::from_str(data).map_err(|error| Error::Broken { detail: format!("an event is not JSON: {error}") })?;
        let choice = &value["choices"][0];
        let failed = is_error(&value["error"]) || value["object"] == "error";
        if failed || is_error(&choice["error"]) {
            let said = if failed { data.to_owned() } else { choice.to_string() };
            return Err(classify(None, None, &said, self.model));
        }
        if let Some(usage) = usage_of(&value["usage"]).or_else(|| usage_of(&value["x_groq"]["usage"])) {
            self.usage = Some(usage);
        }
        match choice["finish_reason"].as_str() {
            Some("error") => {
                return Err(Error::Broken { detail: "the provider stopped with an error".to_owned() });
            }
            Some(reason) if !reason.is_empty() => self.stop = Some(stop_of(reason)),
            _ => {}
        }
        let message = if choice["delta"].is_object() { &choice["delta"] } else { &choice["message"] };
        let mut pieces = Vec::new();
        let reasoning = ["reasoning_content", "reasoning"].iter().find_map(|name| message[*name].as_str());
        pieces.extend(reasoning.map(|text| Piece::Reasoning(text.to_owned())));
        add_content(&message["content"], &mut pieces);
        Ok(pieces)
    }
}

fn is_error(value: &Value) -> bool {
    !matches!(value, Value::Null | Value::Bool(false)) && value != ""
}

/// Content is a text, or a list of parts of which some are thinking (Mistral).
fn add_content(content: &Value, pieces: &mut Vec<Piece>) {
    match content {
        Value::String(text) => pieces.push(Piece::Text(text.clone())),
        Value::Array(parts) => {
            for part in parts {
                if let Some(text) = part["text"].as_str() {
                    pieces.push(Piece::Text(text.to_owned()));
                }
                let thoughts = part["thinking"].as_array().into_iter().flatten().filter_map(|thought| thought["text"].as_str());
                pieces.extend(thoughts.map(|text| Piece::Reasoning(text.to_owned())));
            }
        }
        _ => {}
    }
}

fn stop_of(reason: &str) -> StopReason {
    match reason.to_ascii_lowercase().as_str() {
        "stop" | "end_turn" | "eos" | "stop_sequence" => StopReason::Stop,
        "length" | "max_tokens" | "model_length" => StopReason::Length,
        "content_filter" | "safety" | "refusal" => StopReason::ContentFilter,
        _ => StopReason::Other(reason.to_owned()),
    }
}

/// Reads the shapes of OpenAI, DeepSeek (cache hits) and gateways to Anthropic (cache writes).
fn usage_of(value: &Value) -> Option<Usage> {
    let tokens = |pointers: &[&str]| pointers.iter().find_map(|pointer| value.pointer(pointer)?.as_u64()).map(Tokens);
    let input = tokens(&["/prompt_tokens", "/input_tokens"]);
    let output = tokens(&["/completion_tokens", "/output_tokens"]);
    input.or(output)?;
    Some(Usage {
        input: input.unwrap_or_default(),
        output: output.unwrap_or_default(),
        cached_read: tokens(&["/prompt_tokens_details/cached_tokens", "/prompt_cache_hit_tokens", "/cache_read_input_tokens"])
            .unwrap_or_default(),
        cached_write: tokens(&["/prompt_tokens_details/cache_write_tokens", "/cache_creation_input_tokens"]).unwrap_or_default(),
        reasoning: tokens(&["/completion_tokens_details/reasoning_tokens"]).unwrap_or_default(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads events and gives the text, the reasoning in brackets, and the end.
    fn read(events: &[&str]) -> Result<(String, Finish), Error> {
        let mut reading = Reading::new("m");
        let mut text = String::new();
        for data in events {
            for piece in reading.event(&Event { name: String::new(), data: (*data).to_owned() })? {
                text += &match piece {
                    Piece::Text(text) => text,
                    Piece::Reasoning(text) => format!("({text})"),
                };
            }
        }
        Ok((text, reading.finish()?))
    }

    fn finish(stop: StopReason) -> Finish {
        Finish { stop, usage: None }
    }

    #[test]
    fn every_member_is_optional() {
        let events = [
            "{}",
            "null",
            "7",
            r#"{"choices":null}"#,
            r#"{"choices":[]}"#,
            r#"{"choices":[{}]}"#,
            r#"{"choices":[{"delta":{"role":"assistant","content":null}}],"error":null}"#,
            r#"{"choices":[{"delta":{"content":"a"},"new":1}]}"#,
            r#"{"choices":[{"delta":{"content":"b"},"finish_reason":""}]}"#,
            r#"{"choices":[{"delta":null,"finish_reason":"stop"}]}"#,
        ];
        assert_eq!(read(&events).unwrap(), ("ab".to_owned(), finish(StopReason::Stop)));
    }

    #[test]
    fn usage_comes_in_an_event_without_choices() {
        let usage = r#"{"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":4},"completion_tokens_details":{"reasoning_tokens":2}}}"#;
        let (text, end) =
            read(&[r#"{"choices":[{"delta":{"content":"x"},"finish_reason":"stop"}],"usage":null}"#, usage, "[DONE]"]).unwrap();
        let expected =
            Usage { input: Tokens(10), output: Tokens(5), cached_read: Tokens(4), cached_write: Tokens(0), reasoning: Tokens(2) };
        assert_eq!((text.as_str(), end.usage), ("x", Some(expected)));
    }

    #[test]
    fn reasoning_is_kept_apart() {
        let events = [
            r#"{"choices":[{"delta":{"reasoning_content":"a","reasoning":"a"}}]}"#,
            r#"{"choices":[{"delta":{"reasoning":"b","content":""}}]}"#,
            r#"{"choices":[{"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"c"}]},{"type":"text","text":"d"}]}}]}"#,
            r#"{"choices":[{"delta":{},"finish_reason":"length"}]}"#,
        ];
        assert_eq!(read(&events).unwrap(), ("(a)(b)(c)d".to_owned(), finish(StopReason::Length)));
    }

    #[test]
    fn the_end_is_a_reason_or_the_mark() {
        let text = r#"{"choices":[{"delta":{"content":"x"}}]}"#;
        assert!(matches!(read(&[text]), Err(Error::Broken { .. })));
        assert!(matches!(read(&[text, r#"{"choices":[{"del"#]), Err(Error::Broken { .. })));
        assert_eq!(read(&[text, "[DONE]", text]).unwrap(), ("x".to_owned(), finish(StopReason::Stop)));
        let tools = r#"{"choices":[{"delta":{"tool_calls":[{"function":{"arguments":"{\"pa"}}]},"finish_reason":"tool_calls"}]}"#;
        assert_eq!(read(&[tools]).unwrap(), (String::new(), finish(StopReason::Other("tool_calls".to_owned()))));
    }

    #[test]
    fn errors_inside_the_stream() {
        assert!(matches!(read(&[r#"{"error":{"code":502,"message":"x"},"choices":[]}"#]), Err(Error::Status { status: 502, .. })));
        assert!(matches!(
            read(&[r#"{"choices":[{"error":{"code":429,"message":"x"},"finish_reason":"error"}]}"#]),
            Err(Error::RateLimited { .. })
        ));
        assert!(matches!(read(&[r#"{"choices":[{"finish_reason":"error"}]}"#]), Err(Error::Broken { .. })));
        let event = Event { name: "error".to_owned(), data: r#"{"message":"Overloaded","type":"overloaded_error"}"#.to_owned() };
        assert!(matches!(Reading::new("m").event(&event), Err(Error::Status { status: 529, .. })));
    }
}
