//! The gate over every cell of its table, and at every boundary.

use super::*;
use crate::testing::{DAY, HOUR, MINUTE, SECOND, at, model, offset, on_model, usage};
use crate::{Lane, adopt_secret, record_endpoint_failure};

mod cells;
mod properties;

/// The instant of every question, in milliseconds after the start.
const NOW: i64 = 40 * DAY;

/// What surrounds a blocked candidate; times are distances from `NOW`.
#[derive(Debug, Clone, Copy)]
struct Setting {
    position: Position,
    is_only_candidate: bool,
    sibling: bool,
    slot: ProbeSlot,
    probed: Option<i64>,
    endpoint_left: Option<i64>,
}

const PRIMARY: Setting = Setting {
    position: Position::Primary,
    is_only_candidate: false,
    sibling: false,
    slot: ProbeSlot::Free,
    probed: None,
    endpoint_left: None,
};
const ALONE: Setting = Setting {
    is_only_candidate: true,
    ..PRIMARY
};
const FALLBACK: Setting = Setting {
    position: Position::Fallback,
    ..PRIMARY
};
const SIBLING: Setting = Setting {
    sibling: true,
    ..FALLBACK
};

fn ask(profiles: &[ProfileUsage], setting: Setting) -> Gate {
    let profiles: Vec<&ProfileUsage> = profiles.iter().collect();
    let cooldown = setting
        .endpoint_left
        .map(|left| record_endpoint_failure(None, None, at(NOW + left - 30 * SECOND)));
    let facts = GateFacts {
        position: setting.position,
        is_only_candidate: setting.is_only_candidate,
        model: &model("m"),
        profiles: &profiles,
        endpoint: cooldown.as_ref(),
        last_probe_at: setting.probed.map(|ago| at(NOW - ago)),
        has_earlier_sibling: setting.sibling,
        slot: setting.slot,
    };
    gate(&facts, at(NOW))
}

/// A profile whose window opened (and last failed) `ago` before now and ends `left` after it.
fn profile(lane: &Lane, reason: Reason, ago: i64, left: i64) -> ProfileUsage {
    let mut profile = usage(&[(lane.clone(), reason, NOW + left)]);
    let opened_at = at(NOW - ago);
    profile.windows.get_mut(lane).unwrap().opened_at = opened_at;
    profile.last_failure_at = Some(opened_at);
    profile
}

/// The answer in one word.
fn word(gate: Gate) -> &'static str {
    match gate {
        Gate::Open => "open",
        Gate::Probe(Probe { takes_slot: true, .. }) => "probe+slot",
        Gate::Probe(Probe {
            takes_slot: false, ..
        }) => "probe",
        Gate::Skip(Skip {
            kind: SkipKind::Auth, ..
        }) => "skip-auth",
        Gate::Skip(Skip {
            kind: SkipKind::Cooldown,
            last_resort: false,
            ..
        }) => "skip",
        Gate::Skip(Skip {
            kind: SkipKind::Cooldown,
            last_resort: true,
            ..
        }) => "skip, last resort",
        Gate::Skip(Skip {
            kind: SkipKind::SlotUsed,
            last_resort: false,
            ..
        }) => "skip-slot",
        Gate::Skip(Skip {
            kind: SkipKind::SlotUsed,
            last_resort: true,
            ..
        }) => "skip-slot, last resort",
    }
}

#[test]
fn open_while_one_profile_can_serve_the_model_and_the_endpoint_answers() {
    let blocked = || profile(&Lane::Profile, Reason::Auth, 0, HOUR);
    let elsewhere = profile(&on_model("other"), Reason::RateLimit, 0, HOUR);
    for profiles in [
        vec![],
        vec![ProfileUsage::default()],
        vec![blocked(), ProfileUsage::default()],
        vec![elsewhere],
    ] {
        assert_eq!(ask(&profiles, FALLBACK), Gate::Open);
    }
    assert_eq!(
        word(ask(&[blocked(), blocked()], PRIMARY)),
        "skip-auth",
        "every profile is blocked"
    );
    for (left, answer) in [(1, "skip"), (0, "open"), (-1, "open")] {
        let setting = Setting {
            endpoint_left: Some(left),
            ..FALLBACK
        };
        assert_eq!(
            word(ask(&[ProfileUsage::default()], setting)),
            answer,
            "the endpoint cools down {left} ms more"
        );
    }
    for (left, answer) in [(1, "skip-auth"), (0, "open"), (-1, "open")] {
        assert_eq!(
            word(ask(&[profile(&Lane::Profile, Reason::Auth, 5, left)], PRIMARY)),
            answer,
            "{left} ms left"
        );
    }
}

