//! The fold against the naive oracle, on random histories.

use openclaw_ids::ModelId;
use proptest::prelude::*;

use crate::testing::oracle::{Oracle, OracleEvent};
use crate::testing::{at, failure, model, offset};
use crate::{CooldownConfig, ProfileUsage, SuccessEvent, clear, record_failure, record_success};

const REASONS: [&str; 8] = [
    "rate_limit",
    "auth",
    "billing",
    "auth_permanent",
    "timeout",
    "overloaded",
    "model_not_found",
    "server_error",
];

/// Events whose `hint` and `started` are distances from the instant they happen at.
fn happening() -> impl Strategy<Value = OracleEvent<'static>> {
    let started = || proptest::option::of(0..400_000_i64);
    let names = || proptest::sample::select(&["a", "b"]);
    let hints = proptest::option::of(0..4_000_000_i64);
    let failures = (
        proptest::sample::select(&REASONS),
        any::<bool>(),
        names(),
        hints,
        started(),
    )
        .prop_map(|(reason, wide, model, hint, started)| OracleEvent::Failure {
            reason,
            wide,
            model,
            hint,
            started,
        });
    let successes = (proptest::option::of(names()), started())
        .prop_map(|(model, started)| OracleEvent::Success { model, started });
    prop_oneof![8 => failures, 2 => successes, 1 => Just(OracleEvent::Clear)]
}

/// The same with instants.
fn placed(happening: OracleEvent<'static>, now: i64) -> OracleEvent<'static> {
    let back = |distance: Option<i64>| distance.map(|ms| now - ms);
    match happening {
        OracleEvent::Failure {
            reason,
            wide,
            model,
            hint,
            started,
        } => OracleEvent::Failure {
            reason,
            wide,
            model,
            hint: hint.map(|ms| now + ms),
            started: back(started),
        },
        OracleEvent::Success { model, started } => OracleEvent::Success {
            model,
            started: back(started),
        },
        OracleEvent::Clear => OracleEvent::Clear,
    }
}

fn apply(usage: ProfileUsage, happening: OracleEvent<'_>, now: i64) -> ProfileUsage {
    match happening {
        OracleEvent::Clear => clear(usage),
        OracleEvent::Success { model: id, started } => {
            let event = SuccessEvent {
                model: id.map(model),
                started_at: started.map(at),
            };
            record_success(usage, &event, at(now))
        }
        OracleEvent::Failure {
            reason,
            wide,
            model: id,
            hint,
            started,
        } => {
            let mut event = failure(reason.parse().unwrap()).of(id);
            if wide {
                event = event.account_wide();
            }
            if let Some(hint) = hint {
                event = event.hinting(hint);
            }
            event.started_at = started.map(at);
            record_failure(usage, &event, at(now), &CooldownConfig::default())
        }
    }
}

/// Lane, opening, end, step and reason of every window.
fn windows(usage: &ProfileUsage) -> Vec<(String, i64, i64, u32, String)> {
    let row = |(lane, window): (&crate::Lane, &crate::Window)| {
        let (opened, until) = (offset(window.opened_at), offset(window.until));
        (
            lane.to_string(),
            opened,
            until,
            window.steps,
            window.reason.to_string(),
        )
    };
    let mut rows: Vec<_> = usage.windows.iter().map(row).collect();
    rows.sort();
    rows
}

proptest! {
    #[test]
    fn d1_to_d10_the_fold_agrees_with_the_oracle(
        steps in proptest::collection::vec(
            (prop_oneof![9 => 0..700_000_i64, 1 => 0..200_000_000_i64], happening()), 1..40)
    ) {
        let (mut usage, mut oracle, mut now) = (ProfileUsage::default(), Oracle::default(), 0);
        for (gap, happening) in steps {
            now += gap;
            let happening = placed(happening, now);
            usage = apply(usage, happening, now);
            oracle.apply(now, happening);
            let expected: Vec<_> = oracle.lanes.iter()
                .map(|(lane, row)| (lane.clone(), row.opened, row.until, row.steps, row.reason.clone()))
                .collect();
            prop_assert_eq!(windows(&usage), expected, "after {:?} at {}", happening, now);

            for id in ["a", "b", "c"] {
                let own = format!("model:{id}");
                let expected = oracle.lanes.iter()
                    .filter(|(lane, row)| row.until > now && (!lane.starts_with("model:") || **lane == own))
                    .map(|(_, row)| row.until).max();
                let block = usage.block(Some(&ModelId::try_new(id).unwrap()), at(now));
                prop_assert_eq!(block.map(|block| offset(block.until)), expected);
            }
        }
    }
}
