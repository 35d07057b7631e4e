//! Errors of a refresh (auth-store.md 14, Z6).

use std::path::PathBuf;

use openclaw_ids::ProviderId;

use super::endpoint::TokenEndpointError;
use crate::{Cause, Oauth, StoreError};

/// Why a login could not be refreshed.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum RefreshError {
    /// Another holder has been refreshing it for longer than a refresh waits (O12).
    #[error(
        "OAuth token refresh failed for {provider}: another process holds the refresh lock; try again in a moment"
    )]
    Contention {
        /// The provider.
        provider: ProviderId,
    },
    /// The provider gave no tokens.
    #[error("OAuth token refresh failed for {provider}: {cause}. {}", remedy(*reason))]
    Failed {
        /// The provider.
        provider: ProviderId,
        /// Why only a new login helps, where that is known; otherwise a retry may.
        reason: Option<ReauthReason>,
        /// The provider's answer, without secrets.
        cause: String,
    },
    /// The lock file could not be created.
    #[error("`{path}` could not be used to lock the refresh; check that its folder may be written", path = path.display())]
    Lock {
        /// The file.
        path: PathBuf,
        /// The system's error.
        #[source]
        source: Cause,
    },
    /// The new tokens were not stored, because the login was replaced meanwhile (O8).
    #[error(
        "OAuth token refresh failed for {provider}: the stored login was replaced meanwhile; try again, or log in again"
    )]
    NotPersisted {
        /// The provider.
        provider: ProviderId,
    },
    /// The store could not be written.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why a login cannot be refreshed any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ReauthReason {
    /// The grant was refused.
    InvalidGrant,
    /// The refresh token is invalid.
    InvalidRefreshToken,
    /// The refresh token was used before, and its successor was issued.
    RefreshTokenReused,
    /// The login was revoked or has ended.
    Revoked,
    /// The provider asks for a new login.
    SignInAgain,
    /// The token was made invalid.
    TokenInvalidated,
}

/// The reasons by phrases of the provider's answer; the first row with a phrase in it counts.
const REASONS: &[(&str, ReauthReason)] = &[
    ("refresh_token_reused", ReauthReason::RefreshTokenReused),
    ("invalid_grant", ReauthReason::InvalidGrant),
    ("token_invalidated", ReauthReason::TokenInvalidated),
    ("signing in again", ReauthReason::SignInAgain),
    ("sign in again", ReauthReason::SignInAgain),
    ("invalid refresh token", ReauthReason::InvalidRefreshToken),
    ("expired or revoked", ReauthReason::Revoked),
    ("revoked", ReauthReason::Revoked),
    ("failed to authenticate", ReauthReason::Revoked),
    ("401 invalid authentication credentials", ReauthReason::Revoked),
];

/// Placeholder of a removed secret; no answer of a provider contains it.
const REMOVED: &str = "\u{0}";

/// Phrases which say that the refresh token was used before.
const REUSED: &[&str] = &[
    "refresh_token_reused",
    "refresh token has already been used",
    "already been used to generate a new access token",
];

impl ReauthReason {
    /// The code.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InvalidGrant => "invalid_grant",
            Self::InvalidRefreshToken => "invalid_refresh_token",
            Self::RefreshTokenReused => "refresh_token_reused",
            Self::Revoked => "revoked",
            Self::SignInAgain => "sign_in_again",
            Self::TokenInvalidated => "token_invalidated",
        }
    }

    fn of(message: &str) -> Option<Self> {
        let message = message.to_lowercase();
        let row = REASONS.iter().find(|(text, _)| message.contains(text));
        row.map(|(_, reason)| *reason)
    }
}

impl RefreshError {
    /// The code that records carry.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Contention { .. } => "refresh_contention",
            Self::Failed {
                reason: Some(reason), ..
            } => reason.as_str(),
            Self::Failed { reason: None, .. } => "refresh_failed",
            Self::Lock { .. } => "refresh_lock",
            Self::NotPersisted { .. } => "refresh_not_persisted",
            Self::Store(_) => "refresh_store",
        }
    }

    /// Whether only a new login helps.
    pub fn needs_login(&self) -> bool {
        matches!(self, Self::Failed { reason: Some(_), .. })
    }

    /// The provider's answer as an error, without the tokens of `logins` (Z6) and anything that looks like a secret.
    pub(super) fn failed(error: &TokenEndpointError, provider: &ProviderId, logins: &[&Oauth]) -> Self {
        let message = error.message();
        let mut secrets: Vec<&str> = logins
            .iter()
            .flat_map(|login| login.secrets())
            .map(|secret| secret.expose().trim())
            .filter(|text| !text.is_empty())
            .collect();
        secrets.sort_by_key(|text| std::cmp::Reverse(text.len()));
        let shown = secrets
            .iter()
            .fold(message.to_owned(), |text, secret| text.replace(secret, REMOVED))
            .replace(REMOVED, "[redacted]");
        Self::Failed {
            provider: provider.clone(),
            reason: ReauthReason::of(message),
            cause: openclaw_classify::redact(&shown).trim_end_matches('.').to_owned(),
        }
    }
}

/// Whether a provider says that the refresh token was used before.
pub(super) fn is_reuse(error: &TokenEndpointError) -> bool {
    let message = error.message().to_lowercase();
    REUSED.iter().any(|text| message.contains(text))
}

fn remedy(reason: Option<ReauthReason>) -> &'static str {
    match reason {
        Some(_) => "Log in again",
        None => "Try again; log in again if it goes on",
    }
}
