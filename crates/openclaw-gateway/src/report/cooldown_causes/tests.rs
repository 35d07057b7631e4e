//! Which windows were open when a run came, and when each was set free since.

use openclaw_history::{RunNote, RunOutcome, WindowNote};

use super::*;

fn at(ms: i64) -> Timestamp {
    Timestamp::from_millisecond(ms).unwrap()
}

/// A run from 100 to 110.
fn run() -> StoredRun {
    StoredRun {
        at: at(110),
        note: RunNote {
            run_id: "r".to_owned(),
            agent: AgentId::main(),
            session_key: None,
            session_id: None,
            wire: "OpenAI chat completions".to_owned(),
            chain: Vec::new(),
            started_at: at(100),
            outcome: RunOutcome::Failed,
            calls: 0,
            served: None,
            fallback_index: None,
            first_failure: None,
        },
    }
}

/// A change at `now` of the window that was opened at `opened`.
fn change(now: i64, change: WindowChange, opened: i64, until: i64) -> StoredWindow {
    StoredWindow {
        at: at(now),
        note: WindowNote {
            agent: AgentId::main(),
            rested: CooldownTarget::Profile {
                profile: "a:x".parse().unwrap(),
                lane: Lane::Profile,
            },
            change,
            opened_at: at(opened),
            until: at(until),
            reason: Reason::RateLimit,
            steps: 1,
            run_id: None,
        },
    }
}

#[test]
fn a_window_is_set_free_by_its_own_end_alone() {
    use WindowChange::{Cleared, Extended, Opened};
    for (about, later, expected) in [
        ("left to its end", vec![], None),
        ("cleared", vec![change(150, Cleared, 50, 200)], Some(150)),
        (
            "made longer, then cleared",
            vec![change(150, Extended, 50, 300), change(250, Cleared, 50, 300)],
            Some(250),
        ),
        (
            "opened again while it was open, then cleared",
            vec![change(150, Opened, 150, 400), change(180, Cleared, 150, 400)],
            Some(180),
        ),
        (
            "over, and another one was cleared",
            vec![change(500, Opened, 500, 900), change(600, Cleared, 500, 900)],
            None,
        ),
    ] {
        let mut changes = vec![change(50, Opened, 50, 200)];
        changes.extend(later);
        let open = open_at(&changes, &run());
        assert_eq!(open.len(), 1, "{about}");
        let freed = cleared(&changes, &open[0], &run());
        assert_eq!(freed.map(Timestamp::as_millisecond), expected, "{about}");
    }
}
