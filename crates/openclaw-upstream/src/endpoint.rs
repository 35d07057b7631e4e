//! A provider's endpoint: base URL, headers, formats and the kind of its keys.

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

/// A provider's endpoint. Clones share one allocation.
#[derive(Clone)]
pub struct Endpoint(Arc<Parts>);

#[derive(Clone)]
struct Parts {
    provider: ProviderId,
    base_url: Url,
    /// The base URL without its secrets.
    display_url: String,
    targets: Targets,
    /// User and password of the base URL, as a header sends them.
    login: Option<HeaderValue>,
    headers: HeaderMap,
    answer_limit: Option<Duration>,
    speaks: Cow<'static, [WireFormat]>,
    /// How keys are sent.
    keys_as: SecretKind,
}

/// The address of each format, by its index.
type Targets = [Uri; WireFormat::COUNT];

/// The targets below `base_url`; none when it cannot stand in a request.
fn targets_below(base_url: &Url) -> Option<Targets> {
    let targets = WireFormat::ALL
        .iter()
        .map(|format| Uri::try_from(below(base_url, format.path()).as_str()).ok());
    targets.collect::<Option<Vec<Uri>>>()?.try_into().ok()
}

/// The kind of a secret, for formats that send keys and tokens in different headers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SecretKind {
    /// An API key.
    Key,
    /// A token of a login.
    Token,
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
            display_url: without_secrets(&url),
            login: userinfo_header(&url),
            targets: targets_below(&without_userinfo(&url))
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

    /// Replaces the path of the base URL.
    #[must_use]
    pub fn with_path(self, path: &str) -> Self {
        self.with(|parts| {
            parts.base_url.set_path(path);
            parts.display_url = without_secrets(&parts.base_url);
            // A path from the catalogue is valid in a request.
            if let Some(targets) = targets_below(&without_userinfo(&parts.base_url)) {
                parts.targets = targets;
            }
        })
    }

    /// Sends `headers` with every request.
    #[must_use]
    pub fn with_headers(self, headers: HeaderMap) -> Self {
        self.with(|parts| parts.headers = headers)
    }

    /// Limits every wait for an answer (`models.providers.<id>.timeoutSeconds`).
    #[must_use]
    pub fn with_answer_limit(self, limit: Option<Duration>) -> Self {
        self.with(|parts| parts.answer_limit = limit)
    }

    /// Sets the formats that it speaks.
    #[must_use]
    pub fn with_wires(self, speaks: impl IntoIterator<Item = WireFormat>) -> Self {
        self.with(|parts| parts.speaks = speaks.into_iter().collect())
    }

    /// Adds a header to every request.
    #[must_use]
    pub fn with_header(self, name: HeaderName, value: HeaderValue) -> Self {
        self.with(|parts| {
            parts.headers.insert(name, value);
        })
    }

    /// Sends keys as this kind of secret.
    #[must_use]
    pub fn with_keys_as(self, kind: SecretKind) -> Self {
        self.with(|parts| parts.keys_as = kind)
    }

    /// How keys are sent.
    pub fn keys_as(&self) -> SecretKind {
        self.0.keys_as
    }

    /// Whether it speaks this format.
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
        &self.0.display_url
    }

    /// What may be secret in the base URL, as written and decoded: user, password and the values of the query.
    pub fn url_secrets(&self) -> Vec<String> {
        let url = &self.0.base_url;
        let mut found = vec![url.username().to_owned()];
        let password = url.password().unwrap_or_default();
        found.push(password.to_owned());
        // User and password are encoded like a query, so its decoder serves for both.
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

    /// The limit of every wait for an answer, if its configuration has one.
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

    /// User and password of the base URL as an `authorization` header.
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
pub(crate) fn userinfo_header(url: &Url) -> Option<HeaderValue> {
    let proxy = Matcher::builder().all(url.as_str()).build();
    let any = Uri::from_static("http://any.invalid/");
    proxy.intercept(&any)?.basic_auth().cloned()
}

/// The URL without user, password and fragment, as it stands in a request.
pub(crate) fn without_userinfo(url: &Url) -> Url {
    let mut url = url.clone();
    // Only URLs without a host refuse this, and they hold neither.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_fragment(None);
    url
}

/// The URL without user, password, query and fragment, which may be secrets.
pub(crate) fn without_secrets(url: &Url) -> String {
    let mut url = without_userinfo(url);
    url.set_query(None);
    url.as_str().trim_end_matches('/').to_owned()
}

/// The same for a text that is no URL. A password has no certain borders there, so all before the last `@` is left out.
fn shown_text(text: &str) -> String {
    let (scheme, rest) = text.split_at(text.find("://").map_or(0, |at| at + 3));
    let rest = rest.rfind('@').map_or(rest, |at| &rest[at + 1..]);
    let end = rest.find(['?', '#']).unwrap_or(rest.len());
    // A key may have been put into the wrong place.
    redact(&format!("{scheme}{}", &rest[..end]))
}

#[cfg(test)]
mod tests;
