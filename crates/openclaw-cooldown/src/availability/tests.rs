//! What blocks, why, and until when.

use std::cmp::Ordering;

use serde_json::{Value, json};

use super::*;
use crate::testing::{MINUTE, SECOND, START, at, model, on_model, usage};

fn m() -> ModelId {
    model("m")
}

/// The reason and the end, in milliseconds after the start, of what blocks `m`.
fn blocked(usages: &[ProfileUsage], now: i64) -> Option<(Reason, i64)> {
    profile_set_block(usages, Some(&m()), at(now))
        .map(|block| (block.reason, crate::testing::offset(block.until)))
}

fn soonest(usages: &[ProfileUsage], model: Option<&ModelId>) -> Option<i64> {
    soonest_expiry(usages, model, at(0)).map(crate::testing::offset)
}

/// BL-25: no sweep has to run before a profile is free.
#[test]
fn cooldown_intro_a_window_is_over_at_its_end() {
    let usage = usage(&[(Lane::Profile, Reason::Auth, 30)]);
    for (now, usable) in [(-1, false), (0, false), (29, false), (30, true), (31, true)] {
        assert_eq!(usage.is_usable(Some(&m()), at(now)), usable, "at {now}");
        assert_eq!(usage.block(None, at(now)).is_none(), usable, "at {now}");
    }
}

#[test]
fn cooldown_6_which_windows_block_which_model() {
    // Lane, blocks m, blocks another model, blocks "any".
    for (lane, own, other) in [
        (Lane::Profile, true, true),
        (Lane::Billing, true, true),
        (Lane::AuthPermanent, true, true),
        (Lane::Blocked, true, true),
        (on_model("m"), true, false),
        (on_model("M"), false, false),
    ] {
        let usage = usage(&[(lane.clone(), Reason::RateLimit, 50)]);
        assert_eq!(usage.block(Some(&m()), at(0)).is_some(), own, "{lane}");
        assert_eq!(usage.block(Some(&model("n")), at(0)).is_some(), other, "{lane}");
        assert!(usage.block(None, at(0)).is_some(), "{lane}: any window counts");
    }
    assert!(
        ProfileUsage::default().is_usable(None, at(0)),
        "no state, no block"
    );
}

#[test]
fn d15_the_latest_ending_window_names_the_reason_and_priority_breaks_ties() {
    let profile = |reason, until| usage(&[(Lane::Profile, reason, until)]);
    for (usages, expected) in [
        (
            vec![profile(Reason::Auth, 10), profile(Reason::RateLimit, 20)],
            Some((Reason::RateLimit, 20)),
        ),
        (
            vec![profile(Reason::RateLimit, 20), profile(Reason::Auth, 20)],
            Some((Reason::Auth, 20)),
        ),
        (
            vec![usage(&[
                (Lane::Billing, Reason::Billing, 9),
                (on_model("m"), Reason::Timeout, 30),
            ])],
            Some((Reason::Timeout, 30)),
        ),
        (
            vec![usage(&[
                (Lane::Billing, Reason::Billing, 9),
                (on_model("n"), Reason::Timeout, 30),
            ])],
            Some((Reason::Billing, 9)),
        ),
        (
            vec![usage(&[
                (Lane::Billing, Reason::Billing, 9),
                (Lane::AuthPermanent, Reason::AuthPermanent, 9),
            ])],
            Some((Reason::AuthPermanent, 9)),
        ),
        (vec![profile(Reason::Auth, 10), ProfileUsage::default()], None),
        (
            vec![
                profile(Reason::Auth, 10),
                usage(&[(on_model("n"), Reason::RateLimit, 90)]),
            ],
            None,
        ),
        (vec![], None),
    ] {
        assert_eq!(blocked(&usages, 0), expected, "{usages:?}");
    }
}

/// The examples of cooldown.md 9 that state windows, as decided by D15: windows decide, counts don't.
#[test]
fn cooldown_9_examples_as_decided() {
    let disabled = || {
        usage(&[
            (Lane::Billing, Reason::Billing, 500),
            (Lane::Profile, Reason::RateLimit, 50),
        ])
    };
    let limited = || usage(&[(Lane::Blocked, Reason::RateLimit, 500)]);
    assert_eq!(blocked(&[disabled()], 0), Some((Reason::Billing, 500)));
    assert_eq!(blocked(&[limited()], 0), Some((Reason::RateLimit, 500)));
    assert_eq!(
        blocked(&[disabled(), limited()], 0),
        Some((Reason::Billing, 500)),
        "tie"
    );
    let mut counted = usage(&[(Lane::Profile, Reason::RateLimit, 50)]);
    counted.failure_counts.insert(Reason::Auth, 9);
    assert_eq!(
        blocked(&[counted], 0),
        Some((Reason::RateLimit, 50)),
        "counts are for display"
    );
    assert_eq!(blocked(&[disabled()], 500), None, "expired windows only");
}

