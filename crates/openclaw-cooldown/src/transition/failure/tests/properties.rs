//! What no history of failures and successes can break.

use openclaw_classify::Reason;
use proptest::prelude::*;

use crate::testing::history::{event, state};
use crate::testing::{DAY, at, failure};
use crate::{
    CooldownConfig, FailureEvent, ProfileUsage, SuccessEvent, adopt_secret, clear, record_failure,
    record_success,
};

proptest! {
    #[test]
    fn d3_no_failure_shortens_or_relabels_an_active_window(usage in state(), event in event(), now in -DAY..3 * DAY) {
        let after = record_failure(usage.clone(), &event, at(now), &CooldownConfig::default());
        for (lane, old) in usage.windows.iter().filter(|(_, window)| window.is_active(at(now))) {
            let restated = old.stated.is_some() && event.hint.is_some();
            let Some(new) = after.windows.get(lane) else {
                prop_assert!(restated, "{lane} is gone");
                continue;
            };
            prop_assert!(new.until >= old.until || restated, "{lane} got shorter");
            prop_assert!(new.until != old.until || new.reason == old.reason || restated, "{lane} was relabelled");
        }
    }

    #[test]
    fn d3_a_failure_that_moves_the_end_moves_one_lane_and_the_blocked_one_at_most(
        usage in state(), event in event(), now in -DAY..3 * DAY
    ) {
        let after = record_failure(usage.clone(), &event, at(now), &CooldownConfig::default());
        let moved = after.windows.iter()
            .filter(|(lane, new)| usage.windows.get(*lane).is_none_or(|old| old.until != new.until))
            .count();
        prop_assert!(moved <= 2, "{moved} lanes moved");
    }

    #[test]
    fn d2_a_burst_is_one_step_however_many_fail(
        first in event(), started in proptest::collection::vec(-DAY..0, 0..10), ended in 0..3 * DAY
    ) {
        let first = FailureEvent { started_at: Some(at(-1)), ..first };
        let once = ProfileUsage::default().failed(0, &first);
        let burst = started.iter().fold(once.clone(), |usage, started| {
            usage.failed(ended.min(DAY), &first.clone().started(*started))
        });
        let shape = |usage: &ProfileUsage| -> Vec<_> {
            let rows = usage.windows.iter();
            rows.map(|(lane, window)| (lane.clone(), window.opened_at, window.until, window.steps)).collect()
        };
        prop_assert_eq!(shape(&burst), shape(&once));
        let count = |usage: &ProfileUsage| usage.failure_counts.values().sum::<u64>();
        prop_assert_eq!(count(&burst), count(&once) * (started.len() as u64 + 1));
    }

    #[test]
    fn d1_marks_that_arrive_out_of_order_never_make_a_series_older(
        event in event(), mut times in proptest::collection::vec(0..DAY, 1..12), more in 1..=DAY
    ) {
        let marked = times.iter().fold(ProfileUsage::default(), |usage, ms| usage.failed(*ms, &event));
        times.sort_unstable();
        let latest = times.last().copied().unwrap_or_default();
        if let Some(at_last) = marked.last_failure_at {
            prop_assert_eq!(at_last, at(latest));
            // Within a day of the latest one the series goes on, whatever came last.
            let count = |usage: &ProfileUsage| usage.failure_counts.values().sum::<u64>();
            let after = marked.clone().failed(latest + more, &event);
            prop_assert_eq!(count(&after), count(&marked) + 1);
        }
    }

    #[test]
    fn d10_success_is_idempotent(usage in state(), now in 0..3 * DAY, started in proptest::option::of(-DAY..DAY)) {
        let event = SuccessEvent { model: failure(Reason::Auth).of("a").model, started_at: started.map(at) };
        let once = record_success(usage, &event, at(now));
        prop_assert_eq!(&record_success(once.clone(), &event, at(now)), &once);
    }

    #[test]
    fn d10_a_success_after_everything_opens_the_model_and_no_other(usage in state()) {
        let later = 100 * DAY;
        let event = SuccessEvent { model: failure(Reason::Auth).of("a").model, started_at: Some(at(later)) };
        let after = record_success(usage.clone(), &event, at(later));
        prop_assert!(after.is_usable(event.model.as_ref(), at(-DAY)));
        for (lane, window) in usage.windows.iter().filter(|(lane, _)| !lane.concerns(event.model.as_ref())) {
            prop_assert_eq!(after.windows.get(lane), Some(window));
        }
    }

    #[test]
    fn clear_and_secrets_are_idempotent(usage in state()) {
        let cleared = clear(usage.clone());
        prop_assert!(cleared.is_usable(None, at(-DAY)));
        prop_assert_eq!(&clear(cleared.clone()), &cleared);
        let bound = adopt_secret(usage, Some("a"));
        prop_assert_eq!(&adopt_secret(bound.clone(), Some("a")), &bound);
    }

    #[test]
    fn x_5_json_round_trip(usage in state()) {
        let text = serde_json::to_string(&usage).unwrap();
        prop_assert_eq!(serde_json::from_str::<ProfileUsage>(&text).unwrap(), usage);
    }
}
