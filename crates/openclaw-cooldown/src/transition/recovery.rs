//! What makes a profile usable again: a success, a clear, another secret (D9, D10).

use jiff::{SignedDuration, Timestamp};

use crate::{ProfileUsage, SuccessEvent, Window, millis};

/// After this time every process has read what another one wrote.
const PROPAGATION_TIME: SignedDuration = SignedDuration::from_secs(1);

/// Records one success at `now`: the profile-wide windows and this model's window go, with their steps (D10).
///
/// A window that opened after the attempt started stays; such a success is not a use either (D2). A cooldown that
/// was set by hand also stays when the attempt started within a second after it: its process may not have read it yet.
pub fn record_success(mut usage: ProfileUsage, event: &SuccessEvent, now: Timestamp) -> ProfileUsage {
    let now = millis::floor(now);
    let mut outdated = false;
    usage.windows.retain(|lane, window| {
        let concerned = lane.concerns(event.model.as_ref());
        let newer = window.covers(event.started_at, now) || may_be_unread(window, event.started_at, now);
        outdated |= concerned && newer;
        !concerned || newer
    });
    if outdated {
        return usage;
    }
    usage.forget_counts_without_window();
    usage.last_used = Some(now);
    usage
}

/// Whether the process of an attempt that started at `started_at` may not have read a cooldown that was set by hand.
fn may_be_unread(window: &Window, started_at: Option<Timestamp>, now: Timestamp) -> bool {
    let known = window.opened_at.checked_add(PROPAGATION_TIME);
    let known = known.unwrap_or(Timestamp::MAX);
    window.set_by_hand && window.is_active(now) && started_at.is_some_and(|started_at| started_at < known)
}

/// Forgets every window and count; last use, last failure and the fingerprint stay (cooldown.md 12).
pub fn clear(mut usage: ProfileUsage) -> ProfileUsage {
    usage.windows.clear();
    usage.failure_counts.clear();
    usage
}

/// Ties the state to the secret with this fingerprint (D9): another secret starts clean, the first known one is
/// adopted, and an unknown one (`None`) changes nothing.
pub fn adopt_secret(mut usage: ProfileUsage, fingerprint: Option<&str>) -> ProfileUsage {
    let Some(fingerprint) = fingerprint else {
        return usage;
    };
    if usage
        .fingerprint
        .as_deref()
        .is_some_and(|known| known != fingerprint)
    {
        usage = ProfileUsage {
            unknown: usage.unknown,
            ..ProfileUsage::default()
        };
    }
    usage.fingerprint = Some(fingerprint.to_owned());
    usage
}

#[cfg(test)]
mod tests;
