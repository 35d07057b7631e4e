//! The usage state of a recording: credentials without secrets, cooldown windows, probes.

use std::collections::BTreeMap;

use jiff::Timestamp;
use openclaw_auth_store::{
    AuthSnapshot, Credential, Eligibility, EndpointKey, Expiry, ProbeLease, ProbeState, Secret,
    credential_eligibility,
};
use openclaw_cooldown::{EndpointWindow, ProfileUsage};
use openclaw_ids::{ProfileId, ProviderId};
use openclaw_providers::AuthAliases;
use openclaw_runner::RunPolicy;
use serde::{Deserialize, Serialize};

/// Credentials, orders and windows of the providers of a chain.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct UsageState {
    /// Credentials without their secrets, in stored order.
    pub profiles: Vec<RecordedProfile>,
    /// The agent's own explicit orders.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub order: Vec<(ProviderId, Vec<ProfileId>)>,
    /// What is known about the use of each credential.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub usage: BTreeMap<ProfileId, ProfileUsage>,
    /// Resting endpoints by provider.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub endpoints: BTreeMap<ProviderId, EndpointWindow>,
    /// Resting endpoints of logins, by the provider that their credentials name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub login_endpoints: BTreeMap<ProviderId, EndpointWindow>,
    /// Probes by provider.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub probes: BTreeMap<ProviderId, RecordedProbe>,
}

/// A credential without its secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RecordedProfile {
    /// The profile.
    pub id: ProfileId,
    /// Its provider.
    pub provider: ProviderId,
    /// Its type's name.
    pub mode: String,
    /// When its token ends, in Unix milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<i64>,
    /// Whether there is something to send.
    pub sendable: bool,
    /// Whether it is stored, and not made from the environment or the configuration.
    pub stored: bool,
}

/// What is known about the probes of a provider.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RecordedProbe {
    /// When the latest began.
    #[serde(with = "jiff::fmt::serde::timestamp::millisecond::required")]
    pub last_probe_at: Timestamp,
    /// How many there were.
    pub generation: u64,
    /// Who probes now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holder: Option<String>,
    /// Until when no other run may.
    #[serde(
        default,
        with = "jiff::fmt::serde::timestamp::millisecond::optional",
        skip_serializing_if = "Option::is_none"
    )]
    pub expires: Option<Timestamp>,
}

/// All credentials of a recording.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Credentials {
    /// Without their secrets, in stored order.
    pub profiles: Vec<RecordedProfile>,
    /// The agent's own explicit orders.
    pub order: Vec<(ProviderId, Vec<ProfileId>)>,
}

/// What others changed between two looks at the state: the new values.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct StateChanges {
    /// All credentials and orders, when any of them changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub credentials: Option<Credentials>,
    /// Changed usage.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub usage: BTreeMap<ProfileId, ProfileUsage>,
    /// Changed endpoint windows; none when one is gone.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub endpoints: BTreeMap<ProviderId, Option<EndpointWindow>>,
    /// Changed windows of the endpoints of logins; none when one is gone.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub login_endpoints: BTreeMap<ProviderId, Option<EndpointWindow>>,
    /// Changed probes.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub probes: BTreeMap<ProviderId, Option<RecordedProbe>>,
}

/// What a recording is about: the providers of the chain, and the pinned profile.
#[derive(Debug, Clone, Default)]
pub(crate) struct RecordingScope {
    pub(crate) providers: Vec<ProviderId>,
    pub(crate) pins: Vec<ProfileId>,
}

impl RecordingScope {
    /// The credentials that the providers use, and the pinned ones, in stored order.
    fn credentials<'s>(
        &self,
        all: &'s openclaw_auth_store::Credentials,
        aliases: &AuthAliases,
    ) -> Vec<(&'s ProfileId, &'s Credential)> {
        let providers: Vec<&ProviderId> = self
            .providers
            .iter()
            .flat_map(|provider| aliases.sharing(provider))
            .collect();
        let mut covered = all.of(&providers);
        for pin in &self.pins {
            let place = covered.partition_point(|(id, _)| all.get_index_of(*id) < all.get_index_of(pin));
            let is_covered = covered.get(place).is_some_and(|(id, _)| *id == pin);
            if let Some(pinned) = all.get_key_value(pin).filter(|_| !is_covered) {
                covered.insert(place, pinned);
            }
        }
        covered
    }
}

