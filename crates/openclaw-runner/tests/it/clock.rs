//! A clock that follows tokio's paused time, so that one sleep moves both.

use jiff::{SignedDuration, Timestamp};
use openclaw_runner::Clock;

/// Starts at a fixed instant and moves with tokio's.
#[derive(Debug)]
pub(crate) struct PausedClock {
    start: Timestamp,
    origin: tokio::time::Instant,
}

impl PausedClock {
    pub(crate) fn new(start: Timestamp) -> Self {
        Self {
            start,
            origin: tokio::time::Instant::now(),
        }
    }

    pub(crate) fn start(&self) -> Timestamp {
        self.start
    }
}

impl Clock for PausedClock {
    fn now(&self) -> Timestamp {
        let passed = SignedDuration::try_from(self.origin.elapsed()).unwrap();
        self.start.checked_add(passed).unwrap()
    }
}
