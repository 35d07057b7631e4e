//! The credential of a profile (auth-store.md 4).

mod coerce;
mod json;
mod profile_map;
mod replacement;

use std::fmt;

use indexmap::IndexMap;
use openclaw_ids::{ProfileId, ProviderId};
use serde_json::{Map, Value};

use crate::secret::mask::hex;
use crate::{Secret, SecretRef};

pub use coerce::Rejection;
pub use profile_map::{Credentials, HasProvider, ProfileMap};

/// One credential. A stored one has one of OpenClaw's types; [`Local`] is never stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Credential {
    /// A static key.
    ApiKey(ApiKey),
    /// A provider that needs none (X-4).
    Local(Local),
    /// A login that can be refreshed.
    Oauth(Oauth),
    /// A static bearer token, possibly with an end.
    Token(Token),
}

/// A static API key.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey {
    /// The provider that issued it.
    pub provider: ProviderId,
    /// The key or a reference to it; without one the profile is ineligible.
    pub key: Option<KeySource>,
    /// Provider-specific settings.
    pub metadata: IndexMap<String, String>,
    /// What every credential may carry.
    pub attributes: Attributes,
}

/// A key, or a reference to it, which excludes an inline key (4.2 rule 7).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeySource {
    /// The key itself.
    Inline(Secret),
    /// A reference to it.
    Reference(SecretRef),
}

/// A provider that needs no credential, such as a local model server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Local {
    /// The provider.
    pub provider: ProviderId,
}

/// A static bearer token.
#[derive(Clone, PartialEq, Eq)]
pub struct Token {
    /// The provider that issued it.
    pub provider: ProviderId,
    /// The token; wins over the reference when it is used, and is not stored beside one (C1).
    pub token: Option<Secret>,
    /// A reference to the token.
    pub token_ref: Option<SecretRef>,
    /// When it ends; absent means never.
    pub expires: Option<Expiry>,
    /// What every credential may carry.
    pub attributes: Attributes,
}

/// An OAuth login.
#[derive(Clone, PartialEq, Eq)]
pub struct Oauth {
    /// The provider that issued it.
    pub provider: ProviderId,
    /// The access token.
    pub access: Option<Secret>,
    /// The refresh token.
    pub refresh: Option<Secret>,
    /// The identity token.
    pub id_token: Option<Secret>,
    /// When the access token ends.
    pub expires: Option<Expiry>,
    /// The account the login belongs to.
    pub account_id: Option<String>,
    /// The plan of that account.
    pub chatgpt_plan_type: Option<String>,
    /// The client that logged in.
    pub client_id: Option<String>,
    /// A private deployment's address.
    pub enterprise_url: Option<String>,
    /// The provider's project.
    pub project_id: Option<String>,
    /// A reference of an older version to tokens beside the store; kept, not followed.
    pub oauth_ref: Option<Map<String, Value>>,
    /// What every credential may carry.
    pub attributes: Attributes,
}

/// When a token ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expiry {
    /// At this Unix millisecond; a fraction was rounded up, so the token is over *at* it.
    At(i64),
    /// The stored value is not a time, which differs from no end.
    Invalid,
}

/// What every stored credential may carry besides its secret.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Attributes {
    /// The account's address.
    pub email: Option<String>,
    /// The display name.
    pub display_name: Option<String>,
    /// Whether new agents get a copy.
    pub copy_to_agents: Option<bool>,
    /// Unknown members; they survive every save (D13).
    pub unknown: Map<String, Value>,
}

/// A credential that is not stored (X-4): `<provider>:config`, `<provider>:env` or `<provider>:local`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AmbientProfile {
    /// Its id; a stored profile of this id wins.
    pub id: ProfileId,
    /// Its credential.
    pub credential: Credential,
}

/// The names after `:` that make an id an ambient one (X-4).
#[cfg(feature = "sqlite")]
const AMBIENT_NAMES: &[&str] = &["config", "env", "local"];

/// Whether `id` has the form of an ambient profile, in whatever process (X-4).
#[cfg(feature = "sqlite")]
pub(crate) fn is_ambient_id(id: &ProfileId) -> bool {
    id.as_str()
        .rsplit_once(':')
        .is_some_and(|(_, name)| AMBIENT_NAMES.contains(&name))
}

/// Domain prefixes of fingerprints, so that equal texts of different kinds differ.
mod domain {
    pub(super) const ACCOUNT: &str = "openclaw-failover:account:";
    pub(super) const EMAIL: &str = "openclaw-failover:email:";
    pub(super) const SECRET: &str = "openclaw-failover:secret:";
}

/// Hex digits of a fingerprint.
const FINGERPRINT_DIGITS: usize = 16;

impl Credential {
    /// A static key.
    pub fn api_key(provider: ProviderId, key: Secret) -> Self {
        Self::ApiKey(ApiKey {
            provider,
            key: Some(KeySource::Inline(key)),
            metadata: IndexMap::new(),
            attributes: Attributes::default(),
        })
    }

    /// A static bearer token without an end.
    pub fn token(provider: ProviderId, token: Secret) -> Self {
        Self::Token(Token {
            provider,
            token: Some(token),
            token_ref: None,
            expires: None,
            attributes: Attributes::default(),
        })
    }

    /// A provider that needs no credential.
    pub fn local(provider: ProviderId) -> Self {
        Self::Local(Local { provider })
    }

