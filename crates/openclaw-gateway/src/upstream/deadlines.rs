//! How long an attempt waits for what (BL-93).

use std::time::Duration;

/// The waits of one attempt. Each ends the attempt with a timeout of its own kind, so that a silent route can be
/// told from a slow model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Deadlines {
    /// For the head of a streamed answer, the connection included.
    pub(crate) stream_head: Duration,
    /// For the head of a plain answer; most providers send it only when the whole answer is ready.
    pub(crate) plain_head: Duration,
    /// From the head of a stream to its first content. Long, because some models think silently.
    pub(crate) first_content: Duration,
    /// From the head of a plain answer to the first piece of its body.
    pub(crate) plain_body: Duration,
    /// Between two pieces of an answer, after its first content or its head.
    pub(crate) idle: Duration,
    /// For the body of an answer that is an error.
    pub(crate) error_body: Duration,
}

impl Deadlines {
    /// What applies without a setting: 60 s and 300 s for the heads, 180 s to the first content, 60 s to the
    /// first piece of a plain body and between pieces, 10 s for an error body. Connecting has 10 s of its own in every case.
    pub(crate) const DEFAULT: Self = Self {
        stream_head: Duration::from_mins(1),
        plain_head: Duration::from_mins(5),
        first_content: Duration::from_mins(3),
        plain_body: Duration::from_mins(1),
        idle: Duration::from_mins(1),
        error_body: Duration::from_secs(10),
    };

    /// The defaults with `limit` in place of every wait for an answer (`models.providers.<id>.timeoutSeconds`).
    pub(crate) fn with_answer_limit(limit: Duration) -> Self {
        Self {
            stream_head: limit,
            plain_head: limit,
            first_content: limit,
            plain_body: limit,
            ..Self::DEFAULT
        }
    }
}

impl Default for Deadlines {
    fn default() -> Self {
        Self::DEFAULT
    }
}
