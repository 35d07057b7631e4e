//! Converts the usage state to the other program's `usageStats`, and adopts what was changed there.

use jiff::Timestamp;
use openclaw_classify::Reason;
use serde_json::Number;

use super::{BlockedReason, instant, stored_reason};
use crate::usage_state::lane;
use crate::{BlockedOrigin, BlockedSource, Lane, ProfileUsage, UsageStats, Window, millis};

/// `usage` as the other program sees it at `now`; unknown members of `previous` survive (D13).
///
/// Each of its three windows holds the matching profile-wide one. Where the short one is free, it holds the
/// latest-ending model window, with its model. `errorCount` is the number of episodes since the last reset (D5),
/// and `server_error` is written as `timeout` (C2).
pub fn to_usage_stats(usage: &ProfileUsage, now: Timestamp, previous: Option<&UsageStats>) -> UsageStats {
    let mut stats = UsageStats {
        last_used: usage.last_used.map(milliseconds),
        last_failure_at: usage.last_failure_at.map(milliseconds),
        unknown: previous
            .map(|previous| previous.unknown.clone())
            .unwrap_or_default(),
        ..UsageStats::default()
    };
    if !usage.windows.is_empty() || stats.last_used.is_some() || stats.last_failure_at.is_some() {
        stats.error_count = Some(episodes(usage).into());
    }
    for (reason, count) in &usage.failure_counts {
        let sum = stats.failure_counts.entry(stored_reason(*reason)).or_default();
        *sum = sum.saturating_add(*count);
    }
    if let Some((_, window)) = latest(usage, now, |lane| {
        matches!(lane, Lane::AuthPermanent | Lane::Billing)
    }) {
        stats.disabled_until = Some(milliseconds(window.until));
        stats.disabled_reason = Some(stored_reason(window.reason));
    }
    if let Some(window) = active(usage, &Lane::Blocked, now) {
        write_blocked(&mut stats, window);
    }
    if let Some((lane, window)) = short_window(usage, now) {
        stats.cooldown_until = Some(milliseconds(window.until));
        stats.cooldown_reason = Some(stored_reason(window.reason));
        stats.cooldown_model = match lane {
            Lane::Model(model) => Some(model.clone()),
            Lane::AuthPermanent | Lane::Billing | Lane::Blocked | Lane::Profile => None,
        };
    }
    stats
}

/// The blocked members. Without a source the other program would not take the end for a stated one.
fn write_blocked(stats: &mut UsageStats, window: &Window) {
    let origin = window.origin.as_ref();
    stats.blocked_until = Some(milliseconds(window.until));
    stats.blocked_reason = Some(BlockedReason::SubscriptionLimit);
    stats.blocked_source = Some(origin.map_or(BlockedSource::CodexRateLimits, |origin| origin.source));
    stats.blocked_model = origin.and_then(|origin| origin.model.clone());
}

/// What the short window shows. A profile-wide rate limit that the blocked window outlasts says nothing more.
fn short_window(usage: &ProfileUsage, now: Timestamp) -> Option<(&Lane, &Window)> {
    let blocked_until = active(usage, &Lane::Blocked, now).map(|window| window.until);
    let outlasted = |window: &Window| {
        window.reason == Reason::RateLimit && blocked_until.is_some_and(|until| window.until <= until)
    };
    latest(usage, now, |lane| *lane == Lane::Profile)
        .filter(|(_, window)| !outlasted(window))
        .or_else(|| latest(usage, now, |lane| !lane.is_profile_wide()))
}

fn active<'a>(usage: &'a ProfileUsage, lane: &Lane, now: Timestamp) -> Option<&'a Window> {
    usage.windows.get(lane).filter(|window| window.is_active(now))
}

fn latest(usage: &ProfileUsage, now: Timestamp, lanes: impl Fn(&Lane) -> bool) -> Option<(&Lane, &Window)> {
    usage
        .blocking(None, now)
        .filter(|(lane, _)| lanes(lane))
        .max_by_key(|(_, window)| window.until)
}

fn episodes(usage: &ProfileUsage) -> u32 {
    usage
        .windows
        .values()
        .fold(0, |sum, window| sum.saturating_add(window.steps))
}

fn milliseconds(at: Timestamp) -> Number {
    millis::floor(at).as_millisecond().into()
}

