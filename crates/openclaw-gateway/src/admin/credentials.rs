//! `/admin/v1/profiles` and `/admin/v1/cooldowns`: credentials without their secrets, what rests, and its end.

use std::collections::BTreeSet;

use axum::Json;
use jiff::Timestamp;
use openclaw_auth_store::{EndpointKey, UsageChange, UsageStore};
use openclaw_classify::{HintSource, Reason, ResetHint};
use openclaw_cooldown::{FailureEvent, MarkScope};
use openclaw_ids::{ModelId, ProfileId, ProviderId};
use openclaw_runner::{Clock, SystemClock};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::agents::{SelectedAgent, unusable};
use super::params::Object;
use crate::http::ApiError;
use crate::report::{CooldownsReport, ProfilesReport};

/// All credentials of an agent.
pub(super) async fn profiles(named: SelectedAgent) -> Json<ProfilesReport> {
    let installation = named.served.generation.installation();
    Json(ProfilesReport::of(
        &installation,
        &named.look().state(),
        SystemClock.now(),
    ))
}

/// What of an agent rests now.
pub(super) async fn cooldowns(named: SelectedAgent) -> Json<CooldownsReport> {
    Json(resting(&named, SystemClock.now()))
}

fn resting(named: &SelectedAgent, now: Timestamp) -> CooldownsReport {
    let installation = named.served.generation.installation();
    CooldownsReport::of(&installation, &named.look().state(), now)
}

/// What is to be set free: one credential, all of a provider with its address, or everything.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) enum ClearRequest {
    All(bool),
    Profile(ProfileId),
    Provider(ProviderId),
}

const CLEAR: &str = "name what to set free, and one thing alone: {\"profile\": \"openai:work\"}, {\"provider\": \"openai\"} \
                     or {\"all\": true}";

/// What was set free.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ClearResponse {
    profiles: Vec<ProfileId>,
    endpoints: Vec<String>,
}

/// Ends windows and forgets failures.
pub(super) async fn clear(
    named: SelectedAgent,
    Object(asked): Object<Value>,
) -> Result<Json<ClearResponse>, ApiError> {
    let clear = serde_json::from_value::<ClearRequest>(asked).ok();
    let clear = clear
        .filter(|clear| !matches!(clear, ClearRequest::All(false)))
        .ok_or_else(|| ApiError::invalid(CLEAR))?;
    let store = &named.agent.usage;
    let seen = store.snapshot();
    let is_meant = |id: Option<&ProfileId>, provider: &ProviderId| match &clear {
        ClearRequest::All(_) => true,
        ClearRequest::Profile(profile) => id == Some(profile),
        ClearRequest::Provider(meant) => meant == provider,
    };
    let known = seen.profiles.iter().chain(&seen.ambient);
    let meant: BTreeSet<&ProfileId> = known
        .filter(|(id, credential)| is_meant(Some(id), credential.provider()))
        .map(|(id, _)| id)
        .collect();
    let endpoints = seen.endpoints.keys();
    let endpoints: Vec<EndpointKey> = endpoints
        .filter(|key| is_meant(None, &key.provider))
        .cloned()
        .collect();
    if meant.is_empty() && endpoints.is_empty() && !matches!(clear, ClearRequest::All(_)) {
        return Err(no_credential(&named));
    }
    // What never failed has nothing to be set free from.
    let profiles = meant.into_iter().filter(|id| seen.usage(id).has_failed());
    let profiles: Vec<ProfileId> = profiles.cloned().collect();
    let (now, telemetry) = (SystemClock.now(), &named.served.process.telemetry);
    for profile in &profiles {
        let profile = profile.clone();
        let change = UsageChange::Clear { profile };
        let cleared = telemetry.commit_operator_change(&named.id, &**store, change, now);
        cleared.await.map_err(|error| unusable(&error))?;
    }
    for endpoint in &endpoints {
        let endpoint = endpoint.clone();
        let change = UsageChange::EndpointSuccess { endpoint };
        let cleared = telemetry.commit_operator_change(&named.id, &**store, change, now);
        cleared.await.map_err(|error| unusable(&error))?;
    }
    Ok(Json(ClearResponse {
        profiles,
        endpoints: endpoints.into_iter().map(|key| key.base_url).collect(),
    }))
}

fn no_credential(named: &SelectedAgent) -> ApiError {
    ApiError::unknown(&format!(
        "agent `{}` has no such credential; GET /admin/v1/profiles lists those it has",
        named.id
    ))
}

/// A credential that is to rest.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct CooldownRequest {
    profile: ProfileId,
    /// For how long, in milliseconds.
    for_ms: i64,
    /// For this model alone.
    model: Option<ModelId>,
}

/// Lets a credential rest until a time that a person states. Of one model alone it is told as a limit with that end.
pub(super) async fn rest(
    named: SelectedAgent,
    Object(rest): Object<CooldownRequest>,
) -> Result<Json<CooldownsReport>, ApiError> {
    let store = &named.agent.usage;
    let seen = store.snapshot();
    let credential = seen.credential(&rest.profile);
    let provider = credential.map(|credential| credential.provider().clone());
    let provider = provider.ok_or_else(|| no_credential(&named))?;
    let now = SystemClock.now();
    let until = now.as_millisecond().checked_add(rest.for_ms);
    let until = until.and_then(|until| Timestamp::from_millisecond(until).ok());
    let (until, hint) = until
        .map(|until| (until, ResetHint::new(until, HintSource::Body, now)))
        .filter(|(_, hint)| rest.for_ms > 0 && hint.credible)
        .ok_or_else(|| ApiError::invalid("`forMs` must be above 0, and at most 35 days"))?;
    let change = match rest.model {
        // As on the command line: nothing is counted, and a shorter rest takes the place of a longer one.
        None => UsageChange::CoolDown {
            profile: rest.profile,
            until,
        },
        Some(model) => UsageChange::Failure {
            profile: rest.profile,
            event: FailureEvent {
                provider,
                reason: Reason::RateLimit,
                scope: MarkScope::Model,
                model: Some(model),
                hint: Some(hint),
                started_at: Some(now),
            },
        },
    };
    let telemetry = &named.served.process.telemetry;
    let rested = telemetry
        .commit_operator_change(&named.id, &**store, change, now)
        .await;
    rested.map_err(|error| unusable(&error))?;
    Ok(Json(resting(&named, now)))
}
