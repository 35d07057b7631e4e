//! `logins`: where the logins of a provider are used and refreshed, over the built-in table of known logins.

use std::collections::BTreeMap;
use std::fmt;

use openclaw_chain::SecretValue;
use openclaw_ids::ProviderId;
use openclaw_providers::is_loopback_host;
use serde::de::{Deserializer, Error};
use serde::{Deserialize, Serialize};
use url::Url;

/// `logins` of `failover.json5`, by provider.
pub type LoginConfigs = BTreeMap<ProviderId, LoginConfig>;

/// One provider's logins. An absent setting is taken from the built-in table, if that has the provider.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(
    default,
    rename_all = "camelCase",
    deny_unknown_fields,
    expecting = "an object such as { tokenUrl: \"https://id.example/oauth/token\", clientId: \"my-client\" }"
)]
pub struct LoginConfig {
    /// The base address for requests with a login.
    pub base_url: Option<LoginUrl>,
    /// The OAuth client id, for logins that are stored without one.
    pub client_id: Option<String>,
    /// The secret of that client, or a reference to it; none for public clients.
    #[serde(deserialize_with = "secret")]
    pub client_secret: Option<SecretValue>,
    /// The body format of requests to the token endpoint.
    pub token_body: Option<TokenBody>,
    /// The token endpoint, where a refresh token is exchanged.
    pub token_url: Option<LoginUrl>,
    /// The scope to request.
    pub scope: Option<String>,
    /// The address that reports how much of its limits an account has used.
    pub usage_url: Option<LoginUrl>,
}

/// The body format of a token request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TokenBody {
    /// A URL-encoded form, as in OAuth 2.
    Form,
    /// JSON.
    Json,
}

/// An address that tokens may be sent to: encrypted, or on this machine.
#[derive(Clone, PartialEq, Eq)]
pub struct LoginUrl(Url);

impl LoginUrl {
    /// Reads an address.
    ///
    /// # Errors
    /// When it is none, or would send tokens in clear over a network.
    pub fn try_new(text: &str) -> Result<Self, LoginUrlError> {
        let url = Url::parse(text.trim()).map_err(|_| LoginUrlError::NotAUrl)?;
        let is_safe = url.scheme() == "https"
            || (url.scheme() == "http" && url.host_str().is_some_and(is_loopback_host));
        if !is_safe || !url.has_host() {
            return Err(LoginUrlError::InClear);
        }
        Ok(Self(url))
    }

    /// The address.
    pub fn as_url(&self) -> &Url {
        &self.0
    }
}

/// The query may hold a key, so only the host is shown.
impl fmt::Debug for LoginUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LoginUrl({})", self.0.host_str().unwrap_or_default())
    }
}

/// Why an address takes no tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum LoginUrlError {
    /// It would be sent in clear.
    #[error("tokens are sent there, so it must begin with https://, or with http:// on this machine")]
    InClear,
    /// It is no URL.
    #[error("this is not a URL; write it like \"https://host/path\"")]
    NotAUrl,
}

impl<'de> Deserialize<'de> for LoginUrl {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::try_new(&text).map_err(D::Error::custom)
    }
}

fn secret<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<SecretValue>, D::Error> {
    let value = Option::<serde_json::Value>::deserialize(deserializer)?;
    Ok(value.map(SecretValue::new))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_go_nowhere_in_clear() {
        for (text, expected) in [
            ("https://id.example/oauth/token", Ok(())),
            ("http://127.0.0.1:9/token", Ok(())),
            (" http://localhost/token ", Ok(())),
            ("http://id.example/token", Err(LoginUrlError::InClear)),
            ("ftp://id.example/token", Err(LoginUrlError::InClear)),
            ("mailto:a@b", Err(LoginUrlError::InClear)),
            ("id.example/token", Err(LoginUrlError::NotAUrl)),
        ] {
            assert_eq!(LoginUrl::try_new(text).map(drop), expected, "{text}");
        }
        let url = LoginUrl::try_new("https://user:pass@id.example/t?key=k").unwrap();
        assert_eq!(format!("{url:?}"), "LoginUrl(id.example)");
    }
}
