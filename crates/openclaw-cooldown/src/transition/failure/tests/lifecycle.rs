//! Every arrow of the README's first diagram, and no other.

use super::*;
use crate::{SuccessEvent, adopt_secret, clear, record_success};

const README: &str = include_str!("../../../../README.md");

/// After the first failure, at the start; its window ends at 30 s.
fn cooling_down() -> ProfileUsage {
    let mut usage = ProfileUsage::default().failed(0, &failure(Reason::RateLimit));
    usage.fingerprint = Some("aa".to_owned());
    usage
}

/// A success at `ms` of an attempt that began at `started`.
fn success(usage: ProfileUsage, started: i64, ms: i64) -> ProfileUsage {
    let event = SuccessEvent {
        model: Some(model("m")),
        started_at: Some(at(started)),
    };
    record_success(usage, &event, at(ms))
}

/// The state of the lane at `ms`, and its step.
fn state(usage: &ProfileUsage, ms: i64) -> (&'static str, u32) {
    match usage.windows.get(&on_model("m")) {
        None => ("Free", 0),
        Some(window) if window.is_active(at(ms)) => ("CoolingDown", window.steps),
        Some(window) => ("Over", window.steps),
    }
}

#[test]
fn d1_d2_d9_d10_every_arrow_of_the_diagram() {
    let limit = || failure(Reason::RateLimit);
    let (probe, over) = (20 * SECOND, 40 * SECOND);
    // Arrow, time in milliseconds, the states that it leads to, and the step after it.
    let rows: Vec<(&str, i64, Vec<ProfileUsage>, u32)> = vec![
        (
            "Free --> CoolingDown: failure, first step",
            0,
            vec![cooling_down()],
            1,
        ),
        (
            "CoolingDown --> CoolingDown: outcome of the same episode, at most counted",
            probe,
            vec![
                cooling_down().failed(probe, &limit().started(-1)),
                success(cooling_down(), -1, probe),
            ],
            1,
        ),
        (
            "CoolingDown --> CoolingDown: failed probe, next step",
            probe,
            vec![cooling_down().failed(probe, &limit().started(probe))],
            2,
        ),
        (
            "CoolingDown --> Over: the end is reached",
            30 * SECOND,
            vec![cooling_down()],
            1,
        ),
        (
            "Over --> Over: straggler of the episode, at most counted",
            over,
            vec![
                cooling_down().failed(over, &limit().started(-1)),
                success(cooling_down(), -1, over),
            ],
            1,
        ),
        (
            "Over --> CoolingDown: failure, next step",
            over,
            vec![
                cooling_down().failed(over, &limit().started(over)),
                cooling_down().failed(over, &limit()),
            ],
            2,
        ),
        (
            "Over --> CoolingDown: failure after the failure window, first step",
            DAY + 1,
            vec![cooling_down().failed(DAY + 1, &limit())],
            1,
        ),
        (
            "CoolingDown --> Free: success of a probe, clear, another secret",
            probe,
            vec![
                success(cooling_down(), probe, probe),
                clear(cooling_down()),
                adopt_secret(cooling_down(), Some("bb")),
            ],
            0,
        ),
        (
            "Over --> Free: success, clear, another secret",
            over,
            vec![
                success(cooling_down(), over, over),
                clear(cooling_down()),
                adopt_secret(cooling_down(), Some("bb")),
            ],
            0,
        ),
    ];
    let first = README
        .split("```")
        .find(|block| block.starts_with("mermaid"))
        .unwrap();
    let arrows: Vec<&str> = first
        .lines()
        .map(str::trim)
        .filter(|line| line.contains(": "))
        .collect();
    assert_eq!(arrows, rows.iter().map(|row| row.0).collect::<Vec<_>>());
    for (arrow, ms, outcomes, step) in rows {
        let to = arrow.split([' ', ':']).nth(2).unwrap();
        for usage in outcomes {
            assert_eq!(state(&usage, ms), (to, step), "{arrow}");
        }
    }
}
