//! The endpoint of every provider: the built-in table with the rows of the configuration over it.

use std::collections::HashMap;

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use openclaw_auth_store::{Credential, EndpointKey};
use openclaw_chain::{AuthMode, ModelsConfig, ProviderConfig, SecretValue};
use openclaw_config::LoginConfigs;
use openclaw_ids::ProviderId;
use openclaw_providers::{compatible_path, formats};
use openclaw_runner::EndpointKeys;
use openclaw_upstream::{Endpoint, EndpointError, SecretKind};
use openclaw_wire::WireFormat;

use super::secrets::secret_text;
use super::{LoginEndpoints, UnusableSecret, known, shipped, unusable, wire_format};
use crate::providers::SecretSources;

/// All endpoints, by provider.
#[derive(Clone, Default)]
pub struct Endpoints {
    by_provider: HashMap<ProviderId, Endpoint>,
    logins: LoginEndpoints,
    unusable: Vec<UnusableSecret>,
}

/// A provider row of the configuration that cannot be called as written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProviderError {
    /// Its base URL.
    #[error("models.providers.{provider}.baseUrl cannot be used")]
    BaseUrl {
        /// The key of the row.
        provider: String,
        /// Why.
        #[source]
        source: EndpointError,
    },
    /// A header that the connection itself sets.
    #[error("models.providers.{provider}.headers.{header} is set by each connection for itself; remove it")]
    Connection {
        /// The key of the row.
        provider: String,
        /// The name as written.
        header: String,
    },
    /// One of its headers; the value is not repeated, it may be a secret.
    #[error(
        "models.providers.{provider}.headers.{header} cannot be sent; names are tokens and values one line of text"
    )]
    Header {
        /// The key of the row.
        provider: String,
        /// The name as written.
        header: String,
    },
}

impl ProviderError {
    /// The path of the key that is wrong.
    pub(crate) fn keys(&self) -> Vec<&str> {
        let (provider, rest) = match self {
            Self::BaseUrl { provider, .. } => (provider, vec!["baseUrl"]),
            Self::Connection { provider, header } | Self::Header { provider, header } => {
                (provider, vec!["headers", header.as_str()])
            }
        };
        [vec!["models", "providers", provider.as_str()], rest].concat()
    }
}

/// How the secret of `credential` is sent to `endpoint`.
pub fn secret_kind(endpoint: &Endpoint, credential: &Credential) -> SecretKind {
    match credential {
        Credential::ApiKey(_) | Credential::Local(_) => endpoint.keys_as(),
        Credential::Oauth(_) | Credential::Token(_) => SecretKind::Token,
    }
}

/// The key of `endpoint` in the usage state (D4).
pub(crate) fn endpoint_key(endpoint: &Endpoint) -> EndpointKey {
    EndpointKey {
        provider: endpoint.provider().clone(),
        base_url: endpoint.base_url().to_owned(),
    }
}

