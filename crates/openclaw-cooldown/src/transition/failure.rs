//! Records a failure: which window it opens or lengthens, and on which step of the ladder (D1 to D8).

use std::time::Duration;

use jiff::Timestamp;
use openclaw_classify::{HintSource, Reason};

use crate::ladder::{long_wait, short_wait};
use crate::usage_state::lane::{self, HintPolicy};
use crate::{
    BlockedOrigin, BlockedSource, CooldownConfig, FailureEvent, Lane, MarkScope, ProfileUsage, Window, millis,
};

/// How many models of one profile are remembered beyond the end of their windows. A client that asks for ever new
/// names would otherwise make the state grow for a day.
const REMEMBERED_MODELS: usize = 256;

/// How long after its end a window's step is remembered at least (F-6).
const AFTER_WAIT: Duration = Duration::from_hours(1);

/// Records one failure at `now`.
///
/// A failure of an attempt that started before its window's `opened_at` only counts; any other one is one step up
/// the lane's ladder (D2). A window is never shortened or relabelled (D3), except by a newer stated end (D7).
/// Reasons that are no credential's fault, and scoped failures of bypassed providers (D8), change nothing.
pub fn record_failure(
    mut usage: ProfileUsage,
    event: &FailureEvent,
    now: Timestamp,
    config: &CooldownConfig,
) -> ProfileUsage {
    let Some(lane) = lane::lane_of(event) else {
        return usage;
    };
    if !lane.is_profile_wide() && config.bypasses(&event.provider) {
        return usage;
    }
    let now = millis::floor(now);
    forget_old_series(&mut usage, now, config.failure_window());
    let latest = |known| latest_failure(known, now, config.failure_window());
    usage.last_failure_at = Some(usage.last_failure_at.map_or(now, latest));
    let count = usage.failure_counts.entry(event.reason).or_default();
    *count = count.saturating_add(1);

    if belongs_to_known_episode(&mut usage, &lane, event, now, config) {
        return usage;
    }
    climb_ladder(&mut usage, lane, event, now, config);
    forget_idle_models(&mut usage, now);
    usage
}

/// Whether a window this failure concerns is newer than its attempt (D2); such windows only note the time.
///
/// A failure of the whole profile that a stated end may explain also concerns the blocked window.
fn belongs_to_known_episode(
    usage: &mut ProfileUsage,
    lane: &Lane,
    event: &FailureEvent,
    now: Timestamp,
    config: &CooldownConfig,
) -> bool {
    let blocked = *lane == Lane::Profile && lane::hint_policy(event.reason) == HintPolicy::Believe;
    let concerned = |known: &Lane| known == lane || (blocked && *known == Lane::Blocked);
    let windows = usage.windows.iter_mut().filter(|(known, _)| concerned(known));
    let newer = windows
        .map(|(_, window)| window)
        .filter(|window| window.covers(event.started_at, now));
    let mut any = false;
    for window in newer {
        window.last_failure_at = latest_failure(window.last_failure_at, now, config.failure_window());
        any = true;
    }
    any
}

/// One step up the ladder of `lane`, and what a stated end makes of it.
fn climb_ladder(
    usage: &mut ProfileUsage,
    lane: Lane,
    event: &FailureEvent,
    now: Timestamp,
    config: &CooldownConfig,
) {
    let old = usage.windows.remove(&lane);
    let steps = old.as_ref().map_or(0, |window| window.steps).saturating_add(1);
    let ladder = millis::after(now, wait(&lane, steps, event, config));
    let mut stated = stated_end(event);
    if lane == Lane::Profile
        && let Some(stated) = stated.take()
    {
        // The blocked window has no ladder; the profile's own window keeps it.
        if stated > ladder {
            usage.block_account(stated, origin(event), now);
        } else {
            usage.windows.remove(&Lane::Blocked);
        }
    }
    let last = old.as_ref().map_or(now, |window| {
        latest_failure(window.last_failure_at, now, config.failure_window())
    });
    let mut window = reopened_window(old, steps, event, WindowEnds { ladder, stated }, now);
    window.last_failure_at = last;
    usage.windows.insert(lane, window);
}

/// The two ends a window can get.
#[derive(Clone, Copy)]
struct WindowEnds {
    ladder: Timestamp,
    stated: Option<Timestamp>,
}

