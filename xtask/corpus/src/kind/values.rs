//! Members of corpus rows as the crates' types.

use indexmap::IndexMap;
use jiff::Timestamp;
use openclaw_auth_store::Credential;
use openclaw_cooldown::{ProfileUsage, UsageReply, UsageStats, to_usage_stats};
use openclaw_ids::{ModelId, ProfileId, ProviderId};
use serde_json::{Value, json};

/// A time in Unix milliseconds.
pub(super) fn instant(ms: &Value) -> Result<Timestamp, String> {
    let ms = ms
        .as_i64()
        .ok_or_else(|| format!("{ms} is no time in milliseconds"))?;
    Timestamp::from_millisecond(ms).map_err(|error| error.to_string())
}

/// A scripted reply to a usage check; one without a status never came.
pub(super) fn reply(reply: &Value) -> UsageReply<'_> {
    let status = reply["status"].as_u64().and_then(|status| status.try_into().ok());
    status.map_or(UsageReply::Failed, |status| UsageReply::Answered {
        status,
        body: reply.get("body"),
    })
}

/// A time as the files write it, null when there is none.
pub(super) fn milliseconds(at: Option<Timestamp>) -> Value {
    at.map_or(Value::Null, |at| at.as_millisecond().into())
}

/// A model id; `None` for an absent or blank one.
pub(super) fn model(id: &Value) -> Option<ModelId> {
    id.as_str()?.parse().ok()
}

/// A profile id.
pub(super) fn profile(id: &str) -> Result<ProfileId, String> {
    ProfileId::try_new(id).map_err(|error| error.to_string())
}

/// A provider id.
pub(super) fn provider(id: &Value) -> Result<ProviderId, String> {
    ProviderId::try_new(id.as_str().unwrap_or_default()).map_err(|error| error.to_string())
}

/// `store.profiles` in stored order; entries that a store rejects are no profiles.
pub(super) fn credentials(profiles: &Value) -> Result<IndexMap<ProfileId, Credential>, String> {
    let mut loaded = IndexMap::new();
    for (id, entry) in profiles.as_object().into_iter().flatten() {
        if let Ok(credential) = Credential::from_json(entry) {
            loaded.insert(profile(id)?, credential);
        }
    }
    Ok(loaded)
}

/// What a reader holds of `stats` once windows that have ended are taken out; untouched when none has.
pub(super) fn without_ended(usage: &ProfileUsage, stats: &UsageStats, now: Timestamp) -> UsageStats {
    let shown = json!(stats);
    let past = |end: &&str| {
        shown[*end]
            .as_i64()
            .is_some_and(|until| (1..=now.as_millisecond()).contains(&until))
    };
    let ended = ["cooldownUntil", "disabledUntil", "blockedUntil"]
        .iter()
        .any(past);
    if ended {
        to_usage_stats(usage, now, Some(stats))
    } else {
        stats.clone()
    }
}
