//! The decided answer, calculated naively: plain numbers and texts, a handful of rules, none of the crates.
//!
//! What no decision changes is left out, so it has to be as recorded.

mod mark;
pub(in crate::kind) mod view;

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use mark::Mark;

pub(in crate::kind) const HOUR: i64 = 3_600_000;
pub(in crate::kind) const MINUTE: i64 = 60_000;

/// The whole answer to a row.
pub(super) fn oracle(input: &Value) -> Value {
    let mut world = World::read(input);
    let initial = view::view(&world);
    let events = input["events"].as_array().into_iter().flatten();
    let steps: Vec<Value> = events.map(|event| world.on(event)).collect();
    json!({"initial": initial, "steps": steps})
}

/// Everything that the events change.
#[derive(Clone)]
pub(in crate::kind) struct World<'i> {
    input: &'i Value,
    pub(in crate::kind) now: i64,
    pub(in crate::kind) known: BTreeMap<String, Profile>,
    saved: Map<String, Value>,
    /// What a reader holds in memory: as saved, and after a sweep without what has ended.
    shown: Map<String, Value>,
}

/// What is known about a profile. The lanes that rest every model start with a star, the others are model ids.
#[derive(Clone, Default, PartialEq)]
pub(in crate::kind) struct Profile {
    windows: BTreeMap<String, Window>,
    pub(in crate::kind) counts: BTreeMap<String, i64>,
    used: Option<i64>,
    pub(in crate::kind) failed: Option<i64>,
}

/// One window, active or over, and who stated its end.
#[derive(Clone, PartialEq)]
pub(in crate::kind) struct Window {
    pub(in crate::kind) opened: i64,
    pub(in crate::kind) until: i64,
    steps: i64,
    failed: i64,
    pub(in crate::kind) reason: String,
    origin: Value,
}

impl<'i> World<'i> {
    pub(in crate::kind) fn read(input: &'i Value) -> Self {
        let now = input["startMs"].as_i64().unwrap_or(0);
        let stored = &input["store"]["usageStats"];
        let saved = stored.as_object().cloned().unwrap_or_default();
        let known = |(id, stats): (&String, &Value)| (id.clone(), Profile::stored(stats, now));
        Self {
            input,
            now,
            known: saved.iter().map(known).collect(),
            shown: saved.clone(),
            saved,
        }
    }

    /// Applies one event and looks at what came of it.
    pub(in crate::kind) fn on(&mut self, event: &Value) -> Value {
        let id = event["profile"].as_str().unwrap_or_default();
        let own = &self.input["store"]["profiles"][id];
        let config = &self.input["config"]["auth"]["cooldowns"];
        let before = self.known.get(id).cloned().unwrap_or_default();
        let mut after = before.clone();
        match event["op"].as_str().unwrap_or_default() {
            "advance" => self.now += event["ms"].as_i64().unwrap_or(0),
            "expire" => self.sweep(),
            "success" if provider(own) == provider(event) => after = before.cleared(Some(self.now)),
            "clear" => after = before.cleared(before.used),
            _ => {
                if let Some(mark) = Mark::of(event, own, self.now) {
                    after.fail(&mark, self.now, config, &provider(own));
                }
            }
        }
        if own.is_object() && after != before {
            self.saved.insert(id.to_owned(), after.members(self.now));
            self.shown.clone_from(&self.saved);
            self.known.insert(id.to_owned(), after);
        }
        view::view(self)
    }

    /// Takes what has ended out of what a reader holds.
    fn sweep(&mut self) {
        let past = |end: &Value| (1..=self.now).contains(&end.as_i64().unwrap_or(0));
        for (id, stats) in &mut self.shown {
            if past(&stats["cooldownUntil"]) || past(&stats["disabledUntil"]) || past(&stats["blockedUntil"])
            {
                *stats = self.known[id].members(self.now);
            }
        }
    }
}

impl Profile {
    /// What another program left: its windows, each on the step that its counts say.
    fn stored(stats: &Value, now: i64) -> Self {
        let time = |member: &str| {
            stats[member]
                .as_i64()
                .filter(|ms| (1..=8_640_000_000_000_000).contains(ms))
        };
        let counts = stats["failureCounts"].as_object().into_iter().flatten();
        let counts = counts.filter_map(|(reason, count)| Some((reason.clone(), count.as_i64()?)));
        let mut new = Self {
            windows: BTreeMap::new(),
            counts: counts.collect(),
            used: time("lastUsed"),
            failed: time("lastFailureAt"),
        };
        let failed = new.failed.filter(|at| *at <= now).unwrap_or(now);
        let mut put = |lane: &str, until: Option<i64>, steps: i64, reason: &str, origin: Value| {
            if until.is_some() || steps > 0 {
                let window = Window {
                    opened: failed,
                    until: until.unwrap_or(failed),
                    steps,
                    failed,
                    reason: reason.to_owned(),
                    origin,
                };
                new.windows.insert(lane.to_owned(), window);
            }
        };
        let mut left = stats["errorCount"].as_i64().unwrap_or(0);
        for reason in ["billing", "auth_permanent"] {
            let count = stats["failureCounts"][reason].as_i64().unwrap_or(0);
            left -= count;
            let until = time("disabledUntil").filter(|_| stats["disabledReason"] == reason);
            put(
                &format!("*{reason}"),
                until,
                count.max(i64::from(until.is_some())),
                reason,
                Value::Null,
            );
        }
        put(
            "*blocked",
            time("blockedUntil"),
            0,
            "rate_limit",
            json!({"source": stats["blockedSource"], "model": stats["blockedModel"]}),
        );
        let until = time("cooldownUntil");
        let reason = stats["cooldownReason"].as_str().unwrap_or("unknown");
        // D4: only a scoped reason rests one model alone.
        let scoped = ["model_not_found", "overloaded", "rate_limit", "timeout"].contains(&reason);
        put(
            stats["cooldownModel"].as_str().filter(|_| scoped).unwrap_or("*"),
            until,
            left.max(i64::from(until.is_some())),
            reason,
            Value::Null,
        );
        new
    }

