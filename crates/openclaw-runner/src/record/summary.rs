//! The final error of a chain, and the record of each candidate in it (R-1.3, R-10).

use std::fmt;

use jiff::Timestamp;
use openclaw_classify::{Reason, RuleId};
use openclaw_ids::{ModelRef, ProviderId};
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use crate::record::error_fields::ErrorFields;
use crate::request::ChainKind;

/// What became of one candidate that did not answer: it failed, or it was skipped (R-1.3).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttemptRecord {
    /// The candidate.
    pub candidate: ModelRef,
    /// The failure's own words, redacted (M2), or the skip's text.
    pub error: String,
    /// Why; none only when nothing classified it.
    pub reason: Option<Reason>,
    /// The classification rule that decided the reason; none for skips.
    pub rule: Option<RuleId>,
    /// HTTP status, or the reason's default (R-5.5).
    pub status: Option<u16>,
    /// Structured code.
    pub code: Option<String>,
    /// `oauth` or `token`, when such a credential failed or cools down.
    pub auth_mode: Option<&'static str>,
    /// Whether a call was made.
    pub outcome: CandidateOutcome,
    /// What failed before the last credential of this candidate did, in order.
    pub earlier: Vec<ProfileFailure>,
    /// What records may show of the error.
    pub fields: ErrorFields,
}

/// Whether a candidate in the summary was called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CandidateOutcome {
    /// At least one attempt was made.
    Failed,
    /// No attempt was made: its credentials cool down, or the pinned one cannot be used.
    Skipped,
}

/// One credential of a candidate that failed before another was tried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ProfileFailure {
    /// Why it failed.
    pub reason: Reason,
    /// HTTP status, or the reason's default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The failure's own words, redacted.
    pub error: String,
}

/// The code of a login that has ended, while this machine could not store a new one: a full disk, a file that may only be
/// read. A person has nothing to sign in to.
pub const LOGIN_NOT_RENEWED: &str = "login_not_renewed";

impl AttemptRecord {
    /// Whether it is this machine that keeps a login from being renewed.
    pub(crate) fn is_not_renewed(&self) -> bool {
        self.code.as_deref() == Some(LOGIN_NOT_RENEWED)
    }
}

impl Serialize for AttemptRecord {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("provider", self.candidate.provider())?;
        map.serialize_entry("model", self.candidate.model())?;
        map.serialize_entry("error", &self.error)?;
        if let Some(reason) = &self.reason {
            map.serialize_entry("reason", reason)?;
        }
        if let Some(rule) = &self.rule {
            map.serialize_entry("rule", rule.as_str())?;
        }
        if let Some(status) = &self.status {
            map.serialize_entry("status", status)?;
        }
        if let Some(code) = &self.code {
            map.serialize_entry("code", code)?;
        }
        if let Some(mode) = &self.auth_mode {
            map.serialize_entry("authMode", mode)?;
        }
        if !self.earlier.is_empty() {
            map.serialize_entry("earlierProfiles", &self.earlier)?;
        }
        map.end()
    }
}

impl fmt::Display for AttemptRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.candidate, self.error)?;
        match self.reason {
            Some(reason) => write!(f, " ({reason})"),
            None => Ok(()),
        }
    }
}

/// What an image run without any candidate says (R-10.5).
const NO_IMAGE_MODEL: &str = "No image model configured. Set agents.defaults.imageModel.primary or \
                              agents.defaults.imageModel.fallbacks.";

/// Every candidate failed or was skipped (R-10.1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FallbackSummaryError {
    /// One record per candidate, in chain order.
    pub attempts: Vec<AttemptRecord>,
    /// What kind of chain it was.
    pub(crate) kind: ChainKind,
    /// When the first of the chain's cooling credentials is back; none when nothing cools down (R-10.4).
    pub soonest_cooldown_expiry: Option<Timestamp>,
    /// The provider whose login failed last, for the hint (R-10.2).
    pub(crate) reauthenticate: Option<ProviderId>,
}

impl FallbackSummaryError {
    /// The reasons of all attempts, in order; a missing one counts as `unknown`.
    pub fn reasons(&self) -> impl Iterator<Item = Reason> {
        self.attempts
            .iter()
            .map(|attempt| attempt.reason.unwrap_or(Reason::Unknown))
    }
}

impl std::error::Error for FallbackSummaryError {}

impl fmt::Display for FallbackSummaryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let models = match self.kind {
            ChainKind::Image if self.attempts.is_empty() => return f.write_str(NO_IMAGE_MODEL),
            ChainKind::Image => "image models",
            ChainKind::Text => "models",
        };
        write!(f, "All {models} failed ({}): ", self.attempts.len())?;
        if self.attempts.is_empty() {
            f.write_str("unknown")?;
        }
        for (index, attempt) in self.attempts.iter().enumerate() {
            let separator = if index == 0 { "" } else { " | " };
            write!(f, "{separator}{attempt}")?;
        }
        match self.reauthenticate.as_ref().and_then(login_command) {
            Some(command) => write!(f, ". Re-authenticate with: {command}"),
            None => Ok(()),
        }
    }
}

/// What a person types to sign in again, with the provider as one word of a POSIX shell; none when its name holds
/// control characters (R-10.2).
pub fn login_command(provider: &ProviderId) -> Option<String> {
    let text = provider.as_str();
    if text.chars().any(char::is_control) {
        return None;
    }
    let quoted = text.replace('\'', r"'\''");
    Some(format!(
        "openclaw models auth login --provider '{quoted}' --force"
    ))
}

#[cfg(test)]
mod tests;
