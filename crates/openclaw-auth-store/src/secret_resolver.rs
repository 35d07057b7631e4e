//! Resolves a credential to the secret that is sent (auth-store.md 4.4).

mod policy;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use openclaw_ids::ProfileId;
use secrecy::SecretString;
use serde_json::Value;

use crate::secret::reference::WHOLE_FILE;
use crate::{AuthConfig, AuthSnapshot, Credential, KeySource, Secret, SecretRef, SecretSource};

/// A file of secrets: where it is, and its text or why it is not read.
pub type SecretFile = (PathBuf, std::io::Result<String>);

/// Looks up what secret references refer to; the caller owns the environment and reads the configured files.
#[derive(Clone, Copy)]
pub struct SecretLookup<'a> {
    /// Reads a variable of the environment.
    pub env: &'a dyn Fn(&str) -> Option<String>,
    /// The file behind a configured alias. `None` when there is none.
    pub file: &'a dyn Fn(&str) -> Option<SecretFile>,
    /// What the command behind a configured alias prints when it is asked for an id: the alias first, then the id.
    /// `None` when there is no such command.
    pub exec: &'a dyn Fn(&str, &str) -> Option<std::io::Result<String>>,
}

impl<'a> SecretLookup<'a> {
    /// The environment alone.
    pub fn env(env: &'a dyn Fn(&str) -> Option<String>) -> Self {
        Self {
            env,
            file: &|_| None,
            exec: &|_, _| None,
        }
    }
}

/// A reference that cannot be resolved.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum SecretError {
    /// The command failed or printed nothing.
    #[error("command `{alias}` gave no secret for `{id}`; run it by hand to see why, or correct the pointer")]
    Command {
        /// The alias of the command.
        alias: String,
        /// The id it was asked for.
        id: String,
        /// The system's error; none when the command printed nothing.
        #[source]
        source: Option<Arc<std::io::Error>>,
    },
    /// The id must not be passed to a command.
    #[error("command `{alias}` is not asked for `{id}`, which is no id for a command; correct the pointer")]
    CommandId {
        /// The alias of the command.
        alias: String,
        /// The id.
        id: String,
    },
    /// A login holds a reference.
    #[error(
        "a login must hold its own tokens, and `{member}` of this one is a pointer; log in again, or make the profile a key or a token"
    )]
    LoginPointer {
        /// The member that holds it.
        member: &'static str,
    },
    /// The file has no such text.
    #[error("`{path}` has no text at `{id}`; put the secret there or correct the pointer", path = path.display())]
    Missing {
        /// The file.
        path: PathBuf,
        /// The JSON pointer.
        id: String,
    },
    /// No command is configured under the alias.
    #[error("no command is configured as `{alias}`; use an environment variable or a file")]
    NoCommand {
        /// The alias.
        alias: String,
    },
    /// No file is configured under the alias.
    #[error("no secrets file is configured as `{alias}`; configure one or use an environment variable")]
    NoFile {
        /// The alias.
        alias: String,
    },
    /// The file cannot be read.
    #[error("`{path}` cannot be read; check that it exists and that this user may read it", path = path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's error.
        #[source]
        source: Arc<std::io::Error>,
    },
    /// The variable is not set or blank.
    #[error("environment variable `{name}` is not set; set it to the secret or change the profile")]
    Unset {
        /// The variable.
        name: String,
    },
}

/// The secret to send, with references to the environment only; see [`resolve_secret_from`].
///
/// # Errors
/// A [`SecretError`] when the profile holds a reference that cannot be resolved.
pub fn resolve_secret(
    credential: &Credential,
    env: &dyn Fn(&str) -> Option<String>,
) -> Result<Option<SecretString>, SecretError> {
    resolve_secret_from(credential, SecretLookup::env(env))
}

/// The secret to send for a stored or ambient profile, also checking whether the configuration makes it a login, which
/// must not be a reference; `None` when there is no such profile. See [`resolve_secret_from`].
///
/// # Errors
/// A [`SecretError`] when the profile holds a reference that cannot be resolved or must not be followed.
pub fn profile_secret(
    snapshot: &AuthSnapshot,
    config: &AuthConfig,
    id: &ProfileId,
    places: SecretLookup<'_>,
) -> Result<Option<SecretString>, SecretError> {
    let Some(credential) = snapshot.credential(id) else {
        return Ok(None);
    };
    let configured = config.profiles.get(id).map(|profile| profile.mode);
    policy::refuse_login_pointers(credential, configured)?;
    resolve_secret_from(credential, places)
}