/// Headers that belong to the connection; a configured value would break the request, or smuggle another one.
const OF_THE_CONNECTION: &[&str] = &[
    "connection",
    "content-length",
    "host",
    "keep-alive",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

impl Endpoints {
    /// The known providers with `models` over them. A row without a base URL changes a known provider and is no
    /// endpoint otherwise. A header whose secret cannot be used is left out and listed by [`unusable`](Self::unusable).
    ///
    /// # Errors
    /// When a row cannot be called as written.
    pub(crate) fn try_new(models: &ModelsConfig, sources: &SecretSources) -> Result<Self, ProviderError> {
        let mut by_provider = HashMap::new();
        for provider in shipped().chain(super::configured(models)) {
            if by_provider.contains_key(&provider) {
                continue;
            }
            if let Some(endpoint) = endpoint(&provider, models.provider(&provider), sources)? {
                by_provider.insert(provider, endpoint);
            }
        }
        Ok(Self {
            by_provider,
            logins: LoginEndpoints::default(),
            unusable: unusable(models, sources),
        })
    }

    /// These endpoints, and those of the known logins with `configs` over them.
    #[must_use]
    pub(crate) fn with_logins(mut self, configs: &LoginConfigs) -> Self {
        self.logins = LoginEndpoints::new(configs);
        self
    }

    /// Where and how logins are used.
    pub fn logins(&self) -> &LoginEndpoints {
        &self.logins
    }

    /// Where `credential` is used in the name of `provider`.
    pub fn of(&self, provider: &ProviderId, credential: &Credential) -> Option<&Endpoint> {
        self.logins.endpoint_of(credential).or_else(|| self.get(provider))
    }

    /// Whether `credential` is good for requests to `provider` in this format.
    pub(crate) fn serves(&self, provider: &ProviderId, credential: &Credential, wire: WireFormat) -> bool {
        let speaks = self
            .of(provider, credential)
            .is_none_or(|endpoint| endpoint.speaks(wire));
        speaks && self.logins.serves(credential, wire)
    }

    /// The configured secrets that cannot be used.
    pub(crate) fn unusable(&self) -> &[UnusableSecret] {
        &self.unusable
    }

    /// The endpoint of a provider.
    pub fn get(&self, provider: &ProviderId) -> Option<&Endpoint> {
        self.by_provider.get(provider)
    }

    /// The key of every endpoint in the usage state (D4).
    pub fn keys(&self) -> EndpointKeys {
        let own = self.by_provider.iter();
        let keys: EndpointKeys = own
            .map(|(provider, endpoint)| (provider.clone(), endpoint_key(endpoint)))
            .collect();
        self.logins.places().fold(keys, |keys, (provider, logins)| {
            keys.with_logins(provider.clone(), logins)
        })
    }
}

/// The endpoint of `provider`; none when neither the table nor its row has an address.
fn endpoint(
    provider: &ProviderId,
    row: Option<&ProviderConfig>,
    sources: &SecretSources,
) -> Result<Option<Endpoint>, ProviderError> {
    let written = row
        .and_then(|row| row.base_url.as_deref())
        .filter(|url| !url.trim().is_empty());
    let Some(base_url) = written.or_else(|| known(provider).and_then(|known| known.base_url)) else {
        return Ok(None);
    };
    let endpoint =
        Endpoint::try_new(provider.clone(), base_url).map_err(|source| ProviderError::BaseUrl {
            provider: provider.to_string(),
            source,
        })?;
    let api = row.and_then(|row| row.api.as_deref()).unwrap_or_default();
    let endpoint = match compatible_path(provider.as_str(), api, endpoint.path()) {
        Some(path) => endpoint.with_path(path),
        None => endpoint,
    };
    let endpoint = endpoint.with_wires(formats(provider.as_str(), api).iter().copied().map(wire_format));
    match row {
        Some(row) => with_row(endpoint, row, sources).map(Some),
        None => Ok(Some(endpoint)),
    }
}

/// The endpoint with the settings of its row other than the address.
fn with_row(
    endpoint: Endpoint,
    row: &ProviderConfig,
    sources: &SecretSources,
) -> Result<Endpoint, ProviderError> {
    let provider = endpoint.provider().to_string();
    let mut headers = HeaderMap::new();
    for (name, value) in &row.headers {
        if let Some((name, value)) = header(&provider, name, value, sources)? {
            headers.insert(name, value);
        }
    }
    let keys_as = match row.auth {
        Some(AuthMode::Oauth | AuthMode::Token) => SecretKind::Token,
        Some(AuthMode::ApiKey | AuthMode::AwsSdk) | None => SecretKind::Key,
    };
    Ok(endpoint
        .with_headers(headers)
        .with_keys_as(keys_as)
        .with_answer_limit(row.timeout))
}

fn header(
    provider: &str,
    name: &str,
    value: &SecretValue,
    sources: &SecretSources,
) -> Result<Option<(HeaderName, HeaderValue)>, ProviderError> {
    let (provider, header) = (provider.to_owned(), name.to_owned());
    if OF_THE_CONNECTION
        .iter()
        .any(|own| name.trim().eq_ignore_ascii_case(own))
    {
        return Err(ProviderError::Connection { provider, header });
    }
    let Ok(value) = secret_text(value, sources) else {
        return Ok(None);
    };
    match (HeaderName::try_from(name), HeaderValue::try_from(value)) {
        (Ok(name), Ok(mut value)) => {
            value.set_sensitive(true);
            Ok(Some((name, value)))
        }
        _ => Err(ProviderError::Header { provider, header }),
    }
}

#[cfg(test)]
mod tests;
