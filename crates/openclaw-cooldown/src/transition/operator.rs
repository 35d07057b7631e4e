//! What an operator does to the usage state by hand: ends one window, or cools a profile down.

use jiff::Timestamp;

use crate::{BlockedOrigin, BlockedSource, Lane, ProfileUsage, millis};

/// Forgets the window of one lane with its step, and the counts of reasons that no other window has; everything else
/// stays (cooldown.md 12, one lane of it).
pub fn clear_lane(mut usage: ProfileUsage, lane: &Lane) -> ProfileUsage {
    if usage.windows.remove(lane).is_some() {
        usage.forget_counts_without_window();
    }
    usage
}

/// Cools the whole profile down until `until`, in place of an end that was stated before (cooldown.md 8.1); an `until`
/// that is not ahead of `now` ends that cooldown.
///
/// It is no failure: nothing is counted, and no ladder climbs. `usageStats` shows it like a stated limit.
pub fn cool_down_until(mut usage: ProfileUsage, until: Timestamp, now: Timestamp) -> ProfileUsage {
    let (until, now) = (millis::floor(until), millis::floor(now));
    if until <= now {
        usage.windows.remove(&Lane::Blocked);
        return usage;
    }
    let origin = BlockedOrigin {
        source: BlockedSource::CodexRateLimits,
        model: None,
    };
    usage.block_account(until, origin, now);
    if let Some(window) = usage.windows.get_mut(&Lane::Blocked) {
        window.set_by_hand = true;
    }
    usage
}

#[cfg(test)]
mod tests {
    use openclaw_classify::Reason;

    use super::*;
    use crate::testing::{DAY, MINUTE, at, failure};
    use crate::to_usage_stats;

    fn lanes(usage: &ProfileUsage) -> Vec<String> {
        usage.windows.keys().map(ToString::to_string).collect()
    }

    #[test]
    fn cooldown_12_one_lane_is_cleared_and_the_others_stay() {
        let usage = ProfileUsage::default()
            .failed(0, &failure(Reason::Overloaded).of("a"))
            .failed(0, &failure(Reason::Overloaded).of("b"))
            .failed(0, &failure(Reason::Billing));
        let cleared = clear_lane(usage.clone(), &"model:a".parse().unwrap());
        assert_eq!(lanes(&cleared), ["billing", "model:b"]);
        assert_eq!(cleared.failure_counts.get(&Reason::Overloaded), Some(&2));
        let cleared = clear_lane(cleared, &"billing".parse().unwrap());
        assert_eq!(cleared.failure_counts.get(&Reason::Billing), None);
        assert_eq!(
            clear_lane(usage.clone(), &"profile".parse().unwrap()),
            usage,
            "a window that is not there"
        );
    }

    #[test]
    fn cooldown_8_1_a_manual_cooldown_replaces_the_stated_end_in_both_directions_and_counts_nothing() {
        let limited =
            ProfileUsage::default().failed(0, &failure(Reason::RateLimit).account_wide().hinting(DAY));
        let counts = limited.failure_counts.clone();
        for end in [2 * DAY, MINUTE + 1] {
            let cooled = cool_down_until(limited.clone(), at(end), at(MINUTE));
            assert_eq!(cooled.windows[&Lane::Blocked].until, at(end));
            assert_eq!(cooled.failure_counts, counts);
            assert!(to_usage_stats(&cooled, at(MINUTE), None).blocked_until.is_some());
        }
        let ended = cool_down_until(limited, at(MINUTE), at(MINUTE));
        assert!(!ended.windows.contains_key(&Lane::Blocked), "over *at* its end");
    }
}
