//! Replays one line of the corpus through the crate and writes down its answers the way the corpus does.

use std::collections::BTreeMap;

use crate::{
    CooldownConfig, FailureEvent, MarkScope, ProfileUsage, SuccessEvent, UsageReply, UsageStats,
    adopt_foreign, clear, is_explained_by_usage, mirror, read_usage, record, soonest_expiry, succeed,
    unavailable,
};
use jiff::Timestamp;
use openclaw_classify::{HintSource, Reason, ResetHint};
use openclaw_ids::{ModelId, ProviderId};
use serde_json::{Map, Value, json};

/// The world of one line: its profiles' states and the file the other program reads.
pub(crate) struct Replay<'a> {
    input: &'a Value,
    config: CooldownConfig,
    pub(crate) now: i64,
    usages: BTreeMap<&'a str, ProfileUsage>,
    file: BTreeMap<&'a str, UsageStats>,
}

pub(crate) fn instant(ms: i64) -> Timestamp {
    Timestamp::from_millisecond(ms).unwrap()
}

impl<'a> Replay<'a> {
    pub(crate) fn new(input: &'a Value) -> Self {
        let now = input["startMs"].as_i64().unwrap();
        let stored = input["store"]["usageStats"].as_object().into_iter().flatten();
        let file: BTreeMap<&str, UsageStats> = stored
            .map(|(id, entry)| (id.as_str(), serde_json::from_value(entry.clone()).unwrap()))
            .collect();
        let profiles = input["store"]["profiles"].as_object().unwrap();
        let adopted = |id: &str| {
            let stats = file.get(id).cloned().unwrap_or_default();
            adopt_foreign(ProfileUsage::default(), &stats, instant(now))
        };
        Self {
            input,
            config: CooldownConfig::lenient(&input["config"]["auth"]["cooldowns"]),
            now,
            usages: profiles.keys().map(|id| (id.as_str(), adopted(id))).collect(),
            file,
        }
    }

    /// Applies one event.
    pub(crate) fn apply(&mut self, event: &'a Value) {
        if event["op"] == "advance" {
            self.now += event["ms"].as_i64().unwrap();
        }
        let Some((id, usage)) = event["profile"]
            .as_str()
            .and_then(|id| self.usages.remove_entry(id))
        else {
            return;
        };
        let now = instant(self.now);
        let before = usage.clone();
        let usage = match event["op"].as_str().unwrap() {
            "failure" => match self.failure(id, event) {
                Some(failure) => record(usage, &failure, now, &self.config),
                None => usage,
            },
            "blocked" => match self.block(id, event) {
                Some(block) => record(usage, &block, now, &self.config),
                None => usage,
            },
            // A success of another provider is not this profile's; its store refuses it.
            "success" if self.provider(id) != event["provider"].as_str().unwrap().parse().unwrap() => usage,
            "success" => succeed(
                usage,
                &SuccessEvent {
                    model: None,
                    started_at: Some(now),
                },
                now,
            ),
            "clear" => clear(usage),
            other => panic!("unknown event {other}"),
        };
        if usage != before {
            let written = mirror(&usage, now, self.file.get(id));
            self.file.insert(id, written);
        }
        self.usages.insert(id, usage);
    }

    fn provider(&self, id: &str) -> ProviderId {
        self.input["store"]["profiles"][id]["provider"]
            .as_str()
            .unwrap()
            .parse()
            .unwrap()
    }

    /// The failure as it reaches a profile, or `None` when it reaches none (D6).
    fn failure(&self, id: &str, event: &Value) -> Option<FailureEvent> {
        let reason: Reason = event["reason"].as_str().unwrap().parse().unwrap();
        let model: Option<ModelId> = event["model"].as_str().map(|model| model.parse().unwrap());
        let reached = [
            Reason::Auth,
            Reason::AuthPermanent,
            Reason::Billing,
            Reason::ModelNotFound,
            Reason::Overloaded,
            Reason::RateLimit,
            Reason::Timeout,
        ];
        let failure = FailureEvent {
            provider: self.provider(id),
            reason,
            scope: if model.is_some() {
                MarkScope::Model
            } else {
                MarkScope::Profile
            },
            model,
            hint: None,
            started_at: None,
        };
        let profile = &self.input["store"]["profiles"][id];
        let asked = profile["type"] == "oauth" && is_explained_by_usage(&failure.provider, reason);
        let probe = event.get("usageProbe").filter(|_| asked);
        let now = instant(self.now);
        let refined = match probe {
            Some(probe) => read_usage(reply(probe), now).refine(failure, now),
            None => failure,
        };
        reached.contains(&reason).then_some(refined)
    }

    /// A provider-reported reset time is an account-wide rate limit with a stated end; a past one is none
    /// (cooldown.md 8.1).
    fn block(&self, id: &str, event: &Value) -> Option<FailureEvent> {
        let at = instant(event["untilMs"].as_i64().unwrap());
        let hint = ResetHint {
            at,
            source: HintSource::Body,
            credible: true,
        };
        (at > instant(self.now)).then(|| FailureEvent {
            provider: self.provider(id),
            reason: Reason::RateLimit,
            scope: MarkScope::Profile,
            model: None,
            hint: Some(hint),
            started_at: None,
        })
    }

    /// The answers at this moment, in the corpus' words.
    pub(crate) fn answer(&self) -> Value {
        let now = instant(self.now);
        let models: Vec<Option<&str>> = [None]
            .into_iter()
            .chain(self.input["models"].as_array().unwrap().iter().map(Value::as_str))
            .collect();
        let name = |model: Option<&str>| model.unwrap_or("*").to_owned();
        let id = |model: Option<&str>| model.map(|model| model.parse::<ModelId>().unwrap());
        let cooling = |usage: &ProfileUsage| -> Map<String, Value> {
            models
                .iter()
                .map(|model| (name(*model), json!(!usage.is_usable(id(*model).as_ref(), now))))
                .collect()
        };
        let soonest = |model: Option<&str>| {
            soonest_expiry(self.usages.values(), id(model).as_ref(), now).map(Timestamp::as_millisecond)
        };
        let until = |usage: &ProfileUsage| usage.block(None, now).map(|block| block.until.as_millisecond());
        json!({
            "nowMs": self.now,
            "usageStats": self.file.iter().filter(|(_, stats)| !stats.is_empty()).map(|(id, stats)| ((*id).to_owned(), json!(stats))).collect::<Map<_, _>>(),
            "inCooldown": self.usages.iter().map(|(id, usage)| ((*id).to_owned(), json!(cooling(usage)))).collect::<Map<_, _>>(),
            "unusableUntil": self.usages.iter().map(|(id, usage)| ((*id).to_owned(), json!(until(usage)))).collect::<Map<_, _>>(),
            "soonestExpiry": models.iter().map(|model| (name(*model), json!(soonest(*model)))).collect::<Map<_, _>>(),
            "unavailableReason": unavailable(self.usages.values(), None, now).map(|block| block.reason),
        })
    }
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
