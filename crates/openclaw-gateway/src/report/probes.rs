//! When a resting candidate would be tried all the same.

use jiff::Timestamp;
use openclaw_cooldown::{Gate, GateFacts, gate};

/// The first instant, from `now` to the end of the rest, at which the gate lets an attempt through although the candidate
/// rests; `None` when it waits for the end. The gate itself is asked, so this cannot say anything else than what a run
/// would do then.
pub(super) fn next_probe(facts: &GateFacts<'_>, now: Timestamp) -> Option<Timestamp> {
    let is_probed = |at: i64| {
        let at = Timestamp::from_millisecond(at).ok()?;
        Some(matches!(gate(facts, at), Gate::Probe(_)))
    };
    let Gate::Skip(skip) = gate(facts, now) else {
        return is_probed(now.as_millisecond())?.then_some(now);
    };
    let end = skip.soonest?.as_millisecond().saturating_sub(1);
    if !is_probed(end)? {
        return None;
    }
    // Once the gate would probe, it would until the rest is over: nothing but time passes between here and there.
    let (mut refused, mut granted) = (now.as_millisecond(), end);
    while granted.saturating_sub(refused) > 1 {
        let middle = refused + (granted - refused) / 2;
        if is_probed(middle)? {
            granted = middle;
        } else {
            refused = middle;
        }
    }
    Timestamp::from_millisecond(granted).ok()
}