    fn cleared(&self, used: Option<i64>) -> Self {
        Self {
            used,
            failed: self.failed,
            ..Self::default()
        }
    }

    fn fail(&mut self, mark: &Mark, now: i64, config: &Value, provider: &str) {
        // D1: a lane starts over when it has not failed for longer than the failure window; F-6: never before an hour has
        // passed since the end of its wait.
        let window = setting(&config["failureWindowHours"], HOUR, 24 * HOUR);
        let old = |lane: &Window| now - lane.failed > window.max(lane.until - lane.opened + HOUR);
        self.windows
            .retain(|_, window| !old(window) || now < window.until);
        self.windows
            .values_mut()
            .filter(|window| old(window))
            .for_each(|window| window.steps = 0);
        let none_is_left = self.windows.values().all(|window| window.steps == 0);
        if none_is_left && self.failed.is_some_and(|at| now - at > window) {
            self.counts.clear();
        }
        // D2: an outcome that started earlier does not make the series older; a clock far ahead was wrong.
        self.failed = self.failed.filter(|at| at - now <= window).max(Some(now));
        *self.counts.entry(mark.reason.clone()).or_default() += 1;

        // D2: within an active window it is the same episode; a limit of the whole account is in the blocked one too.
        let with_block = mark.lane == "*" && !["auth", "model_not_found"].contains(&mark.reason.as_str());
        let mine = |lane: &str| lane == mark.lane || with_block && lane == "*blocked";
        let mut same = self
            .windows
            .iter_mut()
            .filter(|(lane, window)| mine(lane) && now < window.until)
            .peekable();
        if same.peek().is_some() {
            return same.for_each(|(_, window)| window.failed = now);
        }

        let steps = self.windows.get(&mark.lane).map_or(0, |window| window.steps) + 1;
        let ladder = now + wait(&mark.lane, steps, config, provider);
        let window = |until, steps, origin| Window {
            opened: now,
            until,
            steps,
            failed: now,
            reason: mark.reason.clone(),
            origin,
        };
        // D7: a stated end blocks the account, or lengthens the model's window.
        if mark.lane == "*"
            && let Some(end) = mark.end
        {
            self.windows.remove("*blocked");
            if end > ladder {
                self.windows
                    .insert("*blocked".to_owned(), window(end, 0, mark.origin.clone()));
            }
        }
        let until = mark
            .end
            .filter(|_| mark.lane != "*")
            .map_or(ladder, |end| end.max(ladder));
        self.windows
            .insert(mark.lane.clone(), window(until, steps, Value::Null));
    }

    /// The windows that rest a model, or any.
    pub(in crate::kind) fn blocking(
        &self,
        model: Option<&str>,
        now: i64,
    ) -> impl Iterator<Item = (&String, &Window)> {
        let concerns = move |lane: &str| lane.starts_with('*') || model.is_none_or(|model| model == lane);
        self.windows
            .iter()
            .filter(move |(lane, window)| now < window.until && concerns(lane))
    }
}

/// The ladders (D1, D12).
pub(in crate::kind) fn wait(lane: &str, steps: i64, config: &Value, provider: &str) -> i64 {
    let own = config["billingBackoffHoursByProvider"]
        .as_object()
        .into_iter()
        .flatten();
    let own = own
        .filter(|(id, _)| id.trim().to_lowercase() == provider)
        .map(|(_, hours)| hours)
        .next();
    let (base, cap) = match lane {
        "*billing" => {
            let base = setting(&config["billingBackoffHours"], HOUR, 5 * HOUR);
            (
                own.map_or(base, |own| setting(own, HOUR, base)),
                setting(&config["billingMaxHours"], HOUR, 24 * HOUR),
            )
        }
        "*auth_permanent" => (
            setting(&config["authPermanentBackoffMinutes"], MINUTE, 10 * MINUTE),
            setting(&config["authPermanentMaxMinutes"], MINUTE, HOUR),
        ),
        _ => {
            return if steps <= 1 {
                30_000
            } else if steps == 2 {
                MINUTE
            } else {
                5 * MINUTE
            };
        }
    };
    let base = base.max(MINUTE);
    // F-5: the cap holds, whatever the base is; neither is below a minute.
    (base << (steps - 1).clamp(0, 10)).min(cap.max(MINUTE))
}

/// A number above zero in milliseconds, or the default.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "settings are days at most"
)]
pub(in crate::kind) fn setting(value: &Value, unit: i64, default: i64) -> i64 {
    value
        .as_f64()
        .filter(|number| *number > 0.0)
        .map_or(default, |number| (number * unit as f64) as i64)
}

/// The provider under whose name credentials are kept.
fn provider(named: &Value) -> String {
    let provider = named["provider"]
        .as_str()
        .unwrap_or_default()
        .trim()
        .to_lowercase();
    if provider == "claude-cli" {
        "anthropic".to_owned()
    } else {
        provider
    }
}
