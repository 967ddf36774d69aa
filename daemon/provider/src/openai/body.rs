use paird_base::Tokens;
use serde::Serialize;

use crate::{Message, Request};

/// What a server takes of the optional parameters. Everything is tried; what is refused by name is left out from then on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Dialect {
    /// `stream_options`, which some older servers refuse.
    usage_in_stream: bool,
    /// `temperature`, which reasoning models refuse.
    temperature: bool,
    /// The output limit's name is `max_completion_tokens`, as OpenAI's reasoning models want it.
    completion_limit: bool,
}

impl Default for Dialect {
    fn default() -> Self {
        Self { usage_in_stream: true, temperature: true, completion_limit: false }
    }
}

/// The request as it is written; the order of the members is the order of the bytes.
#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: &'a [Message],
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<StreamOptions>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<Tokens>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<Tokens>,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

impl Dialect {
    /// The bytes of a request.
    pub(super) fn body(self, request: &Request) -> Vec<u8> {
        let limit = |named: bool| request.max_output.filter(|_| named);
        let body = Body {
            model: &request.model,
            messages: &request.messages,
            stream: true,
            stream_options: self.usage_in_stream.then_some(StreamOptions { include_usage: true }),
            temperature: request.temperature.filter(|_| self.temperature),
            max_tokens: limit(!self.completion_limit),
            max_completion_tokens: limit(self.completion_limit),
        };
        serde_json::to_vec(&body).expect("strings, numbers and booleans always serialise")
    }

    /// The dialect that avoids a parameter which a refusal names; `None` if it names none that is still in use.
    pub(super) fn without_what_is_named(self, refusal: &str) -> Option<Self> {
        let narrower = Self {
            usage_in_stream: self.usage_in_stream && !refusal.contains("stream_options"),
            temperature: self.temperature && !refusal.contains("temperature"),
            completion_limit: self.completion_limit || refusal.contains("max_completion_tokens"),
        };
        (narrower != self).then_some(narrower)
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::{MessageRole, Role};

    fn request() -> Request {
        Request {
            messages: vec![
                Message::new(MessageRole::System, "Be \"brief\".\n"),
                Message::new(MessageRole::User, "→ é"),
                Message::new(MessageRole::Assistant, ""),
            ],
            model: "m-1".to_owned(),
            max_output: Some(Tokens(100)),
            temperature: Some(0.0),
            role: Role::Main,
        }
    }

    fn text(dialect: Dialect, request: &Request) -> String {
        String::from_utf8(dialect.body(request)).unwrap()
    }

    #[test]
    fn golden() {
        expect![[r#"{"model":"m-1","messages":[{"role":"system","content":"Be \"brief\".\n"},{"role":"user","content":"→ é"},{"role":"assistant","content":""}],"stream":true,"stream_options":{"include_usage":true},"temperature":0.0,"max_tokens":100}"#]]
            .assert_eq(&text(Dialect::default(), &request()));
    }

    #[test]
    fn what_is_not_set_is_not_sent() {
        let request = Request { messages: Vec::new(), max_output: None, temperature: None, ..request() };
        expect![[r#"{"model":"m-1","messages":[],"stream":true,"stream_options":{"include_usage":true}}"#]]
            .assert_eq(&text(Dialect::default(), &request));
    }

    #[test]
    fn refused_parameters_are_left_out() {
        let first = Dialect::default().without_what_is_named("unknown field `stream_options`").unwrap();
        let second = first.without_what_is_named("'max_tokens' is not supported, use 'max_completion_tokens'; nor 'temperature'").unwrap();
        let request = Request { messages: Vec::new(), ..request() };
        expect![[r#"{"model":"m-1","messages":[],"stream":true,"max_completion_tokens":100}"#]].assert_eq(&text(second, &request));
        assert_eq!(second.without_what_is_named("stream_options temperature max_completion_tokens"), None);
        assert_eq!(Dialect::default().without_what_is_named("bad messages"), None);
    }
}