impl UsageState {
    /// What of `snapshot` concerns a run at `now`.
    pub(crate) fn of(
        snapshot: &AuthSnapshot,
        concern: &RecordingScope,
        policy: &RunPolicy,
        now: Timestamp,
    ) -> Self {
        let stored = concern
            .credentials(&snapshot.profiles, &policy.aliases)
            .into_iter();
        let stored = stored.map(|(id, credential)| RecordedProfile::of(id, credential, true, now));
        let ambient = concern
            .credentials(&snapshot.ambient, &policy.aliases)
            .into_iter();
        let ambient = ambient.map(|(id, credential)| RecordedProfile::of(id, credential, false, now));
        let profiles: Vec<RecordedProfile> = stored.chain(ambient).collect();
        let usage = profiles.iter().filter_map(|profile| {
            let usage = plain(snapshot.usage.get(&profile.id)?.clone());
            (usage != ProfileUsage::default()).then(|| (profile.id.clone(), usage))
        });
        let order = snapshot.order.iter().filter(|(provider, _)| {
            let shares = |concerned| policy.aliases.share_credentials(provider, concerned);
            concern.providers.iter().any(shares)
        });
        Self {
            usage: usage.collect(),
            order: order
                .map(|(provider, ids)| (provider.clone(), ids.clone()))
                .collect(),
            endpoints: concern
                .providers
                .iter()
                .filter_map(|provider| {
                    let key = policy.endpoints.get(provider)?;
                    Some((provider.clone(), *snapshot.endpoints.get(key)?))
                })
                .collect(),
            login_endpoints: concern
                .providers
                .iter()
                .flat_map(|provider| policy.aliases.sharing(provider))
                .filter_map(|provider| {
                    let key = &policy.endpoints.of_logins(provider)?.key;
                    Some((provider.clone(), *snapshot.endpoints.get(key)?))
                })
                .collect(),
            probes: concern
                .providers
                .iter()
                .filter_map(|provider| Some((provider.clone(), snapshot.probes.get(provider)?.into())))
                .collect(),
            profiles,
        }
    }

    /// The state as a snapshot whose credentials hold no secret, and whose usage does not say whose it is.
    pub(crate) fn snapshot(&self, policy: &RunPolicy) -> AuthSnapshot {
        let mut snapshot = AuthSnapshot::default();
        self.fill(&mut snapshot);
        snapshot.usage = self
            .usage
            .iter()
            .map(|(id, usage)| (id.clone(), usage.clone()))
            .collect();
        for (provider, window) in &self.endpoints {
            set_endpoint(&mut snapshot, policy.endpoints.get(provider), Some(*window));
        }
        for (provider, window) in &self.login_endpoints {
            let key = policy.endpoints.of_logins(provider).map(|logins| &logins.key);
            set_endpoint(&mut snapshot, key, Some(*window));
        }
        for (provider, probe) in &self.probes {
            snapshot.probes.insert(provider.clone(), probe.clone().into());
        }
        snapshot
    }

    fn fill(&self, snapshot: &mut AuthSnapshot) {
        snapshot.profiles.clear();
        snapshot.ambient.clear();
        for profile in &self.profiles {
            let place = if profile.stored {
                &mut snapshot.profiles
            } else {
                &mut snapshot.ambient
            };
            place.insert(profile.id.clone(), profile.credential());
        }
        snapshot.order = self.order.iter().cloned().collect();
    }

    /// What `self` has otherwise than `before`; none when nothing.
    pub(crate) fn changes_since(&self, before: &Self) -> Option<StateChanges> {
        let same = self.profiles == before.profiles && self.order == before.order;
        let unused = ProfileUsage::default();
        let ids = self.usage.keys().chain(before.usage.keys());
        let usage = ids.filter_map(|id| {
            let (now, then) = (
                self.usage.get(id).unwrap_or(&unused),
                before.usage.get(id).unwrap_or(&unused),
            );
            (now != then).then(|| (id.clone(), now.clone()))
        });
        let changes = StateChanges {
            credentials: (!same).then(|| Credentials {
                profiles: self.profiles.clone(),
                order: self.order.clone(),
            }),
            usage: usage.collect(),
            endpoints: changed(&self.endpoints, &before.endpoints),
            login_endpoints: changed(&self.login_endpoints, &before.login_endpoints),
            probes: changed(&self.probes, &before.probes),
        };
        (changes != StateChanges::default()).then_some(changes)
    }
}