#[test]
fn the_throttle_opens_thirty_seconds_after_the_last_probe_or_failure() {
    let row = |failed, probed, setting: Setting| {
        let profile = profile(&on_model("m"), Reason::RateLimit, failed, MINUTE);
        word(ask(&[profile], Setting { probed, ..setting }))
    };
    for (failed, probed, primary, alone) in [
        (29_999, None, "skip", "probe+slot"),
        (30_000, None, "probe+slot", "probe+slot"),
        (30_001, None, "probe+slot", "probe+slot"),
        (HOUR, Some(29_999), "skip", "skip"),
        (HOUR, Some(30_000), "probe+slot", "probe+slot"),
        (HOUR, Some(30_001), "probe+slot", "probe+slot"),
        (29_999, Some(30_000), "skip", "probe+slot"),
        (HOUR, Some(-5), "skip", "skip"),
    ] {
        assert_eq!(
            row(failed, probed, PRIMARY),
            primary,
            "failed {failed} ago, probed {probed:?}"
        );
        assert_eq!(
            row(failed, probed, ALONE),
            alone,
            "alone: only the last probe counts"
        );
    }
}

#[test]
fn g1_near_is_two_minutes_to_the_soonest_end_and_does_not_matter_alone() {
    for (left, primary) in [
        (119_999, "probe+slot"),
        (120_000, "probe+slot"),
        (120_001, "skip, last resort"),
    ] {
        let profiles = [profile(&on_model("m"), Reason::RateLimit, HOUR, left)];
        assert_eq!(word(ask(&profiles, PRIMARY)), primary, "{left} ms left");
        assert_eq!(word(ask(&profiles, ALONE)), "probe+slot", "{left} ms left");
    }
    let near_and_far = [
        profile(&Lane::Profile, Reason::Timeout, HOUR, HOUR),
        profile(&Lane::Profile, Reason::Timeout, HOUR, MINUTE),
    ];
    assert_eq!(
        word(ask(&near_and_far, PRIMARY)),
        "probe+slot",
        "the soonest end counts"
    );
}

#[test]
fn g6_billing_is_probed_after_a_tenth_of_the_window_and_at_least_half_an_hour() {
    // Window, how long ago it failed and was probed, the answer with and without another candidate.
    let half_hour = 30 * MINUTE;
    for (window, failed, probed, primary, alone) in [
        (5 * HOUR, half_hour - 1, None, "skip", "probe"),
        (5 * HOUR, half_hour, None, "probe", "probe"),
        (5 * HOUR, half_hour + 1, None, "probe", "probe"),
        (10 * HOUR, HOUR - 1, None, "skip", "probe"),
        (10 * HOUR, HOUR, None, "probe", "probe"),
        (24 * HOUR, 144 * MINUTE - 1, None, "skip", "probe"),
        (24 * HOUR, 144 * MINUTE, None, "probe", "probe"),
        (5 * HOUR, 5 * MINUTE - 1, None, "skip", "skip"),
        (5 * HOUR, 5 * MINUTE, None, "skip", "probe"),
        (5 * HOUR, 5 * MINUTE + 1, None, "skip", "probe"),
        (5 * HOUR, HOUR, Some(half_hour - 1), "skip", "probe"),
        (5 * HOUR, HOUR, Some(half_hour), "probe", "probe"),
        (5 * HOUR, HOUR, Some(5 * MINUTE - 1), "skip", "skip"),
    ] {
        let profiles = [profile(&Lane::Billing, Reason::Billing, failed, window - failed)];
        assert_eq!(
            word(ask(&profiles, Setting { probed, ..PRIMARY })),
            primary,
            "{window} {failed} {probed:?}"
        );
        assert_eq!(
            word(ask(&profiles, Setting { probed, ..ALONE })),
            alone,
            "alone {window} {failed} {probed:?}"
        );
        assert_eq!(
            word(ask(&profiles, Setting { probed, ..SIBLING })),
            "skip",
            "other candidates never probe it"
        );
    }
}

#[test]
fn d7_a_stated_end_is_probed_at_checkpoints_by_the_primary_or_only_candidate() {
    let half_hour = 30 * MINUTE;
    for (window, opened, probed, answer) in [
        (5 * HOUR, half_hour - 1, None, "skip"),
        (5 * HOUR, half_hour, None, "probe"),
        (5 * HOUR, half_hour + 1, None, "probe"),
        (10 * DAY, DAY - 1, None, "skip"),
        (10 * DAY, DAY, None, "probe"),
        (10 * DAY, 3 * DAY, Some(DAY - 1), "skip"),
        (10 * DAY, 3 * DAY, Some(DAY), "probe"),
        (MINUTE, 59 * SECOND, None, "skip"),
    ] {
        for lane in [Lane::Blocked, on_model("m")] {
            let mut profile = profile(&lane, Reason::RateLimit, opened, window - opened);
            let known = profile.windows.get_mut(&lane).unwrap();
            known.stated = Some(known.until);
            for setting in [PRIMARY, ALONE] {
                let setting = Setting { probed, ..setting };
                assert_eq!(
                    word(ask(&[profile.clone()], setting)),
                    answer,
                    "{lane} {window} {opened} {probed:?}"
                );
            }
            assert_eq!(
                word(ask(&[profile], SIBLING)),
                "skip",
                "other candidates never probe it"
            );
        }
    }
}

