//! Durations as whole milliseconds, which is how records hold them.

use std::time::Duration;

/// Whole milliseconds; saturates.
pub(crate) fn whole(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
