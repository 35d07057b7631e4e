//! What can be wrong with a provider or a request, what a caller sees of it, and what may be marked for it.

use jiff::Timestamp;
use openclaw_classify::{AbortedBy, Failure, Header, TimeoutPhase, TimerOwner, Transport};

use crate::time::{HOUR, MINUTE, SECOND};

/// A time during which something is wrong with a provider.
#[derive(Debug, Clone)]
pub(crate) struct FaultPeriod {
    pub(crate) trouble: ProviderFault,
    pub(crate) from: i64,
    pub(crate) until: i64,
    /// The one key it is about.
    pub(crate) key: Option<usize>,
    /// The one model it is about.
    pub(crate) model: Option<usize>,
    /// How bad it is, of a thousand.
    pub(crate) strength: i64,
}

impl FaultPeriod {
    /// Whether it concerns this key and model at `now`; what has none is concerned by what is about all.
    pub(crate) fn strikes(&self, now: i64, key: Option<usize>, model: Option<usize>) -> bool {
        (self.from..self.until).contains(&now)
            && self.key.is_none_or(|of| Some(of) == key)
            && self.model.is_none_or(|of| Some(of) == model)
    }
}

/// What is wrong with a provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ProviderFault {
    BadLogin,
    Broken,
    Busy,
    Down,
    Flapping,
    Gone,
    Refused,
    Reset,
    Revoked,
    Silent,
    Slow,
    Throttled,
    Unpaid,
    UsageLimit,
}

/// What is wrong with a request, whichever provider gets it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Flaw {
    /// The caller cancels.
    Aborted,
    /// The caller's own limit.
    CallerTimeout,
    ContentPolicy,
    /// An answer without content.
    Empty,
    Format,
    /// Our own machine.
    Local,
    Overflow,
    /// An error that no classification rule recognises.
    Strange,
}

/// What a mark may concern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Marks {
    Endpoint,
    Nothing,
    Profile,
}

impl ProviderFault {
    pub(crate) const ALL: [Self; 14] = [
        Self::BadLogin,
        Self::Broken,
        Self::Busy,
        Self::Down,
        Self::Flapping,
        Self::Gone,
        Self::Refused,
        Self::Reset,
        Self::Revoked,
        Self::Silent,
        Self::Slow,
        Self::Throttled,
        Self::Unpaid,
        Self::UsageLimit,
    ];

    /// The shortest and the longest time it lasts.
    pub(crate) fn length(self) -> (i64, i64) {
        match self {
            Self::BadLogin | Self::Revoked => (10 * MINUTE, 4 * HOUR),
            Self::Unpaid => (20 * MINUTE, 12 * HOUR),
            Self::UsageLimit => (20 * MINUTE, 24 * HOUR),
            Self::Gone => (5 * MINUTE, 2 * HOUR),
            Self::Broken
            | Self::Busy
            | Self::Down
            | Self::Flapping
            | Self::Refused
            | Self::Reset
            | Self::Silent
            | Self::Slow
            | Self::Throttled => (10 * SECOND, HOUR),
        }
    }

    /// Whether one key has it and the others do not.
    pub(crate) fn is_of_a_key(self) -> bool {
        matches!(
            self,
            Self::BadLogin | Self::Revoked | Self::Throttled | Self::Unpaid | Self::UsageLimit
        )
    }

    /// Whether one model has it and the others do not.
    pub(crate) fn is_of_a_model(self) -> bool {
        matches!(self, Self::Busy | Self::Gone)
    }

    /// What may be marked for it (C-10).
    pub(crate) fn marks(self) -> Marks {
        match self {
            Self::Refused => Marks::Endpoint,
            Self::Slow => Marks::Nothing,
            Self::BadLogin
            | Self::Broken
            | Self::Busy
            | Self::Down
            | Self::Flapping
            | Self::Gone
            | Self::Reset
            | Self::Revoked
            | Self::Silent
            | Self::Throttled
            | Self::Unpaid
            | Self::UsageLimit => Marks::Profile,
        }
    }

    /// What a caller sees of it at `now`, its own clock; `reset` is when the limit is said to end.
    pub(crate) fn failure(self, reset: Timestamp, strength: i64, now: Timestamp) -> Failure {
        let status = |status: u16, message: &str| Failure {
            status: Some(status),
            message: Some(message.to_owned()),
            ..Failure::default()
        };
        let transport = |fault| Failure {
            transport: Some(fault),
            ..Failure::default()
        };
        match self {
            Self::BadLogin => status(401, "Incorrect API key provided"),
            Self::Broken | Self::Flapping => status(500, "Internal server error"),
            Self::Busy => Failure {
                kind: Some("overloaded_error".to_owned()),
                ..status(529, "Overloaded")
            },
            Self::Down | Self::Slow => status(503, "Service unavailable"),
            Self::Gone => Failure {
                code: Some("model_not_found".to_owned()),
                ..status(404, "The model does not exist")
            },
            Self::Refused => transport(Transport::Refused),
            Self::Reset => transport(Transport::Reset),
            Self::Revoked => status(401, "This API key has been revoked"),
            Self::Silent => transport(Transport::Timeout(TimeoutPhase::FirstByte, TimerOwner::Us)),
            Self::Throttled => {
                let mut failure = status(429, "Too many requests");
                if strength % 2 == 0 {
                    failure.headers.push(Header {
                        name: "retry-after".to_owned(),
                        value: (1 + strength % 90).to_string(),
                    });
                }
                failure
            }
            Self::Unpaid => status(402, "Your credit balance is too low"),
            Self::UsageLimit => {
                let seconds = reset.as_second().max(now.as_second() + 1);
                Failure {
                    body: Some(
                        format!(
                            r#"{{"error":{{"type":"usage_limit_reached","message":"The usage limit has been reached","resets_at":{seconds}}}}}"#
                        )
                        .into_bytes(),
                    ),
                    ..status(429, "The usage limit has been reached")
                }
            }
        }
    }
}

impl Flaw {
    pub(crate) const ALL: [Self; 8] = [
        Self::Aborted,
        Self::CallerTimeout,
        Self::ContentPolicy,
        Self::Empty,
        Self::Format,
        Self::Local,
        Self::Overflow,
        Self::Strange,
    ];

    /// What a caller sees of it.
    pub(crate) fn failure(self) -> Failure {
        let status = |status: u16, message: &str| Failure {
            status: Some(status),
            message: Some(message.to_owned()),
            ..Failure::default()
        };
        let transport = |fault| Failure {
            transport: Some(fault),
            ..Failure::default()
        };
        match self {
            Self::Aborted => transport(Transport::Aborted(AbortedBy::Caller)),
            Self::CallerTimeout => transport(Transport::Timeout(TimeoutPhase::Total, TimerOwner::Caller)),
            Self::ContentPolicy => Failure {
                code: Some("content_policy_violation".to_owned()),
                ..status(400, "Your request was rejected by our safety system")
            },
            Self::Empty => Failure {
                code: Some("empty_result".to_owned()),
                ..Failure::default()
            },
            Self::Format => status(
                400,
                "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
            ),
            Self::Local => Failure {
                code: Some("OPENCLAW_SESSION_WRITE_LOCK_TIMEOUT".to_owned()),
                message: Some("session file is locked".to_owned()),
                ..Failure::default()
            },
            Self::Overflow => Failure {
                code: Some("context_length_exceeded".to_owned()),
                ..status(400, "prompt is too long: 250000 tokens > 200000 maximum")
            },
            Self::Strange => status(418, "I am a teapot"),
        }
    }
}
