//! How soon a primary is used again once it is well.

use openclaw_classify::Reason;

use super::Held;
use crate::check::oracle::{self, LaneKind};
use crate::time::{MINUTE, SECOND};
use crate::trace::{ActualState, DecisionEvent, Kind, Trace};

/// Between two probes of a provider.
const THROTTLE: i64 = 30 * SECOND;
/// So long before its end a transient window is looked at.
const NEAR: i64 = 2 * MINUTE;
/// A long window is looked at again after this, or a tenth of it (D7, G6).
const CHECKPOINT: i64 = 30 * MINUTE;
/// A probe is over after this, however slow the provider.
const SLOWEST: i64 = 2 * MINUTE;
/// How long a session on an override leaves its primary alone (S-6.1).
const SESSION: i64 = 5 * MINUTE;

/// What keeps the first candidate from being asked.
struct Cooldown {
    lane: LaneKind,
    reason: Reason,
    stated: bool,
    length: i64,
}

/// The skip of the first candidate, where it tells something about recovery.
fn skipped(trace: &Trace) -> Option<(&DecisionEvent, &ActualState)> {
    if !trace.clocks_agree || trace.is_redirected() {
        return None;
    }
    let skip = trace
        .decisions()
        .find(|decided| decided.kind == Kind::Skipped && decided.candidate == 0)?;
    // A last resort asks it all the same.
    let asked = trace.calls.iter().any(|call| call.candidate == 0);
    Some((skip, skip.truth.as_ref().filter(|_| !asked)?))
}

/// D15: the latest-ending window of all its credentials; the endpoint's counts as a transient one.
fn rest(trace: &Trace, skip: &DecisionEvent) -> Option<Cooldown> {
    let candidate = &trace.chain[0];
    let profiles = trace.credentials(0);
    let windows = profiles
        .iter()
        .flat_map(|profile| oracle::held(&skip.view, profile, &candidate.model, skip.at));
    let last = windows.max_by_key(|held| held.until);
    last.map_or_else(
        || {
            oracle::endpoint(&skip.view, &candidate.provider, skip.at).map(|_| Cooldown {
                lane: LaneKind::Model,
                reason: Reason::Timeout,
                stated: false,
                length: THROTTLE,
            })
        },
        |held| {
            Some(Cooldown {
                lane: held.lane,
                reason: held.reason,
                stated: held.stated,
                length: held.until - held.opened,
            })
        },
    )
}

impl Cooldown {
    fn is_of_a_login(&self) -> bool {
        self.lane == LaneKind::AuthPermanent || matches!(self.reason, Reason::Auth | Reason::AuthPermanent)
    }

    fn is_long(&self) -> bool {
        matches!(self.lane, LaneKind::Billing | LaneKind::Blocked)
            || self.stated
            || self.reason == Reason::Billing
    }
}

/// Whether a primary that is well since a while is skipped longer than `allowed` after that, while no run probes it;
/// `patience` is how long one waits after a probe.
fn overdue(skip: &DecisionEvent, truth: &ActualState, allowed: i64, patience: i64) -> Held {
    let Some(well_since) = truth.well_since else {
        return Held::Aside;
    };
    let since = well_since
        .max(truth.last_unanswered)
        .max(truth.last_crash + MINUTE);
    // Each of the provider's models may take a probe of its own first.
    let models = i64::try_from(truth.models).unwrap_or(i64::MAX);
    let late = skip.at - since - allowed - models.saturating_mul(THROTTLE);
    // A run that starts at the same time as a probe waits for it, however long no run came before.
    let patience = if truth.probe_in_flight {
        patience.max(SLOWEST)
    } else {
        patience
    };
    let last_probe = truth.last_probe.as_ref().map_or(0, |probe| probe.began);
    if late <= 0 || skip.at - last_probe < patience {
        return Held::Yes;
    }
    Held::Broken(format!(
        "the primary is well since {} s and was still skipped, {} s later than allowed; {} s ago it last did not answer, {} s \
         ago it was last probed, {} s ago a process last died; known is {:?}",
        (skip.at - well_since) / SECOND,
        late / SECOND,
        (skip.at - truth.last_unanswered) / SECOND,
        (skip.at - last_probe) / SECOND,
        (skip.at - truth.last_crash) / SECOND,
        skip.view.usage
    ))
}

/// G, BL-42: the throttle while the window is two minutes or less; that and what a longer one has beyond two minutes.
pub(super) fn transient(trace: &Trace) -> Held {
    let Some((skip, truth)) = skipped(trace) else {
        return Held::Aside;
    };
    match rest(trace, skip) {
        Some(rest) if !rest.is_of_a_login() && !rest.is_long() => {
            let allowed = THROTTLE + (rest.length - NEAR).max(0);
            overdue(skip, truth, allowed, THROTTLE)
        }
        _ => Held::Aside,
    }
}

/// D7, G6.
pub(super) fn checkpoint(trace: &Trace) -> Held {
    let Some((skip, truth)) = skipped(trace) else {
        return Held::Aside;
    };
    match rest(trace, skip) {
        Some(rest) if !rest.is_of_a_login() && rest.is_long() => {
            let wait = CHECKPOINT.max(rest.length / 10);
            // Probes are counted by provider (G4): that of a credential that is none of these puts off theirs.
            let last = truth
                .last_probe
                .as_ref()
                .and_then(|probe| probe.profile.as_deref());
            let of_another = last.is_some_and(|profile| !trace.credentials(0).contains(&profile));
            let patience = if of_another { wait } else { THROTTLE };
            overdue(skip, truth, wait, patience)
        }
        _ => Held::Aside,
    }
}

/// S-6.3, BL-63.
pub(super) fn session(trace: &Trace) -> Held {
    let Some(on_override) = trace
        .override_
        .as_ref()
        .filter(|on| on.may_ask && trace.clocks_agree)
    else {
        return Held::Aside;
    };
    if trace.began - on_override.last_asked < SESSION {
        return Held::Aside;
    }
    let first = trace.chain.first();
    let asks = first.map(|candidate| format!("{}/{}", candidate.provider, candidate.model));
    if asks.as_ref() == Some(&on_override.primary) {
        Held::Yes
    } else {
        Held::Broken(format!(
            "the session asked its primary {} s ago, and its turn begins with {asks:?}",
            (trace.began - on_override.last_asked) / SECOND
        ))
    }
}
