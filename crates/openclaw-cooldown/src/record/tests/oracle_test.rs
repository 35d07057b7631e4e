//! The fold against the naive oracle, on random histories.

use openclaw_ids::ModelId;
use proptest::prelude::*;

use crate::testing::oracle::{Happening, Oracle};
use crate::testing::{START, at, failure, model};
use crate::{CooldownConfig, ProfileUsage, SuccessEvent, clear, record, succeed};

const REASONS: [&str; 7] = [
    "rate_limit",
    "auth",
    "billing",
    "auth_permanent",
    "timeout",
    "overloaded",
    "model_not_found",
];

fn happening() -> impl Strategy<Value = Happening> {
    let started = || proptest::option::of(0..400_000_i64);
    let names = || proptest::sample::select(&["a", "b"]);
    let failures = (
        proptest::sample::select(&REASONS),
        any::<bool>(),
        names(),
        proptest::option::of(0..4_000_000_i64),
        started(),
    )
        .prop_map(|(reason, wide, model, hint, started)| Happening::Failure {
            reason,
            wide,
            model,
            hint,
            started,
        });
    prop_oneof![
        8 => failures,
        2 => (names(), started()).prop_map(|(model, started)| Happening::Success { model, started }),
        1 => Just(Happening::Clear),
    ]
}

/// The happening at `now`, whose `hint` and `started` are distances from `now`.
fn placed(happening: Happening, now: i64) -> Happening {
    let back = |distance: Option<i64>| distance.map(|ms| now - ms);
    match happening {
        Happening::Failure {
            reason,
            wide,
            model,
            hint,
            started,
        } => Happening::Failure {
            reason,
            wide,
            model,
            hint: hint
                .map(|ms| now + ms)
                .filter(|_| reason != "auth" && reason != "model_not_found"),
            started: back(started),
        },
        Happening::Success { model, started } => Happening::Success {
            model,
            started: back(started),
        },
        Happening::Clear => Happening::Clear,
    }
}

fn apply(usage: ProfileUsage, happening: &Happening, now: i64) -> ProfileUsage {
    match happening {
        Happening::Clear => clear(usage),
        Happening::Success { model: id, started } => {
            let event = SuccessEvent {
                model: Some(model(id)),
                started_at: started.map(at),
            };
            succeed(usage, &event, at(now))
        }
        Happening::Failure {
            reason,
            wide,
            model: id,
            hint,
            started,
        } => {
            let mut event = failure(reason.parse().unwrap()).of(id);
            if *wide {
                event = event.account_wide();
            }
            if let Some(hint) = hint {
                event = event.hinting(*hint);
            }
            event.started_at = started.map(at);
            record(usage, &event, at(now), &CooldownConfig::default())
        }
    }
}

proptest! {
    #[test]
    fn d1_to_d10_the_fold_agrees_with_the_oracle(
        steps in proptest::collection::vec((prop_oneof![9 => 0..700_000_i64, 1 => 0..200_000_000_i64], happening()), 1..40)
    ) {
        let (mut usage, mut oracle, mut now) = (ProfileUsage::default(), Oracle::default(), 0);
        for (gap, happening) in steps {
            now += gap;
            let happening = placed(happening, now);
            usage = apply(usage, &happening, now);
            oracle.apply(now, &happening);

            let ours: Vec<_> = usage.windows.iter().map(|(lane, window)| {
                let ms = |at: jiff::Timestamp| at.as_millisecond() - START;
                (lane.to_string(), ms(window.opened_at), ms(window.until), window.steps)
            }).collect();
            let mut theirs: Vec<_> = oracle.lanes.iter()
                .map(|(lane, row)| (lane.clone(), row.opened, row.until, row.steps)).collect();
            let mut ours = ours;
            ours.sort();
            theirs.sort();
            prop_assert_eq!(ours, theirs, "after {:?} at {}", happening, now);

            for id in ["a", "b", "c"] {
                let own = format!("model:{id}");
                let expected = oracle.lanes.iter()
                    .filter(|(lane, row)| row.until > now && (!lane.starts_with("model:") || **lane == own))
                    .map(|(_, row)| row.until).max();
                let model = ModelId::try_new(id).unwrap();
                let block = usage.block(Some(&model), at(now));
                prop_assert_eq!(block.map(|block| block.until.as_millisecond() - START), expected);
            }
        }
    }
}