    /// The provider that this credential is for; never inferred from the profile's id (P4).
    pub fn provider(&self) -> &ProviderId {
        match self {
            Self::ApiKey(key) => &key.provider,
            Self::Local(local) => &local.provider,
            Self::Oauth(oauth) => &oauth.provider,
            Self::Token(token) => &token.provider,
        }
    }

    /// What a stored credential carries besides its secret; `None` for what is never stored.
    pub fn attributes(&self) -> Option<&Attributes> {
        match self {
            Self::ApiKey(key) => Some(&key.attributes),
            Self::Local(_) => None,
            Self::Oauth(oauth) => Some(&oauth.attributes),
            Self::Token(token) => Some(&token.attributes),
        }
    }

    /// The type's name: `api_key`, `local`, `oauth` or `token`.
    pub fn mode(&self) -> &'static str {
        match self {
            Self::ApiKey(_) => "api_key",
            Self::Local(_) => "local",
            Self::Oauth(_) => "oauth",
            Self::Token(_) => "token",
        }
    }

    /// When a token ends; `None` for what never ends and for what holds none.
    pub fn expires(&self) -> Option<Expiry> {
        match self {
            Self::ApiKey(_) | Self::Local(_) => None,
            Self::Oauth(oauth) => oauth.expires,
            Self::Token(token) => token.expires,
        }
    }

    /// The fingerprint of the secret (D9): sixteen hex digits, from which the secret cannot be found.
    ///
    /// A key or token counts by its text as it would be sent; a login by its account, else its address, so that a
    /// refreshed token is the same secret. `None` when nothing identifies it; a reference does not, because what it
    /// resolves to is not known here ([`AuthSnapshot::fingerprint`](crate::AuthSnapshot::fingerprint) may know).
    ///
    /// ```
    /// # use openclaw_auth_store::{Credential, Secret};
    /// # use openclaw_ids::ProviderId;
    /// let key = |text| Credential::api_key(ProviderId::try_new("openai").unwrap(), Secret::new(text));
    /// assert_eq!(key("sk-1").fingerprint(), key(" sk-1\n").fingerprint());
    /// assert_ne!(key("sk-1").fingerprint(), key("sk-2").fingerprint());
    /// ```
    pub fn fingerprint(&self) -> Option<String> {
        match self {
            Self::ApiKey(ApiKey { key, .. }) => match key.as_ref()? {
                KeySource::Inline(key) => own_fingerprint(key),
                KeySource::Reference(_) => None,
            },
            Self::Local(_) => None,
            Self::Oauth(oauth) => oauth.fingerprint(),
            Self::Token(token) => match (&token.token, &token.token_ref) {
                (Some(token), None) => own_fingerprint(token),
                // The stored form decides: a text beside a reference is not stored (C1).
                (_, Some(_)) | (None, None) => None,
            },
        }
    }
}

impl Oauth {
    fn fingerprint(&self) -> Option<String> {
        if let Some(account) = &self.account_id {
            return Some(hex(&[domain::ACCOUNT, account], FINGERPRINT_DIGITS));
        }
        let email = self.attributes.email.as_ref()?;
        Some(hex(&[domain::EMAIL, &email.to_lowercase()], FINGERPRINT_DIGITS))
    }
}

/// The fingerprint of an inline text, unless it names a variable.
fn own_fingerprint(secret: &Secret) -> Option<String> {
    match SecretRef::parse_text(secret.expose()) {
        Some(_) => None,
        None => secret.fingerprint(),
    }
}

impl Secret {
    /// Sixteen hex digits that identify the text as it would be sent; `None` when nothing would be.
    pub(crate) fn fingerprint(&self) -> Option<String> {
        let found = self.known_by(|secret| {
            let sent = Self::pasted(secret.expose())?;
            Some(hex(&[domain::SECRET, sent.expose()], FINGERPRINT_DIGITS))
        });
        found.map(str::to_owned)
    }
}

/// Placeholder of a value that is not shown.
struct Redacted;

impl fmt::Debug for Redacted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[redacted]")
    }
}

fn hidden<T>(value: Option<&T>) -> Option<Redacted> {
    value.map(|_| Redacted)
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApiKey")
            .field("provider", &self.provider)
            .field("key", &self.key)
            .field("metadata", &self.metadata.keys().collect::<Vec<_>>())
            .field("attributes", &self.attributes)
            .finish()
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Token")
            .field("provider", &self.provider)
            .field("token", &self.token)
            .field("token_ref", &self.token_ref)
            .field("expires", &self.expires)
            .field("attributes", &self.attributes)
            .finish()
    }
}

impl fmt::Debug for Oauth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Oauth")
            .field("provider", &self.provider)
            .field("access", &self.access)
            .field("refresh", &self.refresh)
            .field("id_token", &self.id_token)
            .field("expires", &self.expires)
            .field("account_id", &hidden(self.account_id.as_ref()))
            .field("chatgpt_plan_type", &self.chatgpt_plan_type)
            .field("client_id", &hidden(self.client_id.as_ref()))
            .field("enterprise_url", &hidden(self.enterprise_url.as_ref()))
            .field("project_id", &hidden(self.project_id.as_ref()))
            .field("oauth_ref", &hidden(self.oauth_ref.as_ref()))
            .field("attributes", &self.attributes)
            .finish()
    }
}

impl fmt::Debug for Attributes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Attributes")
            .field("email", &hidden(self.email.as_ref()))
            .field("display_name", &hidden(self.display_name.as_ref()))
            .field("copy_to_agents", &self.copy_to_agents)
            .field("unknown", &self.unknown.keys().collect::<Vec<_>>())
            .finish()
    }
}

#[cfg(test)]
mod tests;
