//! What the decisions say the answer is: the naive oracle per profile, read back in the corpus' words.

use std::collections::BTreeMap;

use crate::{UsageEffect, UsageReply, read_usage};
use serde_json::{Map, Value, json};

use super::replay::instant;
use crate::testing::oracle::{Happening, Oracle, Row, Rules};

/// Strongest first; texts that are not listed come last.
const PRIORITY: [&str; 12] = [
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

/// What may mark a profile at all (D6).
const RECORDED: [&str; 7] = [
    "auth",
    "auth_permanent",
    "billing",
    "model_not_found",
    "overloaded",
    "rate_limit",
    "timeout",
];

/// One profile as the oracle sees it.
#[derive(Default)]
struct Profile {
    oracle: Oracle,
    counts: BTreeMap<String, i64>,
    last_failure: Option<i64>,
    last_used: Option<i64>,
    file: Option<Value>,
}

pub(crate) struct Expected<'a> {
    input: &'a Value,
    now: i64,
    profiles: BTreeMap<&'a str, Profile>,
}

/// A setting in milliseconds, or the default.
fn setting(settings: &Value, key: &str, unit: f64, default: f64) -> i64 {
    let number = settings[key]
        .as_f64()
        .filter(|number| *number > 0.0)
        .unwrap_or(default);
    format!("{:.0}", (number * unit).floor()).parse().unwrap()
}

fn rules(settings: &Value, provider: &str) -> Rules {
    let (hour, minute) = (3_600_000.0, 60_000.0);
    let mut own = settings["billingBackoffHoursByProvider"]
        .as_object()
        .into_iter()
        .flatten();
    let own = own
        .find(|(id, _)| id.trim().to_lowercase() == provider)
        .map(|(_, hours)| json!({ "own": hours }));
    let billing = setting(settings, "billingBackoffHours", hour, 5.0);
    Rules {
        billing: (
            own.map_or(billing, |own| setting(&own, "own", hour, 5.0)),
            setting(settings, "billingMaxHours", hour, 24.0),
        ),
        auth_permanent: (
            setting(settings, "authPermanentBackoffMinutes", minute, 10.0),
            setting(settings, "authPermanentMaxMinutes", minute, 60.0),
        ),
        failure_window: setting(settings, "failureWindowHours", hour, 24.0),
    }
}

impl Profile {
    /// Takes over a stored entry that nobody here has seen before.
    fn adopt(&mut self, entry: &Value, now: i64) {
        let stored = |key: &str| entry[key].as_i64().filter(|number| *number > 0);
        self.last_used = stored("lastUsed");
        self.last_failure = stored("lastFailureAt");
        self.file = Some(entry.clone());
        let counts = entry["failureCounts"].as_object().into_iter().flatten();
        self.counts = counts
            .map(|(reason, count)| (reason.clone(), count.as_i64().unwrap()))
            .collect();

        let opened = self.last_failure.unwrap_or(now);
        let row = |until, steps: i64, stated, reason: &str| Row {
            opened,
            until,
            steps: u32::try_from(steps).unwrap(),
            last: opened,
            stated,
            reason: reason.to_owned(),
        };
        let mut rest = stored("errorCount").unwrap_or(0);
        for lane in ["billing", "auth_permanent"] {
            let count = self.counts.get(lane).copied().unwrap_or(0);
            rest = (rest - count).max(0);
            let until = stored("disabledUntil").filter(|_| entry["disabledReason"] == lane);
            if until.is_some() || count > 0 {
                let row = row(until.unwrap_or(opened), count.max(1), false, lane);
                self.oracle.lanes.insert(lane.to_owned(), row);
            }
        }
        if let Some(until) = stored("blockedUntil") {
            self.oracle
                .lanes
                .insert("blocked".to_owned(), row(until, 0, true, "rate_limit"));
        }
        let cooldown = stored("cooldownUntil");
        if cooldown.is_some() || rest > 0 {
            let lane = entry["cooldownModel"]
                .as_str()
                .map_or("profile".to_owned(), |id| format!("model:{id}"));
            let reason = entry["cooldownReason"].as_str().unwrap_or("unknown");
            self.oracle
                .lanes
                .insert(lane, row(cooldown.unwrap_or(opened), rest.max(1), false, reason));
        }
    }

