//! The windows of a usage state, read naively: nothing here asks the engine what a window means.

use openclaw_auth_store::AuthSnapshot;
use openclaw_classify::Reason;
use openclaw_cooldown::{Lane, Window};

use crate::trace::Candidate;

/// A window that keeps a credential from a model.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Held {
    pub(crate) lane: LaneKind,
    pub(crate) reason: Reason,
    pub(crate) opened: i64,
    pub(crate) until: i64,
    /// Whether the provider named the end.
    pub(crate) stated: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LaneKind {
    AuthPermanent,
    Billing,
    Blocked,
    Model,
    Profile,
}

/// Every window that keeps `profile` from `model` at `now`.
pub(crate) fn held(view: &AuthSnapshot, profile: &str, model: &str, now: i64) -> Vec<Held> {
    let Some((_, usage)) = view.usage.iter().find(|(id, _)| id.as_str() == profile) else {
        return Vec::new();
    };
    let concerning = usage.windows.iter().filter_map(|(lane, window)| {
        let kind = match lane {
            Lane::AuthPermanent => LaneKind::AuthPermanent,
            Lane::Billing => LaneKind::Billing,
            Lane::Blocked => LaneKind::Blocked,
            Lane::Model(of) if of.as_str() == model => LaneKind::Model,
            Lane::Model(_) => return None,
            Lane::Profile => LaneKind::Profile,
        };
        Some(of_window(kind, window))
    });
    concerning.filter(|held| now < held.until).collect()
}

fn of_window(lane: LaneKind, window: &Window) -> Held {
    Held {
        lane,
        reason: window.reason,
        opened: window.opened_at.as_millisecond(),
        until: window.until.as_millisecond(),
        stated: window.stated.is_some(),
    }
}

/// When the provider's endpoint is back; none when it is not away.
pub(crate) fn endpoint(view: &AuthSnapshot, provider: &str, now: i64) -> Option<i64> {
    let ends = view
        .endpoints
        .iter()
        .filter(|(key, _)| key.provider.as_str() == provider);
    let until = ends.map(|(_, window)| window.until.as_millisecond()).max()?;
    (now < until).then_some(until)
}

/// Whether one of `profiles` is free for the candidate and its endpoint is there.
pub(crate) fn is_free(view: &AuthSnapshot, candidate: &Candidate, profiles: &[&str], now: i64) -> bool {
    let free = |profile: &&str| held(view, profile, &candidate.model, now).is_empty();
    endpoint(view, &candidate.provider, now).is_none() && (profiles.is_empty() || profiles.iter().any(free))
}

/// for one candidate: a rate limit of this model alone counts by its latest end, everything else by its
/// earliest; and the endpoint has to be back as well.
pub(crate) fn back(view: &AuthSnapshot, candidate: &Candidate, profiles: &[&str], now: i64) -> Option<i64> {
    let mut limited: Vec<i64> = Vec::new();
    let mut others: Vec<i64> = Vec::new();
    for profile in profiles {
        let windows = held(view, profile, &candidate.model, now);
        let Some(until) = windows.iter().map(|held| held.until).max() else {
            continue;
        };
        let of_this_model = windows
            .iter()
            .all(|held| held.lane == LaneKind::Model && held.reason == Reason::RateLimit);
        if of_this_model {
            limited.push(until);
        } else {
            others.push(until);
        }
    }
    let credentials = match (limited.iter().max(), others.iter().min()) {
        (Some(limited), Some(other)) => Some(*limited.min(other)),
        (one, other) => one.or(other).copied(),
    };
    match (credentials, endpoint(view, &candidate.provider, now)) {
        (Some(one), Some(other)) => Some(one.max(other)),
        (one, other) => one.or(other),
    }
}
