//! Reads a credential from a stored entry (auth-store.md 4.2).

use openclaw_ids::ProviderId;
use serde_json::{Map, Value};

use super::{ApiKey, Attributes, Credential, Expiry, KeySource, Oauth, Token};
use crate::{Secret, SecretRef};

/// Why an entry is no credential; it stays in the file untouched (D13).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rejection {
    /// The type is unknown or never stored.
    InvalidType,
    /// No provider is named.
    MissingProvider,
    /// The entry is no object.
    NonObject,
}

impl Rejection {
    /// The code that warnings carry (J3).
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InvalidType => "invalid_type",
            Self::MissingProvider => "missing_provider",
            Self::NonObject => "non_object",
        }
    }
}

/// The latest instant that counts as a time, in Unix milliseconds.
const MAX_MILLISECOND: i64 = 8_640_000_000_000_000;

impl Credential {
    /// Reads one entry of a store.
    ///
    /// Blank texts count as absent, others stay untrimmed; members of the wrong type are dropped; unknown ones are
    /// kept in [`Attributes::unknown`].
    ///
    /// # Errors
    /// A [`Rejection`] for what is no object, has no known type or no provider.
    pub fn from_json(entry: &Value) -> Result<Self, Rejection> {
        let Value::Object(members) = entry else {
            return Err(Rejection::NonObject);
        };
        let mut entry = Entry(members.clone());
        let kind = entry.kind().ok_or(Rejection::InvalidType)?;
        let read: fn(ProviderId, Entry) -> Self = match kind.as_str() {
            "api_key" | "apiKey" => api_key,
            "oauth" => oauth,
            "token" => token,
            _ => return Err(Rejection::InvalidType),
        };
        let provider = entry.take("provider");
        let provider = provider.as_ref().and_then(Value::as_str).unwrap_or_default();
        let provider = ProviderId::try_new(provider).map_err(|_| Rejection::MissingProvider)?;
        Ok(read(provider, entry))
    }
}

fn api_key(provider: ProviderId, mut entry: Entry) -> Credential {
    let reference = entry.take("keyRef").as_ref().and_then(SecretRef::parse);
    let alias = match entry.0.get("apiKey") {
        Some(Value::String(_)) if reference.is_none() && !entry.0.contains_key("key") => entry.take("apiKey"),
        _ => None,
    };
    let key = entry.take("key").or(alias);
    let reference = reference.or_else(|| misplaced(key.as_ref()));
    let key = match reference {
        Some(pointer) => Some(KeySource::Reference(pointer)),
        None => key.and_then(filled).map(Secret::new).map(KeySource::Inline),
    };
    let metadata = match entry.take("metadata") {
        Some(Value::Object(members)) => members
            .into_iter()
            .filter_map(|(name, value)| Some((name, value.as_str()?.to_owned())))
            .collect(),
        _ => indexmap::IndexMap::new(),
    };
    Credential::ApiKey(ApiKey {
        provider,
        key,
        metadata,
        attributes: entry.attributes(),
    })
}

fn token(provider: ProviderId, mut entry: Entry) -> Credential {
    let reference = entry.take("tokenRef").as_ref().and_then(SecretRef::parse);
    let token = entry.take("token");
    let token_ref = reference.or_else(|| misplaced(token.as_ref()));
    Credential::Token(Token {
        provider,
        token: token.and_then(filled).map(Secret::new),
        token_ref,
        expires: entry.expires(),
        attributes: entry.attributes(),
    })
}

fn oauth(provider: ProviderId, mut entry: Entry) -> Credential {
    Credential::Oauth(Oauth {
        provider,
        access: entry.secret("access"),
        refresh: entry.secret("refresh"),
        id_token: entry.secret("idToken"),
        expires: entry.expires(),
        account_id: entry.text("accountId"),
        chatgpt_plan_type: entry.text("chatgptPlanType"),
        client_id: entry.text("clientId"),
        enterprise_url: entry.text("enterpriseUrl"),
        project_id: entry.text("projectId"),
        oauth_ref: entry.take("oauthRef").and_then(sidecar),
        attributes: entry.attributes(),
    })
}

/// A reference in the place of the secret itself (rule 4).
fn misplaced(secret: Option<&Value>) -> Option<SecretRef> {
    secret
        .filter(|value| !value.is_string())
        .and_then(SecretRef::parse)
}

fn sidecar(value: Value) -> Option<Map<String, Value>> {
    let Value::Object(members) = value else {
        return None;
    };
    let text = |name: &str| members.get(name).and_then(Value::as_str).unwrap_or_default();
    let id = text("id");
    let is_hex = |c: char| matches!(c, '0'..='9' | 'a'..='f');
    let valid = text("source") == "openclaw-credentials"
        && text("provider") == "openai-codex"
        && id.len() == 32
        && id.chars().all(is_hex);
    valid.then_some(members)
}

fn filled(value: Value) -> Option<String> {
    match value {
        Value::String(text) if !text.trim().is_empty() => Some(text),
        _ => None,
    }
}

/// The members of an entry that were not read yet; those that remain at the end are unknown.
struct Entry(Map<String, Value>);

impl Entry {
    fn take(&mut self, name: &str) -> Option<Value> {
        self.0.shift_remove(name)
    }

    /// `type`, or `mode` where there is none (rule 2).
    fn kind(&mut self) -> Option<String> {
        let name = if self.0.contains_key("type") {
            "type"
        } else {
            "mode"
        };
        match self.take(name) {
            Some(Value::String(kind)) => Some(kind),
            _ => None,
        }
    }

    fn text(&mut self, name: &str) -> Option<String> {
        self.take(name).and_then(filled)
    }

    fn secret(&mut self, name: &str) -> Option<Secret> {
        // A login must not be a reference. It stays as it was written, and is refused when the login is used.
        if misplaced(self.0.get(name)).is_some() {
            return None;
        }
        self.text(name).map(Secret::new)
    }

    fn expires(&mut self) -> Option<Expiry> {
        self.take("expires").map(|value| Expiry::from_json(&value))
    }

    fn attributes(mut self) -> Attributes {
        Attributes {
            email: self.text("email"),
            display_name: self.text("displayName"),
            copy_to_agents: self.take("copyToAgents").as_ref().and_then(Value::as_bool),
            unknown: self.0,
        }
    }
}

impl Expiry {
    /// Reads a stored end: a number of Unix milliseconds above zero, or an invalid one (rule 8).
    fn from_json(value: &Value) -> Self {
        let millisecond = match value.as_number() {
            Some(number) => number.as_i64().or_else(|| number.as_f64().and_then(ceil)),
            None => None,
        };
        match millisecond {
            Some(at @ 1..=MAX_MILLISECOND) => Self::At(at),
            _ => Self::Invalid,
        }
    }
}

/// The smallest whole number not below `value`, where such a number is a time.
fn ceil(value: f64) -> Option<i64> {
    #[expect(clippy::cast_precision_loss, reason = "the bound is exact in a double")]
    let in_range = value > 0.0 && value <= MAX_MILLISECOND as f64;
    #[expect(clippy::cast_possible_truncation, reason = "the range was checked")]
    in_range.then(|| value.ceil() as i64)
}
