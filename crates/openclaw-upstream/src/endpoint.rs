//! Where a provider is called, and with what.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue, Uri};
use hyper_util::client::proxy::matcher::Matcher;
use openclaw_classify::redact;
use openclaw_ids::ProviderId;
use openclaw_providers::is_loopback_host;
use openclaw_wire::WireFormat;
use url::Url;

use super::SecretKind;

/// A provider's OpenAI-compatible endpoint. Clones are the same one, and cost nothing.
#[derive(Clone)]
pub struct Endpoint(Arc<Parts>);

#[derive(Clone)]
struct Parts {
    provider: ProviderId,
    base_url: Url,
    /// The base URL as it may be shown and kept.
    shown: String,
    targets: Targets,
    /// User and password of the base URL, as a header sends them.
    login: Option<HeaderValue>,
    headers: HeaderMap,
    answer_limit: Option<Duration>,
    speaks: Cow<'static, [WireFormat]>,
    /// How keys are sent.
    keys_as: SecretKind,
}

/// Where each format is called, by its index.
type Targets = [Uri; WireFormat::COUNT];

/// The targets below `base_url`; none when it is nothing that a request can name.
fn targets_below(base_url: &Url) -> Option<Targets> {
    let targets = WireFormat::ALL
        .iter()
        .map(|format| Uri::try_from(below(base_url, format.path()).as_str()).ok());
    targets.collect::<Option<Vec<Uri>>>()?.try_into().ok()
}

/// A base URL that cannot be called.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EndpointError {
    /// Not a URL at all.
    #[error("`{0}` is not a URL; write it like `https://host/v1`")]
    NotAUrl(String),
    /// A variable in place of an address.
    #[error(
        "the variable in `{0}` is not looked up: only keys, headers and tokens may be variables; write the address"
    )]
    Variable(String),
    /// Another scheme, or none that can be called.
    #[error("`{0}` cannot be called; the base URL must begin with http:// or https://")]
    Scheme(String),
}

impl Endpoint {
    /// An endpoint at `base_url`, without further headers and limits.
    ///
    /// # Errors
    /// When `base_url` is no HTTP URL.
    pub fn try_new(provider: ProviderId, base_url: &str) -> Result<Self, EndpointError> {
        let base_url = base_url.trim();
        let url = Url::parse(base_url).map_err(|_| {
            let shown = shown_text(base_url);
            if base_url.contains("${") {
                EndpointError::Variable(shown)
            } else {
                EndpointError::NotAUrl(shown)
            }
        })?;
        if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
            return Err(EndpointError::Scheme(shown_text(base_url)));
        }
        Ok(Self(Arc::new(Parts {
            provider,
            shown: shown(&url),
            login: login_of(&url),
            targets: targets_below(&without_login(&url))
                .ok_or_else(|| EndpointError::NotAUrl(shown_text(base_url)))?,
            base_url: url,
            headers: HeaderMap::new(),
            answer_limit: None,
            speaks: Cow::Borrowed(&[WireFormat::ChatCompletions, WireFormat::Embeddings]),
            keys_as: SecretKind::Key,
        })))
    }

    fn with(mut self, change: impl FnOnce(&mut Parts)) -> Self {
        change(Arc::make_mut(&mut self.0));
        self
    }

    /// Looks for the API below `path` instead.
    #[must_use]
    pub fn with_path(self, path: &str) -> Self {
        self.with(|parts| {
            parts.base_url.set_path(path);
            parts.shown = shown(&parts.base_url);
            // A path of ours is one of a request.
            if let Some(targets) = targets_below(&without_login(&parts.base_url)) {
                parts.targets = targets;
            }
        })
    }

    /// Sends `headers` with every request.
    #[must_use]
    pub fn with_headers(self, headers: HeaderMap) -> Self {
        self.with(|parts| parts.headers = headers)
    }

    /// Waits for an answer as long as this (`models.providers.<id>.timeoutSeconds`).
    #[must_use]
    pub fn with_answer_limit(self, limit: Option<Duration>) -> Self {
        self.with(|parts| parts.answer_limit = limit)
    }

    /// Passes on requests in the formats of `speaks`.
    #[must_use]
    pub fn with_wires(self, speaks: impl IntoIterator<Item = WireFormat>) -> Self {
        self.with(|parts| parts.speaks = speaks.into_iter().collect())
    }

    /// Sends one header more with every request.
    #[must_use]
    pub fn with_header(self, name: HeaderName, value: HeaderValue) -> Self {
        self.with(|parts| {
            parts.headers.insert(name, value);
        })
    }

    /// Sends keys as tokens.
    #[must_use]
    pub fn with_keys_as(self, kind: SecretKind) -> Self {
        self.with(|parts| parts.keys_as = kind)
    }

    /// How keys are sent.
    pub fn keys_as(&self) -> SecretKind {
        self.0.keys_as
    }

    /// Whether requests in this format can be passed on.
    pub fn speaks(&self, wire: WireFormat) -> bool {
        self.0.speaks.contains(&wire)
    }

    /// The provider.
    pub fn provider(&self) -> &ProviderId {
        &self.0.provider
    }

    /// The base URL without a trailing slash, as it identifies the endpoint (D4). It is shown and kept in state, so
    /// user, password and query are left out.
    pub fn base_url(&self) -> &str {
        &self.0.shown
    }

    /// What in the base URL may be a secret, as written and as it means: user, password and the values of the query.
    pub fn url_secrets(&self) -> Vec<String> {
        let url = &self.0.base_url;
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
    pub fn path(&self) -> &str {
        self.0.base_url.path()
    }

    /// The host that is called.
    pub fn host(&self) -> &str {
        self.0.base_url.host_str().unwrap_or_default()
    }

    /// Headers sent with every request.
    pub fn headers(&self) -> &HeaderMap {
        &self.0.headers
    }

    /// How long its row in the configuration waits for an answer.
    pub fn answer_limit(&self) -> Option<Duration> {
        self.0.answer_limit
    }

    /// The URL of `path` (such as `chat/completions`) below the base URL; a query of the base URL is kept.
    pub fn url(&self, path: &str) -> Url {
        below(&self.0.base_url, path)
    }

    /// The address of requests in a format. It holds neither user nor password; see [`login`](Self::login).
    pub fn target(&self, wire: WireFormat) -> &Uri {
        &self.0.targets[wire.index()]
    }

    /// What a header says of the user and the password in the base URL.
    pub fn login(&self) -> Option<&HeaderValue> {
        self.0.login.as_ref()
    }

    /// Whether the host is this machine, which no proxy should see.
    pub fn is_loopback(&self) -> bool {
        is_loopback_host(self.host())
    }
}

