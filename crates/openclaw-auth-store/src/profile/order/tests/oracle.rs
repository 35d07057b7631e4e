//! The order against the steps of section 12 spelled out naively.

use proptest::prelude::*;
use serde_json::json;

use super::{Case, Lane};

/// A stored profile: its rank by type (2 is a key that is missing), when it was used, until when it cools down.
#[derive(Debug, Clone)]
struct StoredProfile {
    rank: usize,
    used: Option<i64>,
    until: Option<i64>,
}

fn held() -> impl Strategy<Value = StoredProfile> {
    let (used, until) = (prop::option::of(0_i64..4), prop::option::of(-2_i64..4));
    (0_usize..3, used, until).prop_map(|(rank, used, until)| StoredProfile { rank, used, until })
}

fn name(index: usize) -> String {
    format!("x{index}")
}

fn expected(held: &[StoredProfile], explicit: Option<&[usize]>, preferred: Option<usize>) -> Vec<String> {
    let exists = |id: &&usize| **id < held.len();
    let mut order: Vec<usize> = Vec::new();
    let explicit = explicit.filter(|ids| ids.iter().any(|id| exists(&id)));
    if let Some(ids) = explicit {
        order.extend(ids.iter().filter(exists));
    } else {
        order.extend(0..held.len());
        order.sort_by_key(|id| (held[*id].rank, held[*id].used));
    }
    order.retain(|id| held[*id].rank < 2);
    let mut seen = Vec::new();
    order.retain(|id| {
        !seen.contains(id) && {
            seen.push(*id);
            true
        }
    });

    let until = |id: &usize| held[*id].until.filter(|until| *until > 0);
    let mut resting: Vec<usize> = order.iter().copied().filter(|id| until(id).is_some()).collect();
    if explicit.is_none() {
        resting.sort_unstable();
    }
    resting.sort_by_key(until);
    order.retain(|id| until(id).is_none());
    order.extend(resting);
    if let Some(at) = order.iter().position(|id| Some(*id) == preferred) {
        order[..=at].rotate_right(1);
    }
    order.into_iter().map(name).collect()
}

proptest! {
    #[test]
    fn the_order_is_what_the_steps_say(
        held in prop::collection::vec(held(), 0..7),
        explicit in prop::option::of(prop::collection::vec(0_usize..9, 1..6)),
        preferred in prop::option::of(0_usize..9),
    ) {
        let mut case = Case::default();
        for (index, StoredProfile { rank, used, until }) in held.iter().enumerate() {
            let id = name(index);
            case = case.stored("p", match rank {
                0 => json!({"id": id, "type": "oauth", "access": "a"}),
                1 => json!({"id": id, "type": "api_key", "key": "k"}),
                _ => json!({"id": id, "type": "api_key"}),
            });
            if let Some(used) = used {
                case = case.used(&id, *used);
            }
            if let Some(until) = until {
                case = case.resting(&id, Lane::Profile, *until);
            }
        }
        if let Some(explicit) = &explicit {
            let ids: Vec<String> = explicit.iter().map(|id| name(*id)).collect();
            case = case.agent_order("p", &ids.iter().map(String::as_str).collect::<Vec<_>>());
        }
        if let Some(preferred) = preferred {
            case = case.prefers(&name(preferred));
        }
        let expected = expected(&held, explicit.as_deref(), preferred);
        prop_assert_eq!(case.order_of("p"), expected.join(" "));
    }
}
