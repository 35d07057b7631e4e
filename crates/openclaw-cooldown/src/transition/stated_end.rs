//! Applies an end that a usage check states after its failure was recorded (cooldown.md 8, D2, D7).

use jiff::Timestamp;

use super::failure::{origin, record_failure, stated_end};
use crate::usage_state::lane;
use crate::{CooldownConfig, FailureEvent, Lane, ProfileUsage, millis};

/// Adds the stated end of `event`, which a usage check found out, to what its attempt's failure left behind.
///
/// It is the same episode: nothing is counted and no ladder climbs. An account's end opens the blocked window or
/// lengthens it, any other one lengthens the window of its lane. Where that failure left no window, because it is not
/// recorded yet, the event is [recorded](record_failure) itself, and the failure will belong to its episode. An event without a
/// credible end changes nothing.
pub fn apply_stated_end(
    mut usage: ProfileUsage,
    event: &FailureEvent,
    now: Timestamp,
    config: &CooldownConfig,
) -> ProfileUsage {
    let (Some(lane), Some(stated)) = (lane::lane_of(event), stated_end(event)) else {
        return usage;
    };
    let now = millis::floor(now);
    if lane == Lane::Profile {
        block_account(&mut usage, event, stated, now);
        return usage;
    }
    match usage.windows.get_mut(&lane) {
        Some(window) if window.covers(event.started_at, now) => {
            if stated > window.until && stated > now {
                window.until = stated;
                window.stated = Some(stated);
            }
            usage
        }
        Some(_) | None => record_failure(usage, event, now, config),
    }
}

/// The blocked window of the account; one of the same episode is only ever lengthened.
fn block_account(usage: &mut ProfileUsage, event: &FailureEvent, stated: Timestamp, now: Timestamp) {
    let known = usage.windows.get(&Lane::Blocked);
    let known = known.filter(|window| window.is_active(now) && window.covers(event.started_at, now));
    if stated <= now || known.is_some_and(|window| window.until >= stated) {
        return;
    }
    usage.block_account(stated, origin(event), now);
}

#[cfg(test)]
mod tests;
