//! One profile's windows in plain numbers: what was stored, what a failure adds, what another program is shown.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

/// One window, active or over. Its lane is its key: `billing`, `auth_permanent`, `blocked`, `*`, or a model id.
#[derive(Clone, PartialEq)]
pub(super) struct Window {
    pub(super) until: i64,
    pub(super) reason: String,
    pub(super) steps: i64,
    pub(super) failed: i64,
}

/// What is known about a profile.
#[derive(Clone, Default, PartialEq)]
pub(super) struct Profile {
    pub(super) windows: BTreeMap<String, Window>,
    pub(super) counts: BTreeMap<String, i64>,
    pub(super) used: Option<i64>,
    pub(super) failed: Option<i64>,
}

/// Lanes that rest every model.
const WIDE: [&str; 4] = ["billing", "auth_permanent", "blocked", "*"];

impl Profile {
    /// What another program left: its windows, each on the step that its counts say.
    pub(super) fn stored(stats: &Value, now: i64) -> Self {
        let number = |member: &str| {
            stats[member]
                .as_i64()
                .filter(|ms| (1..=8_640_000_000_000_000).contains(ms))
        };
        let counts: BTreeMap<String, i64> = stats["failureCounts"]
            .as_object()
            .into_iter()
            .flatten()
            .filter_map(|(reason, count)| Some((reason.clone(), count.as_i64().filter(|count| *count > 0)?)))
            .collect();
        let failed = number("lastFailureAt");
        let at = failed.filter(|at| *at <= now).unwrap_or(now);
        let mut windows = BTreeMap::new();
        let mut left = stats["errorCount"].as_i64().unwrap_or(0);
        let mut put = |lane: &str, until: i64, reason: &str, steps: i64| {
            windows.insert(
                lane.to_owned(),
                Window {
                    until,
                    reason: reason.to_owned(),
                    steps,
                    failed: at,
                },
            );
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
        Self {
            windows,
            counts,
            used: number("lastUsed"),
            failed,
        }
    }

    pub(super) fn failed(
        mut self,
        lane: &str,
        reason: &str,
        now: i64,
        provider: &str,
        config: &Value,
    ) -> Self {
        let hours = |value: &Value| value.as_f64().filter(|hours| *hours > 0.0);
        let window = hours(&config["failureWindowHours"]).unwrap_or(24.0) * 3_600_000.0;
        let old = |at: i64| millis(now - at) > window;
        if self.failed.is_some_and(old) {
            self.counts.clear();
        }
        self.windows
            .retain(|_, window| !old(window.failed) || now < window.until);
        self.windows
            .values_mut()
            .filter(|window| old(window.failed))
            .for_each(|window| window.steps = 0);
        self.failed = Some(now);
        *self.counts.entry(reason.to_owned()).or_default() += 1;
        let known = self.windows.get(lane).cloned();
        if let Some(window) = known.clone().filter(|window| now < window.until) {
            self.windows.insert(
                lane.to_owned(),
                Window {
                    failed: now,
                    ..window
                },
            );
            return self;
        }
        let steps = known.map_or(0, |window| window.steps) + 1;
        let base = hours(&config["billingBackoffHours"]).unwrap_or(5.0);
        let own = config["billingBackoffHoursByProvider"]
            .as_object()
            .into_iter()
            .flatten()
            .find(|(key, _)| canonical(key) == canonical(provider))
            .and_then(|(_, value)| hours(value));
        let wait = match lane {
            "billing" => doubled(
                steps,
                own.unwrap_or(base) * 3_600_000.0,
                hours(&config["billingMaxHours"]).unwrap_or(24.0) * 3_600_000.0,
            ),
            "auth_permanent" => doubled(
                steps,
                hours(&config["authPermanentBackoffMinutes"]).unwrap_or(10.0) * 60_000.0,
                hours(&config["authPermanentMaxMinutes"]).unwrap_or(60.0) * 60_000.0,
            ),
            _ => [30_000, 60_000, 300_000][usize::try_from(steps - 1).unwrap_or(0).min(2)],
        };
        self.windows.insert(
            lane.to_owned(),
            Window {
                until: now + wait,
                reason: reason.to_owned(),
                steps,
                failed: now,
            },
        );
        self
    }

    pub(super) fn blocking(&self, model: Option<&str>, now: i64) -> impl Iterator<Item = (&String, &Window)> {
        self.windows.iter().filter(move |(lane, window)| {
            now < window.until
                && model.is_none_or(|model| WIDE.contains(&lane.as_str()) || lane.as_str() == model)
        })
    }

    /// The other program's members.
    pub(super) fn members(&self, now: i64) -> Value {
        let mut stats = Map::new();
        let mut put = |member: &str, value: Value| stats.insert(member.to_owned(), value);
        if !self.windows.is_empty() || self.used.is_some() || self.failed.is_some() {
            put(
                "errorCount",
                self.windows
                    .values()
                    .map(|window| window.steps)
                    .sum::<i64>()
                    .into(),
            );
        }
        if !self.counts.is_empty() {
            put("failureCounts", json!(self.counts));
        }
        self.used.map(|at| put("lastUsed", at.into()));
        self.failed.map(|at| put("lastFailureAt", at.into()));
        let active: Vec<_> = self.blocking(None, now).collect();
        let latest = |lanes: &dyn Fn(&str) -> bool| {
            active
                .iter()
                .filter(|(lane, _)| lanes(lane))
                .max_by_key(|(_, window)| window.until)
                .copied()
        };
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
        let says_more = |window: &Window| {
            window.reason != "rate_limit" || blocked.is_none_or(|(_, blocked)| window.until > blocked.until)
        };
        let short = latest(&|lane| lane == "*")
            .filter(|(_, window)| says_more(window))
            .or_else(|| latest(&|lane| !WIDE.contains(&lane)));
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

#[expect(
    clippy::cast_precision_loss,
    reason = "spans of days are far below the exact range"
)]
fn millis(span: i64) -> f64 {
    span as f64
}

#[expect(clippy::cast_possible_truncation, reason = "waits are days at most")]
fn doubled(steps: i64, base: f64, cap: f64) -> i64 {
    let base = base.max(60_000.0);
    (base * 2_f64.powi(i32::try_from(steps - 1).unwrap_or(10).min(10)))
        .min(cap.max(base))
        .floor() as i64
}

/// The provider under whose name credentials are kept.
pub(super) fn canonical(provider: &str) -> String {
    let provider = provider.trim().to_lowercase();
    if provider == "claude-cli" {
        "anthropic".to_owned()
    } else {
        provider
    }
}
