//! The ladders, row by row.

use super::*;

#[test]
fn cooldown_3_1_the_short_ladder() {
    for (step, seconds) in [(0, 30), (1, 30), (2, 60), (3, 300), (4, 300), (u32::MAX, 300)] {
        assert_eq!(short_wait(step), Duration::from_secs(seconds), "step {step}");
    }
}

#[test]
fn cooldown_3_2_the_doubling_ladders() {
    let hours = Duration::from_hours;
    let minutes = Duration::from_mins;
    // The last rows are the examples: a base below a minute, and the last doubling.
    for (step, base, cap, expected) in [
        (0, hours(5), hours(24), hours(5)),
        (1, hours(5), hours(24), hours(5)),
        (2, hours(5), hours(24), hours(10)),
        (3, hours(5), hours(24), hours(20)),
        (4, hours(5), hours(24), hours(24)),
        (u32::MAX, hours(5), hours(24), hours(24)),
        (1, minutes(10), minutes(60), minutes(10)),
        (2, minutes(10), minutes(60), minutes(20)),
        (3, minutes(10), minutes(60), minutes(40)),
        (4, minutes(10), minutes(60), minutes(60)),
        (
            1,
            Duration::from_millis(3_600),
            Duration::from_millis(360),
            minutes(1),
        ),
        (3, hours(5), Duration::from_millis(360), minutes(1)),
        (2, Duration::from_millis(3_600), hours(1), minutes(2)),
        (11, minutes(1), Duration::MAX, minutes(1024)),
        (12, minutes(1), Duration::MAX, minutes(1024)),
        (9, Duration::MAX, Duration::MAX, Duration::MAX),
    ] {
        assert_eq!(
            long_wait(step, base, cap),
            expected,
            "step {step} of {base:?} up to {cap:?}"
        );
    }
}

#[test]
fn f_5_a_cap_holds_on_every_step() {
    let hours = Duration::from_hours;
    let minutes = Duration::from_mins;
    for (base, cap) in [
        (hours(5), hours(1)),
        (hours(30), hours(24)),
        (minutes(10), minutes(2)),
        (hours(2), Duration::from_secs(90)),
        (minutes(10), minutes(1)),
        (Duration::MAX, hours(24)),
    ] {
        for step in [0, 1, 2, 7, u32::MAX] {
            assert_eq!(
                long_wait(step, base, cap),
                cap,
                "step {step} of {base:?} up to {cap:?}"
            );
        }
    }
}
