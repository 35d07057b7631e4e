//! Which windows a change of usage state opened, moved or ended.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use jiff::Timestamp;
use openclaw_classify::Reason;
use openclaw_cooldown::{EndpointWindow, Lane, Window};
use openclaw_ids::{AgentId, ProfileId, ProviderId};
use openclaw_runner::CooldownWindows;

use crate::entry::{CooldownTarget, WindowChange, WindowNote};

/// The windows of `agent` that differ between `before` and `after`, which are about the same credential or endpoint, at
/// `now`. Without a `run_id` it was a person who changed them.
pub fn window_changes(
    agent: &AgentId,
    run_id: Option<&str>,
    before: &CooldownWindows,
    after: &CooldownWindows,
    now: Timestamp,
) -> Vec<WindowNote> {
    let changes = match (before, after) {
        (
            CooldownWindows::Profile { windows: old, .. },
            CooldownWindows::Profile {
                profile,
                windows: new,
                ..
            },
        ) => of_profile(profile, old, new, now),
        (CooldownWindows::Endpoint(_, old), CooldownWindows::Endpoint(endpoint, new)) => {
            let change = of_endpoint(&endpoint.provider, *old, *new, now);
            change.into_iter().collect()
        }
        (CooldownWindows::Endpoint(..), CooldownWindows::Profile { .. })
        | (CooldownWindows::Profile { .. }, CooldownWindows::Endpoint(..)) => Vec::new(),
    };
    let note = |(rested, change, window): (CooldownTarget, WindowChange, Window)| WindowNote {
        agent: agent.clone(),
        rested,
        change,
        opened_at: window.opened_at,
        until: window.until,
        reason: window.reason,
        steps: window.steps,
        run_id: run_id.map(str::to_owned),
    };
    changes.into_iter().map(note).collect()
}

fn of_profile(
    profile: &ProfileId,
    before: &BTreeMap<Lane, Window>,
    after: &BTreeMap<Lane, Window>,
    now: Timestamp,
) -> Vec<(CooldownTarget, WindowChange, Window)> {
    let rested = |lane: &Lane| CooldownTarget::Profile {
        profile: profile.clone(),
        lane: lane.clone(),
    };
    let is_over = |lane: &Lane| after.get(lane).is_none_or(|next| !next.is_active(now));
    let ended = before
        .iter()
        .filter(|(lane, window)| window.is_active(now) && is_over(lane))
        .map(|(lane, window)| (rested(lane), WindowChange::Cleared, window.clone()));
    let changed = after.iter().filter(|(_, window)| window.is_active(now));
    let changed = changed.filter_map(|(lane, window)| {
        let change = moved(before.get(lane), window)?;
        Some((rested(lane), change, window.clone()))
    });
    ended.chain(changed).collect()
}

/// What made the active `window` out of what was there.
fn moved(before: Option<&Window>, window: &Window) -> Option<WindowChange> {
    match before {
        Some(old) if old.opened_at == window.opened_at => match window.until.cmp(&old.until) {
            Ordering::Equal => None,
            Ordering::Greater => Some(WindowChange::Extended),
            Ordering::Less => Some(WindowChange::Shortened),
        },
        _ => Some(WindowChange::Opened),
    }
}

fn of_endpoint(
    provider: &ProviderId,
    before: Option<EndpointWindow>,
    after: Option<EndpointWindow>,
    now: Timestamp,
) -> Option<(CooldownTarget, WindowChange, Window)> {
    let active =
        |window: Option<EndpointWindow>| window.filter(|window| window.is_active(now)).map(as_window);
    let change = match (active(before), active(after)) {
        (Some(old), None) => (WindowChange::Cleared, old),
        (old, Some(new)) => (moved(old.as_ref(), &new)?, new),
        (None, None) => return None,
    };
    let rested = CooldownTarget::Endpoint {
        endpoint: provider.clone(),
    };
    Some((rested, change.0, change.1))
}

fn as_window(window: EndpointWindow) -> Window {
    Window::new(window.opened_at, window.until, Reason::Timeout)
}

#[cfg(test)]
mod tests;
