use std::path::PathBuf;

use paird_base::Secret;
use reqwest::Url;

use crate::{Endpoint, Error, SERVICES, Service};

/// What a model's name means: which provider, and the model's name there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelRef {
    /// `replay:PATH`, the path as it was written.
    Replay { path: PathBuf },
    /// `service/model`, or a bare name, which is OpenAI's.
    Hosted { service: &'static Service, model: String },
}

impl ModelRef {
    /// Reads a name as a person writes it.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let text = text.trim();
        let fail = |reason: String| Error::UnknownModel { name: text.to_owned(), reason };
        if let Some(path) = text.strip_prefix("replay:") {
            return if path.is_empty() { Err(fail("the path is missing".to_owned())) } else { Ok(Self::Replay { path: path.into() }) };
        }
        let (prefix, model) = text.split_once('/').unwrap_or((SERVICES[0].name, text));
        if model.is_empty() || text.chars().any(char::is_control) {
            return Err(fail("the name is missing or cannot be shown".to_owned()));
        }
        let service = SERVICES.iter().find(|service| service.name == prefix).ok_or_else(|| {
            let names = SERVICES.iter().map(|service| service.name).collect::<Vec<_>>().join(", ");
            fail(format!(
                "no provider is called {prefix:?} (there are {names}); openai/{text} means a model of that name at OPENAI_API_BASE"
            ))
        })?;
        Ok(Self::Hosted { service, model: model.to_owned() })
    }

    /// The name to put into a [`crate::Request`].
    #[must_use]
    pub fn model_name(&self) -> &str {
        match self {
            Self::Replay { .. } => "replay",
            Self::Hosted { model, .. } => model,
        }
    }

    /// Where to send requests, by variables such as `OPENAI_API_BASE` and `OPENAI_API_KEY`; `None` for a replay.
    ///
    /// A key is demanded only for the provider's public address: what answers at an address of one's own decides for itself.
    pub fn endpoint_for(&self, env: &dyn Fn(&str) -> Option<String>) -> Result<Option<Endpoint>, Error> {
        let Self::Hosted { service, .. } = self else { return Ok(None) };
        let lookup = |name: &str| env(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
        let given = lookup(service.base_env);
        let key = lookup(service.key_env).map(Secret::new);
        if key.is_none() && given.is_none() && service.needs_key {
            return Err(Error::NoKey { service: service.name, env: service.key_env });
        }
        let base_url = given.map_or_else(|| service.base_url.to_owned(), |base| with_path(base, service.base_path));
        Ok(Some(Endpoint { base_url, key, headers: Vec::new() }))
    }
}

fn with_path(base: String, path: &str) -> String {
    match base.parse::<Url>() {
        Ok(mut url) if url.path() == "/" && !path.is_empty() => {
            url.set_path(path);
            url.to_string()
        }
        _ => base,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosted(text: &str) -> (&'static str, String) {
        match ModelRef::parse(text).unwrap() {
            ModelRef::Hosted { service, model } => (service.name, model),
            ModelRef::Replay { .. } => panic!("{text} is a replay"),
        }
    }

    fn endpoint(text: &str, env: &[(&str, &str)]) -> Result<Endpoint, Error> {
        let lookup = |name: &str| env.iter().find(|pair| pair.0 == name).map(|pair| pair.1.to_owned());
        ModelRef::parse(text).unwrap().endpoint_for(&lookup).map(|endpoint| endpoint.expect("hosted models have an endpoint"))
    }

    #[test]
    fn names() {
        assert_eq!(hosted("gpt-4o"), ("openai", "gpt-4o".to_owned()));
        assert_eq!(hosted(" openai/org/model "), ("openai", "org/model".to_owned()));
        assert_eq!(hosted("openrouter/anthropic/claude:beta"), ("openrouter", "anthropic/claude:beta".to_owned()));
        assert_eq!(ModelRef::parse("replay:dir/a b.jsonl").unwrap(), ModelRef::Replay { path: "dir/a b.jsonl".into() });
        for text in ["", "  ", "openai/", "replay:", "nobody/model", "gpt\n4"] {
            assert!(matches!(ModelRef::parse(text), Err(Error::UnknownModel { .. })), "{text:?}");
        }
    }

    #[test]
    fn keys_and_base_urls() {
        let found = endpoint("gpt-4o", &[("OPENAI_API_KEY", " sk-1\n")]).unwrap();
        assert_eq!((found.base_url.as_str(), found.key), ("https://api.openai.com/v1", Some(Secret::new("sk-1".to_owned()))));
        let found = endpoint("openai/x", &[("OPENAI_API_BASE", "http://127.0.0.1:9/v1")]).unwrap();
        assert_eq!((found.base_url.as_str(), found.key), ("http://127.0.0.1:9/v1", None));
        assert_eq!(endpoint("ollama/x", &[]).unwrap().base_url, "http://127.0.0.1:11434/v1");
        assert_eq!(endpoint("ollama/x", &[("OLLAMA_API_BASE", "http://box:11434")]).unwrap().base_url, "http://box:11434/v1");
        assert_eq!(endpoint("lm_studio/x", &[("LM_STUDIO_API_BASE", "http://box:1234")]).unwrap().base_url, "http://box:1234");
    }

    #[test]
    fn a_missing_key_is_named() {
        let error = endpoint("groq/x", &[("OPENAI_API_KEY", "sk-1"), ("GROQ_API_KEY", " ")]).unwrap_err();
        assert_eq!(error.to_string(), "no key for groq: GROQ_API_KEY is not set");
        assert!(error.hint().contains("GROQ_API_KEY"));
    }
}
