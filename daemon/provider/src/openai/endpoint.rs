use paird_base::Secret;
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderName, HeaderValue};
use reqwest::{RequestBuilder, Url};

use crate::Error;

/// Where a provider is and what it wants to see.
#[derive(Debug, Clone)]
pub struct Endpoint {
    /// Everything before `/chat/completions`; a query is kept.
    pub base_url: String,
    /// Sent as a bearer token.
    pub key: Option<Secret<String>>,
    /// Further headers, in order.
    pub headers: Vec<(String, Secret<String>)>,
}

impl Endpoint {
    pub(super) fn url(&self) -> Result<Url, Error> {
        let fail = |reason: String| {
            // What is no URL cannot be taken apart as one, and may hold a password or a key all the same.
            let bare = self.base_url.split('?').next().and_then(|url| url.rsplit('@').next()).unwrap_or("");
            Error::BaseUrl { url: bare.to_owned(), reason }
        };
        let mut url: Url = self.base_url.trim().parse().map_err(|error| fail(format!("{error}")))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(fail("it does not begin with http:// or https://".to_owned()));
        }
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().extend(["chat", "completions"]);
        }
        Ok(url)
    }

    pub(super) fn head(&self, mut request: RequestBuilder) -> Result<RequestBuilder, Error> {
        request = request.header(CONTENT_TYPE, "application/json").header(ACCEPT, "text/event-stream");
        if let Some(key) = &self.key {
            let mut value = HeaderValue::try_from(format!("Bearer {}", key.expose()))
                .map_err(|_| Error::Auth { message: "the key holds characters that no header may have".to_owned() })?;
            value.set_sensitive(true);
            request = request.header(AUTHORIZATION, value);
        }
        for (name, value) in &self.headers {
            let header = HeaderName::try_from(name).ok().zip(HeaderValue::try_from(value.expose()).ok());
            let Some((name, mut value)) = header else {
                return Err(Error::BadRequest { message: format!("header {name:?} has a name or value that HTTP does not allow") });
            };
            value.set_sensitive(true);
            request = request.header(name, value);
        }
        Ok(request)
    }

    /// What must not stand in a message. Short header values are words of the language rather than secrets.
    pub(super) fn secrets(&self) -> Vec<&str> {
        let headers = self.headers.iter().map(|(_, value)| value.expose().as_str()).filter(|value| value.len() >= 8);
        self.key.iter().map(|key| key.expose().as_str()).chain(headers).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Http, OpenAi};

    fn endpoint(base_url: &str) -> Endpoint {
        Endpoint {
            base_url: base_url.to_owned(),
            key: Some(Secret::new("sk-secret".to_owned())),
            headers: vec![("X-Auth".to_owned(), Secret::new("hidden-value".to_owned()))],
        }
    }

    #[test]
    fn urls() {
        for (base, expected) in [
            ("http://h/v1", "http://h/v1/chat/completions"),
            ("http://h/v1/", "http://h/v1/chat/completions"),
            ("http://h", "http://h/chat/completions"),
            ("https://h/openai?api-version=1", "https://h/openai/chat/completions?api-version=1"),
        ] {
            assert_eq!(endpoint(base).url().unwrap().as_str(), expected);
        }
        for base in ["", "h/v1", "file:///v1", "mailto:x", "ftp://me:secret@h/v1?key=secret"] {
            let error = endpoint(base).url().unwrap_err();
            assert!(matches!(error, Error::BaseUrl { .. }) && !error.to_string().contains("secret"), "{error}");
        }
    }

    #[test]
    fn debug_output_shows_no_secret() {
        let text = format!("{:?}", OpenAi::new(endpoint("http://h"), Http::default()));
        assert!(!text.contains("sk-secret") && !text.contains("hidden-value"), "{text}");
    }
}