/// The examples of cooldown.md 9 as the other program stores them, as decided by D15.
#[test]
fn cooldown_9_stored_examples_as_decided() {
    let end = START + 500;
    let cooled = |reason: &str, counts: Value| json!({"cooldownUntil": end, "cooldownReason": reason, "failureCounts": counts});
    for (name, entries, expected) in [
        (
            "disabled and many rate limits",
            vec![
                json!({"disabledUntil": end, "disabledReason": "billing", "cooldownUntil": START + 9, "failureCounts": {"rate_limit": 50}}),
            ],
            Some("billing"),
        ),
        (
            "blocked only",
            vec![json!({"blockedUntil": end})],
            Some("rate_limit"),
        ),
        (
            "no reason, no counts",
            vec![json!({"cooldownUntil": end})],
            Some("unknown"),
        ),
        (
            "counts 1:1",
            vec![cooled("rate_limit", json!({"rate_limit": 1, "auth": 1}))],
            Some("rate_limit"),
        ),
        (
            "counts 3:1",
            vec![cooled("auth", json!({"rate_limit": 3, "auth": 1}))],
            Some("auth"),
        ),
        (
            "three profiles, a tie",
            vec![
                cooled("rate_limit", json!({})),
                cooled("auth", json!({})),
                cooled("rate_limit", json!({})),
            ],
            Some("auth"),
        ),
        (
            "disabled and blocked, a tie",
            vec![
                json!({"blockedUntil": end}),
                json!({"disabledUntil": end, "disabledReason": "billing"}),
            ],
            Some("billing"),
        ),
        (
            "disabled without a reason",
            vec![json!({"disabledUntil": end})],
            Some("unknown"),
        ),
        (
            "an unlisted reason",
            vec![
                json!({"disabledUntil": end, "disabledReason": "session_expired", "cooldownUntil": START + 9}),
            ],
            Some("session_expired"),
        ),
        (
            "expired only",
            vec![json!({"cooldownUntil": START - 1, "disabledUntil": START})],
            None,
        ),
    ] {
        let adopted = |entry: &Value| {
            let stats = serde_json::from_value(entry.clone()).unwrap();
            crate::adopt_usage_stats(ProfileUsage::default(), &stats, at(0))
        };
        let usages: Vec<ProfileUsage> = entries.iter().map(adopted).collect();
        let reason = blocked(&usages, 0).map(|(reason, _)| reason.to_string());
        assert_eq!(reason.as_deref(), expected, "{name}");
    }
}

#[test]
fn c2_cooldown_1_1_the_priority_list_orders_every_tie() {
    let block = |reason| usage(&[(Lane::Profile, reason, 10)]);
    for (place, stronger) in PRIORITY.iter().enumerate() {
        for weaker in &PRIORITY[place + 1..] {
            let pair = [block(*weaker), block(*stronger)];
            assert_eq!(
                blocked(&pair, 0),
                Some((*stronger, 10)),
                "{stronger} against {weaker}"
            );
        }
        let absent = [block(Reason::SessionExpired), block(*stronger)];
        assert_eq!(
            blocked(&absent, 0),
            Some((*stronger, 10)),
            "session_expired is not in the list"
        );
    }
    let server_error = [block(Reason::ServerError), block(Reason::RateLimit)];
    assert_eq!(
        blocked(&server_error, 0),
        Some((Reason::ServerError, 10)),
        "as timeout"
    );
}

