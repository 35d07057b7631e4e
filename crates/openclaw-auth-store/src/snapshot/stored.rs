//! A snapshot as one serde value, for engines of the caller's own.

use std::collections::HashMap;
use std::fmt;

use indexmap::IndexMap;
use openclaw_cooldown::{EndpointWindow, ProfileUsage};
use openclaw_ids::{ProfileId, ProviderId};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{AuthSnapshot, EndpointKey, ProbeState, RefreshLease};
use crate::Credential;

/// Everything of an [`AuthSnapshot`] that is to be kept, ready for serde: made by [`AuthSnapshot::to_stored`], and turned
/// back with `AuthSnapshot::from`.
///
/// **It contains secrets in the clear**, and so does whatever it is serialized to: keep that private. `Debug` shows
/// nothing of it. Serialized it is an object:
///
/// | Member | Content |
/// |---|---|
/// | `profiles` | by profile id, each as [`Credential::to_json`] writes it |
/// | `order` | by provider, a list of profile ids |
/// | `lastGood` | by provider, a profile id |
/// | `usage` | by profile id, a [`ProfileUsage`] |
/// | `endpoints` | a list of `{provider, baseUrl, window}` |
/// | `probes` | by provider, a [`ProbeState`] |
/// | `refreshes` | by profile id, a [`RefreshLease`] |
///
/// Times are Unix milliseconds, empty members are left out, and missing ones count as empty. Ambient profiles, and what
/// pointers lead to, belong to the process and are not kept.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct StoredSnapshot {
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    profiles: IndexMap<ProfileId, Value>,
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    order: IndexMap<ProviderId, Vec<ProfileId>>,
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    last_good: IndexMap<ProviderId, ProfileId>,
    #[serde(skip_serializing_if = "HashMap::is_empty")]
    usage: HashMap<ProfileId, ProfileUsage>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    endpoints: Vec<StoredEndpoint>,
    #[serde(skip_serializing_if = "HashMap::is_empty")]
    probes: HashMap<ProviderId, ProbeState>,
    #[serde(skip_serializing_if = "HashMap::is_empty")]
    refreshes: HashMap<ProfileId, RefreshLease>,
}

#[derive(Clone, PartialEq, Serialize, Deserialize)]
struct StoredEndpoint {
    #[serde(flatten)]
    endpoint: EndpointKey,
    window: EndpointWindow,
}

impl fmt::Debug for StoredSnapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoredSnapshot").finish_non_exhaustive()
    }
}

impl AuthSnapshot {
    /// What an engine keeps of the snapshot, secrets included.
    pub fn to_stored(&self) -> StoredSnapshot {
        let profiles = self.profiles.iter();
        let endpoints = self.endpoints.iter();
        StoredSnapshot {
            profiles: profiles
                .filter_map(|(id, credential)| Some((id.clone(), credential.to_json()?)))
                .collect(),
            order: self.order.clone(),
            last_good: self.last_good.clone(),
            usage: self
                .usage
                .iter()
                .map(|(id, usage)| (id.clone(), usage.clone()))
                .collect(),
            endpoints: endpoints
                .map(|(endpoint, window)| StoredEndpoint {
                    endpoint: endpoint.clone(),
                    window: *window,
                })
                .collect(),
            probes: self.probes.clone(),
            refreshes: self.refreshes.clone(),
        }
    }
}

impl From<StoredSnapshot> for AuthSnapshot {
    /// Entries that are no credentials are named in [`rejected`](AuthSnapshot::rejected), and usage of another secret than
    /// the stored one starts clean (D9).
    fn from(stored: StoredSnapshot) -> Self {
        let mut snapshot = Self {
            order: stored.order,
            last_good: stored.last_good,
            usage: stored.usage.into_iter().collect(),
            probes: stored.probes,
            refreshes: stored.refreshes,
            ..Self::default()
        };
        for (id, entry) in stored.profiles {
            match Credential::from_json(&entry) {
                Ok(credential) => drop(snapshot.profiles.insert(id, credential)),
                Err(rejection) => snapshot.rejected.push((id.as_str().to_owned(), rejection)),
            }
        }
        for StoredEndpoint { endpoint, window } in stored.endpoints {
            snapshot.endpoints.insert(endpoint, window);
        }
        snapshot.with_current_secrets()
    }
}

#[cfg(test)]
mod tests;
