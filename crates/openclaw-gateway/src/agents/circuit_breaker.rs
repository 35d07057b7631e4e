//! Remembers for a moment that a file did not answer, so that not every request finds it out by waiting.

use std::future::Future;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, timeout};

/// How long somebody waits for a file. Far longer than any healthy write, and shorter than the two seconds after which
/// a run goes on by itself.
const PATIENCE: Duration = Duration::from_millis(1_500);
/// How long nobody waits after somebody has waited in vain.
const OPEN: Duration = Duration::from_secs(10);

/// Whether a file is worth waiting for.
#[derive(Debug, Default)]
pub(crate) struct CircuitBreaker {
    /// Until when nobody waits.
    open_until: Mutex<Option<Instant>>,
}

/// What became of a wait.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Waited<T> {
    /// The work was done.
    Done(T),
    /// It was not begun, because somebody waited in vain a moment ago.
    Skipped,
    /// It took too long.
    TooLong,
}

impl CircuitBreaker {
    /// Whether it is no use to wait now.
    pub(crate) fn is_open(&self) -> bool {
        let until = *self.open_until.lock().unwrap_or_else(PoisonError::into_inner);
        until.is_some_and(|until| Instant::now() < until)
    }

    /// Waits for `work`, unless that was in vain a moment ago.
    pub(crate) async fn wait<T>(&self, work: impl Future<Output = T>) -> Waited<T> {
        if self.is_open() {
            return Waited::Skipped;
        }
        if let Ok(done) = timeout(PATIENCE, Box::pin(work)).await {
            self.set(None);
            return Waited::Done(done);
        }
        self.set(Some(Instant::now() + OPEN));
        Waited::TooLong
    }

    fn set(&self, until: Option<Instant>) {
        *self.open_until.lock().unwrap_or_else(PoisonError::into_inner) = until;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn nobody_waits_for_ten_seconds_after_somebody_waited_in_vain() {
        let circuit = CircuitBreaker::default();
        assert_eq!(circuit.wait(async { 1 }).await, Waited::Done(1));
        let start = Instant::now();
        assert_eq!(circuit.wait(std::future::pending::<()>()).await, Waited::TooLong);
        assert_eq!(start.elapsed(), PATIENCE);
        tokio::time::advance(OPEN.saturating_sub(Duration::from_millis(1))).await;
        assert_eq!(circuit.wait(async { 2 }).await, Waited::Skipped);
        tokio::time::advance(Duration::from_millis(1)).await;
        assert_eq!(circuit.wait(async { 3 }).await, Waited::Done(3));
        assert!(!circuit.is_open());
    }
}
