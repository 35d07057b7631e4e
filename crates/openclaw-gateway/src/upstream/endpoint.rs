//! Where a provider is called, and with what.

use std::net::IpAddr;
use std::time::Duration;

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use openclaw_auth_store::Credential;
use openclaw_ids::ProviderId;
use reqwest::Url;

use super::{SecretKind, Wire};

/// A provider's OpenAI-compatible endpoint.
#[derive(Clone)]
pub(crate) struct Endpoint {
    provider: ProviderId,
    base_url: Url,
    /// The base URL as it may be shown and kept.
    shown: String,
    headers: HeaderMap,
    answer_limit: Option<Duration>,
    speaks: &'static [Wire],
    /// How keys are sent.
    keys_as: SecretKind,
}

/// A base URL that cannot be called.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EndpointError {
    /// Not a URL at all.
    #[error("`{0}` is not a URL; write it like `https://host/v1`")]
    NotAUrl(String),
    /// Another scheme, or none that can be called.
    #[error("`{0}` cannot be called; the base URL must begin with http:// or https://")]
    Scheme(String),
}

impl Endpoint {
    /// An endpoint at `base_url`, without further headers and limits.
    ///
    /// # Errors
    /// When `base_url` is no HTTP URL.
    pub(crate) fn try_new(provider: ProviderId, base_url: &str) -> Result<Self, EndpointError> {
        let base_url = base_url.trim();
        let url = Url::parse(base_url).map_err(|_| EndpointError::NotAUrl(shown_text(base_url)))?;
        if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
            return Err(EndpointError::Scheme(shown_text(base_url)));
        }
        Ok(Self {
            provider,
            shown: shown(&url),
            base_url: url,
            headers: HeaderMap::new(),
            answer_limit: None,
            speaks: &[Wire::ChatCompletions, Wire::Embeddings],
            keys_as: SecretKind::Key,
        })
    }

    /// Looks for the API below `path` instead.
    #[must_use]
    pub(crate) fn with_path(mut self, path: &str) -> Self {
        self.base_url.set_path(path);
        self.shown = shown(&self.base_url);
        self
    }

    /// Sends `headers` with every request.
    #[must_use]
    pub(crate) fn with_headers(mut self, headers: HeaderMap) -> Self {
        self.headers = headers;
        self
    }

    /// Waits for an answer as long as this (`models.providers.<id>.timeoutSeconds`).
    #[must_use]
    pub(crate) fn with_answer_limit(mut self, limit: Option<Duration>) -> Self {
        self.answer_limit = limit;
        self
    }

    /// Passes on requests in the formats of `speaks`.
    #[must_use]
    pub(crate) fn with_wires(mut self, speaks: &'static [Wire]) -> Self {
        self.speaks = speaks;
        self
    }

    /// Sends one header more with every request.
    #[must_use]
    pub(crate) fn with_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.insert(name, value);
        self
    }

    /// Sends keys as tokens.
    #[must_use]
    pub(crate) fn with_keys_as(mut self, kind: SecretKind) -> Self {
        self.keys_as = kind;
        self
    }

    /// How the secret of `credential` is sent.
    pub(crate) fn kind_of(&self, credential: &Credential) -> SecretKind {
        match credential {
            Credential::ApiKey(_) | Credential::Local(_) => self.keys_as,
            Credential::Oauth(_) | Credential::Token(_) => SecretKind::Token,
        }
    }

    /// Whether requests in this format can be passed on.
    pub(crate) fn speaks(&self, wire: Wire) -> bool {
        self.speaks.contains(&wire)
    }

    /// The provider.
    pub(crate) fn provider(&self) -> &ProviderId {
        &self.provider
    }

    /// The base URL without a trailing slash, as it identifies the endpoint (D4). It is shown and kept in state, so
    /// user, password and query are left out.
    pub(crate) fn base_url(&self) -> &str {
        &self.shown
    }

    /// What in the base URL may be a secret, as written and as it means: user, password and the values of the query.
    pub(crate) fn url_secrets(&self) -> Vec<String> {
        let url = &self.base_url;
        let mut found = vec![url.username().to_owned()];
        let password = url.password().unwrap_or_default();
        found.push(password.to_owned());
        // A query can hold what userinfo is encoded as, so its decoder serves for both.
        let as_query = format!(
            "p={}&u={}",
            password.replace('+', "%2B"),
            url.username().replace('+', "%2B")
        );
        let mut decoder = url.clone();
        decoder.set_query(Some(&as_query));
        let decoded = |url: &Url| -> Vec<String> {
            let pairs = url.query_pairs();
            pairs.map(|(_, value)| value.into_owned()).collect()
        };
        found.extend(decoded(&decoder));
        found.extend(decoded(url));
        found
    }

    /// The path of the base URL.
    pub(crate) fn path(&self) -> &str {
        self.base_url.path()
    }

    /// The host that is called.
    pub(crate) fn host(&self) -> &str {
        self.base_url.host_str().unwrap_or_default()
    }

    /// Headers sent with every request.
    pub(crate) fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// How long its row in the configuration waits for an answer.
    pub(crate) fn answer_limit(&self) -> Option<Duration> {
        self.answer_limit
    }

    /// The URL of `path` (such as `chat/completions`) below the base URL; a query of the base URL is kept.
    pub(crate) fn url(&self, path: &str) -> Url {
        let mut url = self.base_url.clone();
        let below = format!("{}/{path}", self.base_url.path().trim_end_matches('/'));
        url.set_path(&below);
        url
    }

    /// Whether the host is this machine, which no proxy should see.
    pub(crate) fn is_loopback(&self) -> bool {
        is_loopback_host(self.host())
    }
}

