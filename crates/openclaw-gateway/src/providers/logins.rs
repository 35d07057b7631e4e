//! The logins that are known: where each is used, in which formats, and where it is refreshed.

use std::collections::HashMap;

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use openclaw_auth_store::Credential;
use openclaw_chain::SecretValue;
use openclaw_config::{LoginConfig, LoginConfigs, LoginUrl, TokenBody};
use openclaw_ids::{AuthAliases, ProviderId};
use openclaw_runner::{LoginEndpoint, LoginUse};
use openclaw_upstream::Endpoint;
use openclaw_wire::WireFormat;

/// What is known about a provider's logins without any configuration.
struct KnownLogin {
    /// The provider, by the name that its credentials go by.
    provider: &'static str,
    /// Where a login is used; none where its keys are.
    base_url: Option<&'static str>,
    /// The formats that are answered to a login.
    wires: &'static [WireFormat],
    /// Headers that say what is calling.
    headers: &'static [(&'static str, &'static str)],
    /// The header for the account, where one is asked for.
    account_header: Option<&'static str>,
    /// Whether a static token is one of a login, too.
    tokens: bool,
    /// Where it is refreshed.
    token_url: &'static str,
    /// In which form.
    token_body: TokenBody,
    /// The public client that logs in.
    client_id: &'static str,
    /// Where the use of limits is asked for.
    usage_url: Option<&'static str>,
}

#[rustfmt::skip]
static KNOWN: &[KnownLogin] = &[
    KnownLogin {
        provider: "openai",
        base_url: Some("https://chatgpt.com/backend-api/codex"),
        wires: &[WireFormat::Responses],
        headers: &[("originator", "openclaw"), ("openai-beta", "responses=experimental")],
        account_header: Some("chatgpt-account-id"),
        tokens: false,
        token_url: "https://auth.openai.com/oauth/token",
        token_body: TokenBody::Form,
        client_id: "app_EMoamEEZ73f0CkXaXp7hrann",
        usage_url: Some("https://chatgpt.com/backend-api/wham/usage"),
    },
    KnownLogin {
        provider: "anthropic",
        base_url: None,
        wires: &[WireFormat::Messages, WireFormat::CountTokens],
        headers: &[],
        account_header: None,
        tokens: true,
        token_url: "https://console.anthropic.com/v1/oauth/token",
        token_body: TokenBody::Json,
        client_id: "9d1c250a-e61b-44d9-88ed-5944d1962f5e",
        usage_url: None,
    },
];

/// Where the tokens of a login are exchanged for new ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TokenPlace {
    /// The address.
    pub(crate) url: LoginUrl,
    /// The form of the request.
    pub(crate) body: TokenBody,
    /// The client, for logins that do not say which one they are of.
    pub(crate) client_id: Option<String>,
    /// Its secret.
    pub(crate) client_secret: Option<SecretValue>,
    /// The scope to ask for.
    pub(crate) scope: Option<String>,
}

/// Where and how the logins of each provider are used.
#[derive(Clone, Default)]
pub struct LoginEndpoints {
    configs: LoginConfigs,
    aliases: AuthAliases,
    /// Endpoints of their own.
    own: HashMap<ProviderId, Endpoint>,
    /// Where limits are asked for.
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
        let shipped = KNOWN
            .iter()
            .filter_map(|known| ProviderId::try_new(known.provider).ok());
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
            Some(known) => endpoint.with_wires(known.wires),
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
            let used_by = if known(owner).is_some_and(|known| known.tokens) {
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
        known.is_none_or(|known| !is_login(credential, Some(known)) || known.wires.contains(&wire))
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

    /// Where a login of `provider` is refreshed; none where nobody knows.
    pub(crate) fn token_place(&self, provider: &ProviderId) -> Option<TokenPlace> {
        let provider = self.aliases.auth_id(provider);
        let (known, config) = (
            known(&provider),
            self.config(&provider).cloned().unwrap_or_default(),
        );
        let shipped = || LoginUrl::try_new(known?.token_url).ok();
        Some(TokenPlace {
            url: config.token_url.or_else(shipped)?,
            body: config
                .token_body
                .or(known.map(|known| known.token_body))
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

fn known(provider: &ProviderId) -> Option<&'static KnownLogin> {
    KNOWN.iter().find(|known| known.provider == provider.as_str())
}

/// Whether `credential`, of the provider that is `known`, is used as a login is.
fn is_login(credential: &Credential, known: Option<&KnownLogin>) -> bool {
    match credential {
        Credential::Oauth(_) => true,
        Credential::Token(_) => known.is_some_and(|known| known.tokens),
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
