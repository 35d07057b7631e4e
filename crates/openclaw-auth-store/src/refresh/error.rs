//! Why a login yields no token (auth-store.md 14, Z6).

use std::path::PathBuf;

use openclaw_ids::ProviderId;

use super::endpoint::TokenEndpointError;
use crate::{Cause, Oauth, StoreError};

/// A login that could not be refreshed.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum RefreshError {
    /// Somebody else has been refreshing it for longer than anybody waits (O12).
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
        /// Why only a new login helps, where that is known; otherwise trying again may.
        reason: Option<ReauthReason>,
        /// What the provider said, without secrets.
        cause: String,
    },
    /// The lock file could not be made.
    #[error("`{path}` could not be used to lock the refresh; check that its folder may be written", path = path.display())]
    Lock {
        /// The file.
        path: PathBuf,
        /// What the system said.
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

/// Why a login is worth nothing any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ReauthReason {
    /// The grant was refused.
    InvalidGrant,
    /// The refresh token is none.
    InvalidRefreshToken,
    /// The refresh token was used before, by somebody who has the newer one.
    RefreshTokenReused,
    /// The login was revoked or has ended.
    Revoked,
    /// The provider asks for a new login.
    SignInAgain,
    /// The token was made invalid.
    TokenInvalidated,
}

/// What a provider's words mean; the first row with a text inside them counts.
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

/// Stands for a secret while others are looked for; no text of a provider holds it.
const REMOVED: &str = "\u{0}";

/// What says that somebody else has used the refresh token.
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

    /// Whether nothing but a new login helps.
    pub fn needs_login(&self) -> bool {
        matches!(self, Self::Failed { reason: Some(_), .. })
    }

    /// The provider's words as an error: without the tokens of `logins` (Z6), and without what looks like a secret.
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

/// Whether a provider says that somebody else has used the refresh token.
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
