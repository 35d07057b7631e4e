//! The decided answer, calculated naively: plain numbers and lists, a handful of rules, none of the crates.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

/// One window, active or over. Its lane is its key: `billing`, `auth_permanent`, `blocked`, `*`, or a model id.
#[derive(Clone)]
struct Window {
    until: i64,
    reason: String,
    steps: i64,
    failed: i64,
}

/// One profile.
#[derive(Clone, Default)]
struct Profile {
    windows: BTreeMap<String, Window>,
    counts: BTreeMap<String, i64>,
    used: Option<i64>,
    failed: Option<i64>,
}

const WIDE: [&str; 4] = ["billing", "auth_permanent", "blocked", "*"];

/// The whole answer to a row.
pub(super) fn oracle(input: &Value) -> Option<Value> {
    let mut now = input["startMs"].as_i64()?;
    let ids: Vec<&String> = input["store"]["profiles"].as_object()?.keys().collect();
    let mut saved: Map<String, Value> = input["store"]["usageStats"].as_object().cloned().unwrap_or_default();
    let mut known: BTreeMap<String, Profile> =
        saved.iter().map(|(id, stats)| (id.clone(), Profile::stored(stats, now))).collect();
    let mut good = Map::new();
    // What a sweep in memory has taken away since the last write.
    let mut swept: Vec<String> = Vec::new();
    let mut views = vec![view(input, &ids, &known, &saved, &good, now)];
    for event in input["events"].as_array()? {
        let id = event["profile"].as_str().unwrap_or_default().to_owned();
        let own = input["store"]["profiles"][&id]["provider"].as_str().unwrap_or_default();
        let before = known.get(&id).cloned().unwrap_or_default();
        let mut changed = None;
        match event["op"].as_str()? {
            "advance" => now += event["ms"].as_i64()?,
            "expire" => {
                let over = |(id, stats): (&String, &Value)| -> Vec<String> {
                    let ends = ["cooldownUntil", "disabledUntil", "blockedUntil"];
                    let past = |end: &&&str| stats[**end].as_i64().is_some_and(|until| 0 < until && until <= now);
                    ends.iter().filter(past).map(|end| format!("{id} {end}")).collect()
                };
                let over: Vec<String> = saved.iter().flat_map(over).filter(|end| !swept.contains(end)).collect();
                changed = Some(!over.is_empty());
                swept.extend(over);
            }
            _ if !ids.contains(&&id) => {}
            "failure" if event["reason"] != "no_error_details" => {
                let reason = event["reason"].as_str()?;
                let scoped = ["model_not_found", "overloaded", "rate_limit", "timeout"].contains(&reason);
                let lane = match reason {
                    "billing" | "auth_permanent" => reason,
                    _ if scoped => event["model"].as_str().unwrap_or("*"),
                    _ => "*",
                };
                known.insert(id.clone(), before.failed(lane, reason, now, own, &input["config"]["auth"]["cooldowns"]));
            }
            "blocked" if event["untilMs"].as_i64()? > now => {
                let until = event["untilMs"].as_i64()?;
                // Within one episode a second statement is the same news (D2).
                let same = before.windows.get("*").is_some_and(|window| now < window.until);
                let mut after = before.failed("*", "rate_limit", now, own, &input["config"]["auth"]["cooldowns"]);
                if !same {
                    after.windows.remove("blocked");
                    if until > after.windows["*"].until {
                        after.windows.insert("blocked".to_owned(), Window { until, reason: "rate_limit".into(), steps: 0, failed: now });
                    }
                }
                known.insert(id.clone(), after);
            }
            "success" if canonical(own) == canonical(event["provider"].as_str()?) => {
                good.insert(canonical(own), json!(id));
                known.insert(id.clone(), Profile { used: Some(now), failed: before.failed, ..Profile::default() });
            }
            "clear" if saved.contains_key(&id) => {
                known.insert(id.clone(), Profile { used: before.used, failed: before.failed, ..Profile::default() });
            }
            _ => {}
        }
        if let Some(after) = known.get(&id).filter(|after| after.members(now) != before.members(now) || after.failed != before.failed) {
            saved.insert(id.clone(), after.members(now));
            swept.clear();
        }
        let mut step = view(input, &ids, &known, &saved, &good, now);
        if let Some(changed) = changed {
            step["changed"] = json!(changed);
        }
        views.push(step);
    }
    let initial = views.remove(0);
    Some(json!({"initial": initial, "steps": views}))
}

fn canonical(provider: &str) -> String {
    let provider = provider.trim().to_lowercase();
    if provider == "claude-cli" { "anthropic".to_owned() } else { provider }
}

