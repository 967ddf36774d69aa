use std::sync::{Arc, OnceLock};

use paird_base::limits::{CONNECT_TIMEOUT, REDIRECTS_MAX};
use reqwest::redirect::Policy;
use reqwest::{Client, Url};

use crate::Error;
use crate::error::causes;

/// The connections to providers, shared by all of them. Cheap to clone; nothing is built before the first request.
#[derive(Debug, Clone, Default)]
pub struct Http {
    clients: Arc<Clients>,
}

#[derive(Debug, Default)]
struct Clients {
    outside: OnceLock<Client>,
    local: OnceLock<Client>,
}

impl Http {
    /// The client for a base URL. A server on this machine is reached without the proxy of the environment, and without
    /// the system's certificates, which a machine that only talks to itself may lack.
    pub(crate) fn client(&self, url: &Url) -> Result<Client, Error> {
        let local = url.scheme() == "http" && is_loopback(url);
        let slot = if local { &self.clients.local } else { &self.clients.outside };
        if let Some(client) = slot.get() {
            return Ok(client.clone());
        }
        let client =
            build(local).map_err(|error| Error::Tls { reason: causes(&error).last().map_or_else(String::new, ToString::to_string) })?;
        Ok(slot.get_or_init(|| client).clone())
    }
}

fn build(local: bool) -> reqwest::Result<Client> {
    // An error says that a provider is installed already, which serves as well.
    let _ = rustls::crypto::ring::default_provider().install_default();
    // There is no total timeout: a reply may take as long as it keeps coming.
    let builder = Client::builder()
        .user_agent(concat!("paird/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(CONNECT_TIMEOUT)
        .tcp_nodelay(true)
        .redirect(Policy::custom(|attempt| {
            // The prompt and the key are for the host that was configured.
            let same = attempt.previous().last().is_some_and(|from| from.origin() == attempt.url().origin());
            if same && attempt.previous().len() <= REDIRECTS_MAX { attempt.follow() } else { attempt.stop() }
        }));
    if local { builder.no_proxy().tls_certs_only([]).build() } else { builder.build() }
}

pub(crate) fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or("").trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

/// A URL as errors show it: no user, no password, no query.
pub(crate) fn shown(url: &Url) -> String {
    let mut url = url.clone();
    url.set_query(None);
    url.set_fragment(None);
    // Both fail only for URLs that cannot have these parts.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.to_string().trim_end_matches('/').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_of_a_url() {
        let url = Url::parse("https://me:secret@host.example/v1/?key=secret#x").unwrap();
        assert_eq!(shown(&url), "https://host.example/v1");
    }

    #[test]
    fn loopback_hosts() {
        for (url, expected) in [
            ("http://localhost:1/v1", true),
            ("http://127.0.0.9", true),
            ("http://[::1]:8080", true),
            ("http://10.0.0.1", false),
            ("http://localhost.example", false),
        ] {
            assert_eq!(is_loopback(&Url::parse(url).unwrap()), expected, "{url}");
        }
    }
}