/// The examples of cooldown.md 11, ends in milliseconds, as decided by D15: only windows that block this model now.
#[test]
fn cooldown_11_examples_as_decided() {
    let one = |lane, reason, until| usage(&[(lane, reason, until)]);
    let limited = |id: &str, until| one(on_model(id), Reason::RateLimit, until);
    let cases: Vec<(&str, Vec<ProfileUsage>, Option<i64>)> = vec![
        (
            "two profiles",
            vec![
                one(Lane::Profile, Reason::Auth, 50),
                one(Lane::Billing, Reason::Billing, 20),
            ],
            Some(20),
        ),
        (
            "one profile",
            vec![usage(&[
                (Lane::Profile, Reason::Auth, 50),
                (Lane::Billing, Reason::Billing, 500),
            ])],
            Some(500),
        ),
        ("other model", vec![limited("n", 50)], None),
        (
            "this model twice",
            vec![limited("m", 50), limited("m", 90)],
            Some(90),
        ),
        ("in any order", vec![limited("m", 90), limited("m", 50)], Some(90)),
        (
            "and a later auth",
            vec![
                limited("m", 50),
                limited("m", 90),
                one(Lane::Profile, Reason::Auth, 70),
            ],
            Some(70),
        ),
        (
            "and an earlier auth",
            vec![limited("m", 80), one(Lane::Profile, Reason::Auth, 20)],
            Some(20),
        ),
        (
            "timeouts",
            vec![
                one(on_model("m"), Reason::Timeout, 50),
                one(on_model("m"), Reason::Timeout, 90),
            ],
            Some(50),
        ),
        (
            "other model and disabled",
            vec![usage(&[
                (on_model("n"), Reason::RateLimit, 50),
                (Lane::Billing, Reason::Billing, 9),
            ])],
            Some(9),
        ),
        ("ended", vec![one(Lane::Profile, Reason::Auth, -5)], None),
        (
            "this model and the profile",
            vec![
                usage(&[
                    (on_model("m"), Reason::RateLimit, 90),
                    (Lane::Profile, Reason::Auth, 50),
                ]),
                limited("m", 70),
            ],
            Some(70),
        ),
        ("none", vec![], None),
    ];
    for (name, usages, expected) in cases {
        assert_eq!(soonest(&usages, Some(&m())), expected, "{name}");
    }
    assert_eq!(
        soonest(&[limited("n", 50)], None),
        Some(50),
        "without a model every window counts"
    );
    assert_eq!(
        soonest(&[limited("m", 50), limited("m", 90)], None),
        Some(50),
        "and none is a limit of this model"
    );
}

#[test]
fn cooldown_15_soonest_expiry_is_monotone_in_every_end() {
    let lanes = [Lane::Profile, Lane::Billing, Lane::Blocked, on_model("m")];
    let ends = [10, 20, 30];
    for first in &lanes {
        for second in &lanes {
            for end in ends {
                let set = |until| {
                    [
                        usage(&[(first.clone(), Reason::RateLimit, until)]),
                        usage(&[(second.clone(), Reason::RateLimit, 20)]),
                    ]
                };
                let order = soonest(&set(end + 5), Some(&m())).cmp(&soonest(&set(end), Some(&m())));
                assert_ne!(order, Ordering::Less, "{first} and {second} at {end}");
            }
        }
    }
}

#[test]
fn gate_rows_the_kind_of_every_lane_and_reason() {
    let kind = |lane, reason| {
        usage(&[(lane, reason, MINUTE)])
            .block(None, at(SECOND))
            .map(|block| block.kind)
    };
    for reason in Reason::all() {
        let scoped = match reason {
            Reason::Auth | Reason::AuthPermanent => [BlockKind::Auth; 2],
            Reason::Billing => [BlockKind::Billing; 2],
            Reason::ModelNotFound => [BlockKind::ModelNotFound; 2],
            _ => [BlockKind::TransientModel, BlockKind::TransientProfile],
        };
        assert_eq!(
            [kind(on_model("m"), reason), kind(Lane::Profile, reason)],
            scoped.map(Some),
            "{reason}"
        );
    }
    assert_eq!(
        kind(Lane::AuthPermanent, Reason::AuthPermanent),
        Some(BlockKind::Auth)
    );
    assert_eq!(kind(Lane::Billing, Reason::Billing), Some(BlockKind::Billing));
    assert_eq!(kind(Lane::Blocked, Reason::RateLimit), Some(BlockKind::Stated));
    let mut stated = usage(&[(on_model("m"), Reason::RateLimit, MINUTE)]);
    stated.windows.get_mut(&on_model("m")).unwrap().stated = Some(at(MINUTE));
    assert_eq!(
        stated.block(None, at(0)).map(|block| block.kind),
        Some(BlockKind::Stated),
        "D7: a stated model end"
    );
}
