//! The cooldown of an endpoint: flat, one episode, no ladder.

use super::*;
use crate::testing::{at, offset};

#[test]
fn d4_thirty_seconds_flat_and_one_step_per_episode() {
    // Known window's opening, start of the attempt, now, expected opening and end; seconds after the start.
    for (known, started, now, expected) in [
        (None, None, 0, (0, 30)),
        (None, Some(-5), 0, (0, 30)),
        (Some(0), Some(-1), 10, (0, 30)),
        (Some(0), Some(-1), 40, (0, 30)),
        (Some(0), None, 10, (0, 30)),
        (Some(0), None, 30, (30, 60)),
        (Some(0), Some(0), 10, (10, 40)),
        (Some(0), Some(5), 10, (10, 40)),
        (Some(0), Some(31), 32, (32, 62)),
        (Some(0), Some(1), -20, (-20, 30)),
    ] {
        let known = known.map(|opened| record_endpoint_failure(None, None, at(opened * 1000)));
        let window = record_endpoint_failure(known, started.map(|ms: i64| at(ms * 1000)), at(now * 1000));
        let span = (offset(window.opened_at) / 1000, offset(window.until) / 1000);
        assert_eq!(span, expected, "known {known:?}, started {started:?}, now {now}");
    }
}

#[test]
fn d4_the_end_is_exclusive_and_json_holds_milliseconds() {
    let window = record_endpoint_failure(None, None, at(0));
    assert!(window.is_active(at(29_999)));
    assert!(!window.is_active(at(30_000)));
    let json = serde_json::to_value(window).unwrap();
    assert_eq!(json["openedAt"], 1_750_000_000_000_i64);
    assert_eq!(json["until"], 1_750_000_030_000_i64);
    assert_eq!(serde_json::from_value::<EndpointWindow>(json).unwrap(), window);
}
