//! The longest waits of an attempt (BL-93).

use std::future::Future;
use std::time::Duration;

use openclaw_classify::TimeoutPhase;
use tokio::time::{Instant, timeout_at};

/// The longest waits of one attempt. Each ends it with a timeout of its own kind, so that a broken route can be told from a
/// slow model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deadlines {
    /// For a new connection; part of the wait for the head.
    pub connect: Duration,
    /// For the head of a streamed answer, the connection included.
    pub stream_head: Duration,
    /// For the head of a plain answer; most providers send it only when the whole answer is ready.
    pub plain_head: Duration,
    /// From the head of a stream to its first content. Long, because some models think silently.
    pub first_content: Duration,
    /// From the head of a plain answer to the first piece of its body.
    pub plain_body: Duration,
    /// Between two pieces of an answer, after its first content or its head.
    pub idle: Duration,
    /// From the start of the attempt to the end of its answer.
    pub total: Duration,
    /// For the body of an answer that is an error.
    pub error_body: Duration,
}

impl Deadlines {
    /// The deadlines without a setting. A connection or a head that does not come is a broken route, so those waits are
    /// short; a model may think or write a whole answer silently for minutes, and an answer may take an hour.
    pub const DEFAULT: Self = Self {
        connect: Duration::from_secs(10),
        stream_head: Duration::from_mins(1),
        plain_head: Duration::from_mins(10),
        first_content: Duration::from_mins(5),
        plain_body: Duration::from_mins(1),
        idle: Duration::from_mins(2),
        total: Duration::from_hours(1),
        error_body: Duration::from_secs(10),
    };

    /// These with `limit` in place of every wait for an answer (`models.providers.<id>.timeoutSeconds`).
    #[must_use]
    pub fn with_answer_limit(self, limit: Duration) -> Self {
        Self {
            stream_head: limit,
            plain_head: limit,
            first_content: limit,
            plain_body: limit,
            ..self
        }
    }
}

/// The instant that ends an attempt whatever it waits for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AttemptDeadline(Instant);

impl AttemptDeadline {
    /// `total` from now.
    pub(crate) fn after(total: Duration) -> Self {
        Self(Instant::now() + total)
    }

    /// Awaits `work` for `limit`, and not beyond the end of the attempt.
    ///
    /// # Errors
    /// Which of the two limits was over: `phase`, or the total.
    pub(crate) async fn within<T>(
        self,
        limit: Duration,
        phase: TimeoutPhase,
        work: impl Future<Output = T>,
    ) -> Result<T, TimeoutPhase> {
        self.until(Instant::now() + limit, phase, work).await
    }

    /// As [`within`](Self::within), up to an instant.
    pub(crate) async fn until<T>(
        self,
        instant: Instant,
        phase: TimeoutPhase,
        work: impl Future<Output = T>,
    ) -> Result<T, TimeoutPhase> {
        let (until, phase) = if self.0 < instant {
            (self.0, TimeoutPhase::Total)
        } else {
            (instant, phase)
        };
        timeout_at(until, work).await.map_err(|_| phase)
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn bl_93_the_earlier_limit_ends_the_wait_and_is_named() {
        let second = Duration::from_secs(1);
        for (total, limit, phase, waited) in [
            (3, 2, TimeoutPhase::Idle, 2),
            (2, 3, TimeoutPhase::Total, 2),
            (2, 2, TimeoutPhase::Idle, 2),
        ] {
            let start = Instant::now();
            let ended = AttemptDeadline::after(second * total)
                .within(second * limit, TimeoutPhase::Idle, pending::<()>())
                .await;
            assert_eq!((ended, start.elapsed().as_secs()), (Err(phase), waited));
        }
        let done = AttemptDeadline::after(second)
            .within(second, TimeoutPhase::Idle, async { 7 })
            .await;
        assert_eq!(done, Ok(7));
    }
}
