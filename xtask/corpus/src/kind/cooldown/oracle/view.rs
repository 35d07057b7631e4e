//! What can be asked about all profiles at one moment (D15).

use serde_json::{Map, Value, json};

use super::World;
use super::profile::{Profile, Window};

/// Strongest first, where windows end together.
const STRENGTH: [&str; 12] = [
    "auth_permanent",
    "auth",
    "billing",
    "format",
    "model_not_found",
    "overloaded",
    "timeout",
    "rate_limit",
    "empty_response",
    "no_error_details",
    "unclassified",
    "unknown",
];

/// Everything that can be seen.
pub(super) fn view(world: &World<'_>) -> Value {
    let now = world.now;
    let models = world.input["models"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str);
    let asked: Vec<Option<&str>> = std::iter::once(None).chain(models.map(Some)).collect();
    let by_model = |answer: &dyn Fn(Option<&str>) -> Value| -> Map<String, Value> {
        asked
            .iter()
            .map(|model| (model.unwrap_or("*").to_owned(), answer(*model)))
            .collect()
    };
    let profiles: Vec<_> = world
        .ids()
        .map(|id| (id, world.known.get(id).cloned().unwrap_or_default()))
        .collect();
    let (mut resting, mut until) = (Map::new(), Map::new());
    for (id, profile) in &profiles {
        resting.insert(
            (*id).clone(),
            json!(by_model(&|model| json!(
                profile.blocking(model, now).next().is_some()
            ))),
        );
        until.insert((*id).clone(), json!(ends(profile, None, now)));
    }
    let active = profiles
        .iter()
        .flat_map(|(_, profile)| profile.blocking(None, now).map(|(_, window)| window));
    let last = active.max_by_key(|window| (window.until, std::cmp::Reverse(weakness(window))));
    let mut view = json!({
        "nowMs": now,
        "usageStats": world.shown,
        "inCooldown": resting,
        "unusableUntil": until,
        "soonestExpiry": by_model(&|model| json!(soonest(profiles.iter().map(|(_, profile)| profile), model, now))),
        "unavailableReason": last.map(|window| window.reason.clone()),
    });
    if !world.good.is_empty() {
        view["lastGood"] = json!(world.good);
    }
    view
}

fn weakness(window: &Window) -> usize {
    STRENGTH
        .iter()
        .position(|reason| *reason == window.reason)
        .unwrap_or(STRENGTH.len())
}

fn ends(profile: &Profile, model: Option<&str>, now: i64) -> Option<i64> {
    profile.blocking(model, now).map(|(_, window)| window.until).max()
}

/// The earliest end among the profiles; of those that only a rate limit of this very model keeps, the latest.
fn soonest<'p>(profiles: impl Iterator<Item = &'p Profile>, model: Option<&str>, now: i64) -> Option<i64> {
    let limited = |profile: &&Profile| {
        profile
            .blocking(model, now)
            .all(|(lane, window)| Some(lane.as_str()) == model && window.reason == "rate_limit")
    };
    let (limited, others): (Vec<_>, Vec<_>) = profiles
        .filter(|profile| ends(profile, model, now).is_some())
        .partition(limited);
    let latest = limited
        .into_iter()
        .filter_map(|profile| ends(profile, model, now))
        .max();
    let earliest = others
        .into_iter()
        .filter_map(|profile| ends(profile, model, now))
        .min();
    latest.into_iter().chain(earliest).min()
}
