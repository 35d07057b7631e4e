//! Rotation order: stored profiles, configuration and usage become the list of profiles to try.

mod oracle;

use std::collections::BTreeMap;

use indexmap::IndexMap;
use openclaw_auth_store::{AuthConfig, AuthSnapshot, Credential, Eligibility, eligibility, rotation_order};
use openclaw_chain::{AuthMode, ChainConfig};
use openclaw_cooldown::{ProfileUsage, UsageStats, adopt_usage_stats};
use openclaw_ids::{ProfileId, ProviderId};
use openclaw_providers::AuthAliases;
use serde_json::{Map, Value, json};

use super::{Kind, OverrulePolicy, recorded, refused, values};
use crate::row::Row;

pub(crate) const KIND: Kind = Kind {
    name: "order",
    answer,
    accepted: recorded,
    overruled: OverrulePolicy::ByReach {
        decisions: oracle::DECISIONS,
        oracle: oracle::oracle,
    },
};

fn answer(row: &Row) -> Value {
    asked(row.input()).unwrap_or_else(|why| refused(&why))
}

fn asked(input: &Value) -> Result<Value, String> {
    let now = values::instant(&input["nowMs"])?;
    let aliases = AuthAliases::default();
    let config = configured(&input["config"])?;
    let profiles = values::credentials(&input["store"]["profiles"])?;
    let Ok(provider) = values::provider(&input["provider"]) else {
        return Ok(for_no_provider(&profiles));
    };
    let mut snapshot = AuthSnapshot {
        profiles: profiles.into(),
        ..AuthSnapshot::default()
    };
    for (provider, ids) in input["store"]["order"].as_object().into_iter().flatten() {
        let ids: Vec<ProfileId> = serde_json::from_value(ids.clone()).map_err(|error| error.to_string())?;
        snapshot.order.insert(
            ProviderId::try_new(provider).map_err(|error| error.to_string())?,
            ids,
        );
    }
    let mut swept = BTreeMap::new();
    for (id, stored) in input["store"]["usageStats"].as_object().into_iter().flatten() {
        let stats: UsageStats = serde_json::from_value(stored.clone()).map_err(|error| error.to_string())?;
        let usage = adopt_usage_stats(ProfileUsage::default(), &stats, now);
        let shown = values::without_ended(&usage, &stats, now);
        if !shown.is_empty() {
            swept.insert(id.clone(), shown);
        }
        snapshot.usage.insert(values::profile(id)?, usage);
    }
    let preferred = input["preferredProfile"]
        .as_str()
        .map(values::profile)
        .transpose()?;
    let order = rotation_order(&snapshot, &config, &aliases, &provider, preferred.as_ref(), now);
    let mut codes = Map::new();
    for id in mentioned(input) {
        let code = eligibility(
            &snapshot,
            &config,
            &aliases,
            &provider,
            &values::profile(&id)?,
            now,
        );
        codes.insert(id, code.as_str().into());
    }
    Ok(json!({"order": order, "eligibility": codes, "usageStats": swept}))
}

/// A blank name is no provider, so no function of ours can be asked about it; nothing is tried, and nothing fits.
fn for_no_provider(profiles: &IndexMap<ProfileId, Credential>) -> Value {
    let codes = profiles
        .keys()
        .map(|id| (id.to_string(), Eligibility::ProviderMismatch.as_str().into()));
    json!({"order": [], "eligibility": codes.collect::<Map<_, _>>(), "usageStats": {}})
}

fn configured(config: &Value) -> Result<AuthConfig, String> {
    let mut auth = match &config["auth"] {
        Value::Null => AuthConfig::default(),
        auth => serde_json::from_value(auth.clone()).map_err(|error| error.to_string())?,
    };
    for (provider, row) in ChainConfig::lenient(config).models.providers {
        if row.auth == Some(AuthMode::AwsSdk) {
            auth.aws_sdk
                .insert(ProviderId::try_new(&provider).map_err(|error| error.to_string())?);
        }
    }
    Ok(auth)
}

/// Every profile id that stands anywhere in the question.
fn mentioned(input: &Value) -> Vec<String> {
    let keys = |value: &Value| {
        value
            .as_object()
            .into_iter()
            .flatten()
            .map(|(id, _)| id.clone())
            .collect::<Vec<_>>()
    };
    let lists = |value: &Value| -> Vec<String> {
        let ids = value
            .as_object()
            .into_iter()
            .flatten()
            .flat_map(|(_, ids)| ids.as_array().into_iter().flatten());
        ids.filter_map(|id| id.as_str().map(str::to_owned)).collect()
    };
    let mut ids = keys(&input["store"]["profiles"]);
    ids.extend(keys(&input["config"]["auth"]["profiles"]));
    ids.extend(lists(&input["config"]["auth"]["order"]));
    ids.extend(lists(&input["store"]["order"]));
    ids.extend(input["preferredProfile"].as_str().map(str::to_owned));
    ids
}

#[cfg(test)]
mod tests;
