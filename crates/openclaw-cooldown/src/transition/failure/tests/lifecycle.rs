//! Every arrow of the README's first diagram, and no other.

use super::*;
use crate::{SuccessEvent, adopt_secret, clear, succeed};

const README: &str = include_str!("../../../../README.md");

/// After the first failure, at the start; its window ends at 30 s.
fn resting() -> ProfileUsage {
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
    succeed(usage, &event, at(ms))
}

/// Where the lane stands at `ms`, and on which step.
fn state(usage: &ProfileUsage, ms: i64) -> (&'static str, u32) {
    match usage.windows.get(&on_model("m")) {
        None => ("Free", 0),
        Some(window) if window.is_active(at(ms)) => ("Resting", window.steps),
        Some(window) => ("Over", window.steps),
    }
}

#[test]
fn d1_d2_d9_d10_every_arrow_of_the_diagram() {
    let limit = || failure(Reason::RateLimit);
    let (probe, over) = (20 * SECOND, 40 * SECOND);
    // Arrow, when it is looked at, what comes of it, and the step after it.
    let rows: Vec<(&str, i64, Vec<ProfileUsage>, u32)> = vec![
        ("Free --> Resting: failure, first step", 0, vec![resting()], 1),
        (
            "Resting --> Resting: outcome of the same episode, at most counted",
            probe,
            vec![
                resting().failed(probe, &limit().started(-1)),
                success(resting(), -1, probe),
            ],
            1,
        ),
        (
            "Resting --> Resting: failed probe, next step",
            probe,
            vec![resting().failed(probe, &limit().started(probe))],
            2,
        ),
        (
            "Resting --> Over: the end is reached",
            30 * SECOND,
            vec![resting()],
            1,
        ),
        (
            "Over --> Over: straggler of the episode, at most counted",
            over,
            vec![
                resting().failed(over, &limit().started(-1)),
                success(resting(), -1, over),
            ],
            1,
        ),
        (
            "Over --> Resting: failure, next step",
            over,
            vec![
                resting().failed(over, &limit().started(over)),
                resting().failed(over, &limit()),
            ],
            2,
        ),
        (
            "Over --> Resting: failure after the failure window, first step",
            DAY + 1,
            vec![resting().failed(DAY + 1, &limit())],
            1,
        ),
        (
            "Resting --> Free: success of a probe, clear, another secret",
            probe,
            vec![
                success(resting(), probe, probe),
                clear(resting()),
                adopt_secret(resting(), Some("bb")),
            ],
            0,
        ),
        (
            "Over --> Free: success, clear, another secret",
            over,
            vec![
                success(resting(), over, over),
                clear(resting()),
                adopt_secret(resting(), Some("bb")),
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
