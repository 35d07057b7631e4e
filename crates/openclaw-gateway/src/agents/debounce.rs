//! When an agent's pointers are looked at again.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// How long a look counts.
const PAUSE: Duration = Duration::from_secs(30);

/// The time of the latest look.
#[derive(Debug)]
pub(super) struct Debounce(Mutex<Instant>);

impl Default for Debounce {
    fn default() -> Self {
        Self(Mutex::new(Instant::now()))
    }
}

impl Debounce {
    /// Whether it is time to look; the answer yes counts as looking.
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
    async fn somebody_looks_every_thirty_seconds() {
        let debounce = Debounce::default();
        assert!(!debounce.is_due());
        tokio::time::advance(PAUSE).await;
        assert!(debounce.is_due());
        assert!(!debounce.is_due());
    }
}
