//! When a cooldown ends and when it is probed, as text.

use jiff::Timestamp;
use openclaw_classify::Reason;

use super::needs_a_person;
use super::relative_time::left;

/// What stands under FREE IN where time alone mends nothing.
const MENDED: &str = "once mended";

/// What stands under FREE IN and TRIED IN for a rest until `until` that may be probed at `next_probe`. A refused key or an
/// unpaid bill is not free at the end of its window: it is tried then, and refused again until the account or the key is mended.
pub fn free_and_tried(
    reason: Option<Reason>,
    until: Option<Timestamp>,
    next_probe: Option<Timestamp>,
    now: Timestamp,
) -> (String, String) {
    let told = |at: Option<Timestamp>| at.map(|at| left(at, now)).unwrap_or_default();
    match until {
        Some(until) if reason.is_some_and(needs_a_person) => {
            let tried = next_probe.map_or(until, |probe| probe.min(until));
            (MENDED.to_owned(), left(tried, now))
        }
        _ => (told(until), told(next_probe)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_time_does_not_mend_is_tried_at_the_end_of_its_window_and_not_free() {
        let now = Timestamp::UNIX_EPOCH;
        let at = |seconds: i64| Timestamp::from_second(seconds).ok();
        for (reason, until, probe, free, tried) in [
            (Some(Reason::RateLimit), at(60), at(30), "1m", "30s"),
            (Some(Reason::RateLimit), at(60), None, "1m", ""),
            (Some(Reason::AuthPermanent), at(60), None, "once mended", "1m"),
            (Some(Reason::Billing), at(60), at(30), "once mended", "30s"),
            (Some(Reason::Auth), at(60), at(90), "once mended", "1m"),
            (Some(Reason::Auth), None, None, "", ""),
            (None, at(60), None, "1m", ""),
        ] {
            let told = free_and_tried(reason, until, probe, now);
            assert_eq!((told.0.as_str(), told.1.as_str()), (free, tried), "{reason:?}");
        }
    }
}