#[test]
fn g2_a_sibling_is_probed_only_for_a_profile_wide_transient_window() {
    let wide = || [profile(&Lane::Profile, Reason::Overloaded, MINUTE, HOUR)];
    assert_eq!(
        word(ask(&wide(), SIBLING)),
        "probe+slot",
        "nearness does not matter"
    );
    assert_eq!(word(ask(&wide(), FALLBACK)), "skip, last resort");
    assert_eq!(
        word(ask(
            &wide(),
            Setting {
                slot: ProbeSlot::Used,
                ..SIBLING
            }
        )),
        "skip-slot, last resort"
    );
    assert_eq!(
        word(ask(
            &wide(),
            Setting {
                slot: ProbeSlot::Used,
                probed: Some(0),
                ..SIBLING
            }
        )),
        "skip-slot"
    );
    assert_eq!(
        word(ask(
            &wide(),
            Setting {
                probed: Some(29_999),
                ..SIBLING
            }
        )),
        "skip"
    );
    assert_eq!(
        word(ask(
            &wide(),
            Setting {
                endpoint_left: Some(5),
                ..SIBLING
            }
        )),
        "skip"
    );
    let own = [profile(&on_model("m"), Reason::Overloaded, MINUTE, HOUR)];
    assert_eq!(word(ask(&own, SIBLING)), "skip, last resort");
}

#[test]
fn d15_the_latest_ending_profile_decides_the_row_and_the_soonest_end_is_shown() {
    let profiles = [
        profile(&Lane::Profile, Reason::Auth, HOUR, HOUR),
        profile(&Lane::Profile, Reason::RateLimit, HOUR, MINUTE),
    ];
    let skip = Skip {
        reason: Reason::Auth,
        kind: SkipKind::Auth,
        soonest: Some(at(NOW + MINUTE)),
        last_resort: false,
    };
    assert_eq!(ask(&profiles, PRIMARY), Gate::Skip(skip));
}

#[test]
fn d4_an_endpoint_window_is_a_timeout_and_both_must_end() {
    let endpoint_down = Setting {
        endpoint_left: Some(20 * SECOND),
        ..FALLBACK
    };
    let Gate::Skip(skip) = ask(&[ProfileUsage::default()], endpoint_down) else {
        panic!("an endpoint in cooldown is skipped");
    };
    assert_eq!(
        (skip.reason, skip.soonest.map(|at| offset(at) - NOW)),
        (Reason::Timeout, Some(20 * SECOND))
    );
    for (left, soonest) in [(5 * SECOND, 20 * SECOND), (25 * SECOND, 25 * SECOND)] {
        let Gate::Skip(skip) = ask(&[profile(&Lane::Profile, Reason::Auth, 0, left)], endpoint_down) else {
            panic!("auth is skipped");
        };
        assert_eq!(skip.soonest.map(|at| offset(at) - NOW), Some(soonest));
    }
}

#[test]
fn d4_bl_42_a_fault_of_the_endpoint_closes_the_throttle_unless_there_is_no_other_candidate() {
    for (left, probed, primary, alone) in [
        (30 * SECOND, None, "skip", "probe+slot"),
        (1, None, "skip", "probe+slot"),
        (1, Some(29_999), "skip", "skip"),
        (1, Some(30_000), "skip", "probe+slot"),
    ] {
        let endpoint_down = |setting| Setting {
            probed,
            endpoint_left: Some(left),
            ..setting
        };
        let profiles = [ProfileUsage::default()];
        assert_eq!(
            word(ask(&profiles, endpoint_down(PRIMARY))),
            primary,
            "{left} left, probed {probed:?}"
        );
        assert_eq!(
            word(ask(&profiles, endpoint_down(ALONE))),
            alone,
            "{left} left, probed {probed:?}"
        );
    }
}

#[test]
fn g5_a_changed_secret_opens_the_gate_at_once() {
    let mut blocked = profile(&Lane::AuthPermanent, Reason::AuthPermanent, 0, HOUR);
    blocked.fingerprint = Some("old".to_owned());
    assert_eq!(ask(&[adopt_secret(blocked, Some("new"))], PRIMARY), Gate::Open);
}