/// Takes over what the other program changed in `stats` since we last wrote it.
///
/// Longer windows are adopted, shorter ones are not (D3). A success or clear there removes what it could see: after
/// a success the windows of other models stay (D10). What `to_usage_stats` wrote, read back, changes nothing. A state
/// that is new to us is adopted with its ladder steps, also where its windows are over (D1).
pub fn adopt_usage_stats(mut usage: ProfileUsage, stats: &UsageStats, now: Timestamp) -> ProfileUsage {
    let now = millis::floor(now);
    let last_used = instant(stats.last_used.as_ref());
    let last_failure_at = instant(stats.last_failure_at.as_ref());
    let seen = to_usage_stats(
        &usage,
        usage.last_used.max(usage.last_failure_at).unwrap_or(now),
        None,
    );

    if last_used > usage.last_used {
        usage.windows.retain(|lane, _| match lane {
            Lane::Model(model) => seen.cooldown_model.as_ref() != Some(model),
            Lane::AuthPermanent | Lane::Billing | Lane::Blocked | Lane::Profile => false,
        });
    } else if stats.episodes() == 0 && episodes(&usage) > 0 {
        usage.windows.clear();
    }
    if stats.failure_counts != seen.failure_counts {
        usage.failure_counts.clone_from(&stats.failure_counts);
    }
    usage.last_used = usage.last_used.max(last_used);
    usage.last_failure_at = usage.last_failure_at.max(last_failure_at);

    let opened_at = last_failure_at.filter(|at| *at <= now).unwrap_or(now);
    let import = if usage.windows.is_empty() {
        ImportKind::First
    } else {
        ImportKind::Update
    };
    for foreign in stats_windows(stats, opened_at) {
        if foreign.until > now || import == ImportKind::First {
            adopt(&mut usage, foreign, stats, import, opened_at);
        }
    }
    usage
}

/// Whether a state is read for the first time, or on top of one that is known.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ImportKind {
    First,
    Update,
}

/// One window as the other program stores it.
struct StatsWindow {
    lane: Lane,
    until: Timestamp,
    reason: Reason,
    /// The step of its ladder.
    steps: u32,
}

/// The windows of `stats`. Counts without a window make one that is over, so that the ladder goes on from there.
fn stats_windows(stats: &UsageStats, opened_at: Timestamp) -> Vec<StatsWindow> {
    let mut windows = Vec::new();
    let mut short_steps = stats.episodes();
    let disabled = instant(stats.disabled_until.as_ref());
    for (lane, reason) in [
        (Lane::AuthPermanent, Reason::AuthPermanent),
        (Lane::Billing, Reason::Billing),
    ] {
        let count = stats.failure_counts.get(&reason).copied().unwrap_or(0);
        let steps = u32::try_from(count).unwrap_or(u32::MAX);
        short_steps = short_steps.saturating_sub(steps);
        let until = disabled.filter(|_| stats.disabled_reason == Some(reason));
        if until.is_some() || steps > 0 {
            let (until, steps) = (until.unwrap_or(opened_at), steps.max(1));
            windows.push(StatsWindow {
                lane,
                until,
                reason,
                steps,
            });
        }
    }
    if let Some(until) = disabled
        && !matches!(
            stats.disabled_reason,
            Some(Reason::AuthPermanent | Reason::Billing)
        )
    {
        let reason = stats.disabled_reason.unwrap_or(Reason::Unknown);
        windows.push(StatsWindow {
            lane: Lane::Profile,
            until,
            reason,
            steps: short_steps.max(1),
        });
    }
    if let Some(until) = instant(stats.blocked_until.as_ref()) {
        windows.push(StatsWindow {
            lane: Lane::Blocked,
            until,
            reason: Reason::RateLimit,
            steps: 0,
        });
    }
    let cooldown = instant(stats.cooldown_until.as_ref());
    if cooldown.is_some() || short_steps > 0 {
        let reason = stats.cooldown_reason.unwrap_or(Reason::Unknown);
        // A refused login cools all models down, whichever one is named (D4).
        let model = stats
            .cooldown_model
            .clone()
            .filter(|_| lane::may_block_one_model(reason));
        let lane = model.map_or(Lane::Profile, Lane::Model);
        let (until, steps) = (cooldown.unwrap_or(opened_at), short_steps.max(1));
        windows.push(StatsWindow {
            lane,
            until,
            reason,
            steps,
        });
    }
    windows
}

fn adopt(
    usage: &mut ProfileUsage,
    foreign: StatsWindow,
    stats: &UsageStats,
    import: ImportKind,
    opened_at: Timestamp,
) {
    let StatsWindow {
        lane,
        until,
        reason,
        steps,
    } = foreign;
    let old = usage.windows.get(&lane);
    if old.is_some_and(|window| window.until >= until) {
        return;
    }
    let steps = match (&lane, import) {
        (Lane::Blocked, _) => 0,
        (_, ImportKind::First) => steps,
        (_, ImportKind::Update) => old.map_or(0, |window| window.steps).saturating_add(1),
    };
    let blocked = lane == Lane::Blocked;
    let origin = || BlockedOrigin {
        source: stats.blocked_source.unwrap_or(BlockedSource::CodexRateLimits),
        model: stats.blocked_model.clone(),
    };
    let window = Window {
        steps,
        stated: blocked.then_some(until),
        origin: blocked.then(origin),
        unknown: old.map(|window| window.unknown.clone()).unwrap_or_default(),
        ..Window::new(opened_at, until, reason)
    };
    usage.windows.insert(lane, window);
}

#[cfg(test)]
mod tests;