fn changed<T: Clone + PartialEq>(
    now: &BTreeMap<ProviderId, T>,
    then: &BTreeMap<ProviderId, T>,
) -> BTreeMap<ProviderId, Option<T>> {
    let providers = now.keys().chain(then.keys());
    let differ = providers.filter(|provider| now.get(*provider) != then.get(*provider));
    differ
        .map(|provider| (provider.clone(), now.get(provider).cloned()))
        .collect()
}

impl StateChanges {
    /// Makes the changes.
    pub(crate) fn apply_to(&self, snapshot: &mut AuthSnapshot, policy: &RunPolicy) {
        if let Some(Credentials { profiles, order }) = &self.credentials {
            let state = UsageState {
                profiles: profiles.clone(),
                order: order.clone(),
                ..UsageState::default()
            };
            state.fill(snapshot);
        }
        for (id, usage) in &self.usage {
            snapshot.usage.insert(id.clone(), usage.clone());
        }
        for (provider, window) in &self.endpoints {
            set_endpoint(snapshot, policy.endpoints.get(provider), *window);
        }
        for (provider, window) in &self.login_endpoints {
            let key = policy.endpoints.of_logins(provider).map(|logins| &logins.key);
            set_endpoint(snapshot, key, *window);
        }
        for (provider, probe) in &self.probes {
            match probe {
                Some(probe) => snapshot.probes.insert(provider.clone(), probe.clone().into()),
                None => snapshot.probes.remove(provider),
            };
        }
        *snapshot = std::mem::take(snapshot).with_current_secrets();
    }
}

fn set_endpoint(snapshot: &mut AuthSnapshot, key: Option<&EndpointKey>, window: Option<EndpointWindow>) {
    let Some(key) = key else { return };
    match window {
        Some(window) => snapshot.endpoints.insert(key.clone(), window),
        None => snapshot.endpoints.remove(key),
    };
}

impl RecordedProfile {
    fn of(id: &ProfileId, credential: &Credential, stored: bool, now: Timestamp) -> Self {
        let sendable = matches!(
            credential_eligibility(credential, now),
            Eligibility::Ok | Eligibility::Expired
        );
        let expires = match (credential, credential.expires()) {
            // A login does not become ineligible by its end.
            (Credential::Token(_), Some(Expiry::At(end))) => Some(end),
            _ => None,
        };
        Self {
            id: id.clone(),
            provider: credential.provider().clone(),
            mode: credential.mode().to_owned(),
            expires,
            sendable,
            stored,
        }
    }

    /// A credential that is treated as the recorded one was.
    fn credential(&self) -> Credential {
        let provider = self.provider.clone();
        let secret = || Secret::new(format!("recorded:{}", self.id));
        match self.mode.as_str() {
            "local" => Credential::local(provider),
            _ if !self.sendable => Credential::token(provider, Secret::new("")),
            "token" => match Credential::token(provider, secret()) {
                Credential::Token(mut token) => {
                    token.expires = self.expires.map(Expiry::At);
                    Credential::Token(token)
                }
                other => other,
            },
            "oauth" => {
                let login = serde_json::json!({
                    "type": "oauth",
                    "provider": provider.as_str(),
                    "access": "recorded",
                    "refresh": "recorded",
                    "accountId": format!("recorded:{}", self.id),
                });
                Credential::from_json(&login).unwrap_or_else(|_| Credential::api_key(provider, secret()))
            }
            _ => Credential::api_key(provider, secret()),
        }
    }
}

impl From<&ProbeState> for RecordedProbe {
    fn from(state: &ProbeState) -> Self {
        Self {
            last_probe_at: state.last_probe_at,
            generation: state.generation,
            holder: state.lease.as_ref().map(|lease| lease.holder.clone()),
            expires: state.lease.as_ref().map(|lease| lease.expires),
        }
    }
}

impl From<RecordedProbe> for ProbeState {
    fn from(probe: RecordedProbe) -> Self {
        let lease = probe
            .holder
            .zip(probe.expires)
            .map(|(holder, expires)| ProbeLease {
                holder,
                generation: probe.generation,
                expires,
            });
        Self {
            last_probe_at: probe.last_probe_at,
            generation: probe.generation,
            lease,
        }
    }
}

/// Without what says whose secret it is about, and without what this version does not know.
fn plain(mut usage: ProfileUsage) -> ProfileUsage {
    usage.fingerprint = None;
    usage.unknown.clear();
    for window in usage.windows.values_mut() {
        window.unknown.clear();
    }
    usage
}
