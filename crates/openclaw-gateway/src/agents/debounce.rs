//! Limits how often the pointers of an agent's profiles are followed again: once in thirty seconds.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// The shortest time between two refreshes.
const PAUSE: Duration = Duration::from_secs(30);

/// The time of the latest refresh.
#[derive(Debug)]
pub(super) struct Debounce(Mutex<Instant>);

impl Default for Debounce {
    fn default() -> Self {
        Self(Mutex::new(Instant::now()))
    }
}

impl Debounce {
    /// Whether a refresh is due; `true` counts as a refresh.
    pub(super) fn is_due(&self) -> bool {
        let now = Instant::now();
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_due = now.duration_since(*last) >= PAUSE;
        if is_due {
            *last = now;
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_refresh_is_due_every_thirty_seconds() {
        let debounce = Debounce::default();
        assert!(!debounce.is_due());
        tokio::time::advance(PAUSE).await;
        assert!(debounce.is_due());
        assert!(!debounce.is_due());
    }
}
