//! Properties of the gate over any history.

use proptest::prelude::*;

use super::*;
use crate::testing::history::state;

proptest! {
    #[test]
    fn gate_open_exactly_when_something_can_serve(
        profiles in proptest::collection::vec(state(), 0..4),
        now in -DAY..4 * DAY,
        (alone, sibling, primary, used) in any::<(bool, bool, bool, bool)>(),
        probed in proptest::option::of(-DAY..4 * DAY),
        fault in proptest::option::of(-DAY..4 * DAY),
    ) {
        let m = model("a");
        let set: Vec<&ProfileUsage> = profiles.iter().collect();
        let endpoint = fault.map(|opened| record_endpoint_failure(None, None, at(opened)));
        let facts = GateFacts {
            position: if primary { Position::Primary } else { Position::Fallback },
            is_only_candidate: alone,
            model: &m,
            profiles: &set,
            endpoint: endpoint.as_ref(),
            last_probe_at: probed.map(at),
            has_earlier_sibling: sibling,
            slot: if used { ProbeSlot::Used } else { ProbeSlot::Free },
        };
        let free = set.is_empty() || set.iter().any(|usage| usage.is_usable(Some(&m), at(now)));
        let answers = endpoint.is_none_or(|window| !window.is_active(at(now)));
        match gate(&facts, at(now)) {
            Gate::Open => prop_assert!(free && answers),
            Gate::Probe(probe) => {
                prop_assert!(!(free && answers));
                prop_assert!(!(probe.takes_slot && used), "the slot is used once");
                prop_assert!(primary || (sibling && probe.takes_slot), "others probe only as siblings");
                prop_assert!(probe.soonest.is_some_and(|soonest| soonest > at(now)));
            }
            Gate::Skip(skip) => {
                prop_assert!(!(free && answers));
                prop_assert!(skip.soonest.is_some_and(|soonest| soonest > at(now)));
                prop_assert!(!skip.last_resort || skip.kind != SkipKind::Auth);
            }
        }
    }
}
