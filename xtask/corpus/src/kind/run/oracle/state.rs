//! What is known to rest: as the recorded program keeps it, or as decided (D1 to D6).

use openclaw_ids::ProviderId;
use openclaw_providers::AuthAliases;
use serde_json::{Map, Value};

use crate::kind::cooldown::oracle::{HOUR, Profile, World, setting, view, wait};
use crate::kind::{EXEMPT, Switches};

/// The usage state of all profiles.
#[derive(Clone)]
pub(super) enum State<'i> {
    Decided(StoredState<'i, World<'i>>),
    Recorded(StoredState<'i, Map<String, Value>>),
}

/// A state with what it is read by.
#[derive(Clone)]
pub(super) struct StoredState<'i, T> {
    input: &'i Value,
    /// Whether no provider is exempt from cooldowns (D8).
    everybody: bool,
    what: T,
}

/// A window that keeps a profile from a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Block {
    pub(super) lane: Lane,
    pub(super) reason: String,
    pub(super) opened: i64,
    pub(super) until: i64,
}

/// Which window it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lane {
    /// Its end was stated, by whom the other program would believe.
    Blocked {
        sourced: bool,
    },
    Disabled,
    Model,
    Short,
}

/// One profile as a candidate sees it.
#[derive(Debug, Clone)]
pub(super) struct CredentialView {
    pub(super) blocks: Vec<Block>,
    pub(super) free: bool,
    pub(super) counts: Vec<(String, i64)>,
    pub(super) failed: Option<i64>,
}

impl<'i> State<'i> {
    pub(super) fn read(input: &'i Value, on: &Switches) -> Self {
        let everybody = on.holds("D8");
        if on.holds("D1-D6") {
            let what = World::read(input);
            return Self::Decided(StoredState {
                input,
                everybody,
                what,
            });
        }
        let what = input["store"]["usageStats"]
            .as_object()
            .cloned()
            .unwrap_or_default();
        Self::Recorded(StoredState {
            input,
            everybody,
            what,
        })
    }

    pub(super) fn apply(&mut self, event: &Value, now: i64) {
        let id = event["profile"].as_str().unwrap_or_default();
        match self {
            Self::Decided(kept) => {
                if !kept.is_exempt(id) {
                    kept.what.now = now;
                    kept.what.on(event);
                }
            }
            Self::Recorded(kept) => kept.apply(id, event, now),
        }
    }

    /// The profiles of a provider, in any order.
    pub(super) fn profiles(&self, provider: &str) -> Vec<String> {
        let input = match self {
            Self::Decided(kept) => kept.input,
            Self::Recorded(kept) => kept.input,
        };
        let stored = &input["store"]["profiles"];
        let listed = input["config"]["auth"]["order"][provider].as_array();
        let all = || stored.as_object().into_iter().flatten().map(|(id, _)| id.clone());
        let ids: Vec<String> = match listed {
            Some(list) => list.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            None => all().collect(),
        };
        let own = |id: &String| shares(&owner(input, id), provider);
        ids.into_iter().filter(own).collect()
    }

    pub(super) fn seen(&self, id: &str, model: &str, now: i64) -> CredentialView {
        match self {
            Self::Decided(kept) => kept.seen(id, model, now),
            Self::Recorded(kept) => kept.seen(id, model, now),
        }
    }

    /// for these profiles.
    pub(super) fn soonest(&self, ids: &[String], model: &str, now: i64) -> Option<i64> {
        match self {
            Self::Decided(kept) => {
                let known = |id: &String| kept.what.known.get(id).cloned().unwrap_or_default();
                let profiles: Vec<(String, Profile)> = ids.iter().map(|id| (id.clone(), known(id))).collect();
                view::soonest(&profiles, Some(model), now)
            }
            Self::Recorded(kept) => kept.soonest(ids, model, now),
        }
    }
}

fn owner(input: &Value, id: &str) -> String {
    let named = input["store"]["profiles"][id]["provider"].as_str();
    named.unwrap_or_default().trim().to_lowercase()
}

/// Whether two providers use the same credentials; what names mean is an input here.
fn shares(one: &str, other: &str) -> bool {
    let (Ok(one), Ok(other)) = (ProviderId::try_new(one), ProviderId::try_new(other)) else {
        return false;
    };
    AuthAliases::default().share_credentials(&one, &other)
}

