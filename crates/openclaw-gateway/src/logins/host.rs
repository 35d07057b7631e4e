//! What refreshing needs of this process: its clock, its sleep and its dice.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use jiff::Timestamp;
use openclaw_auth_store::RefreshHost;
use openclaw_runner::{Clock, SystemClock};

/// This process.
#[derive(Debug, Clone, Copy)]
pub(super) struct ProcessHost;

impl RefreshHost for ProcessHost {
    fn now(&self) -> Timestamp {
        SystemClock.now()
    }

    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }

    /// Every state of the hasher has keys of its own.
    fn random(&self) -> u64 {
        RandomState::new().hash_one("refresh")
    }
}
