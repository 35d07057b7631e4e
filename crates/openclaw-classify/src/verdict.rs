//! The verdict of a classification and its parts (classify.md C-1.2, C-10).

use std::borrow::Cow;
use std::fmt;

use jiff::Timestamp;

use crate::Reason;

/// The result of classifying one failed attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// Why it failed.
    pub reason: Reason,
    /// Whether a code or text states the reason, or it is only the default for the status.
    pub certainty: Certainty,
    /// Whose fault it is, which decides what shared state the failure may change.
    pub owner: Owner,
    /// What a cooldown for this failure applies to.
    pub scope: Scope,
    /// When the provider says that its limit ends.
    pub hint: Option<ResetHint>,
    /// The rule that matched.
    pub rule: RuleId,
    /// The part of the failure that the rule matched; `None` when there was nothing to match.
    pub evidence: Option<Evidence>,
}

/// How certain a verdict is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Certainty {
    /// Only the status, or nothing at all, leads to the reason.
    Default,
    /// A code, a text or the connection states the reason.
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
    /// The caller: its abort or its own short timeout.
    Caller,
    /// The request's content.
    Content,
    /// The credential or its account.
    Credential,
    /// The model.
    Model,
    /// The network between this process and the provider.
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

/// What a cooldown for a failure applies to (C-10, D4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// A provider at a base URL: the request did not reach the provider.
    Endpoint,
    /// One model of the profile.
    Model,
    /// Nothing cools down.
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

/// When a provider says that its limit ends (C-9).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResetHint {
    /// The stated instant.
    pub at: Timestamp,
    /// Where it was stated.
    pub source: HintSource,
    /// False for times that are past or more than 35 days away; these are for display only.
    pub credible: bool,
}

/// Where a reset hint was stated.
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
    /// The provider's usage endpoint, queried after the failure; `classify` never returns it.
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
    /// The rule of OpenClaw's own generic error text (C-5), which never leads to another model.
    pub const OWN_GENERIC_TEXT: Self = Self::from_static("own.generic-text");
    /// The rule of a request that is larger than its rate limit, so that waiting does not help (BL-15).
    pub const REQUEST_OVER_LIMIT: Self = Self::from_static("rate.request-over-limit");

    /// An id that stands in the source, such as that of a shipped rule.
    pub const fn from_static(id: &'static str) -> Self {
        Self(Cow::Borrowed(id))
    }

    /// An id that is read at run time, such as that of a user's rule or of a record.
    pub fn new(id: &str) -> Self {
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

/// What a rule matched, for `explain` (C-1.3).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evidence {
    /// The field it is from: `status`, `code`, `type`, `message`, `body` or `transport`, or a member of the body such
    /// as `limit_source`.
    pub field: &'static str,
    /// The part that matched, redacted and cut.
    pub matched: String,
}
