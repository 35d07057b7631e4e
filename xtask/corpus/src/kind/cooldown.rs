//! Usage state over time: events are folded through the cooldown crate, and each step shows what a reader would see.

use std::collections::BTreeMap;

use jiff::Timestamp;
use openclaw_classify::{HintSource, Reason, ResetHint};
use openclaw_cooldown::{
    CooldownConfig, FailureEvent, MarkScope, ProfileUsage, SuccessEvent, UsageStats, adopt_foreign, clear,
    mirror, record, soonest_expiry, succeed, unavailable,
};
use openclaw_ids::{AuthAliases, ModelId, ProviderId};
use serde_json::{Map, Value, json};

use super::{Kind, no_oracle, recorded};
use crate::row::{CannotRead, Row};

pub(crate) const KIND: Kind = Kind {
    name: "cooldown",
    answer,
    accepted: recorded,
    decisions: &[],
    oracle: no_oracle,
};

fn answer(row: &Row) -> Result<Value, CannotRead> {
    let input = row.input();
    let mut world = World::read(input).map_err(|error| row.error(error))?;
    let initial = world.seen();
    let mut steps = Vec::new();
    for event in input["events"].as_array().into_iter().flatten() {
        let told = world.on(event).map_err(|error| row.error(error))?;
        let mut step = world.seen();
        step.extend(told);
        steps.push(Value::Object(step));
    }
    Ok(json!({"initial": initial, "steps": steps}))
}

/// The profiles, what is known about their use, and what the other program reads of it.
struct World {
    now: Timestamp,
    config: CooldownConfig,
    models: Vec<ModelId>,
    /// In stored order, with the provider of the credential.
    profiles: Vec<(String, ProviderId)>,
    usages: BTreeMap<String, ProfileUsage>,
    /// As last written.
    saved: BTreeMap<String, UsageStats>,
    /// As a reader holds it in memory, without what has ended.
    swept: BTreeMap<String, UsageStats>,
    last_good: Map<String, Value>,
}

impl World {
    fn read(input: &Value) -> Result<Self, String> {
        let now = instant(&input["startMs"])?;
        let mut profiles = Vec::new();
        for (id, credential) in input["store"]["profiles"].as_object().into_iter().flatten() {
            profiles.push((id.clone(), provider(&credential["provider"])?));
        }
        let mut usages = BTreeMap::new();
        let mut saved = BTreeMap::new();
        for (id, stored) in input["store"]["usageStats"].as_object().into_iter().flatten() {
            let stats: UsageStats =
                serde_json::from_value(stored.clone()).map_err(|error| error.to_string())?;
            if !stats.is_empty() {
                usages.insert(id.clone(), adopt_foreign(ProfileUsage::default(), &stats, now));
                saved.insert(id.clone(), stats);
            }
        }
        let models = input["models"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|id| model(id).ok_or("a model without a name"));
        Ok(Self {
            now,
            config: CooldownConfig::lenient(&input["config"]["auth"]["cooldowns"]),
            models: models.collect::<Result<_, _>>()?,
            profiles,
            usages,
            swept: saved.clone(),
            saved,
            last_good: Map::new(),
        })
    }

    /// Applies one event and returns what only this kind of event tells.
    fn on(&mut self, event: &Value) -> Result<Map<String, Value>, String> {
        let mut told = Map::new();
        let op = event["op"].as_str().unwrap_or_default();
        let id = event["profile"].as_str().unwrap_or_default().to_owned();
        let known = self
            .profiles
            .iter()
            .find(|(known, _)| *known == id)
            .map(|(_, provider)| provider.clone());
        match (op, known) {
            ("advance", _) => {
                let to = self
                    .now
                    .as_millisecond()
                    .saturating_add(event["ms"].as_i64().unwrap_or_default());
                self.now = instant(&to.into())?;
            }
            ("expire", _) => {
                told.insert("changed".to_owned(), self.sweep().into());
            }
            ("failure" | "blocked" | "success" | "clear", None) => {}
            ("failure", Some(provider)) => {
                let event = failure(event, provider)?;
                // Said of a provider's answer, never of a credential (classify.md C-10).
                if event.reason != Reason::NoErrorDetails {
                    self.write(&id, |usage, now, config| record(usage, &event, now, config));
                }
            }
            ("blocked", Some(provider)) => {
                let at = instant(&event["untilMs"])?;
                let event = FailureEvent {
                    provider,
                    reason: Reason::RateLimit,
                    scope: MarkScope::Profile,
                    model: model(&event["model"]),
                    hint: Some(ResetHint {
                        at,
                        source: HintSource::Body,
                        credible: at > self.now,
                    }),
                    started_at: None,
                };
                if at > self.now {
                    self.write(&id, |usage, now, config| record(usage, &event, now, config));
                }
            }
            ("success", Some(own)) => {
                let aliases = AuthAliases::default();
                if aliases.share_credentials(&own, &provider(&event["provider"])?) {
                    let good = aliases.auth_id(&own).to_string();
                    self.last_good.insert(good, id.clone().into());
                    let event = SuccessEvent {
                        model: None,
                        started_at: None,
                    };
                    self.write(&id, |usage, now, _| succeed(usage, &event, now));
                }
            }
            ("clear", Some(_)) => {
                if self.saved.contains_key(&id) {
                    self.write(&id, |usage, _, _| clear(usage));
                }
            }
            (op, _) => return Err(format!("there is no event `{op}`")),
        }
        Ok(told)
    }

