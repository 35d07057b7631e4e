//! Whether a profile can be used for a provider at all (auth-store.md 11).

use jiff::Timestamp;
use openclaw_ids::{ProfileId, ProviderId};
use openclaw_providers::AuthAliases;

use crate::credential::Expiry;
use crate::{AuthConfig, AuthSnapshot, ConfiguredMode, Credential, KeySource, Oauth, Secret, Token};

/// Whether a profile can be used, with OpenClaw's reason codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Eligibility {
    /// The token has ended.
    Expired,
    /// The token's end is not a time.
    InvalidExpires,
    /// The key is a pasted command line.
    MalformedApiKey,
    /// Neither a secret nor a reference to one.
    MissingCredential,
    /// The configuration names another mode than the stored type.
    ModeMismatch,
    /// Usable.
    Ok,
    /// No such profile.
    ProfileMissing,
    /// The profile belongs to another provider.
    ProviderMismatch,
    /// The tokens are in a file of an older version.
    UnresolvedRef,
}

impl serde::Serialize for Eligibility {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl Eligibility {
    /// The reason code, for example `missing_credential`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Expired => "expired",
            Self::InvalidExpires => "invalid_expires",
            Self::MalformedApiKey => "malformed_api_key",
            Self::MissingCredential => "missing_credential",
            Self::ModeMismatch => "mode_mismatch",
            Self::Ok => "ok",
            Self::ProfileMissing => "profile_missing",
            Self::ProviderMismatch => "provider_mismatch",
            Self::UnresolvedRef => "unresolved_ref",
        }
    }

    /// Whether the profile may be tried.
    pub fn is_ok(self) -> bool {
        self == Self::Ok
    }
}

/// Whether profile `id` may be used for `provider` at `now` (11.2, then 11.1).
///
/// A reference counts as a credential without being resolved. A login never becomes ineligible by its end: it can be
/// refreshed. A token is over *at* its end.
pub fn eligibility(
    snapshot: &AuthSnapshot,
    config: &AuthConfig,
    aliases: &AuthAliases,
    provider: &ProviderId,
    id: &ProfileId,
    now: Timestamp,
) -> Eligibility {
    let configured = config.profiles.get(id);
    let Some(credential) = snapshot.credential(id) else {
        let by_cloud = configured.is_some_and(|profile| {
            profile.mode == ConfiguredMode::AwsSdk
                && aliases.share_credentials(&profile.provider, provider)
                && config.aws_sdk.contains(provider)
        });
        return if by_cloud {
            Eligibility::Ok
        } else {
            Eligibility::ProfileMissing
        };
    };
    if !aliases.share_credentials(credential.provider(), provider) {
        return Eligibility::ProviderMismatch;
    }
    if let Some(profile) = configured {
        if !aliases.share_credentials(&profile.provider, provider) {
            return Eligibility::ProviderMismatch;
        }
        if !serves(profile.mode, credential) {
            return Eligibility::ModeMismatch;
        }
    }
    credential_eligibility(credential, now)
}

/// Whether a stored type serves a configured mode; a token also serves a login's.
fn serves(mode: ConfiguredMode, credential: &Credential) -> bool {
    match mode {
        ConfiguredMode::ApiKey => matches!(credential, Credential::ApiKey(_)),
        ConfiguredMode::AwsSdk => false,
        ConfiguredMode::Oauth => matches!(credential, Credential::Oauth(_) | Credential::Token(_)),
        ConfiguredMode::Token => matches!(credential, Credential::Token(_)),
    }
}

/// Whether a credential could be sent at `now`, whatever it is for (11.1).
pub fn credential_eligibility(credential: &Credential, now: Timestamp) -> Eligibility {
    match credential {
        Credential::ApiKey(key) => match &key.key {
            Some(KeySource::Inline(key)) if is_command(key.expose()) => Eligibility::MalformedApiKey,
            Some(KeySource::Inline(key)) if key.is_blank() => Eligibility::MissingCredential,
            Some(KeySource::Inline(_) | KeySource::Reference(_)) => Eligibility::Ok,
            None => Eligibility::MissingCredential,
        },
        Credential::Local(_) => Eligibility::Ok,
        Credential::Oauth(oauth) => oauth_eligibility(oauth),
        Credential::Token(token) => token_eligibility(token, now),
    }
}

fn token_eligibility(token: &Token, now: Timestamp) -> Eligibility {
    if is_blank(token.token.as_ref()) && token.token_ref.is_none() {
        return Eligibility::MissingCredential;
    }
    match token.expires {
        Some(Expiry::Invalid) => Eligibility::InvalidExpires,
        Some(Expiry::At(end)) if end <= now.as_millisecond() => Eligibility::Expired,
        Some(Expiry::At(_)) | None => Eligibility::Ok,
    }
}

fn oauth_eligibility(oauth: &Oauth) -> Eligibility {
    match (
        is_blank(oauth.access.as_ref()) && is_blank(oauth.refresh.as_ref()),
        &oauth.oauth_ref,
    ) {
        (false, _) => Eligibility::Ok,
        (true, Some(_)) => Eligibility::UnresolvedRef,
        (true, None) => Eligibility::MissingCredential,
    }
}

fn is_blank(secret: Option<&Secret>) -> bool {
    secret.is_none_or(Secret::is_blank)
}

/// Whether the key is a pasted login command.
fn is_command(key: &str) -> bool {
    const COMMAND: &str = "openclaw onboard";
    let key = key.trim_start();
    let begins = key
        .get(..COMMAND.len())
        .is_some_and(|head| head.eq_ignore_ascii_case(COMMAND));
    begins && key.to_ascii_lowercase().contains("--auth-choice")
}

#[cfg(test)]
mod tests;
