//! An agent's credentials in a file that somebody else may keep locked: marks then hold in memory, and nobody waits long.

use std::ops::Deref;
use std::sync::Arc;

use jiff::Timestamp;
use openclaw_auth_store::{
    AuthSnapshot, ChangeOutcome, Credential, LoginChange, LoginStore, Oauth, ProfileStore, SqliteAuthStore,
    StoreError, UsageChange, UsageStore,
};
use openclaw_ids::{ProfileId, ProviderId};

use super::circuit_breaker::{CircuitBreaker, Waited};

/// A file's store that is waited for only while that makes sense.
#[derive(Debug)]
pub(crate) struct CircuitBreakerStore {
    store: SqliteAuthStore,
    circuit: CircuitBreaker,
}

impl CircuitBreakerStore {
    /// Puts patience in front of a store.
    pub(super) fn new(store: SqliteAuthStore) -> Self {
        Self {
            store,
            circuit: CircuitBreaker::default(),
        }
    }

    /// What is done about a change that nobody waits for.
    fn held(&self, change: &UsageChange, now: Timestamp) -> ChangeOutcome {
        match change {
            // Nobody else would know of it.
            UsageChange::ProbeRenew { .. } | UsageChange::ProbeStart { .. } => ChangeOutcome::HeldElsewhere,
            UsageChange::Clear { .. }
            | UsageChange::ClearLane { .. }
            | UsageChange::EndpointFailure { .. }
            | UsageChange::EndpointSuccess { .. }
            | UsageChange::StatedEnd { .. }
            | UsageChange::Failure { .. }
            | UsageChange::ProbeEnd { .. }
            | UsageChange::CoolDown { .. }
            | UsageChange::Success { .. }
            | UsageChange::Used { .. } => {
                self.store.buffer(change, now);
                ChangeOutcome::Done
            }
        }
    }
}

/// What is not a change of usage state waits as long as the file takes.
impl Deref for CircuitBreakerStore {
    type Target = SqliteAuthStore;

    fn deref(&self) -> &SqliteAuthStore {
        &self.store
    }
}

impl UsageStore for CircuitBreakerStore {
    fn snapshot(&self) -> Arc<AuthSnapshot> {
        self.store.snapshot()
    }

    /// A change that is held counts for this process at once, and reaches the file with a later write.
    async fn commit(&self, change: UsageChange, now: Timestamp) -> Result<ChangeOutcome, StoreError> {
        match self.circuit.wait(self.store.commit(change.clone(), now)).await {
            Waited::Done(outcome) => outcome,
            Waited::Skipped => Ok(self.held(&change, now)),
            Waited::TooLong => {
                tracing::warn!(
                    path = %self.store.path().display(),
                    "the file is locked by another program; for a moment marks are held in memory and written later"
                );
                Ok(self.held(&change, now))
            }
        }
    }

    fn enqueue(&self, change: UsageChange, now: Timestamp) {
        self.store.enqueue(change, now);
    }
}

impl LoginStore for CircuitBreakerStore {
    async fn change_login(
        &self,
        id: ProfileId,
        change: LoginChange,
        now: Timestamp,
    ) -> Result<ChangeOutcome, StoreError> {
        self.store.change_login(id, change, now).await
    }

    fn end_refresh(&self, id: ProfileId, holder: String, now: Timestamp) {
        self.store.end_refresh(id, holder, now);
    }

    fn stored_login(&self, id: &ProfileId) -> Option<Oauth> {
        self.store.stored_login(id)
    }
}

impl ProfileStore for CircuitBreakerStore {
    async fn upsert(&self, id: ProfileId, credential: Credential, now: Timestamp) -> Result<(), StoreError> {
        self.store.upsert(id, credential, now).await
    }

    async fn remove(&self, id: ProfileId, now: Timestamp) -> Result<(), StoreError> {
        self.store.remove(id, now).await
    }

    async fn remove_provider(&self, provider: ProviderId, now: Timestamp) -> Result<(), StoreError> {
        self.store.remove_provider(provider, now).await
    }

    async fn set_order(
        &self,
        provider: ProviderId,
        ids: Vec<ProfileId>,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        self.store.set_order(provider, ids, now).await
    }
}
