//! The logins of the first versions of OpenClaw, imported into the main agent's store once (auth-store.md 9.1).

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use openclaw_auth_store::{AmbientProfile, LegacyFolder, LegacyProfiles, UsageStore};
use openclaw_config::Environment;
use openclaw_ids::ProviderId;
use openclaw_runner::{Clock, SystemClock};

use super::AgentAuthStore;
use super::circuit_breaker_store::CircuitBreakerStore;

/// The most of the file that is read, in bytes.
const MAX_BYTES: u64 = 4 << 20;

/// The file of those logins, and whether they may be stored.
#[derive(Debug, Clone)]
pub(crate) struct LegacyLogins {
    path: PathBuf,
    /// Whether they are stored; else they are used from memory (L7).
    stores: bool,
}

impl LegacyLogins {
    /// The logins that `environment` points to.
    pub(crate) fn of(environment: &Environment, state_dir: &Path) -> Self {
        Self {
            path: environment.legacy_logins_path(state_dir),
            stores: !environment.keeps_stores_as_they_are(),
        }
    }

    /// Imports them into the main agent's store while that is empty (G1, G2); other agents inherit them. The file stays as
    /// it is, and a file that cannot be read is ignored (G5).
    pub(super) async fn bring_into(&self, store: &CircuitBreakerStore) {
        if !store.snapshot().profiles.is_empty() {
            return;
        }
        let path = self.path.clone();
        let Ok(Ok(text)) = tokio::task::spawn_blocking(move || read(&path)).await else {
            return;
        };
        let legacy = LegacyProfiles::oauth(&text);
        if legacy.is_empty() {
            return;
        }
        if self.stores {
            if let Err(error) = store.import_on_first_use(legacy, SystemClock.now()).await {
                tracing::warn!(%error, path = %self.path.display(), "older logins were not brought into the store");
            }
            return;
        }
        let logins = legacy.profiles().iter().map(|(id, credential)| AmbientProfile {
            id: id.clone(),
            credential: credential.clone(),
        });
        let seen = store.snapshot();
        let known = seen.ambient.iter().map(|(id, credential)| AmbientProfile {
            id: id.clone(),
            credential: credential.clone(),
        });
        store.set_ambient(known.chain(logins).collect());
    }
}

fn read(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    File::open(path)?.take(MAX_BYTES).read_to_string(&mut text)?;
    Ok(text)
}

/// Whether older versions left a credential for `provider` that the stores of a running gateway lack. The files may take
/// their time.
pub(crate) async fn has_unstored_legacy(store: &AgentAuthStore, provider: &ProviderId) -> bool {
    let owners = [Some(store.agent()), store.main()].into_iter().flatten();
    let folders: Vec<PathBuf> = owners
        .filter_map(|owner| owner.path().parent().map(Path::to_owned))
        .collect();
    let snapshot = store.snapshot();
    let provider = provider.clone();
    let looking = tokio::task::spawn_blocking(move || {
        folders.iter().any(|folder| {
            let legacy = LegacyFolder::new(folder).read().unwrap_or_default();
            let mut profiles = legacy.profiles().iter();
            profiles.any(|(id, credential)| {
                *credential.provider() == provider && !snapshot.profiles.contains_key(id)
            })
        })
    });
    looking.await.unwrap_or_default()
}
