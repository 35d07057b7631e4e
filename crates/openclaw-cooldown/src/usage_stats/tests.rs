//! Which members of `usageStats` are accepted.

use super::*;
use serde_json::json;

fn load(value: Value) -> Value {
    serde_json::to_value(serde_json::from_value::<UsageStats>(value).unwrap()).unwrap()
}

#[test]
fn cooldown_1_2_the_worked_example() {
    let loaded = load(json!({
        "lastUsed": "5", "cooldownUntil": -5, "errorCount": 1.5,
        "failureCounts": {"auth": 2.7, "zzz": 1, "billing": 0, "timeout": "3"},
        "cooldownReason": "nope", "disabledReason": "billing", "blockedSource": "wham", "cooldownModel": " m ",
        "junk": 1,
    }));
    // D13 keeps the unknown member; everything else is the example's answer.
    assert_eq!(
        loaded,
        json!({
            "blockedSource": "wham", "cooldownUntil": -5, "cooldownModel": "m", "disabledReason": "billing",
            "errorCount": 1.5, "failureCounts": {"auth": 2}, "junk": 1,
        })
    );
}

#[test]
fn cooldown_1_2_numeric_members() {
    for name in [
        "lastUsed",
        "errorCount",
        "lastFailureAt",
        "cooldownUntil",
        "disabledUntil",
        "blockedUntil",
    ] {
        for kept in [
            json!(0),
            json!(-1),
            json!(1.5),
            json!(9e15),
            json!(1_750_000_000_000_i64),
        ] {
            assert_eq!(load(json!({ name: kept })), json!({ name: kept }), "{name}");
        }
        for dropped in [json!("5"), json!(true), Value::Null, json!([1]), json!({})] {
            assert_eq!(load(json!({ name: dropped })), json!({}), "{name}: {dropped}");
        }
    }
}

/// F8: any other reason is gone after a load.
#[test]
fn cooldown_1_1_reasons_that_can_be_stored() {
    assert_eq!(Reason::all().filter(|reason| is_persistable(*reason)).count(), 13);
    for name in ["cooldownReason", "disabledReason"] {
        for reason in Reason::all() {
            let expected = if is_persistable(reason) {
                json!({ name: reason })
            } else {
                json!({})
            };
            assert_eq!(load(json!({ name: reason })), expected, "{reason}");
        }
        for wrong in [json!("Auth"), json!(" auth"), json!(1), Value::Null] {
            assert_eq!(load(json!({ name: wrong })), json!({}), "{wrong}");
        }
    }
}

#[test]
fn cooldown_1_2_literals_models_and_counts() {
    for (member, value, expected) in [
        (
            "blockedReason",
            json!("subscription_limit"),
            Some(json!("subscription_limit")),
        ),
        ("blockedReason", json!("rate_limit"), None),
        (
            "blockedSource",
            json!("codex_rate_limits"),
            Some(json!("codex_rate_limits")),
        ),
        ("blockedSource", json!("wham"), Some(json!("wham"))),
        ("blockedSource", json!("else"), None),
        ("cooldownModel", json!(" m "), Some(json!("m"))),
        ("cooldownModel", json!("  "), None),
        ("blockedModel", json!("M"), Some(json!("M"))),
        ("blockedModel", json!(1), None),
        (
            "failureCounts",
            json!({"auth": 2.7, "server_error": 4, "rate_limit": -1, "timeout": 0.5}),
            Some(json!({"auth": 2})),
        ),
        ("failureCounts", json!({"auth": 0}), None),
        ("failureCounts", json!(["auth"]), None),
    ] {
        let expected = expected.map_or(json!({}), |kept| json!({ member: kept }));
        assert_eq!(load(json!({ member: value })), expected, "{member}: {value}");
    }
}

#[test]
fn cooldown_1_2_whole_entries() {
    let empty = |value: Value| serde_json::from_value::<UsageStats>(value).unwrap().is_empty();
    assert!(empty(json!({})) && empty(json!({"lastUsed": "5", "failureCounts": {"zzz": 1}})));
    assert!(!empty(json!({"errorCount": 0})));
    assert!(!empty(json!({"junk": 1})), "D13");
    for entry in [json!(5), json!("x"), json!([]), Value::Null] {
        assert!(
            serde_json::from_value::<UsageStats>(entry).is_err(),
            "no entry at all"
        );
    }
}

#[test]
fn cooldown_1_2_instants_without_effect() {
    let ms = |value: Value| instant(value.as_number()).map(Timestamp::as_millisecond);
    for (value, expected) in [
        (json!(-5), None),
        (json!(0), None),
        (json!(0.4), Some(1)),
        (json!(1.0), Some(1)),
        (json!(1_750_000_000_000.5), Some(1_750_000_000_001)),
        (json!(8_640_000_000_000_001_i64), None),
        (
            json!(8_640_000_000_000_000_i64),
            Some(millis::saturating(i64::MAX).as_millisecond()),
        ),
        (json!("5"), None),
    ] {
        assert_eq!(ms(value.clone()), expected, "{value}");
    }
}

#[test]
fn d5_episodes_are_whole_and_never_negative() {
    for (count, expected) in [
        (json!(-2), 0),
        (json!(0), 0),
        (json!(1.5), 1),
        (json!(4), 4),
        (json!(1e300), u32::MAX),
    ] {
        let stats: UsageStats = serde_json::from_value(json!({ "errorCount": count })).unwrap();
        assert_eq!(stats.episodes(), expected, "{count}");
    }
    assert_eq!(UsageStats::default().episodes(), 0);
}

#[test]
fn cooldown_1_1_the_members_are_those_of_a_full_entry() {
    let number = || Some(Number::from(1));
    let model = || Some("m".parse::<ModelId>().unwrap());
    let full = UsageStats {
        last_used: number(),
        error_count: number(),
        failure_counts: BTreeMap::from([(Reason::Auth, 1)]),
        last_failure_at: number(),
        cooldown_until: number(),
        cooldown_reason: Some(Reason::Auth),
        cooldown_model: model(),
        disabled_until: number(),
        disabled_reason: Some(Reason::Billing),
        blocked_until: number(),
        blocked_reason: Some(BlockedReason::SubscriptionLimit),
        blocked_source: Some(BlockedSource::Wham),
        blocked_model: model(),
        unknown: Map::new(),
    };
    let Value::Object(members) = serde_json::to_value(full).unwrap() else {
        unreachable!("an entry is an object");
    };
    let names: std::collections::BTreeSet<_> = members.keys().map(String::as_str).collect();
    assert_eq!(names, UsageStats::MEMBERS.iter().copied().collect());
}
