//! Refuses references in logins (auth-store.md 4.4): a login belongs to its account, not to a process that sets a
//! variable.

use super::SecretError;
use crate::{ConfiguredMode, Credential, KeySource, Oauth, Secret, SecretRef};

/// The members of a login's entry, beside its own tokens, that may hold a reference.
const FOREIGN: &[&str] = &["access", "refresh", "token", "tokenRef", "key", "keyRef"];

/// Refuses a login that is a reference: by its type, or because the configuration says that the profile is one.
pub(super) fn refuse_login_pointers(
    credential: &Credential,
    configured: Option<ConfiguredMode>,
) -> Result<(), SecretError> {
    let is_login = configured == Some(ConfiguredMode::Oauth);
    let member = match credential {
        Credential::Oauth(login) => in_login(login),
        Credential::ApiKey(key) if is_login => match &key.key {
            Some(KeySource::Reference(_)) => Some("keyRef"),
            Some(KeySource::Inline(key)) if is_pointer(key) => Some("key"),
            Some(KeySource::Inline(_)) | None => None,
        },
        Credential::Token(token) if is_login => match (&token.token_ref, &token.token) {
            (Some(_), _) => Some("tokenRef"),
            (None, Some(token)) if is_pointer(token) => Some("token"),
            (None, _) => None,
        },
        Credential::ApiKey(_) | Credential::Local(_) | Credential::Token(_) => None,
    };
    match member {
        Some(member) => Err(SecretError::LoginPointer { member }),
        None => Ok(()),
    }
}

fn in_login(login: &Oauth) -> Option<&'static str> {
    let own = [("access", &login.access), ("refresh", &login.refresh)];
    let own = own
        .into_iter()
        .find(|(_, secret)| secret.as_ref().is_some_and(is_pointer));
    let foreign = |member: &&&str| {
        let value = login.attributes.unknown.get(**member);
        value.is_some_and(|value| SecretRef::parse(value).is_some())
    };
    own.map(|(member, _)| member)
        .or_else(|| FOREIGN.iter().find(foreign).copied())
}

fn is_pointer(secret: &Secret) -> bool {
    SecretRef::parse_text(secret.expose()).is_some()
}