impl Profile {
    /// What another program left: its windows, each on the step that its counts say.
    fn stored(stats: &Value, now: i64) -> Self {
        let number = |member: &str| stats[member].as_i64().filter(|ms| (1..=8_640_000_000_000_000).contains(ms));
        let counts: BTreeMap<String, i64> = stats["failureCounts"].as_object().into_iter().flatten()
            .filter_map(|(reason, count)| Some((reason.clone(), count.as_i64().filter(|count| *count > 0)?))).collect();
        let failed = number("lastFailureAt");
        let at = failed.filter(|at| *at <= now).unwrap_or(now);
        let mut windows = BTreeMap::new();
        let mut left = stats["errorCount"].as_i64().unwrap_or(0);
        let mut put = |lane: &str, until: i64, reason: &str, steps: i64| {
            windows.insert(lane.to_owned(), Window { until, reason: reason.to_owned(), steps, failed: at });
        };
        let disabled = stats["disabledReason"].as_str();
        for lane in ["billing", "auth_permanent"] {
            let steps = counts.get(lane).copied().unwrap_or(0);
            left -= steps;
            let until = number("disabledUntil").filter(|_| disabled == Some(lane));
            if until.is_some() || steps > 0 {
                put(lane, until.unwrap_or(at), lane, steps.max(1));
            }
        }
        if let Some(until) = number("blockedUntil") {
            put("blocked", until, "rate_limit", 0);
        }
        if number("cooldownUntil").is_some() || left > 0 {
            let reason = stats["cooldownReason"].as_str().unwrap_or("unknown");
            let lane = stats["cooldownModel"].as_str().unwrap_or("*");
            put(lane, number("cooldownUntil").unwrap_or(at), reason, left.max(1));
        }
        Self { windows, counts, used: number("lastUsed"), failed }
    }

    fn failed(mut self, lane: &str, reason: &str, now: i64, provider: &str, config: &Value) -> Self {
        let hours = |value: &Value| value.as_f64().filter(|hours| *hours > 0.0);
        let window = hours(&config["failureWindowHours"]).unwrap_or(24.0) * 3_600_000.0;
        let old = |at: i64| millis(now - at) > window;
        if self.failed.is_some_and(old) {
            self.counts.clear();
        }
        self.windows.retain(|_, window| !old(window.failed) || now < window.until);
        self.windows.values_mut().filter(|window| old(window.failed)).for_each(|window| window.steps = 0);
        self.failed = Some(now);
        *self.counts.entry(reason.to_owned()).or_default() += 1;
        let known = self.windows.get(lane).cloned();
        if let Some(window) = known.clone().filter(|window| now < window.until) {
            self.windows.insert(lane.to_owned(), Window { failed: now, ..window });
            return self;
        }
        let steps = known.map_or(0, |window| window.steps) + 1;
        let base = hours(&config["billingBackoffHours"]).unwrap_or(5.0);
        let own = config["billingBackoffHoursByProvider"].as_object().into_iter().flatten()
            .find(|(key, _)| canonical(key) == canonical(provider)).and_then(|(_, value)| hours(value));
        let wait = match lane {
            "billing" => doubled(steps, own.unwrap_or(base) * 3_600_000.0, hours(&config["billingMaxHours"]).unwrap_or(24.0) * 3_600_000.0),
            "auth_permanent" => doubled(
                steps,
                hours(&config["authPermanentBackoffMinutes"]).unwrap_or(10.0) * 60_000.0,
                hours(&config["authPermanentMaxMinutes"]).unwrap_or(60.0) * 60_000.0,
            ),
            _ => [30_000, 60_000, 300_000][usize::try_from(steps - 1).unwrap_or(0).min(2)],
        };
        self.windows.insert(lane.to_owned(), Window { until: now + wait, reason: reason.to_owned(), steps, failed: now });
        self
    }

    fn blocking(&self, model: Option<&str>, now: i64) -> impl Iterator<Item = (&String, &Window)> {
        self.windows.iter().filter(move |(lane, window)| {
            now < window.until && model.is_none_or(|model| WIDE.contains(&lane.as_str()) || lane.as_str() == model)
        })
    }

