//! Lists profiles for status output: kind, health and cooldowns, never the secret (Z2).

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;
use openclaw_classify::Reason;
use openclaw_cooldown::Lane;
use openclaw_ids::{ProfileId, ProviderId};
use serde::Serialize;

use crate::{
    AuthConfig, AuthSnapshot, Credential, EXPIRY_WARNING, Eligibility, Expiry, Health,
    credential_eligibility, health,
};

/// One profile without its secret; times are Unix milliseconds in JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ListedProfile {
    /// The id.
    pub id: ProfileId,
    /// The provider that it is for.
    pub provider: ProviderId,
    /// `api_key`, `local`, `oauth` or `token`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// Where it comes from.
    pub origin: ProfileOrigin,
    /// The display name, else the address, else the id.
    pub label: String,
    /// The account's address, as configured, else as stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    /// The display name, as configured, else as stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    /// The health of the credential.
    pub health: Health,
    /// Why it cannot be used, whatever it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<Eligibility>,
    /// When its token ends, where it holds one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires: Option<i64>,
    /// When it was last selected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_used: Option<i64>,
    /// When it last failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_failure_at: Option<i64>,
    /// Failures since the last reset, per reason (D15: for display only).
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub failure_counts: BTreeMap<Reason, u64>,
    /// What blocks it, or one model of it, now; the latest end first.
    pub windows: Vec<ListedWindow>,
}

/// The origin of a profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ProfileOrigin {
    /// From the environment or the configuration; it is not stored (X-4).
    Ambient,
    /// From the store.
    Stored,
}

/// One active window.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ListedWindow {
    /// Its lane, for [`UsageChange::ClearLane`](crate::UsageChange::ClearLane).
    pub lane: Lane,
    /// `cooldown` or `disabled:<reason>` (auth-store.md 10).
    pub status: String,
    /// Why.
    pub reason: Reason,
    /// How often in a row.
    pub steps: u32,
    /// When it was opened last.
    pub opened_at: i64,
    /// The first instant that is free again.
    pub until: i64,
    /// The time until then, rounded for status output (auth-store.md 10).
    pub remaining: String,
    /// Whether the provider or an operator stated the end.
    pub stated: bool,
}

/// Every profile of `snapshot`, stored ones first and in stored order, as it is at `now` (Z2).
///
/// ```
/// # use openclaw_auth_store::{AuthConfig, AuthSnapshot, Credential, Secret, list_profiles};
/// # use openclaw_ids::{ProfileId, ProviderId};
/// let mut snapshot = AuthSnapshot::default();
/// let key = Credential::api_key(ProviderId::try_new("openai")?, Secret::new("sk-1"));
/// snapshot.upsert(ProfileId::try_new("openai:work")?, key)?;
/// let now = "2026-01-01T00:00:00Z".parse()?;
/// let list = list_profiles(&snapshot, &AuthConfig::default(), now);
/// assert_eq!((list[0].label.as_str(), list[0].kind), ("openai:work", "api_key"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn list_profiles(snapshot: &AuthSnapshot, config: &AuthConfig, now: Timestamp) -> Vec<ListedProfile> {
    let stored = snapshot.profiles.iter();
    let ambient = snapshot.ambient.iter();
    let ambient = ambient.filter(|(id, _)| !snapshot.profiles.contains_key(*id));
    stored
        .map(|(id, credential)| (id, credential, ProfileOrigin::Stored))
        .chain(ambient.map(|(id, credential)| (id, credential, ProfileOrigin::Ambient)))
        .map(|(id, credential, origin)| listed(snapshot, config, id, credential, origin, now))
        .collect()
}

fn listed(
    snapshot: &AuthSnapshot,
    config: &AuthConfig,
    id: &ProfileId,
    credential: &Credential,
    origin: ProfileOrigin,
    now: Timestamp,
) -> ListedProfile {
    let configured = config.profiles.get(id);
    let stored = credential.attributes();
    let email = configured
        .and_then(|profile| profile.email.clone())
        .or_else(|| stored.and_then(|stored| stored.email.clone()));
    let display_name = configured
        .and_then(|profile| profile.display_name.clone())
        .or_else(|| stored.and_then(|stored| stored.display_name.clone()));
    let label = display_name.clone().or_else(|| email.clone());
    let usage = snapshot.usage(id);
    let problem = Some(credential_eligibility(credential, now)).filter(|eligibility| !eligibility.is_ok());
    let milliseconds = |at: Timestamp| at.as_millisecond();
    ListedProfile {
        id: id.clone(),
        provider: credential.provider().clone(),
        kind: credential.mode(),
        origin,
        label: label.unwrap_or_else(|| id.to_string()),
        email,
        display_name,
        health: health(credential, now, EXPIRY_WARNING),
        problem,
        expires: match credential.expires() {
            Some(Expiry::At(end)) => Some(end),
            Some(Expiry::Invalid) | None => None,
        },
        last_used: usage.last_used.map(milliseconds),
        last_failure_at: usage.last_failure_at.map(milliseconds),
        failure_counts: usage.failure_counts.clone(),
        windows: windows(snapshot, id, now),
    }
}

fn windows(snapshot: &AuthSnapshot, id: &ProfileId, now: Timestamp) -> Vec<ListedWindow> {
    let mut active: Vec<_> = snapshot.usage(id).blocking(None, now).collect();
    active.sort_by_key(|(_, window)| std::cmp::Reverse(window.until));
    active
        .into_iter()
        .map(|(lane, window)| ListedWindow {
            lane: lane.clone(),
            status: status(lane, window.reason),
            reason: window.reason,
            steps: window.steps,
            opened_at: window.opened_at.as_millisecond(),
            until: window.until.as_millisecond(),
            remaining: remaining(now, window.until),
            stated: window.stated.is_some(),
        })
        .collect()
}

fn status(lane: &Lane, reason: Reason) -> String {
    match lane {
        Lane::AuthPermanent | Lane::Billing => format!("disabled:{}", reason.as_str()),
        Lane::Blocked | Lane::Model(_) | Lane::Profile => "cooldown".to_owned(),
    }
}

/// Rounded minutes, at least one; hours from 60 minutes on, days from 48 hours on (auth-store.md 10).
fn remaining(now: Timestamp, until: Timestamp) -> String {
    let left = Duration::try_from(until.duration_since(now)).unwrap_or_default();
    let minutes = rounded(left.as_secs(), 60).max(1);
    if minutes < 60 {
        return format!("{minutes}m");
    }
    let hours = rounded(minutes, 60);
    if hours < 48 {
        format!("{hours}h")
    } else {
        format!("{}d", rounded(hours, 24))
    }
}

fn rounded(amount: u64, unit: u64) -> u64 {
    amount.saturating_add(unit / 2) / unit
}

#[cfg(test)]
mod tests;
