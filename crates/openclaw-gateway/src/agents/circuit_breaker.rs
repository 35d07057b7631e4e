//! A circuit breaker for locked files: after one wait in vain, requests skip the file for ten seconds.

use std::future::Future;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, timeout};

/// How long a request waits for a file. Far longer than any healthy write, and shorter than the two seconds after which
/// a run goes on by itself.
const WAIT_LIMIT: Duration = Duration::from_millis(1_500);
/// How long the circuit stays open after a wait in vain.
const OPEN_FOR: Duration = Duration::from_secs(10);

/// The circuit breaker of one file.
///
/// The credentials and the sessions of an agent have one each, because they are two files: a lock on one says nothing
/// about the other.
#[derive(Debug, Default)]
pub(crate) struct CircuitBreaker {
    /// When the circuit closes again; none while it is closed.
    open_until: Mutex<Option<Instant>>,
}

/// The outcome of a wait.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum WaitOutcome<T> {
    /// The work was done.
    Done(T),
    /// The work was not begun: the circuit is open.
    Skipped,
    /// The work took longer than the limit, which opens the circuit.
    TimedOut,
}

impl CircuitBreaker {
    /// Whether the circuit is open, so that waiting is of no use.
    pub(crate) fn is_open(&self) -> bool {
        let until = *self.open_until.lock().unwrap_or_else(PoisonError::into_inner);
        until.is_some_and(|until| Instant::now() < until)
    }

    /// Waits for `work`, unless the circuit is open.
    pub(crate) async fn wait<T>(&self, work: impl Future<Output = T>) -> WaitOutcome<T> {
        if self.is_open() {
            return WaitOutcome::Skipped;
        }
        if let Ok(done) = timeout(WAIT_LIMIT, Box::pin(work)).await {
            self.set(None);
            return WaitOutcome::Done(done);
        }
        self.set(Some(Instant::now() + OPEN_FOR));
        WaitOutcome::TimedOut
    }

    fn set(&self, until: Option<Instant>) {
        *self.open_until.lock().unwrap_or_else(PoisonError::into_inner) = until;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_circuit_stays_open_for_ten_seconds_after_a_wait_in_vain() {
        let circuit = CircuitBreaker::default();
        assert_eq!(circuit.wait(async { 1 }).await, WaitOutcome::Done(1));
        let start = Instant::now();
        assert_eq!(
            circuit.wait(std::future::pending::<()>()).await,
            WaitOutcome::TimedOut
        );
        assert_eq!(start.elapsed(), WAIT_LIMIT);
        tokio::time::advance(OPEN_FOR.saturating_sub(Duration::from_millis(1))).await;
        assert_eq!(circuit.wait(async { 2 }).await, WaitOutcome::Skipped);
        tokio::time::advance(Duration::from_millis(1)).await;
        assert_eq!(circuit.wait(async { 3 }).await, WaitOutcome::Done(3));
        assert!(!circuit.is_open());
    }
}