impl<T> StoredState<'_, T> {
    fn is_exempt(&self, id: &str) -> bool {
        !self.everybody && EXEMPT.contains(&owner(self.input, id).as_str())
    }
}

impl StoredState<'_, World<'_>> {
    fn seen(&self, id: &str, model: &str, now: i64) -> CredentialView {
        let profile = self.what.known.get(id).cloned().unwrap_or_default();
        let blocks: Vec<Block> = profile
            .blocking(Some(model), now)
            .map(|(lane, window)| Block {
                lane: match lane.as_str() {
                    "*" => Lane::Short,
                    "*blocked" => Lane::Blocked { sourced: true },
                    "*billing" | "*auth_permanent" => Lane::Disabled,
                    _ => Lane::Model,
                },
                reason: window.reason.clone(),
                opened: window.opened,
                until: window.until,
            })
            .collect();
        CredentialView {
            free: blocks.is_empty() || self.is_exempt(id),
            blocks,
            counts: profile.counts.clone().into_iter().collect(),
            failed: profile.failed,
        }
    }
}

/// The recorded program's arithmetic (cooldown.md 4 to 11).
impl StoredState<'_, Map<String, Value>> {
    fn apply(&mut self, id: &str, event: &Value, now: i64) {
        if owner(self.input, id).is_empty() || self.is_exempt(id) {
            return;
        }
        let config = &self.input["config"]["auth"]["cooldowns"];
        let provider = owner(self.input, id);
        let stats = self
            .what
            .entry(id.to_owned())
            .or_insert_with(|| Value::Object(Map::new()));
        match event["op"].as_str().unwrap_or_default() {
            "failure" => failed(stats, event, now, config, &provider),
            "blocked" => {
                let until = event["untilMs"].as_i64().unwrap_or_default();
                if until > now {
                    stats["blockedUntil"] = until.max(end(stats, "blockedUntil").unwrap_or_default()).into();
                    stats["blockedReason"] = "subscription_limit".into();
                    stats["blockedSource"] = event["source"].clone();
                    stats["blockedModel"] = event["model"].clone();
                    forget(stats, &["cooldownUntil", "cooldownReason", "cooldownModel"]);
                    stats["lastFailureAt"] = now.into();
                }
            }
            _ => {
                let members = stats.as_object().cloned().unwrap_or_default();
                *stats = members
                    .into_iter()
                    .filter(|(name, _)| ["lastUsed", "lastFailureAt"].contains(&name.as_str()))
                    .collect();
            }
        }
    }

    fn seen(&self, id: &str, model: &str, now: i64) -> CredentialView {
        let stats = self.what.get(id).unwrap_or(&Value::Null);
        let active = |until: &str| end(stats, until).filter(|until| now < *until);
        let elsewhere = elsewhere(stats, model, now);
        let failed = stats["lastFailureAt"].as_i64();
        let opened = failed.filter(|at| *at <= now).unwrap_or(now);
        let block = |lane, reason: &Value, until| Block {
            lane,
            reason: reason.as_str().unwrap_or("unknown").to_owned(),
            opened,
            until,
        };
        let sourced = stats["blockedReason"] == "subscription_limit"
            && stats["blockedSource"].is_string()
            && stats["blockedModel"]
                .as_str()
                .is_none_or(|blocked| blocked == model);
        let limited = Value::from("rate_limit");
        let blocked = active("blockedUntil").map(|until| block(Lane::Blocked { sourced }, &limited, until));
        let disabled =
            active("disabledUntil").map(|until| block(Lane::Disabled, &stats["disabledReason"], until));
        let short = active("cooldownUntil").map(|until| {
            let lane = if stats["cooldownModel"].is_string() {
                Lane::Model
            } else {
                Lane::Short
            };
            block(lane, &stats["cooldownReason"], until)
        });
        let blocks: Vec<Block> = [blocked, disabled, short].into_iter().flatten().collect();
        let counts = stats["failureCounts"].as_object().into_iter().flatten();
        CredentialView {
            free: blocks.is_empty() || elsewhere || self.is_exempt(id),
            blocks,
            counts: counts
                .filter_map(|(reason, count)| Some((reason.clone(), count.as_i64()?)))
                .collect(),
            failed,
        }
    }

    fn soonest(&self, ids: &[String], model: &str, now: i64) -> Option<i64> {
        let (mut matching, mut others): (Option<i64>, Option<i64>) = (None, None);
        for stats in ids.iter().filter_map(|id| self.what.get(id)) {
            let ends = ["blockedUntil", "cooldownUntil", "disabledUntil"];
            let until = ends
                .into_iter()
                .filter_map(|name| end(stats, name))
                .filter(|until| *until > now)
                .max();
            let Some(until) = until.filter(|_| !elsewhere(stats, model, now)) else {
                continue;
            };
            let mine = stats["cooldownReason"] == "rate_limit" && stats["cooldownModel"] == *model;
            if mine && !is_shut(stats, now) {
                matching = matching.max(Some(until));
            } else {
                others = Some(others.map_or(until, |known| known.min(until)));
            }
        }
        matching.into_iter().chain(others).min()
    }
}

