//! Every cell: each thing that can block × place in the chain × throttle × nearness × slot, against the table
//! written out as prose would.

use super::*;

/// Something that blocks, and the table's row for it.
struct Blocker {
    row: &'static str,
    window: Option<(Lane, Reason)>,
    stated: bool,
    endpoint_down: bool,
}

impl Blocker {
    fn profile(&self, failed: i64, left: i64) -> ProfileUsage {
        let Some((lane, reason)) = &self.window else {
            return ProfileUsage {
                last_failure_at: Some(at(NOW - failed)),
                ..ProfileUsage::default()
            };
        };
        let mut profile = profile(lane, *reason, failed, left);
        let window = profile.windows.get_mut(lane).unwrap();
        window.stated = self.stated.then_some(window.until);
        profile
    }

    fn setting(&self, setting: Setting) -> Setting {
        Setting {
            endpoint_left: self.endpoint_down.then_some(20 * SECOND),
            ..setting
        }
    }
}

#[rustfmt::skip]
fn blockers() -> Vec<Blocker> {
    let m = || on_model("m");
    let row = |row, window, stated, endpoint_down| Blocker { row, window, stated, endpoint_down };
    let mut rows = vec![
        row("auth",            Some((Lane::Profile, Reason::Auth)),                false, false),
        row("auth",            Some((Lane::AuthPermanent, Reason::AuthPermanent)), false, false),
        row("auth",            Some((m(), Reason::Auth)),                          false, true),
        row("billing",         Some((Lane::Billing, Reason::Billing)),             false, false),
        row("billing",         Some((Lane::Profile, Reason::Billing)),             false, true),
        row("stated",          Some((Lane::Blocked, Reason::RateLimit)),           true,  false),
        row("stated",          Some((m(), Reason::Overloaded)),                    true,  true),
        row("model_not_found", Some((m(), Reason::ModelNotFound)),                 false, false),
        row("model_not_found", Some((Lane::Profile, Reason::ModelNotFound)),       false, true),
        row("endpoint",        None,                                               false, true),
    ];
    for reason in [
        Reason::RateLimit, Reason::Overloaded, Reason::Timeout, Reason::ServerError, Reason::Unknown,
        Reason::EmptyResponse, Reason::NoErrorDetails, Reason::Unclassified, Reason::Format, Reason::SessionExpired,
    ] {
        rows.push(row("model",    Some((m(), reason)),           false, false));
        rows.push(row("model",    Some((m(), reason)),           false, true));
        rows.push(row("wide",     Some((Lane::Profile, reason)), false, false));
        rows.push(row("endpoint", Some((Lane::Profile, reason)), false, true));
    }
    rows
}

/// The table in words, for a window that last failed `failed` ago and blocks for `left` more.
fn expected(blocker: &Blocker, setting: Setting, failed: i64, left: i64) -> &'static str {
    let Setting {
        position,
        is_only_candidate: alone,
        sibling,
        slot,
        probed,
        ..
    } = setting;
    let primary = position == Position::Primary;
    let since_probe = probed.unwrap_or(i64::MAX);
    let since_either = since_probe.min(failed);
    // The endpoint's cooldown of thirty seconds, of which twenty are left, began with a failure too.
    let since_fault = if blocker.endpoint_down { 10_000 } else { i64::MAX };
    let since_any = since_either.min(since_fault);
    let throttle_open = if alone { since_probe } else { since_any } >= 30_000;
    let near = left <= 120_000 || blocker.window.is_none();
    let probe = || match (slot, throttle_open) {
        (ProbeSlot::Used, true) => "skip-slot, last resort",
        (ProbeSlot::Used, false) => "skip-slot",
        (ProbeSlot::Free, true) => "probe+slot",
        (ProbeSlot::Free, false) => "skip",
    };
    match (blocker.row, primary) {
        ("auth", _) => "skip-auth",
        ("billing", true) if alone && since_either >= 5 * MINUTE => "probe",
        ("stated", true) if since_either >= 30 * MINUTE => "probe",
        ("billing", true) if !alone && since_either >= 30 * MINUTE => "probe",
        ("billing" | "stated", _) | ("model_not_found", false) => "skip",
        ("wide" | "model" | "endpoint" | "model_not_found", true) if near || alone => probe(),
        ("wide", false) if sibling => probe(),
        _ if throttle_open => "skip, last resort",
        _ => "skip",
    }
}

/// A4 and A5 of the older summary are rows of this table now.
#[test]
fn gate_every_cell_of_the_table() {
    let mut settings = Vec::new();
    for place in [PRIMARY, ALONE, FALLBACK, SIBLING] {
        for slot in [ProbeSlot::Free, ProbeSlot::Used] {
            for probed in [None, Some(29_999), Some(30_000), Some(DAY)] {
                settings.push(Setting {
                    slot,
                    probed,
                    ..place
                });
            }
        }
    }
    for blocker in blockers() {
        for setting in &settings {
            let setting = blocker.setting(*setting);
            for failed in [
                29_999,
                30_000,
                5 * MINUTE - 1,
                5 * MINUTE,
                30 * MINUTE - 1,
                30 * MINUTE,
            ] {
                for left in [1, 119_999, 120_000, 120_001, HOUR] {
                    let answer = word(ask(&[blocker.profile(failed, left)], setting));
                    let expected = expected(&blocker, setting, failed, left);
                    let (row, window) = (blocker.row, &blocker.window);
                    assert_eq!(
                        answer, expected,
                        "{row} {window:?} {setting:?}, failed {failed} ago, {left} left"
                    );
                }
            }
        }
    }
}

/// The table as people read it: what blocks, when, and the answer for each place in the chain.
#[test]
fn gate_the_table_at_a_glance() {
    let mut lines = Vec::new();
    let mut known = Vec::new();
    for blocker in blockers() {
        if known.contains(&(blocker.row, blocker.endpoint_down)) {
            continue;
        }
        known.push((blocker.row, blocker.endpoint_down));
        let window = blocker
            .window
            .as_ref()
            .map(|(lane, reason)| format!("{reason} on {lane}"));
        let endpoint = blocker.endpoint_down.then(|| "endpoint rests".to_owned());
        lines.push(
            [window, endpoint]
                .into_iter()
                .flatten()
                .collect::<Vec<_>>()
                .join(", "),
        );
        for (moment, failed, left) in [
            ("just failed", SECOND, 29 * SECOND),
            ("a minute ago, near", MINUTE, MINUTE),
            ("a minute ago, far", MINUTE, 5 * HOUR),
            ("half an hour ago, far", 30 * MINUTE, 4 * HOUR),
        ] {
            let places = [
                ("alone", ALONE),
                ("primary", PRIMARY),
                ("sibling", SIBLING),
                ("other", FALLBACK),
            ];
            let answers = places.map(|(place, setting)| {
                let answer = word(ask(&[blocker.profile(failed, left)], blocker.setting(setting)));
                format!("{place}: {answer}")
            });
            lines.push(format!("  {moment:<22} {}", answers.join(" | ")));
        }
    }
    insta::assert_snapshot!("table", lines.join("\n"));
}
