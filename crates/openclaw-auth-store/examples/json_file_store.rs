//! An engine of one's own: everything in one JSON file, for one process.

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use openclaw_auth_store::{
    AuthSnapshot, ChangeOutcome, Credential, ProfileStore, StoreError, StoredSnapshot, UsageChange,
    UsageStore,
};
use openclaw_cooldown::CooldownConfig;
use openclaw_ids::{ProfileId, ProviderId};

/// Profiles and usage state in one JSON file. A second process would overwrite it: use a database for several.
#[derive(Debug)]
pub struct JsonFileStore {
    path: PathBuf,
    snapshot: Mutex<Arc<AuthSnapshot>>,
    cooldowns: CooldownConfig,
}

impl JsonFileStore {
    /// Reads the file; a missing one is an empty store.
    pub fn open(path: PathBuf, cooldowns: CooldownConfig) -> Result<Self, StoreError> {
        let snapshot = match fs::read(&path) {
            Ok(bytes) => {
                let stored: StoredSnapshot = serde_json::from_slice(&bytes).map_err(StoreError::engine)?;
                AuthSnapshot::from(stored)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => AuthSnapshot::default(),
            Err(error) => return Err(StoreError::engine(error)),
        };
        let snapshot = Mutex::new(Arc::new(snapshot));
        Ok(Self {
            path,
            snapshot,
            cooldowns,
        })
    }

    /// Changes a copy, writes it, and shows it once it is written.
    fn edit<T>(
        &self,
        change: impl FnOnce(&mut AuthSnapshot) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut shown = self.snapshot.lock().unwrap_or_else(PoisonError::into_inner);
        let mut next = (**shown).clone();
        let outcome = change(&mut next)?;
        let json = serde_json::to_vec(&next.to_stored()).map_err(StoreError::engine)?;
        self.write(&json).map_err(StoreError::engine)?;
        *shown = Arc::new(next);
        Ok(outcome)
    }

    /// Replaces the file as a whole; it holds secrets, so it is readable by its owner alone.
    fn write(&self, json: &[u8]) -> io::Result<()> {
        let new = self.path.with_extension("new");
        let mut options = fs::OpenOptions::new();
        options.create(true).truncate(true).write(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(&new)?.write_all(json)?;
        fs::rename(&new, &self.path)
    }
}

impl UsageStore for JsonFileStore {
    fn snapshot(&self) -> Arc<AuthSnapshot> {
        Arc::clone(&self.snapshot.lock().unwrap_or_else(PoisonError::into_inner))
    }

    async fn commit(&self, change: UsageChange, now: Timestamp) -> Result<ChangeOutcome, StoreError> {
        self.edit(|snapshot| {
            snapshot.check(&change)?;
            Ok(snapshot.apply(&change, now, &self.cooldowns))
        })
    }

    fn enqueue(&self, change: UsageChange, now: Timestamp) {
        let queued = self.edit(|snapshot| {
            snapshot.check(&change)?;
            Ok(snapshot.apply(&change, now, &self.cooldowns))
        });
        if let Err(error) = queued {
            tracing::warn!(%error, "a change of usage state was lost");
        }
    }
}

impl ProfileStore for JsonFileStore {
    async fn upsert(&self, id: ProfileId, credential: Credential, _now: Timestamp) -> Result<(), StoreError> {
        self.edit(|snapshot| snapshot.upsert(id, credential))
    }

    async fn remove(&self, id: ProfileId, _now: Timestamp) -> Result<(), StoreError> {
        self.edit(|snapshot| snapshot.remove(&id))
    }

    async fn remove_provider(&self, provider: ProviderId, _now: Timestamp) -> Result<(), StoreError> {
        self.edit(|snapshot| {
            snapshot.remove_provider(&provider);
            Ok(())
        })
    }

    async fn set_order(
        &self,
        provider: ProviderId,
        ids: Vec<ProfileId>,
        _now: Timestamp,
    ) -> Result<(), StoreError> {
        self.edit(|snapshot| {
            snapshot.set_order(provider, ids);
            Ok(())
        })
    }
}

#[tokio::main(flavor = "current_thread")]
#[expect(clippy::print_stdout, reason = "a program reports on its standard output")]
async fn main() -> Result<(), StoreError> {
    let path = std::env::temp_dir().join("openclaw-auth-store-example.json");
    let store = JsonFileStore::open(path, CooldownConfig::default())?;
    println!("{} profiles", store.snapshot().profiles.len());
    Ok(())
}
