//! The snapshot of a store: profiles and usage state at one moment, as a value.

mod change;
#[cfg(feature = "sqlite")]
mod last_used_only;
pub(crate) mod login;
#[cfg(feature = "sqlite")]
pub(crate) mod payload;
mod probe;
mod profile_edits;
mod stored;
mod usage_map;

use std::collections::HashMap;
use std::sync::LazyLock;

use indexmap::IndexMap;
use openclaw_cooldown::{EndpointWindow, ProfileUsage, adopt_secret};
use openclaw_ids::{ProfileId, ProviderId};
use serde::{Deserialize, Serialize};

use crate::{Credential, Credentials, Rejection};

#[cfg(feature = "sqlite")]
pub(crate) use change::SHIPPED_ALIASES;
pub use change::{ChangeOutcome, UsageChange};
pub use login::{LoginChange, RefreshLease};
pub use probe::{ProbeLease, ProbeState};
pub use stored::StoredSnapshot;
pub use usage_map::UsageMap;

/// The profiles of one agent and their usage state; a value that is cheap to clone and to query.
///
/// Invariant of every engine: the usage of a profile is about the secret that the profile holds now (D9), so a
/// replaced key is usable at once. [`with_current_secrets`](Self::with_current_secrets) establishes it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuthSnapshot {
    /// Stored profiles in stored order.
    pub profiles: Credentials,
    /// Profiles that are not stored.
    pub ambient: Credentials,
    /// The agent's own explicit orders; they win over the configuration's (R2).
    pub order: IndexMap<ProviderId, Vec<ProfileId>>,
    /// The profile that last worked, per provider; decides nothing about the order.
    pub last_good: IndexMap<ProviderId, ProfileId>,
    /// The usage state of each profile.
    pub usage: UsageMap,
    /// Endpoints that could not be reached.
    pub endpoints: HashMap<EndpointKey, EndpointWindow>,
    /// Probes per provider (G4).
    pub probes: HashMap<ProviderId, ProbeState>,
    /// Refreshes of logins in flight.
    pub refreshes: HashMap<ProfileId, RefreshLease>,
    /// Fingerprints of what the secret references of profiles resolve to, as
    /// [`pointer_fingerprints`](Self::pointer_fingerprints) found it.
    pub resolved: HashMap<ProfileId, String>,
    /// Stored entries that are no credentials, by their key; they stay where they are (D13).
    pub rejected: Vec<(String, Rejection)>,
}

/// One address of one provider, which endpoint windows belong to (D4).
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EndpointKey {
    /// The provider.
    pub provider: ProviderId,
    /// Its base address as configured.
    pub base_url: String,
}

/// The state of a profile that was never used.
static UNUSED: LazyLock<ProfileUsage> = LazyLock::new(ProfileUsage::default);

impl AuthSnapshot {
    /// The credential of a profile, stored ones first.
    pub fn credential(&self, id: &ProfileId) -> Option<&Credential> {
        self.profiles.get(id).or_else(|| self.ambient.get(id))
    }

    /// The usage of a profile; the default for one that was never used.
    pub fn usage(&self, id: &ProfileId) -> &ProfileUsage {
        self.usage.get(id).unwrap_or(&UNUSED)
    }

    /// Whether an entry that is no credential is stored under the id.
    pub fn is_rejected(&self, id: &ProfileId) -> bool {
        self.rejected.iter().any(|(key, _)| key.trim() == id.as_str())
    }

    /// The fingerprint of the secret that a profile holds or refers to (D9); `None` when it is unknown.
    pub fn fingerprint(&self, id: &ProfileId) -> Option<String> {
        let own = self.credential(id)?.fingerprint();
        own.or_else(|| self.resolved.get(id).cloned())
    }

    /// Resets the usage of every profile whose usage is about another secret than its present one (D9).
    #[must_use]
    pub fn with_current_secrets(mut self) -> Self {
        for (id, usage) in self.usage.clone().iter() {
            if let Some(fingerprint) = self.fingerprint(id) {
                let adopted = adopt_secret(usage.clone(), Some(&fingerprint));
                if adopted != *usage {
                    self.usage.insert(id.clone(), adopted);
                }
            }
        }
        self
    }
}
