//! The backoff ladders: how long a window lasts on each step (cooldown.md 3).

use std::time::Duration;

/// Waits of the first, second and every later step (cooldown.md 3.1, seed).
const SHORT: [Duration; 3] = [
    Duration::from_secs(30),
    Duration::from_mins(1),
    Duration::from_mins(5),
];

/// No long wait is below this, whatever base or cap is configured (cooldown.md 3.2).
const LONG_MINIMUM: Duration = Duration::from_mins(1);

/// Doublings beyond this one change nothing (cooldown.md 3.2).
const LAST_DOUBLING: u32 = 10;

/// The wait of step `step` (counted from 1; 0 is taken as 1) of a short window: 30 s, 1 min, 5 min (D1).
pub(crate) fn short_wait(step: u32) -> Duration {
    let index = usize::try_from(step.saturating_sub(1)).unwrap_or(usize::MAX);
    SHORT[index.min(SHORT.len() - 1)]
}

/// The wait of step `step` (counted from 1; 0 is taken as 1) of a window that doubles: `base · 2^(step-1)`, at
/// most `cap`. Either below one minute counts as one minute (cooldown.md 3.2). The cap holds on every step, also where
/// it is below the base (F-5).
pub(crate) fn long_wait(step: u32, base: Duration, cap: Duration) -> Duration {
    let base = base.max(LONG_MINIMUM);
    let doublings = step.saturating_sub(1).min(LAST_DOUBLING);
    base.saturating_mul(1 << doublings).min(cap.max(LONG_MINIMUM))
}

#[cfg(test)]
mod tests;
