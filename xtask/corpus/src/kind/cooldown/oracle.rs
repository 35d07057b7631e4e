//! The decided answer, calculated naively: plain numbers and lists, a handful of rules, none of the crates.

mod profile;
mod view;

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use profile::{Profile, Window, canonical};

/// The whole answer to a row.
pub(super) fn oracle(input: &Value) -> Value {
    let mut world = World::read(input);
    let mut views = vec![view::view(&world)];
    for event in input["events"].as_array().into_iter().flatten() {
        let changed = world.on(event);
        let mut step = view::view(&world);
        if let Some(changed) = changed {
            step["changed"] = json!(changed);
        }
        if !event["usageProbe"].is_null() {
            step["usageProbeCalls"] = json!(0);
        }
        views.push(step);
    }
    let initial = views.remove(0);
    json!({"initial": initial, "steps": views})
}

/// Everything that the events change.
struct World<'i> {
    input: &'i Value,
    now: i64,
    known: BTreeMap<String, Profile>,
    saved: Map<String, Value>,
    /// What a reader holds in memory: as saved, and after a sweep without what has ended.
    shown: Map<String, Value>,
    good: Map<String, Value>,
}

impl<'i> World<'i> {
    fn read(input: &'i Value) -> Self {
        let now = input["startMs"].as_i64().unwrap_or(0);
        let saved = input["store"]["usageStats"]
            .as_object()
            .cloned()
            .unwrap_or_default();
        let known = saved
            .iter()
            .map(|(id, stats)| (id.clone(), Profile::stored(stats, now)))
            .collect();
        Self {
            input,
            now,
            known,
            shown: saved.clone(),
            saved,
            good: Map::new(),
        }
    }

    fn ids(&self) -> impl Iterator<Item = &'i String> {
        self.input["store"]["profiles"]
            .as_object()
            .into_iter()
            .flatten()
            .map(|(id, _)| id)
    }

    /// Applies one event; a sweep says whether something had ended.
    fn on(&mut self, event: &Value) -> Option<bool> {
        let id = event["profile"].as_str().unwrap_or_default();
        match event["op"].as_str() {
            Some("advance") => self.now += event["ms"].as_i64().unwrap_or(0),
            Some("expire") => return Some(self.sweep()),
            Some(op) if self.ids().any(|known| known == id) => {
                let before = self.known.get(id).cloned().unwrap_or_default();
                let after = self.changed(op, event, id, before.clone());
                if after != before {
                    self.saved.insert(id.to_owned(), after.members(self.now));
                    self.shown.clone_from(&self.saved);
                }
                self.known.insert(id.to_owned(), after);
            }
            _ => {}
        }
        None
    }

    fn changed(&mut self, op: &str, event: &Value, id: &str, before: Profile) -> Profile {
        let own = self.input["store"]["profiles"][id]["provider"]
            .as_str()
            .unwrap_or_default();
        let config = &self.input["config"]["auth"]["cooldowns"];
        let now = self.now;
        match op {
            "failure" if event["reason"] != "no_error_details" => {
                let reason = event["reason"].as_str().unwrap_or_default();
                let lane = match reason {
                    "billing" | "auth_permanent" => reason,
                    "model_not_found" | "overloaded" | "rate_limit" | "timeout" => {
                        event["model"].as_str().unwrap_or("*")
                    }
                    _ => "*",
                };
                before.failed(lane, reason, now, own, config)
            }
            "blocked" if event["untilMs"].as_i64().unwrap_or(0) > now => {
                let until = event["untilMs"].as_i64().unwrap_or(0);
                // Within one episode a second statement is the same news (D2).
                let same = before.windows.get("*").is_some_and(|window| now < window.until);
                let mut after = before.failed("*", "rate_limit", now, own, config);
                if !same {
                    after.windows.remove("blocked");
                    if until > after.windows["*"].until {
                        let window = Window {
                            until,
                            reason: "rate_limit".to_owned(),
                            steps: 0,
                            failed: now,
                        };
                        after.windows.insert("blocked".to_owned(), window);
                    }
                }
                after
            }
            "success" if canonical(own) == canonical(event["provider"].as_str().unwrap_or_default()) => {
                self.good.insert(canonical(own), json!(id));
                Profile {
                    used: Some(now),
                    failed: before.failed,
                    ..Profile::default()
                }
            }
            "clear" => Profile {
                used: before.used,
                failed: before.failed,
                ..Profile::default()
            },
            _ => before,
        }
    }

    fn sweep(&mut self) -> bool {
        let past = |end: &Value| end.as_i64().is_some_and(|end| 0 < end && end <= self.now);
        let ended = |stats: &Value| {
            ["cooldownUntil", "disabledUntil", "blockedUntil"]
                .iter()
                .any(|end| past(&stats[*end]))
        };
        let over: Vec<String> = self
            .shown
            .iter()
            .filter(|(_, stats)| ended(stats))
            .map(|(id, _)| id.clone())
            .collect();
        for id in &over {
            self.shown.insert(id.clone(), self.known[id].members(self.now));
        }
        !over.is_empty()
    }
}
