//! The closed list of reasons why an attempt fails (classify.md C-1.2).

use std::fmt;
use std::str::FromStr;

/// Why an attempt failed.
///
/// Not `#[non_exhaustive]`: a new reason must break every policy that matches on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// The attempt was cancelled; terminal.
    Aborted,
    /// The credential was refused and may work again after a new login or a fixed setting.
    Auth,
    /// The credential will not work again: it was revoked or deleted, or its account was suspended.
    AuthPermanent,
    /// The account has no credit or plan, or an unpaid bill.
    Billing,
    /// The provider refused the content; terminal.
    ContentPolicy,
    /// The prompt does not fit the model's context window; terminal.
    ContextOverflow,
    /// The provider gave neither a usable message nor a status, or a response without content.
    EmptyResponse,
    /// The request was refused as malformed or unsupported.
    Format,
    /// A problem of this process or machine, such as a lock or a full disk; terminal.
    Local,
    /// The provider does not have, or does not offer, this model.
    ModelNotFound,
    /// The provider stated literally that there are no error details.
    NoErrorDetails,
    /// The provider is overloaded, independently of the credential.
    Overloaded,
    /// This credential sent too many requests or used up a quota window.
    RateLimit,
    /// The provider states an error of its own.
    ServerError,
    /// The provider's session or conversation no longer exists.
    SessionExpired,
    /// There was no response in time, or the connection broke.
    Timeout,
    /// No rule recognised the text.
    Unclassified,
    /// Nothing is known about the failure.
    Unknown,
}

/// Every reason with its wire name and the HTTP status that stands for it when the failure has none (runner.md ).
const TABLE: &[(Reason, &str, Option<u16>)] = &[
    (Reason::Aborted, "aborted", None),
    (Reason::Auth, "auth", Some(401)),
    (Reason::AuthPermanent, "auth_permanent", Some(403)),
    (Reason::Billing, "billing", Some(402)),
    (Reason::ContentPolicy, "content_policy", None),
    (Reason::ContextOverflow, "context_overflow", Some(413)),
    (Reason::EmptyResponse, "empty_response", None),
    (Reason::Format, "format", Some(400)),
    (Reason::Local, "local", None),
    (Reason::ModelNotFound, "model_not_found", Some(404)),
    (Reason::NoErrorDetails, "no_error_details", None),
    (Reason::Overloaded, "overloaded", Some(503)),
    (Reason::RateLimit, "rate_limit", Some(429)),
    (Reason::ServerError, "server_error", Some(500)),
    (Reason::SessionExpired, "session_expired", Some(410)),
    (Reason::Timeout, "timeout", Some(408)),
    (Reason::Unclassified, "unclassified", None),
    (Reason::Unknown, "unknown", None),
];

impl Reason {
    /// All reasons, alphabetically by wire name.
    pub fn all() -> impl Iterator<Item = Self> {
        TABLE.iter().map(|(reason, ..)| *reason)
    }

    /// The wire name, for example `rate_limit`.
    pub fn as_str(self) -> &'static str {
        TABLE[self as usize].1
    }

    /// The HTTP status that stands for this reason when the failure has none.
    pub fn default_status(self) -> Option<u16> {
        TABLE[self as usize].2
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The error for a text that is not the wire name of a [`Reason`]; it holds the text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a failure reason; use one of auth, billing, rate_limit, … as listed in docs/classification.md"
)]
pub struct UnknownReason(pub String);

impl FromStr for Reason {
    type Err = UnknownReason;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let row = TABLE.iter().find(|(_, name, _)| *name == text);
        row.map(|(reason, ..)| *reason)
            .ok_or_else(|| UnknownReason(text.to_owned()))
    }
}

impl serde::Serialize for Reason {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> serde::Deserialize<'de> for Reason {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        <std::borrow::Cow<'de, str>>::deserialize(deserializer)?
            .parse()
            .map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c_1_2_the_table_is_in_the_order_of_the_enum_and_names_round_trip() {
        for (index, (reason, name, _)) in TABLE.iter().enumerate() {
            assert_eq!(*reason as usize, index);
            assert_eq!(name.parse::<Reason>().unwrap(), *reason);
        }
        assert_eq!(TABLE.len(), 18);
        assert!("Rate_Limit".parse::<Reason>().is_err());
    }
}