    /// Changes a profile's usage and writes what the other program reads of it.
    fn write(
        &mut self,
        id: &str,
        fold: impl FnOnce(ProfileUsage, Timestamp, &CooldownConfig) -> ProfileUsage,
    ) {
        let old = self.usages.remove(id).unwrap_or_default();
        let new = fold(old.clone(), self.now, &self.config);
        if new != old {
            let stats = mirror(&new, self.now, self.saved.get(id));
            self.saved.insert(id.to_owned(), stats);
            self.swept = self.saved.clone();
        }
        self.usages.insert(id.to_owned(), new);
    }

    /// Takes what has ended out of what a reader holds; says whether anything had.
    fn sweep(&mut self) -> bool {
        let mut changed = false;
        for (id, stats) in &mut self.swept {
            let Some(usage) = self.usages.get(id) else {
                continue;
            };
            let fresh = mirror(usage, self.now, Some(stats));
            changed |= ends(&fresh) != ends(stats);
            *stats = fresh;
        }
        changed
    }

    /// What everybody can see at this moment.
    fn seen(&self) -> Map<String, Value> {
        let usages = || self.profiles.iter().filter_map(|(id, _)| self.usages.get(id));
        let resting: Vec<_> = usages()
            .filter(|usage| !usage.is_usable(None, self.now))
            .collect();
        let reason = unavailable(resting, None, self.now).map(|block| block.reason);
        let asked = || std::iter::once(None).chain(self.models.iter().map(Some));
        let by_model = |answer: &dyn Fn(Option<&ModelId>) -> Value| {
            let answers = asked().map(|model| (model.map_or("*", ModelId::as_str).to_owned(), answer(model)));
            Value::Object(answers.collect())
        };
        let default = ProfileUsage::default();
        let mut resting = Map::new();
        let mut until = Map::new();
        for (id, _) in &self.profiles {
            let usage = self.usages.get(id).unwrap_or(&default);
            resting.insert(
                id.clone(),
                by_model(&|model| (!usage.is_usable(model, self.now)).into()),
            );
            until.insert(
                id.clone(),
                milliseconds(usage.windows.values().map(|window| window.until).max()),
            );
        }
        let mut seen = Map::new();
        seen.insert("nowMs".to_owned(), self.now.as_millisecond().into());
        seen.insert("usageStats".to_owned(), json!(self.saved));
        seen.insert("inCooldown".to_owned(), Value::Object(resting));
        seen.insert("unusableUntil".to_owned(), Value::Object(until));
        seen.insert(
            "soonestExpiry".to_owned(),
            by_model(&|model| milliseconds(soonest_expiry(usages(), model, self.now))),
        );
        seen.insert("unavailableReason".to_owned(), json!(reason));
        if !self.last_good.is_empty() {
            seen.insert("lastGood".to_owned(), Value::Object(self.last_good.clone()));
        }
        seen
    }
}

/// A mark as the caller makes it: what a failure of one model says is scoped, everything else is account-wide (D4).
fn failure(event: &Value, provider: ProviderId) -> Result<FailureEvent, String> {
    let reason: Reason =
        serde_json::from_value(event["reason"].clone()).map_err(|error| error.to_string())?;
    let scoped = matches!(
        reason,
        Reason::ModelNotFound
            | Reason::Overloaded
            | Reason::RateLimit
            | Reason::ServerError
            | Reason::Timeout
    );
    Ok(FailureEvent {
        provider,
        reason,
        scope: if scoped {
            MarkScope::Model
        } else {
            MarkScope::Profile
        },
        model: model(&event["model"]),
        hint: None,
        started_at: None,
    })
}

/// The ends of the three windows that the other program knows.
fn ends(stats: &UsageStats) -> [Value; 3] {
    let stats = json!(stats);
    ["cooldownUntil", "disabledUntil", "blockedUntil"].map(|member| stats[member].clone())
}

fn instant(ms: &Value) -> Result<Timestamp, String> {
    let ms = ms
        .as_i64()
        .ok_or_else(|| format!("{ms} is no time in milliseconds"))?;
    Timestamp::from_millisecond(ms).map_err(|error| error.to_string())
}

fn milliseconds(at: Option<Timestamp>) -> Value {
    at.map_or(Value::Null, |at| at.as_millisecond().into())
}

fn model(id: &Value) -> Option<ModelId> {
    id.as_str()?.parse().ok()
}

fn provider(id: &Value) -> Result<ProviderId, String> {
    ProviderId::try_new(id.as_str().unwrap_or_default()).map_err(|error| error.to_string())
}
