//! Finds stored credentials whose pointer leads nowhere, without blocking and without running commands.

use openclaw_auth_store::{Credential, KeySource, SecretError, SecretRef, SecretSource};
use openclaw_classify::error_chain;
use openclaw_ids::ProfileId;

use super::{SecretSources, kind};

/// Why a stored credential cannot be used: its secret is kept elsewhere, and is missing there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum DanglingPointer {
    /// Its source is not configured.
    #[error(
        "no {kind} is configured as `{alias}`; add it under secrets.providers, or replace the credential: openclaw-gateway auth add {profile}"
    )]
    NotConfigured {
        /// The credential.
        profile: ProfileId,
        /// The kind of source.
        kind: &'static str,
        /// Its alias.
        alias: String,
    },
    /// A file that gives no secret.
    #[error("{0}")]
    Unresolved(String),
    /// A variable without a value.
    #[error(
        "environment variable `{name}` is not set here; set it where the gateway runs, or replace the credential: \
         openclaw-gateway auth add {profile}"
    )]
    Unset {
        /// The credential.
        profile: ProfileId,
        /// The variable.
        name: String,
    },
}

impl SecretSources {
    /// Why the secret of a credential is not where its pointer says; `None` when it is there, and when that cannot be checked
    /// at once: commands are not run, and files are read only on threads that may block.
    ///
    /// A text that names a variable (`$NAME`) and leads nowhere is sent as it is written, so no provider takes it.
    pub(crate) fn dangling(&self, profile: &ProfileId, credential: &Credential) -> Option<DanglingPointer> {
        let pointer = pointer(credential)?;
        let profile = profile.clone();
        if !self.is_configured(&pointer) {
            return Some(DanglingPointer::NotConfigured {
                profile,
                kind: kind(pointer.source),
                alias: pointer.provider,
            });
        }
        let is_at_hand = match pointer.source {
            SecretSource::Env => true,
            SecretSource::Exec => false,
            SecretSource::File => !self.runs_commands(),
        };
        if !is_at_hand {
            return None;
        }
        match self.follow(&pointer) {
            Ok(_) => None,
            Err(SecretError::Unset { name }) => Some(DanglingPointer::Unset { profile, name }),
            Err(error) => Some(DanglingPointer::Unresolved(error_chain::line(&error))),
        }
    }
}

/// The pointer of a credential whose secret is kept elsewhere.
pub(crate) fn pointer(credential: &Credential) -> Option<SecretRef> {
    match credential {
        Credential::ApiKey(key) => match key.key.as_ref()? {
            KeySource::Inline(text) => SecretRef::parse_text(text.expose()),
            KeySource::Reference(pointer) => Some(pointer.clone()),
        },
        Credential::Token(token) => match (&token.token, &token.token_ref) {
            (Some(text), _) if !text.is_blank() => SecretRef::parse_text(text.expose()),
            (_, pointer) => pointer.clone(),
        },
        Credential::Local(_) | Credential::Oauth(_) => None,
    }
}
