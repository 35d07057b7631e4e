//! What a failure means (classify.md C-1.2, C-10).

use std::borrow::Cow;
use std::fmt;

use jiff::Timestamp;

use crate::Reason;

/// The judgement of one failed attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// Why it failed.
    pub reason: Reason,
    /// Whether a code or text said so, or only the status did.
    pub certainty: Certainty,
    /// Whose fault it is; decides what shared state the failure may touch.
    pub owner: Owner,
    /// What a mark for this failure concerns.
    pub scope: Scope,
    /// When the provider says it is over.
    pub hint: Option<ResetHint>,
    /// The table row that decided.
    pub rule: RuleId,
    /// What the row saw.
    pub evidence: Option<Evidence>,
}

/// How a verdict was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Certainty {
    /// Only the status, or nothing at all, pointed this way.
    Default,
    /// A code or a text said so.
    Explicit,
}

impl Certainty {
    /// The name in records.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Explicit => "explicit",
        }
    }
}

impl fmt::Display for Certainty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Whose fault a failure is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Owner {
    /// The caller: its abort, its own short limit.
    Caller,
    /// The request's content.
    Content,
    /// The credential or its account.
    Credential,
    /// The model.
    Model,
    /// The network between us and the provider.
    Network,
    /// The provider.
    Provider,
    /// This process or machine.
    Us,
}

impl Owner {
    /// The name in records.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Caller => "caller",
            Self::Content => "content",
            Self::Credential => "credential",
            Self::Model => "model",
            Self::Network => "network",
            Self::Provider => "provider",
            Self::Us => "us",
        }
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What a mark for a failure concerns (C-10, D4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// (provider, base URL): nothing reached the provider.
    Endpoint,
    /// (profile, model).
    Model,
    /// Nothing is marked.
    None,
    /// The whole profile.
    Profile,
}

impl Scope {
    /// The name in records.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Endpoint => "endpoint",
            Self::Model => "model",
            Self::None => "none",
            Self::Profile => "profile",
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// When a provider says its limit is over (C-9).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResetHint {
    /// The stated instant.
    pub at: Timestamp,
    /// Where it was read.
    pub source: HintSource,
    /// False for times that are past or too far away to believe; they are kept for display only.
    pub credible: bool,
}

/// Where a reset hint was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HintSource {
    /// A member of the body, such as `resets_at` or `retryDelay`.
    Body,
    /// A `…-ratelimit-reset…` header.
    RateLimitHeader,
    /// `retry-after` or one of its millisecond forms.
    RetryAfter,
    /// A sentence of the message.
    Text,
    /// The provider's own usage check, asked after the failure; no failure states it itself.
    UsageCheck,
}

impl HintSource {
    /// The name in records.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Body => "body",
            Self::RateLimitHeader => "rate_limit_header",
            Self::RetryAfter => "retry_after",
            Self::Text => "text",
            Self::UsageCheck => "usage_check",
        }
    }
}

impl fmt::Display for HintSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The stable id of a rule, for example `rate.usage-window`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RuleId(Cow<'static, str>);

impl RuleId {
    /// The row of our own words for a failure, which say nothing (C-5): they never lead to another model.
    pub const OWN_GENERIC_TEXT: Self = Self::shipped("own.generic-text");
    /// The row of a request that is larger than its limit, so that no waiting makes it pass (BL-15).
    pub const REQUEST_OVER_LIMIT: Self = Self::shipped("rate.request-over-limit");

    /// The id of a rule in the shipped tables.
    pub const fn shipped(id: &'static str) -> Self {
        Self(Cow::Borrowed(id))
    }

    /// The id of a rule that a user wrote, or that was read back from a record.
    pub fn written(id: &str) -> Self {
        Self(Cow::Owned(id.to_owned()))
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RuleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for RuleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.as_str())
    }
}

/// What a rule saw, for `explain` (C-1.3).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evidence {
    /// The fact that was looked at: `status`, `code`, `type`, `message`, `body`, `transport`.
    pub field: &'static str,
    /// The part that matched; redacted and bounded.
    pub matched: String,
}