/// The secret to send: the inline one, else what the reference resolves to; for a login its access token.
///
/// An inline text that names a variable (`$NAME`) is resolved and, when that fails, sent as it is. The result is
/// cleaned like a pasted key (C2); `None` when nothing is left or nothing is needed.
///
/// # Errors
/// A [`SecretError`] when the profile holds a reference that cannot be resolved.
pub fn resolve_secret_from(
    credential: &Credential,
    places: SecretLookup<'_>,
) -> Result<Option<SecretString>, SecretError> {
    policy::refuse_login_pointers(credential, None)?;
    let secret = match credential {
        Credential::ApiKey(key) => match &key.key {
            Some(KeySource::Inline(key)) => Some(inline(key, places)),
            Some(KeySource::Reference(pointer)) => Some(follow(pointer, places)?),
            None => None,
        },
        Credential::Local(_) => None,
        Credential::Oauth(oauth) => oauth.access.clone(),
        Credential::Token(token) => {
            match (
                token.token.as_ref().filter(|token| !token.is_blank()),
                &token.token_ref,
            ) {
                (Some(token), _) => Some(inline(token, places)),
                (None, Some(pointer)) => Some(follow(pointer, places)?),
                (None, None) => None,
            }
        }
    };
    Ok(secret
        .and_then(|secret| Secret::pasted(secret.expose()))
        .map(Secret::into_inner))
}

fn inline(secret: &Secret, places: SecretLookup<'_>) -> Secret {
    SecretRef::parse_text(secret.expose())
        .and_then(|pointer| follow(&pointer, places).ok())
        .unwrap_or_else(|| secret.clone())
}

/// The secret that a reference resolves to, cleaned like a pasted key (C2).
///
/// # Errors
/// A [`SecretError`] when it cannot be resolved.
pub fn resolve_pointer(pointer: &SecretRef, places: SecretLookup<'_>) -> Result<SecretString, SecretError> {
    let found = follow(pointer, places)?;
    Ok(Secret::pasted(found.expose()).unwrap_or(found).into_inner())
}

fn follow(pointer: &SecretRef, places: SecretLookup<'_>) -> Result<Secret, SecretError> {
    match pointer.source {
        SecretSource::Env => (places.env)(&pointer.id)
            .map(Secret::new)
            .filter(|secret| !secret.is_blank())
            .ok_or_else(|| SecretError::Unset {
                name: pointer.id.clone(),
            }),
        SecretSource::Exec => from_command(pointer, places),
        SecretSource::File => from_file(pointer, places),
    }
}

fn from_command(pointer: &SecretRef, places: SecretLookup<'_>) -> Result<Secret, SecretError> {
    let (alias, id) = (pointer.provider.clone(), pointer.id.clone());
    // A stored id may come from another program; it is checked before it becomes an argument of a command.
    if !pointer.is_well_formed() {
        return Err(SecretError::CommandId { alias, id });
    }
    match (places.exec)(&alias, &id) {
        None => Err(SecretError::NoCommand { alias }),
        Some(Ok(text)) if !text.trim().is_empty() => Ok(Secret::new(text)),
        Some(Ok(_)) => Err(SecretError::Command {
            alias,
            id,
            source: None,
        }),
        Some(Err(source)) => Err(SecretError::Command {
            alias,
            id,
            source: Some(Arc::new(source)),
        }),
    }
}

fn from_file(pointer: &SecretRef, places: SecretLookup<'_>) -> Result<Secret, SecretError> {
    let (path, text) = (places.file)(&pointer.provider).ok_or_else(|| SecretError::NoFile {
        alias: pointer.provider.clone(),
    })?;
    let text = text.map_err(|source| SecretError::Unreadable {
        path: path.clone(),
        source: Arc::new(source),
    })?;
    let found = if pointer.id == WHOLE_FILE {
        Some(text)
    } else {
        serde_json::from_str::<Value>(&text)
            .ok()
            .and_then(|json| Some(json.pointer(&pointer.id)?.as_str()?.to_owned()))
    };
    found
        .map(Secret::new)
        .filter(|secret| !secret.is_blank())
        .ok_or_else(|| SecretError::Missing {
            path,
            id: pointer.id.clone(),
        })
}

impl AuthSnapshot {
    /// Fingerprints of what the references of all profiles resolve to, for [`resolved`](Self::resolved): a variable
    /// that was set to another key is another secret (BL-34). References that cannot be resolved are left out.
    pub fn pointer_fingerprints(&self, places: SecretLookup<'_>) -> HashMap<ProfileId, String> {
        let profiles = self.ambient.iter().chain(&self.profiles);
        let pointers = profiles.filter(|(_, credential)| credential.fingerprint().is_none());
        pointers
            .filter_map(|(id, credential)| {
                let secret = resolve_secret_from(credential, places).ok()??;
                Some((id.clone(), Secret::from(secret).fingerprint()?))
            })
            .collect()
    }
}

#[cfg(test)]
mod tests;
