//! The plain facts about one failed attempt (classify.md C-1.1).

use std::fmt;

use openclaw_ids::ProviderId;

use crate::{preview, redact};

/// How much of a body `Debug` shows, in UTF-16 units.
const SHOWN: usize = 400;
/// How deep a cause chain is walked (C-2.5).
const MAX_CAUSES: usize = 25;

/// What is known about a failed attempt. Every member is optional and all combinations are legal.
///
/// ```
/// use openclaw_classify::Failure;
/// let failure = Failure { status: Some(429), ..Failure::default() };
/// # assert!(failure.message.is_none());
/// ```
///
/// `Debug` shows texts redacted: what a provider says may quote a key.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Failure {
    /// The provider that was called.
    pub provider: Option<ProviderId>,
    /// The host that was called, for providers with an id of their own choosing.
    pub host: Option<String>,
    /// HTTP status of the answer.
    pub status: Option<u16>,
    /// Structured error code, for example `insufficient_quota`.
    pub code: Option<String>,
    /// Structured error type, for example `rate_limit_error`.
    pub kind: Option<String>,
    /// The message that the caller's client made of the failure.
    pub message: Option<String>,
    /// The raw body; any bytes.
    pub body: Option<Vec<u8>>,
    /// Response headers that may carry hints; names in any case.
    pub headers: Vec<Header>,
    /// What happened to the connection, when it was not an answer that failed.
    pub transport: Option<Transport>,
    /// How far the attempt had come.
    pub phase: Option<Phase>,
    /// The failure that this one wraps.
    pub cause: Option<Box<Failure>>,
}

impl Failure {
    /// This failure and what it wraps, outermost first, down to the depth of C-2.5.
    pub(crate) fn levels(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |level| level.cause.as_deref()).take(MAX_CAUSES + 1)
    }
}

impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let body = self.body.as_deref().map(String::from_utf8_lossy);
        f.debug_struct("Failure")
            .field("provider", &self.provider)
            .field("host", &self.host)
            .field("status", &self.status)
            .field("code", &self.code.as_deref().map(redact))
            .field("kind", &self.kind.as_deref().map(redact))
            .field("message", &self.message.as_deref().map(redact))
            .field("body", &body.map(|body| preview(&body, SHOWN)))
            .field("headers", &self.headers)
            .field("transport", &self.transport)
            .field("phase", &self.phase)
            .field("cause", &self.cause)
            .finish()
    }
}

/// One response header; `Debug` shows its value redacted.
#[derive(Clone, PartialEq, Eq)]
pub struct Header {
    /// Name, in any case.
    pub name: String,
    /// Value as sent.
    pub value: String,
}

impl Header {
    /// A header as it was sent; neither part is checked or changed.
    ///
    /// ```
    /// # use openclaw_classify::{Failure, Header};
    /// let failure = Failure { headers: vec![Header::new("retry-after", "30")], ..Failure::default() };
    /// # assert_eq!((failure.headers[0].name.as_str(), failure.headers[0].value.as_str()), ("retry-after", "30"));
    /// ```
    pub fn new(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            value: value.into(),
        }
    }
}

impl fmt::Debug for Header {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Name and value together tell whether the value is a secret.
        f.write_str(&redact(&format!("{}: {}", self.name, self.value)))
    }
}

/// What happened to the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    /// Somebody cancelled the attempt.
    Aborted(AbortedBy),
    /// The name did not resolve.
    Dns,
    /// A proxy on our side failed or wants a login.
    Proxy,
    /// The peer refused the connection.
    Refused,
    /// The connection broke after it was made.
    Reset,
    /// A timer fired.
    Timeout(TimeoutPhase, TimerOwner),
    /// The TLS handshake failed.
    Tls,
    /// No route to the host or network.
    Unreachable,
}

/// Who cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AbortedBy {
    /// The caller of the run, on purpose.
    Caller,
    /// Our own process, for example a restart.
    Us,
}

/// What the timer that fired was waiting for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeoutPhase {
    /// The connection.
    Connect,
    /// The first byte of an answer.
    FirstByte,
    /// The first content of an answer that had begun.
    FirstContent,
    /// The next piece of an answer.
    Idle,
    /// The whole attempt.
    Total,
}

/// Whose timer fired.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimerOwner {
    /// A limit set by the caller of the run.
    Caller,
    /// The provider said that it timed out.
    Provider,
    /// Our own limit.
    Us,
}

/// How far an attempt had come when it failed, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// The request had not left.
    BeforeRequest,
    /// The request had left, nothing had come back.
    BeforeFirstByte,
    /// The answer had begun without content.
    BeforeFirstContent,
    /// Content had been received.
    AfterContent,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bl_84_debug_shows_no_secret() {
        let key = "sk-proj-abcdefghijklmnopqrstuvwxyz012345";
        let failure = Failure {
            code: Some(format!("bad {key}")),
            message: Some(format!("Incorrect API key provided: {key}")),
            body: Some(format!("{{\"error\":\"{key}\"}}").into_bytes()),
            headers: vec![Header {
                name: "Authorization".to_owned(),
                value: "0123456789abcdef".to_owned(),
            }],
            ..Failure::default()
        };
        let shown = format!("{failure:?} {failure:#?}");
        assert!(!shown.contains("ghijklmnopqrstuvwxyz"), "{shown}");
        assert!(!shown.contains("0123456789abcdef"), "{shown}");
    }
}
