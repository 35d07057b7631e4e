//! The health of a credential, for status output (auth-store.md 10).

use std::time::Duration;

use jiff::Timestamp;

use crate::profile::eligibility::credential_eligibility;
use crate::snapshot::login::REFRESH_AHEAD;
use crate::{Credential, Eligibility, Expiry};

/// The health of a credential.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Health {
    /// Its end has passed.
    Expired,
    /// Its end is near.
    Expiring,
    /// Something that it needs is missing.
    Missing,
    /// It has an end, which is far.
    Ok,
    /// It has no end.
    Static,
}

impl serde::Serialize for Health {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl Health {
    /// The word in status output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Expired => "expired",
            Self::Expiring => "expiring",
            Self::Missing => "missing",
            Self::Ok => "ok",
            Self::Static => "static",
        }
    }
}

/// How long before its end a credential counts as expiring, by default.
pub const EXPIRY_WARNING: Duration = Duration::from_hours(24);

/// The health of `credential` at `now`; an end within `warning` is near.
pub fn health(credential: &Credential, now: Timestamp, warning: Duration) -> Health {
    match (credential_eligibility(credential, now), credential) {
        (Eligibility::Expired, _) => Health::Expired,
        (Eligibility::Ok, Credential::ApiKey(_) | Credential::Local(_)) => Health::Static,
        (Eligibility::Ok, Credential::Token(token)) => match token.expires {
            Some(end) => until(end, now, warning),
            None => Health::Static,
        },
        (Eligibility::Ok, Credential::Oauth(oauth)) => until(
            oauth.expires.unwrap_or(Expiry::Invalid),
            now,
            // A login is refreshed this long before its end at the latest.
            warning.max(REFRESH_AHEAD),
        ),
        (
            Eligibility::InvalidExpires
            | Eligibility::MalformedApiKey
            | Eligibility::MissingCredential
            | Eligibility::ModeMismatch
            | Eligibility::ProfileMissing
            | Eligibility::ProviderMismatch
            | Eligibility::UnresolvedRef,
            _,
        ) => Health::Missing,
    }
}

fn until(end: Expiry, now: Timestamp, warning: Duration) -> Health {
    let Expiry::At(end) = end else {
        return Health::Missing;
    };
    let warning = i64::try_from(warning.as_millis()).unwrap_or(i64::MAX);
    match end.saturating_sub(now.as_millisecond()) {
        left if left <= 0 => Health::Expired,
        left if left <= warning => Health::Expiring,
        _ => Health::Ok,
    }
}

#[cfg(test)]
mod tests;
