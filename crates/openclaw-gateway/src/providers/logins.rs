//! Where the logins of each provider are used, in which wire formats, and where they are refreshed.

use std::collections::HashMap;

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use openclaw_auth_store::Credential;
use openclaw_chain::SecretValue;
use openclaw_config::{LoginConfig, LoginConfigs, LoginUrl, TokenBody};
use openclaw_ids::ProviderId;
use openclaw_providers::{AuthAliases, Login, PROVIDERS, Provider, StaticToken, TokenEncoding, provider};
use openclaw_runner::{LoginEndpoint, LoginUse};
use openclaw_upstream::Endpoint;
use openclaw_wire::WireFormat;

use super::wire_format;

/// The OAuth settings for the refresh of a login.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OAuthConfig {
    /// The token endpoint.
    pub(crate) url: LoginUrl,
    /// The body format of the request.
    pub(crate) body: TokenBody,
    /// The client id, for logins that are stored without one.
    pub(crate) client_id: Option<String>,
    /// Its secret.
    pub(crate) client_secret: Option<SecretValue>,
    /// The scope to request.
    pub(crate) scope: Option<String>,
}

/// Where and how the logins of each provider are used.
#[derive(Clone, Default)]
pub struct LoginEndpoints {
    configs: LoginConfigs,
    aliases: AuthAliases,
    /// Endpoints that only logins use.
    own: HashMap<ProviderId, Endpoint>,
    /// Addresses that report the limits of accounts.
    usage: HashMap<ProviderId, LoginUrl>,
}

impl LoginEndpoints {
    /// The known logins with `configs` over them.
    pub(crate) fn new(configs: &LoginConfigs) -> Self {
        let aliases = AuthAliases::default();
        let mut found = Self {
            configs: configs.clone(),
            ..Self::default()
        };
        let shipped = PROVIDERS.iter().filter(|row| row.login.is_some());
        let shipped = shipped.filter_map(Provider::provider_id);
        for provider in shipped.chain(configs.keys().map(|provider| aliases.auth_id(provider))) {
            if let Some(endpoint) = found.endpoint(&provider) {
                found.own.insert(provider.clone(), endpoint);
            }
            let configured = found
                .config(&provider)
                .and_then(|config| config.usage_url.clone());
            let shipped = known(&provider).and_then(|known| LoginUrl::try_new(known.usage_url?).ok());
            if let Some(url) = configured.or(shipped) {
                found.usage.insert(provider, url);
            }
        }
        found
    }

    fn config(&self, provider: &ProviderId) -> Option<&LoginConfig> {
        self.configs.get(provider)
    }

    fn endpoint(&self, provider: &ProviderId) -> Option<Endpoint> {
        let known = known(provider);
        let configured = self
            .config(provider)
            .and_then(|config| config.base_url.as_ref())
            .map(|url| url.as_url().as_str());
        let base_url = configured.or_else(|| known?.base_url)?;
        let endpoint = Endpoint::try_new(provider.clone(), base_url).ok()?;
        let headers = known.map(|known| fixed(known.headers)).unwrap_or_default();
        let endpoint = endpoint.with_headers(headers);
        Some(match known {
            Some(known) => endpoint.with_wires(known.formats.iter().copied().map(wire_format)),
            None => endpoint,
        })
    }

    /// Where `credential` is used instead of its provider's own endpoint; none for what is used there.
    pub(crate) fn endpoint_of(&self, credential: &Credential) -> Option<&Endpoint> {
        let provider = self.aliases.auth_id(credential.provider());
        self.own
            .get(&provider)
            .filter(|_| is_login(credential, known(&provider)))
    }

    /// Where the logins are used that have a place of their own, by the provider that their credentials name.
    pub(crate) fn places(&self) -> impl Iterator<Item = (&ProviderId, LoginEndpoint)> {
        self.own.iter().flat_map(|(owner, endpoint)| {
            let used_by = if known(owner).is_some_and(|known| known.static_token == StaticToken::Login) {
                LoginUse::OauthAndTokens
            } else {
                LoginUse::Oauth
            };
            let logins = LoginEndpoint {
                key: super::endpoints::endpoint_key(endpoint),
                used_by,
            };
            let named = self.aliases.sharing(owner);
            named.map(move |provider| (provider, logins.clone()))
        })
    }

    /// Whether `credential` is good for requests in this format, as far as logins go.
    pub(crate) fn serves(&self, credential: &Credential, wire: WireFormat) -> bool {
        let known = known(&self.aliases.auth_id(credential.provider()));
        known.is_none_or(|known| {
            let mut formats = known.formats.iter().copied();
            !is_login(credential, Some(known)) || formats.any(|format| wire_format(format) == wire)
        })
    }

    /// What names the account of a login in a request.
    pub fn account_header(&self, credential: &Credential) -> Option<(HeaderName, HeaderValue)> {
        let known = known(&self.aliases.auth_id(credential.provider()))?;
        let Credential::Oauth(login) = credential else {
            return None;
        };
        let mut value = HeaderValue::from_str(login.account_id.as_deref()?.trim()).ok()?;
        value.set_sensitive(true);
        Some((HeaderName::from_static(known.account_header?), value))
    }

    /// The OAuth settings of `provider`; none when neither the table nor the configuration has its token endpoint.
    pub(crate) fn oauth_config(&self, provider: &ProviderId) -> Option<OAuthConfig> {
        let provider = self.aliases.auth_id(provider);
        let (known, config) = (
            known(&provider),
            self.config(&provider).cloned().unwrap_or_default(),
        );
        let shipped = || LoginUrl::try_new(known?.token_url).ok();
        Some(OAuthConfig {
            url: config.token_url.or_else(shipped)?,
            body: config
                .token_body
                .or(known.map(|known| token_body(known.token_encoding)))
                .unwrap_or(TokenBody::Form),
            client_id: config.client_id.or(known.map(|known| known.client_id.to_owned())),
            client_secret: config.client_secret,
            scope: config.scope,
        })
    }

    /// Where the use of limits is asked for.
    pub(crate) fn usage_url(&self, provider: &ProviderId) -> Option<&LoginUrl> {
        self.usage.get(&self.aliases.auth_id(provider))
    }
}

/// The login of a provider, by the name that its credentials go by.
fn known(owner: &ProviderId) -> Option<&'static Login> {
    provider(owner)?.login.as_ref()
}

fn token_body(encoding: TokenEncoding) -> TokenBody {
    match encoding {
        TokenEncoding::Form => TokenBody::Form,
        TokenEncoding::Json => TokenBody::Json,
    }
}

/// Whether `credential`, of the provider that is `known`, is used as a login is.
fn is_login(credential: &Credential, known: Option<&Login>) -> bool {
    match credential {
        Credential::Oauth(_) => true,
        Credential::Token(_) => known.is_some_and(|known| known.static_token == StaticToken::Login),
        Credential::ApiKey(_) | Credential::Local(_) => false,
    }
}

fn fixed(headers: &'static [(&'static str, &'static str)]) -> HeaderMap {
    let pairs = headers
        .iter()
        .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
    pairs.collect()
}

#[cfg(test)]
mod tests;
