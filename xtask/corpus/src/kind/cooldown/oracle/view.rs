//! What can be seen at one moment: the other program's members, and the questions about all profiles (D15).

use std::cmp::Reverse;

use serde_json::{Map, Value, json};

use super::{Profile, Window, World};

/// Strongest first, where windows end together.
pub(in crate::kind) const STRENGTH: &str = "auth_permanent auth billing format model_not_found overloaded timeout rate_limit empty_response no_error_details unclassified unknown";

/// Everything that can be seen.
pub(super) fn view(world: &World<'_>) -> Value {
    let now = world.now;
    let models = world.input["models"]
        .as_array()
        .into_iter()
        .flatten()
        .map(Value::as_str);
    let asked: Vec<Option<&str>> = std::iter::once(None).chain(models).collect();
    let by_model = |answer: &dyn Fn(Option<&str>) -> Value| -> Map<String, Value> {
        asked
            .iter()
            .map(|model| (model.unwrap_or("*").to_owned(), answer(*model)))
            .collect()
    };
    let ids = world.input["store"]["profiles"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(id, _)| id.clone());
    let profiles: Vec<(String, Profile)> = ids
        .map(|id| (id.clone(), world.known.get(&id).cloned().unwrap_or_default()))
        .collect();
    let by_profile = |answer: &dyn Fn(&Profile) -> Value| -> Map<String, Value> {
        profiles
            .iter()
            .map(|(id, profile)| (id.clone(), answer(profile)))
            .collect()
    };
    let strength = |window: &Window| {
        STRENGTH
            .split(' ')
            .position(|reason| reason == window.reason)
            .unwrap_or(99)
    };
    let active = profiles
        .iter()
        .flat_map(|(_, profile)| profile.blocking(None, now));
    let last = active
        .map(|(_, window)| window)
        .max_by_key(|window| (window.until, Reverse(strength(window))));
    json!({
        "usageStats": world.shown,
        "inCooldown": by_profile(&|profile| json!(by_model(&|model| json!(end(profile, model, now).is_some())))),
        "unusableUntil": by_profile(&|profile| json!(end(profile, None, now))),
        "soonestExpiry": by_model(&|model| json!(soonest(&profiles, model, now))),
        "unavailableReason": last.map(|window| window.reason.clone()),
    })
}

fn end(profile: &Profile, model: Option<&str>, now: i64) -> Option<i64> {
    profile.blocking(model, now).map(|(_, window)| window.until).max()
}

/// The earliest end among the profiles; of those that only a rate limit of this very model keeps, the latest.
pub(in crate::kind) fn soonest(profiles: &[(String, Profile)], model: Option<&str>, now: i64) -> Option<i64> {
    let limited = |profile: &Profile| {
        profile
            .blocking(model, now)
            .all(|(lane, window)| Some(lane.as_str()) == model && window.reason == "rate_limit")
    };
    let ends = profiles
        .iter()
        .filter_map(|(_, profile)| Some((limited(profile), end(profile, model, now)?)));
    let (limited, others): (Vec<_>, Vec<_>) = ends.partition(|(limited, _)| *limited);
    let latest = limited.into_iter().map(|(_, end)| end).max();
    others.into_iter().map(|(_, end)| end).chain(latest).min()
}

impl Profile {
    /// What the other program reads.
    pub(super) fn members(&self, now: i64) -> Value {
        let latest = |lanes: &dyn Fn(&str) -> bool| {
            self.blocking(None, now)
                .filter(|(lane, _)| lanes(lane))
                .max_by_key(|(_, window)| window.until)
        };
        let disabled =
            latest(&|lane| ["*billing", "*auth_permanent"].contains(&lane)).map(|(_, window)| window);
        let blocked = latest(&|lane| lane == "*blocked").map(|(_, window)| window);
        let outlasted = |window: &Window| {
            window.reason == "rate_limit" && blocked.is_some_and(|blocked| window.until <= blocked.until)
        };
        let short = latest(&|lane| lane == "*").filter(|(_, window)| !outlasted(window));
        let short = short.or_else(|| latest(&|lane| !lane.starts_with('*')));
        let used = !self.windows.is_empty() || self.used.is_some() || self.failed.is_some();
        let source = |window: &Window| {
            window.origin["source"]
                .as_str()
                .unwrap_or("codex_rate_limits")
                .to_owned()
        };
        let members = json!({
            "lastUsed": self.used,
            "lastFailureAt": self.failed,
            "errorCount": used.then(|| self.windows.values().map(|window| window.steps).sum::<i64>()),
            "failureCounts": (!self.counts.is_empty()).then_some(&self.counts),
            "disabledUntil": disabled.map(|window| window.until),
            "disabledReason": disabled.map(|window| &window.reason),
            "blockedUntil": blocked.map(|window| window.until),
            "blockedReason": blocked.map(|_| "subscription_limit"),
            "blockedSource": blocked.map(source),
            "blockedModel": blocked.map(|window| &window.origin["model"]),
            "cooldownUntil": short.map(|(_, window)| window.until),
            "cooldownReason": short.map(|(_, window)| &window.reason),
            "cooldownModel": short.map(|(lane, _)| lane).filter(|lane| *lane != "*"),
        });
        members
            .as_object()
            .into_iter()
            .flatten()
            .filter(|(_, value)| !value.is_null())
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect()
    }
}
