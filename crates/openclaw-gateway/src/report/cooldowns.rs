//! What of an agent rests now: credentials, for one model or for all, and addresses.

use jiff::Timestamp;
use openclaw_ids::{AgentId, ProfileId, ProviderId};
use serde::Serialize;

use super::profiles::{ProfilesReport, WindowReport, telling};
use super::unix_millis::millis;
use super::{AgentState, Installation};

/// Everything of an agent that rests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CooldownsReport {
    /// The agent.
    pub agent: AgentId,
    /// Credentials with windows.
    pub profiles: Vec<RestingProfile>,
    /// Addresses that could not be reached.
    pub endpoints: Vec<RestingEndpoint>,
}

/// A credential that rests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RestingProfile {
    /// The credential.
    pub profile: ProfileId,
    /// The agent in whose store its state lives.
    pub owner: AgentId,
    /// Its active windows.
    pub windows: Vec<WindowReport>,
}

/// An address that rests (D4).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RestingEndpoint {
    /// The provider.
    pub provider: ProviderId,
    /// Where it is called, without anything secret.
    pub base_url: String,
    /// When it was last found unreachable.
    #[serde(serialize_with = "millis")]
    pub since: Timestamp,
    /// The first instant that is free again.
    #[serde(serialize_with = "millis")]
    pub until: Timestamp,
}

impl RestingProfile {
    /// Its windows without those that another one covers.
    pub fn telling_windows(&self) -> impl Iterator<Item = &WindowReport> {
        telling(&self.windows)
    }
}

impl CooldownsReport {
    /// Reports what rests at `now`.
    pub fn of(installation: &Installation<'_>, state: &AgentState<'_>, now: Timestamp) -> Self {
        let ProfilesReport { agent, profiles, .. } = ProfilesReport::of(installation, state, now);
        let resting = profiles.into_iter().filter(|profile| !profile.windows.is_empty());
        let endpoints = state.seen.endpoints.iter();
        let mut endpoints: Vec<RestingEndpoint> = endpoints
            .filter(|(_, window)| window.is_active(now))
            .map(|(key, window)| RestingEndpoint {
                provider: key.provider.clone(),
                base_url: key.base_url.clone(),
                since: window.opened_at,
                until: window.until,
            })
            .collect();
        endpoints
            .sort_by(|one, other| (&one.provider, &one.base_url).cmp(&(&other.provider, &other.base_url)));
        Self {
            agent,
            profiles: resting
                .map(|profile| RestingProfile {
                    profile: profile.id,
                    owner: profile.owner,
                    windows: profile.windows,
                })
                .collect(),
            endpoints,
        }
    }

    /// Whether nothing rests.
    pub fn is_empty(&self) -> bool {
        self.profiles.is_empty() && self.endpoints.is_empty()
    }
}