    fn active(&self, now: i64, lanes: impl Fn(&str) -> bool) -> Vec<(&String, &Row)> {
        self.oracle
            .lanes
            .iter()
            .filter(|(lane, row)| row.until > now && lanes(lane))
            .collect()
    }

    /// The windows that block `model`, or any model.
    fn blocking(&self, model: Option<&str>, now: i64) -> Vec<(&String, &Row)> {
        self.active(now, |lane| {
            lane.strip_prefix("model:")
                .is_none_or(|id| model.is_none_or(|model| model == id))
        })
    }

    fn fail(&mut self, now: i64, happening: Happening<'_>, reason: &str) {
        if self
            .last_failure
            .is_some_and(|last| now - last > self.oracle.rules.failure_window)
        {
            self.counts.clear();
        }
        *self.counts.entry(reason.to_owned()).or_default() += 1;
        self.last_failure = Some(now);
        self.oracle.apply(now, happening);
    }

    /// what the other program is shown.
    fn mirror(&self, now: i64) -> Value {
        let mut shown = Map::new();
        let mut put = |key: &str, value: Value| shown.insert(key.to_owned(), value);
        if let Some(at) = self.last_used {
            put("lastUsed", json!(at));
        }
        if let Some(at) = self.last_failure {
            put("lastFailureAt", json!(at));
        }
        put(
            "errorCount",
            json!(self.oracle.lanes.values().map(|row| row.steps).sum::<u32>()),
        );
        if !self.counts.is_empty() {
            put("failureCounts", json!(self.counts));
        }
        let latest = |rows: Vec<(&String, &Row)>| {
            rows.into_iter()
                .max_by_key(|(_, row)| row.until)
                .map(|(lane, row)| (lane.clone(), row.clone()))
        };
        if let Some((_, row)) = latest(self.active(now, |lane| ["billing", "auth_permanent"].contains(&lane)))
        {
            put("disabledUntil", json!(row.until));
            put("disabledReason", json!(row.reason));
        }
        let blocked = latest(self.active(now, |lane| lane == "blocked")).map(|(_, row)| row.until);
        if let Some(until) = blocked {
            let before = self.file.as_ref().filter(|file| file["blockedUntil"] == until);
            let source = before
                .and_then(|file| file["blockedSource"].as_str())
                .unwrap_or("codex_rate_limits");
            put("blockedUntil", json!(until));
            put("blockedReason", json!("subscription_limit"));
            put("blockedSource", json!(source));
        }
        let wide = latest(self.active(now, |lane| lane == "profile"))
            .filter(|(_, row)| row.reason != "rate_limit" || blocked.is_none_or(|until| row.until > until));
        if let Some((lane, row)) =
            wide.or_else(|| latest(self.active(now, |lane| lane.starts_with("model:"))))
        {
            put("cooldownUntil", json!(row.until));
            put("cooldownReason", json!(row.reason));
            if let Some(id) = lane.strip_prefix("model:") {
                put("cooldownModel", json!(id));
            }
        }
        Value::Object(shown)
    }
}

impl<'a> Expected<'a> {
    pub(crate) fn new(input: &'a Value) -> Self {
        let now = input["startMs"].as_i64().unwrap();
        let profiles = input["store"]["profiles"]
            .as_object()
            .unwrap()
            .iter()
            .map(|(id, stored)| {
                let mut profile = Profile::default();
                profile.oracle.rules = rules(
                    &input["config"]["auth"]["cooldowns"],
                    stored["provider"].as_str().unwrap(),
                );
                if let Some(entry) = input["store"]["usageStats"].get(id) {
                    profile.adopt(entry, now);
                }
                (id.as_str(), profile)
            });
        Self {
            input,
            now,
            profiles: profiles.collect(),
        }
    }

