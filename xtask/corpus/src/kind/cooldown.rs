//! Usage state over time: events are folded into a snapshot, and each step shows what a reader would see.

mod decisions;
pub(super) mod oracle;

use std::collections::BTreeMap;

use jiff::Timestamp;
use openclaw_auth_store::{AuthSnapshot, ChangeOutcome, Credential, UsageChange};
use openclaw_classify::{HintSource, Reason, ResetHint};
use openclaw_cooldown::{
    ChatGptUsageProbe, CooldownConfig, FailureEvent, MarkScope, ProfileUsage, SuccessEvent, UsageCredential,
    UsageProbe, UsageStats, adopt_usage_stats, profile_set_block, soonest_expiry, to_usage_stats,
};
use openclaw_ids::{ModelId, ProfileId, ProviderId};
use openclaw_providers::AuthAliases;
use serde_json::{Map, Value, json};

use super::values::{instant, milliseconds, model, profile};
use super::{Kind, OverrulePolicy, recorded, refused, values};
use crate::row::Row;

pub(crate) const KIND: Kind = Kind {
    name: "cooldown",
    answer,
    accepted: recorded,
    overruled: OverrulePolicy::ByReach {
        decisions: decisions::DECISIONS,
        oracle: oracle::oracle,
    },
};

fn answer(row: &Row) -> Value {
    asked(row.input()).unwrap_or_else(|why| refused(&why))
}

fn asked(input: &Value) -> Result<Value, String> {
    let mut world = World::read(input)?;
    let initial = world.seen();
    let mut steps = Vec::new();
    for event in input["events"].as_array().into_iter().flatten() {
        let told = world.on(event)?;
        let mut step = world.seen();
        step.extend(told);
        steps.push(step);
    }
    Ok(json!({"initial": initial, "steps": steps}))
}

/// The profiles, what is known about their use, and what the other program reads of it.
struct World {
    now: Timestamp,
    config: CooldownConfig,
    models: Vec<ModelId>,
    snapshot: AuthSnapshot,
    /// As last written.
    saved: BTreeMap<ProfileId, UsageStats>,
    /// As a reader holds it in memory: as saved, and after a sweep without what has ended.
    swept: BTreeMap<ProfileId, UsageStats>,
}

impl World {
    fn read(input: &Value) -> Result<Self, String> {
        let now = instant(&input["startMs"])?;
        let profiles = values::credentials(&input["store"]["profiles"])?;
        let mut snapshot = AuthSnapshot {
            profiles: profiles.into(),
            ..AuthSnapshot::default()
        };
        let mut saved = BTreeMap::new();
        for (id, stored) in input["store"]["usageStats"].as_object().into_iter().flatten() {
            let stats: UsageStats =
                serde_json::from_value(stored.clone()).map_err(|error| error.to_string())?;
            if !stats.is_empty() {
                snapshot.usage.insert(
                    profile(id)?,
                    adopt_usage_stats(ProfileUsage::default(), &stats, now),
                );
                saved.insert(profile(id)?, stats);
            }
        }
        let models = input["models"].as_array().into_iter().flatten();
        Ok(Self {
            now,
            config: CooldownConfig::lenient(&input["config"]["auth"]["cooldowns"]),
            models: models.filter_map(model).collect(),
            snapshot,
            swept: saved.clone(),
            saved,
        })
    }

    /// Applies one event and returns what only this kind of event tells.
    fn on(&mut self, event: &Value) -> Result<Map<String, Value>, String> {
        let mut told = Map::new();
        match event["op"].as_str().unwrap_or_default() {
            "advance" => {
                let to = self
                    .now
                    .as_millisecond()
                    .saturating_add(event["ms"].as_i64().unwrap_or_default());
                self.now = instant(&to.into())?;
            }
            "expire" => {
                told.insert("changed".to_owned(), self.sweep().into());
            }
            op => {
                let id = profile(event["profile"].as_str().unwrap_or_default())?;
                let own = self.snapshot.credential(&id).cloned();
                if let Some(own) = own
                    && let Some(change) = self.change(op, event, id, &own, &mut told)?
                {
                    self.apply(&change);
                }
            }
        }
        Ok(told)
    }

    /// Changes a profile's usage and writes what the other program reads of it.
    fn apply(&mut self, change: &UsageChange) {
        let applied = self.snapshot.apply(change, self.now, &self.config);
        let Some(id) = change.profile().filter(|_| applied == ChangeOutcome::Done) else {
            return;
        };
        let stats = to_usage_stats(self.snapshot.usage(id), self.now, self.saved.get(id));
        if !stats.is_empty() {
            self.saved.insert(id.clone(), stats);
        }
        self.swept = self.saved.clone();
    }

    /// Takes what has ended out of what a reader holds; says whether anything had.
    fn sweep(&mut self) -> bool {
        let mut changed = false;
        for (id, stats) in &mut self.swept {
            let fresh = values::without_ended(self.snapshot.usage(id), stats, self.now);
            changed |= fresh != *stats;
            *stats = fresh;
        }
        changed
    }

