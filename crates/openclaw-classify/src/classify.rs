//! Classification by the shipped rules.

use jiff::Timestamp;

use crate::{Failure, RuleSet, Verdict};

/// The verdict for one failed attempt; `None` when the input is rate-limit telemetry that allowed the request (C-5,
/// BL-05).
///
/// Total and deterministic: any failure, with any bytes in it, has a verdict (C-1.4). `now` is used for the reset hint
/// only.
pub fn classify(failure: &Failure, now: Timestamp) -> Option<Verdict> {
    RuleSet::shipped().classify(failure, now)
}

#[cfg(test)]
mod tests;
