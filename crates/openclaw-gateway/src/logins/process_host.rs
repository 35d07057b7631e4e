//! The clock, timer and random numbers of this process, for refreshes.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use jiff::Timestamp;
use openclaw_auth_store::RefreshHost;
use openclaw_runner::{Clock, SystemClock};

/// The host of refreshes in this process.
#[derive(Debug, Clone, Copy)]
pub(super) struct ProcessHost;

impl RefreshHost for ProcessHost {
    fn now(&self) -> Timestamp {
        SystemClock.now()
    }

    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }

    /// A random number: each hasher state has random keys.
    fn random(&self) -> u64 {
        RandomState::new().hash_one("refresh")
    }
}