fn below(base_url: &Url, path: &str) -> Url {
    let mut url = base_url.clone();
    let below = format!("{}/{path}", base_url.path().trim_end_matches('/'));
    url.set_path(&below);
    url
}

/// User and password of a URL as a header sends them, which is the same towards proxies.
pub(crate) fn login_of(url: &Url) -> Option<HeaderValue> {
    let proxy = Matcher::builder().all(url.as_str()).build();
    let any = Uri::from_static("http://any.invalid/");
    proxy.intercept(&any)?.basic_auth().cloned()
}

/// What a request names: neither user nor password, and no fragment.
pub(crate) fn without_login(url: &Url) -> Url {
    let mut url = url.clone();
    // Only URLs without a host refuse this, and they hold neither.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_fragment(None);
    url
}

/// A URL for people and records: user, password, query and fragment may be secrets.
pub(crate) fn shown(url: &Url) -> String {
    let mut url = without_login(url);
    url.set_query(None);
    url.as_str().trim_end_matches('/').to_owned()
}

/// The same of a text that is no URL. Where a password begins and ends cannot be told in one, so all before the last `@`
/// is left out.
fn shown_text(text: &str) -> String {
    let (scheme, rest) = text.split_at(text.find("://").map_or(0, |at| at + 3));
    let rest = rest.rfind('@').map_or(rest, |at| &rest[at + 1..]);
    let end = rest.find(['?', '#']).unwrap_or(rest.len());
    // A key may have been put into the wrong place.
    redact(&format!("{scheme}{}", &rest[..end]))
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
                "${BASE}",
                "the variable in `${BASE}` is not looked up: only keys, headers and tokens may be variables; write the address",
            ),
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
                "http://user:pass/word@h/v1",
                "`http://h/v1` is not a URL; write it like `https://host/v1`",
            ),
            (
                "http://user:pass?word#@h/v1?key=k",
                "`http://h/v1` is not a URL; write it like `https://host/v1`",
            ),
            (
                "sk-proj-0123456789abcdefghij",
                "`sk-pro…ghij` is not a URL; write it like `https://host/v1`",
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
        let target = endpoint.target(WireFormat::Messages);
        assert_eq!(target.to_string(), "https://h/v1/messages?key=k");
        assert_eq!(endpoint.login().unwrap(), "Basic dXNlcjpwYXNzd29yZA==");
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
