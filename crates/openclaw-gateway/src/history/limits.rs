//! When entries are forgotten.

use std::time::Duration;

use openclaw_config::HistoryConfig;

/// How old entries and how large all of them together may become.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Limits {
    pub(super) age: Duration,
    pub(super) bytes: u64,
}

impl Limits {
    pub(super) fn of(config: &HistoryConfig) -> Self {
        Self {
            age: config.max_age(),
            bytes: config.max_bytes(),
        }
    }
}