/// A URL for people and records: user, password, query and fragment may be secrets.
pub(super) fn shown(url: &Url) -> String {
    let mut url = url.clone();
    // Only URLs without a host refuse this, and they hold neither.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_query(None);
    url.set_fragment(None);
    url.as_str().trim_end_matches('/').to_owned()
}

/// The same of a text that is no URL.
fn shown_text(text: &str) -> String {
    let end = text.find(['?', '#']).unwrap_or(text.len());
    let text = &text[..end];
    let start = text.find("://").map_or(0, |at| at + 3);
    let authority_end = text[start..].find('/').map_or(text.len(), |at| start + at);
    match text[start..authority_end].rfind('@') {
        Some(at) => format!("{}{}", &text[..start], &text[start + at + 1..]),
        None => text.to_owned(),
    }
}

/// Whether a host, in brackets when it is an IPv6 address, is this machine.
pub(crate) fn is_loopback_host(host: &str) -> bool {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoint(base_url: &str) -> Result<Endpoint, EndpointError> {
        Endpoint::try_new(ProviderId::try_new("relay").unwrap(), base_url)
    }

    #[test]
    fn paths_are_put_below_the_base_url() {
        for (base, url) in [
            (
                "https://api.openai.com/v1",
                "https://api.openai.com/v1/chat/completions",
            ),
            (
                "https://api.openai.com/v1/",
                "https://api.openai.com/v1/chat/completions",
            ),
            (" http://127.0.0.1:9 ", "http://127.0.0.1:9/chat/completions"),
            (
                "http://h/v1?api-version=2",
                "http://h/v1/chat/completions?api-version=2",
            ),
        ] {
            assert_eq!(endpoint(base).unwrap().url("chat/completions").as_str(), url);
        }
    }

    #[test]
    fn what_is_no_base_url_and_how_to_write_one() {
        for (base, error) in [
            (
                "api.openai.com/v1",
                "`api.openai.com/v1` is not a URL; write it like `https://host/v1`",
            ),
            ("", "`` is not a URL; write it like `https://host/v1`"),
            (
                "ftp://h/",
                "`ftp://h/` cannot be called; the base URL must begin with http:// or https://",
            ),
            (
                "user:password@h/v1?key=k",
                "`h/v1` cannot be called; the base URL must begin with http:// or https://",
            ),
            (
                "ftp://user:password@h/?key=k",
                "`ftp://h/` cannot be called; the base URL must begin with http:// or https://",
            ),
            (
                "mailto:a@b",
                "`b` cannot be called; the base URL must begin with http:// or https://",
            ),
        ] {
            assert_eq!(endpoint(base).err().unwrap().to_string(), error);
        }
    }

    #[test]
    fn what_identifies_an_endpoint_holds_no_secret_and_what_is_called_does() {
        let endpoint = endpoint("https://user:password@h/v1/?key=k#f").unwrap();
        assert_eq!(endpoint.base_url(), "https://h/v1");
        assert_eq!(endpoint.url("x").as_str(), "https://user:password@h/v1/x?key=k#f");
    }

    #[test]
    fn loopback_hosts() {
        for (base, expected) in [
            ("http://127.0.0.1:11434/v1", true),
            ("http://localhost:1/v1", true),
            ("http://[::1]:1/v1", true),
            ("https://api.openai.com/v1", false),
            ("http://10.0.0.1/v1", false),
        ] {
            assert_eq!(endpoint(base).unwrap().is_loopback(), expected, "{base}");
        }
    }
}