/// Whether the short window is another model's and nothing else rests the profile (cooldown.md 6).
fn elsewhere(stats: &Value, model: &str, now: i64) -> bool {
    let scoped = ["rate_limit", "timeout"]
        .iter()
        .any(|reason| stats["cooldownReason"] == *reason);
    scoped
        && stats["cooldownModel"]
            .as_str()
            .is_some_and(|other| other != model)
        && !is_shut(stats, now)
}

fn is_shut(stats: &Value, now: i64) -> bool {
    ["blockedUntil", "disabledUntil"]
        .iter()
        .any(|name| end(stats, name).is_some_and(|until| now < until))
}

fn end(stats: &Value, name: &str) -> Option<i64> {
    stats[name].as_i64().filter(|until| *until > 0)
}

fn forget(stats: &mut Value, names: &[&str]) {
    if let Some(members) = stats.as_object_mut() {
        members.retain(|name, _| !names.contains(&name.as_str()));
    }
}

/// cooldown.md 4.2.
fn failed(stats: &mut Value, event: &Value, now: i64, config: &Value, provider: &str) {
    let reason = event["reason"].as_str().unwrap_or_default();
    if reason == "no_error_details" {
        return;
    }
    let window = setting(&config["failureWindowHours"], HOUR, 24 * HOUR);
    let old = stats["lastFailureAt"]
        .as_i64()
        .is_some_and(|at| at > 0 && now - at > window);
    let until = ["blockedUntil", "cooldownUntil", "disabledUntil"]
        .iter()
        .filter_map(|name| end(stats, name))
        .max();
    if old || until.is_some_and(|until| until <= now) {
        stats["errorCount"] = 0.into();
        stats["failureCounts"] = Value::Object(Map::new());
    }
    let steps = stats["errorCount"].as_i64().unwrap_or_default() + 1;
    let count = stats["failureCounts"][reason].as_i64().unwrap_or_default() + 1;
    stats["errorCount"] = steps.into();
    stats["failureCounts"][reason] = count.into();
    stats["lastFailureAt"] = now.into();
    let keep =
        |stats: &Value, name: &str, new: i64| end(stats, name).filter(|until| *until > now).unwrap_or(new);
    if ["billing", "auth_permanent"].contains(&reason) {
        let new = now + wait(&format!("*{reason}"), count, config, provider);
        stats["disabledUntil"] = keep(stats, "disabledUntil", new).into();
        stats["disabledReason"] = reason.into();
        return;
    }
    let active = end(stats, "cooldownUntil").is_some_and(|until| until > now);
    let scoped = ["rate_limit", "timeout"].contains(&reason);
    let model = event["model"].as_str().filter(|_| scoped);
    let model = model
        .filter(|model| !active || stats["cooldownModel"] == **model)
        .map(str::to_owned);
    let new = now + wait("*", steps, config, provider);
    stats["cooldownUntil"] = keep(stats, "cooldownUntil", new).into();
    stats["cooldownReason"] = reason.into();
    match model {
        Some(model) => stats["cooldownModel"] = model.into(),
        None => forget(stats, &["cooldownModel"]),
    }
}
