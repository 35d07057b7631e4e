//! The in-memory engine: the reference for the traits; keeps nothing.

use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use openclaw_cooldown::CooldownConfig;
use openclaw_ids::{ProfileId, ProviderId};

use crate::{
    AuthSnapshot, ChangeOutcome, Credential, LoginChange, LoginStore, ProfileStore, StoreError, UsageChange,
    UsageStore,
};

/// A store that lives as long as its process; for tests, for first steps, and as the reference for the traits.
#[derive(Debug)]
pub struct MemoryAuthStore {
    snapshot: Mutex<Arc<AuthSnapshot>>,
    config: CooldownConfig,
}

impl MemoryAuthStore {
    /// A store that starts with `snapshot`.
    pub fn new(snapshot: AuthSnapshot, config: CooldownConfig) -> Self {
        Self {
            snapshot: Mutex::new(Arc::new(snapshot.with_current_secrets())),
            config,
        }
    }

    fn edit<T>(&self, fold: impl FnOnce(&mut AuthSnapshot) -> T) -> T {
        // A fold that panicked left the old value or a finished new one; both are good.
        let mut snapshot = self.snapshot.lock().unwrap_or_else(PoisonError::into_inner);
        fold(Arc::make_mut(&mut snapshot))
    }

    fn change(&self, change: &UsageChange, now: Timestamp) -> Result<ChangeOutcome, StoreError> {
        self.edit(|snapshot| {
            snapshot.check(change)?;
            Ok(snapshot.apply(change, now, &self.config))
        })
    }
}

impl UsageStore for MemoryAuthStore {
    fn snapshot(&self) -> Arc<AuthSnapshot> {
        Arc::clone(&self.snapshot.lock().unwrap_or_else(PoisonError::into_inner))
    }

    async fn commit(&self, change: UsageChange, now: Timestamp) -> Result<ChangeOutcome, StoreError> {
        self.change(&change, now)
    }

    fn enqueue(&self, change: UsageChange, now: Timestamp) {
        if let Err(error) = self.change(&change, now) {
            tracing::warn!(%error, "a change of usage state was lost");
        }
    }
}

impl LoginStore for MemoryAuthStore {
    async fn change_login(
        &self,
        id: ProfileId,
        change: LoginChange,
        now: Timestamp,
    ) -> Result<ChangeOutcome, StoreError> {
        Ok(self.edit(|snapshot| snapshot.apply_login(&id, &change, now)))
    }

    fn end_refresh(&self, id: ProfileId, holder: String, now: Timestamp) {
        self.edit(|snapshot| snapshot.apply_login(&id, &LoginChange::End { holder }, now));
    }
}

impl ProfileStore for MemoryAuthStore {
    async fn upsert(&self, id: ProfileId, credential: Credential, _now: Timestamp) -> Result<(), StoreError> {
        self.edit(|snapshot| snapshot.upsert(id, credential))
    }

    async fn remove(&self, id: ProfileId, _now: Timestamp) -> Result<(), StoreError> {
        self.edit(|snapshot| snapshot.remove(&id))
    }

    async fn remove_provider(&self, provider: ProviderId, _now: Timestamp) -> Result<(), StoreError> {
        self.edit(|snapshot| snapshot.remove_provider(&provider));
        Ok(())
    }

    async fn set_order(
        &self,
        provider: ProviderId,
        ids: Vec<ProfileId>,
        _now: Timestamp,
    ) -> Result<(), StoreError> {
        self.edit(|snapshot| snapshot.set_order(provider, ids));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::conformance::check;

    #[tokio::test]
    async fn the_memory_engine_conforms() {
        check(&MemoryAuthStore::new(
            AuthSnapshot::default(),
            CooldownConfig::default(),
        ))
        .await;
    }
}