    /// The other program's members.
    fn members(&self, now: i64) -> Value {
        let mut stats = Map::new();
        let mut put = |member: &str, value: Value| stats.insert(member.to_owned(), value);
        if !self.windows.is_empty() || self.used.is_some() || self.failed.is_some() {
            put("errorCount", self.windows.values().map(|window| window.steps).sum::<i64>().into());
        }
        if !self.counts.is_empty() {
            put("failureCounts", json!(self.counts));
        }
        self.used.map(|at| put("lastUsed", at.into()));
        self.failed.map(|at| put("lastFailureAt", at.into()));
        let active: Vec<_> = self.blocking(None, now).collect();
        let latest = |lanes: &dyn Fn(&str) -> bool| active.iter().filter(|(lane, _)| lanes(lane)).max_by_key(|(_, window)| window.until).copied();
        if let Some((_, window)) = latest(&|lane| lane == "billing" || lane == "auth_permanent") {
            put("disabledUntil", window.until.into());
            put("disabledReason", json!(window.reason));
        }
        let blocked = latest(&|lane| lane == "blocked");
        if let Some((_, window)) = blocked {
            put("blockedUntil", window.until.into());
            put("blockedReason", "subscription_limit".into());
            put("blockedSource", "codex_rate_limits".into());
        }
        let says_more = |window: &Window| window.reason != "rate_limit" || blocked.is_none_or(|(_, blocked)| window.until > blocked.until);
        let short = latest(&|lane| lane == "*").filter(|(_, window)| says_more(window)).or_else(|| latest(&|lane| !WIDE.contains(&lane)));
        if let Some((lane, window)) = short {
            put("cooldownUntil", window.until.into());
            put("cooldownReason", json!(window.reason));
            if lane != "*" {
                put("cooldownModel", json!(lane));
            }
        }
        Value::Object(stats)
    }
}

#[expect(clippy::cast_precision_loss, reason = "spans of days are far below the exact range")]
fn millis(span: i64) -> f64 {
    span as f64
}

#[expect(clippy::cast_possible_truncation, reason = "waits are days at most")]
fn doubled(steps: i64, base: f64, cap: f64) -> i64 {
    let base = base.max(60_000.0);
    (base * 2_f64.powi(i32::try_from(steps - 1).unwrap_or(10).min(10))).min(cap.max(base)).floor() as i64
}

/// What can be seen at `now` (D15).
fn view(input: &Value, ids: &[&String], known: &BTreeMap<String, Profile>, saved: &Map<String, Value>, good: &Map<String, Value>, now: i64) -> Value {
    let models: Vec<&str> = input["models"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let asked: Vec<(&str, Option<&str>)> = std::iter::once(("*", None)).chain(models.iter().map(|model| (*model, Some(*model)))).collect();
    let profiles: Vec<(&String, Profile)> = ids.iter().map(|id| (*id, known.get(*id).cloned().unwrap_or_default())).collect();
    let mut resting = Map::new();
    let mut until = Map::new();
    for (id, profile) in &profiles {
        let row = asked.iter().map(|(name, model)| ((*name).to_owned(), json!(profile.blocking(*model, now).next().is_some())));
        resting.insert((*id).clone(), Value::Object(row.collect()));
        until.insert((*id).clone(), json!(profile.blocking(None, now).map(|(_, window)| window.until).max()));
    }
    let soonest = |model: Option<&str>| {
        let (mut own, mut other): (Option<i64>, Option<i64>) = (None, None);
        for (_, profile) in &profiles {
            let Some(end) = profile.blocking(model, now).map(|(_, window)| window.until).max() else { continue };
            let only_this = profile.blocking(model, now).all(|(lane, window)| Some(lane.as_str()) == model && window.reason == "rate_limit");
            if only_this { own = own.max(Some(end)) } else { other = Some(other.map_or(end, |known| known.min(end))) }
        }
        json!(own.into_iter().chain(other).min())
    };
    let strength = |reason: &str| {
        let order = ["auth_permanent", "auth", "billing", "format", "model_not_found", "overloaded", "timeout", "rate_limit", "empty_response", "no_error_details", "unclassified", "unknown"];
        std::cmp::Reverse(order.iter().position(|known| *known == reason).unwrap_or(order.len()))
    };
    let windows = profiles.iter().flat_map(|(_, profile)| profile.blocking(None, now).map(|(_, window)| window));
    let reason = windows.max_by_key(|window| (window.until, strength(&window.reason))).map(|window| window.reason.clone());
    let soonest: Map<String, Value> = asked.iter().map(|(name, model)| ((*name).to_owned(), soonest(*model))).collect();
    let mut view = json!({"nowMs": now, "usageStats": saved, "inCooldown": resting, "unusableUntil": until, "soonestExpiry": soonest, "unavailableReason": reason});
    if !good.is_empty() {
        view["lastGood"] = json!(good);
    }
    view
}