    pub(crate) fn apply(&mut self, event: &Value) {
        self.now += event["ms"].as_i64().unwrap_or(0);
        let now = self.now;
        let id = event["profile"].as_str().unwrap_or("");
        let stored = &self.input["store"]["profiles"][id];
        let Some(profile) = self.profiles.get_mut(id) else {
            return;
        };
        let failure = |reason, wide, model, hint| Happening::Failure {
            reason,
            wide,
            model,
            hint,
            started: None,
        };
        match event["op"].as_str().unwrap() {
            "failure" => {
                let reason = event["reason"].as_str().unwrap();
                if !RECORDED.contains(&reason) {
                    return;
                }
                let model = event["model"].as_str().unwrap_or("");
                let probe = event.get("usageProbe").filter(|_| {
                    reason == "rate_limit" && stored["type"] == "oauth" && stored["provider"] == "openai"
                });
                let effect = probe.map(|probe| read_usage(reply(probe), instant(now)).effect);
                let (wide, hint) = match effect {
                    Some(UsageEffect::BlockedUntil(at)) => (true, Some(at.as_millisecond())),
                    Some(UsageEffect::Cooldown(wait)) => {
                        (false, Some(now + i64::try_from(wait.as_millis()).unwrap()))
                    }
                    None => (model.is_empty(), None),
                };
                profile.fail(now, failure(reason, wide, model, hint), reason);
            }
            "blocked" => {
                let Some(until) = event["untilMs"].as_i64().filter(|until| *until > now) else {
                    return;
                };
                profile.fail(now, failure("rate_limit", true, "", Some(until)), "rate_limit");
            }
            "success" if normal(&event["provider"]) == normal(&stored["provider"]) => {
                profile.oracle.apply(
                    now,
                    Happening::Success {
                        model: None,
                        started: Some(now),
                    },
                );
                profile.counts.clear();
                profile.last_used = Some(now);
            }
            "clear" if profile.oracle.lanes.is_empty() && profile.counts.is_empty() => return,
            "clear" => {
                profile.oracle.apply(now, Happening::Clear);
                profile.counts.clear();
            }
            _ => return,
        }
        profile.file = Some(profile.mirror(now));
    }

    pub(crate) fn answer(&self) -> Value {
        let now = self.now;
        let models = || {
            [None]
                .into_iter()
                .chain(self.input["models"].as_array().unwrap().iter().map(Value::as_str))
        };
        let each = |question: &dyn Fn(&Profile) -> Value| {
            self.profiles
                .iter()
                .map(|(id, profile)| ((*id).to_owned(), question(profile)))
                .collect::<Map<_, _>>()
        };
        let name = |model: Option<&str>| model.unwrap_or("*").to_owned();
        json!({
            "nowMs": now,
            "usageStats": each(&|profile| json!(profile.file)),
            "inCooldown": each(&|profile| {
                json!(models().map(|model| (name(model), json!(!profile.blocking(model, now).is_empty()))).collect::<Map<_, _>>())
            }),
            "unusableUntil": each(&|profile| json!(profile.blocking(None, now).iter().map(|(_, row)| row.until).max())),
            "soonestExpiry": models().map(|model| (name(model), json!(self.soonest(model)))).collect::<Map<_, _>>(),
            "unavailableReason": self.reason(),
        })
    }

    /// over the windows of D15.
    fn soonest(&self, model: Option<&str>) -> Option<i64> {
        let (mut matching, mut others) = (Vec::new(), Vec::new());
        for profile in self.profiles.values() {
            let rows = profile.blocking(model, self.now);
            let Some(until) = rows.iter().map(|(_, row)| row.until).max() else {
                continue;
            };
            let own = rows
                .iter()
                .all(|(lane, row)| lane.starts_with("model:") && row.reason == "rate_limit");
            if own && model.is_some() {
                matching.push(until);
            } else {
                others.push(until);
            }
        }
        matching.into_iter().max().into_iter().chain(others).min()
    }

    /// D15, while every profile is blocked.
    fn reason(&self) -> Option<String> {
        let mut worst: Vec<(i64, usize, String)> = Vec::new();
        for profile in self.profiles.values() {
            let rows = profile.blocking(None, self.now);
            let rank = |reason: &str| {
                PRIORITY.len()
                    - PRIORITY
                        .iter()
                        .position(|row| *row == reason)
                        .unwrap_or(PRIORITY.len())
            };
            worst.push(
                rows.iter()
                    .map(|(_, row)| (row.until, rank(&row.reason), row.reason.clone()))
                    .max()?,
            );
        }
        worst.into_iter().max().map(|(_, _, reason)| reason)
    }
}

fn normal(provider: &Value) -> String {
    provider.as_str().unwrap().trim().to_lowercase()
}

fn reply(probe: &Value) -> UsageReply<'_> {
    match probe["status"].as_u64() {
        Some(status) => UsageReply::Answered {
            status: u16::try_from(status).unwrap(),
            body: probe.get("body"),
        },
        None => UsageReply::Failed,
    }
}
