//! Which credentials of a provider could prove who asks, and which only look as if they could.

use jiff::Timestamp;
use openclaw_auth_store::{AuthSnapshot, rotation_order};
use openclaw_ids::{ProfileId, ProviderId};
use serde::Serialize;

use super::Installation;

/// The credentials that would be tried for a provider.
pub struct UsableProfiles {
    /// All of them, best first.
    pub tried: Vec<ProfileId>,
    /// Those whose secret is where they say, or may be, best first.
    pub usable: Vec<ProfileId>,
    /// The others.
    pub unusable: Vec<UnusableProfile>,
}

/// A credential that is tried in vain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UnusableProfile {
    /// The credential.
    pub profile: ProfileId,
    /// Why, and what to do about it.
    pub problem: String,
}

impl UsableProfiles {
    /// The credentials for calls to `provider` at `now`.
    pub fn of(
        installation: &Installation<'_>,
        snapshot: &AuthSnapshot,
        provider: &ProviderId,
        now: Timestamp,
    ) -> Self {
        let auth = &installation.config.auth;
        let tried = rotation_order(snapshot, auth, installation.aliases, provider, None, now);
        let (mut usable, mut unusable) = (Vec::new(), Vec::new());
        for id in &tried {
            match problem(installation, snapshot, id) {
                None => usable.push(id.clone()),
                Some(problem) => unusable.push(UnusableProfile {
                    profile: id.clone(),
                    problem,
                }),
            }
        }
        Self {
            tried,
            usable,
            unusable,
        }
    }
}

/// Why a credential is tried in vain, and what to do about it.
pub(super) fn problem(
    installation: &Installation<'_>,
    snapshot: &AuthSnapshot,
    id: &ProfileId,
) -> Option<String> {
    let credential = snapshot.credential(id)?;
    let dangling = installation.sources.dangling(id, credential)?;
    Some(dangling.to_string())
}
