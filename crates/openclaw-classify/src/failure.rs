//! A failed attempt as the caller describes it (classify.md C-1.1).

use std::fmt;

use openclaw_ids::ProviderId;

use crate::redact::{preview, redact};

/// The most UTF-16 units of a body that `Debug` shows.
const MAX_SHOWN: usize = 400;
/// The most causes below the outermost failure that are read (C-2.5).
const MAX_CAUSES: usize = 25;

/// A failed attempt at a provider. Every field is optional and all combinations are legal.
///
/// `Debug` shows texts redacted, because a provider's message may quote a key.
///
/// ```
/// use openclaw_classify::Failure;
/// let failure = Failure { status: Some(429), ..Failure::default() };
/// # assert!(failure.message.is_none());
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Failure {
    /// The provider that was called.
    pub provider: Option<ProviderId>,
    /// The host that was called; it names the provider when the provider id is the user's own.
    pub host: Option<String>,
    /// HTTP status of the response.
    pub status: Option<u16>,
    /// Structured error code, for example `insufficient_quota`.
    pub code: Option<String>,
    /// Structured error type, for example `rate_limit_error`.
    pub kind: Option<String>,
    /// The error message of the caller's HTTP or SDK client.
    pub message: Option<String>,
    /// The raw response body; any bytes.
    pub body: Option<Vec<u8>>,
    /// Response headers that may carry hints; names in any case.
    pub headers: Vec<Header>,
    /// What happened to the connection, when the failure was not a response.
    pub transport: Option<Transport>,
    /// How far the attempt had got.
    pub phase: Option<Phase>,
    /// The failure that this one wraps, read to a depth of 25.
    pub cause: Option<Box<Failure>>,
}

impl Failure {
    /// This failure and those that it wraps, outermost first, to the depth of C-2.5.
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
            .field("body", &body.map(|body| preview(&body, MAX_SHOWN)))
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
    /// A header as sent; neither part is checked or changed.
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
        // Redaction needs the name to recognise some secrets.
        f.write_str(&redact(&format!("{}: {}", self.name, self.value)))
    }
}

/// What happened to the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    /// The attempt was cancelled.
    Aborted(AbortedBy),
    /// The host name did not resolve.
    Dns,
    /// A proxy on the caller's side failed or requires authentication.
    Proxy,
    /// The peer refused the connection.
    Refused,
    /// The connection was closed or reset after it was established.
    Reset,
    /// A timeout expired.
    Timeout(TimeoutPhase, TimerOwner),
    /// The TLS handshake failed.
    Tls,
    /// No route to the host or network.
    Unreachable,
}

/// Who cancelled an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AbortedBy {
    /// The caller of the run, on purpose.
    Caller,
    /// This process, for example because of a restart.
    Us,
}

/// What the attempt was waiting for when its timeout expired.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeoutPhase {
    /// The connection.
    Connect,
    /// The first byte of the response.
    FirstByte,
    /// The first content of a response that had begun.
    FirstContent,
    /// The next part of the response.
    Idle,
    /// The whole attempt.
    Total,
}

/// Whose timeout expired.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimerOwner {
    /// A limit set by the caller of the run.
    Caller,
    /// The provider stated that it timed out.
    Provider,
    /// A limit of this process.
    Us,
}

/// How far an attempt had got when it failed, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// The request had not been sent.
    BeforeRequest,
    /// The request had been sent; no response had begun.
    BeforeFirstByte,
    /// The response had begun, without content.
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