/// The lane's window after an episode that began at `now`.
fn reopened_window(
    old: Option<Window>,
    steps: u32,
    event: &FailureEvent,
    ends: WindowEnds,
    now: Timestamp,
) -> Window {
    let stated = ends.stated.filter(|stated| *stated > ends.ladder);
    let until = stated.unwrap_or(ends.ladder);
    let mut window = old.unwrap_or_else(|| Window::new(now, now, event.reason));
    let restated = ends.stated.is_some() && window.stated.is_some();
    if until > window.until || restated {
        window.until = until;
        window.reason = event.reason;
        window.stated = stated;
    }
    window.opened_at = now;
    window.steps = steps;
    window
}

/// Who stated the end of an account's limit, and during which model (cooldown.md 8.1).
pub(super) fn origin(event: &FailureEvent) -> BlockedOrigin {
    let source = event.hint.as_ref().map(|hint| hint.source);
    BlockedOrigin {
        source: match source {
            Some(HintSource::UsageCheck) => BlockedSource::Wham,
            Some(
                HintSource::Body | HintSource::RateLimitHeader | HintSource::RetryAfter | HintSource::Text,
            )
            | None => BlockedSource::CodexRateLimits,
        },
        model: event.model.clone(),
    }
}

/// The end the provider stated, where it may be believed.
pub(super) fn stated_end(event: &FailureEvent) -> Option<Timestamp> {
    let believed = lane::hint_policy(event.reason) == HintPolicy::Believe;
    let hint = event.hint.as_ref().filter(|hint| believed && hint.credible)?;
    Some(millis::floor(hint.at))
}

fn wait(lane: &Lane, steps: u32, event: &FailureEvent, config: &CooldownConfig) -> Duration {
    // A bill or login that is refused for one model has the ladder of its reason in that model's lane.
    let ladder = match (event.scope, event.reason) {
        (MarkScope::OneModel, Reason::AuthPermanent) => &Lane::AuthPermanent,
        (MarkScope::OneModel, Reason::Billing) => &Lane::Billing,
        _ => lane,
    };
    match ladder {
        Lane::AuthPermanent => long_wait(
            steps,
            config.auth_permanent_backoff(),
            config.auth_permanent_max(),
        ),
        Lane::Billing => long_wait(
            steps,
            config.billing_backoff(&event.provider),
            config.billing_max(),
        ),
        Lane::Blocked | Lane::Model(_) | Lane::Profile => short_wait(steps),
    }
}

/// The later of two failures: marks of several processes arrive out of order, and an earlier one must not make a series
/// look older than it is (D1). A time further ahead than the failure window comes from a clock that was wrong.
fn latest_failure(known: Timestamp, now: Timestamp, failure_window: Duration) -> Timestamp {
    if millis::elapsed(now, known) > failure_window {
        now
    } else {
        known.max(now)
    }
}

/// Starts the ladders over whose lane had no failure for longer than its failure window (D1).
fn forget_old_series(usage: &mut ProfileUsage, now: Timestamp, failure_window: Duration) {
    usage.windows.retain(|_, window| {
        let old = millis::elapsed(window.last_failure_at, now) > lane_failure_window(window, failure_window);
        if old {
            window.steps = 0;
        }
        !old || window.is_active(now)
    });
    let is_old = |at: Timestamp| millis::elapsed(at, now) > failure_window;
    let climbs = |window: &Window| window.steps > 0;
    if usage.last_failure_at.is_some_and(is_old) && !usage.windows.values().any(climbs) {
        usage.failure_counts.clear();
    }
}

/// How long a lane remembers its steps: the configured time, but never less than the wait of its window and an hour, so
/// that the first failure after a long wait is the next step and not the first one again (F-6).
fn lane_failure_window(window: &Window, configured: Duration) -> Duration {
    let wait = millis::elapsed(window.opened_at, window.until);
    configured.max(wait.saturating_add(AFTER_WAIT))
}

/// Drops windows of models that are over, the one that failed longest ago first, until few enough are left. An
/// active window stays, however many there are (D3).
fn forget_idle_models(usage: &mut ProfileUsage, now: Timestamp) {
    let models = || usage.windows.iter().filter(|(lane, _)| !lane.is_profile_wide());
    let excess = models().count().saturating_sub(REMEMBERED_MODELS);
    if excess == 0 {
        return;
    }
    let over = models().filter(|(_, window)| !window.is_active(now));
    let mut over: Vec<_> = over
        .map(|(lane, window)| (window.last_failure_at, lane.clone()))
        .collect();
    over.sort_unstable();
    for (_, lane) in over.iter().take(excess) {
        usage.windows.remove(lane);
    }
}

#[cfg(test)]
mod tests;
