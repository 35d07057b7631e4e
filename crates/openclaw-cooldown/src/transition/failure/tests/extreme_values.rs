//! No value of a file and no reading of a clock breaks the transitions and the queries.

use proptest::prelude::*;

use crate::testing::extremes::{entry, event, instant, stored};
use crate::testing::model;
use crate::{
    CooldownConfig, GateFacts, Position, ProbeSlot, ProfileUsage, SuccessEvent, UsageStats,
    adopt_usage_stats, clear, gate, record_endpoint_failure, record_failure, record_success, soonest_expiry,
    to_usage_stats,
};

fn saved(usage: &ProfileUsage) -> ProfileUsage {
    serde_json::from_str(&serde_json::to_string(usage).unwrap()).unwrap()
}

proptest! {
    #[test]
    fn d13_every_fold_takes_any_state_at_any_time_and_survives_a_save(
        usage in stored(), event in event(), now in instant(), entry in entry()
    ) {
        let success = SuccessEvent { model: event.model.clone(), started_at: event.started_at };
        let unknown = entry["ofTomorrow"].clone();
        let stats: UsageStats = serde_json::from_value(entry).unwrap();
        for after in [
            record_failure(usage.clone(), &event, now, &CooldownConfig::default()),
            record_success(usage.clone(), &success, now),
            adopt_usage_stats(usage.clone(), &stats, now),
            clear(usage),
        ] {
            prop_assert_eq!(&saved(&after), &after);
            let shown = serde_json::to_value(to_usage_stats(&after, now, Some(&stats))).unwrap();
            prop_assert_eq!(&shown["ofTomorrow"], &unknown);
        }
    }

    #[test]
    fn d3_no_failure_shortens_any_stored_window(usage in stored(), event in event(), now in instant()) {
        let after = record_failure(usage.clone(), &event, now, &CooldownConfig::default());
        for (lane, old) in usage.windows.iter().filter(|(_, window)| window.is_active(now)) {
            let restated = event.hint.is_some() && (old.stated.is_some() || lane.to_string() == "blocked");
            let kept = after.windows.get(lane).is_some_and(|new| new.until >= old.until);
            prop_assert!(kept || restated, "{lane}");
        }
    }

    #[test]
    fn cooldown_15_a_clock_that_goes_backwards_unblocks_nothing(
        usage in stored(), one in instant(), other in instant(), fault_at in instant(),
        probed in proptest::option::of(instant()), alone in any::<bool>()
    ) {
        let (earlier, later) = (one.min(other), one.max(other));
        let a = model("a");
        let endpoint = record_endpoint_failure(None, None, fault_at);
        let facts = GateFacts {
            position: Position::Primary, is_only_candidate: alone, model: &a, profiles: &[&usage], endpoint: Some(&endpoint),
            last_probe_at: probed, has_earlier_sibling: false, slot: ProbeSlot::Free,
        };
        let open = |now| gate(&facts, now) == crate::Gate::Open;
        prop_assert!(open(later) || !open(earlier));
        prop_assert!(usage.is_usable(Some(&a), later) || !usage.is_usable(Some(&a), earlier));
        let end = soonest_expiry([&usage], Some(&a), earlier);
        prop_assert!(end.is_none_or(|end| usage.is_usable(Some(&a), end)));
    }
}