    /// The state that every reader sees at this moment.
    fn seen(&self) -> Map<String, Value> {
        let ids = || self.snapshot.profiles.keys();
        let usages = || ids().map(|id| self.snapshot.usage(id));
        let resting = usages().filter(|usage| !usage.is_usable(None, self.now));
        let reason = profile_set_block(resting, None, self.now).map(|block| block.reason);
        let by_model = |answer: &dyn Fn(Option<&ModelId>) -> Value| {
            let asked = std::iter::once(None).chain(self.models.iter().map(Some));
            let answers = asked.map(|model| (model.map_or("*", ModelId::as_str).to_owned(), answer(model)));
            Value::Object(answers.collect())
        };
        let by_profile = |answer: &dyn Fn(&ProfileUsage) -> Value| {
            Value::Object(
                ids()
                    .map(|id| (id.to_string(), answer(self.snapshot.usage(id))))
                    .collect(),
            )
        };
        let mut seen = Map::new();
        let mut put = |member: &str, value: Value| seen.insert(member.to_owned(), value);
        put("nowMs", self.now.as_millisecond().into());
        put("usageStats", json!(self.swept));
        put(
            "inCooldown",
            by_profile(&|usage| by_model(&|model| (!usage.is_usable(model, self.now)).into())),
        );
        put(
            "unusableUntil",
            by_profile(&|usage| milliseconds(usage.block(None, self.now).map(|block| block.until))),
        );
        put(
            "soonestExpiry",
            by_model(&|model| milliseconds(soonest_expiry(usages(), model, self.now))),
        );
        put("unavailableReason", json!(reason));
        if !self.snapshot.last_good.is_empty() {
            put("lastGood", json!(self.snapshot.last_good));
        }
        seen
    }

    /// The change that an event of a known profile is; `None` for events that change nothing.
    fn change(
        &self,
        op: &str,
        event: &Value,
        id: ProfileId,
        own: &Credential,
        told: &mut Map<String, Value>,
    ) -> Result<Option<UsageChange>, String> {
        match op {
            "failure" => {
                let event = self.checked(event, failure(event, own.provider().clone())?, own, told);
                Ok(Some(UsageChange::Failure { profile: id, event }))
            }
            op => change(op, event, id, own.provider().clone(), self.now),
        }
    }

    /// The failure after the usage check, where the event scripts a reply and the check is asked.
    fn checked(
        &self,
        event: &Value,
        failure: FailureEvent,
        own: &Credential,
        told: &mut Map<String, Value>,
    ) -> FailureEvent {
        let reply = &event["usageProbe"];
        if reply.is_null() {
            return failure;
        }
        let login = matches!(own, Credential::Oauth(login) if login.access.is_some());
        let credential = if login {
            UsageCredential::Login
        } else {
            UsageCredential::Other
        };
        let asked = ChatGptUsageProbe.request(&failure.provider, failure.reason, credential);
        told.insert("usageProbeCalls".to_owned(), i32::from(asked.is_some()).into());
        match asked {
            Some(_) => ChatGptUsageProbe
                .read(values::reply(reply), self.now)
                .refine(failure, self.now),
            None => failure,
        }
    }
}

/// The change that an event of a known profile is, without any usage check; `None` for events that change nothing.
pub(super) fn change(
    op: &str,
    event: &Value,
    id: ProfileId,
    own: ProviderId,
    now: Timestamp,
) -> Result<Option<UsageChange>, String> {
    match op {
        "failure" => Ok(Some(UsageChange::Failure {
            profile: id,
            event: failure(event, own)?,
        })),
        "blocked" => {
            let event = limit(event, own, now)?;
            // A time that has passed is no statement about the account any more.
            let ahead = event.hint.as_ref().is_some_and(|hint| hint.at > now);
            Ok(ahead.then_some(UsageChange::Failure { profile: id, event }))
        }
        "success" => {
            let called = values::provider(&event["provider"])?;
            // Nothing succeeds on a resting profile unless it was let through, which starts after the window opened.
            let event = SuccessEvent {
                model: None,
                started_at: Some(now),
            };
            let ours = AuthAliases::default().share_credentials(&own, &called);
            Ok(ours.then_some(UsageChange::Success { profile: id, event }))
        }
        "clear" => Ok(Some(UsageChange::Clear { profile: id })),
        op => Err(format!("there is no event `{op}`")),
    }
}

/// A reset time that the provider reported: an account-wide limit with a stated end.
fn limit(event: &Value, provider: ProviderId, now: Timestamp) -> Result<FailureEvent, String> {
    let source = if event["source"] == "wham" {
        HintSource::UsageCheck
    } else {
        HintSource::Body
    };
    Ok(FailureEvent {
        provider,
        reason: Reason::RateLimit,
        scope: MarkScope::Profile,
        model: model(&event["model"]),
        hint: Some(ResetHint::new(instant(&event["untilMs"])?, source, now)),
        started_at: None,
    })
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

#[cfg(test)]
mod tests;
