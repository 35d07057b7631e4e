//! An auth store behind a circuit breaker: while another program keeps the file locked, marks are kept in memory.

use std::ops::Deref;
use std::sync::Arc;

use jiff::Timestamp;
use openclaw_auth_store::{
    AuthSnapshot, ChangeOutcome, Credential, LoginChange, LoginStore, Oauth, ProfileStore, SqliteAuthStore,
    StoreError, UsageChange, UsageStore,
};
use openclaw_ids::{ProfileId, ProviderId};

use super::circuit_breaker::{CircuitBreaker, WaitOutcome};

/// An SQLite auth store whose changes of usage state wait for the file only while the circuit is closed.
#[derive(Debug)]
pub(crate) struct CircuitBreakerStore {
    store: SqliteAuthStore,
    circuit: CircuitBreaker,
}

impl CircuitBreakerStore {
    /// Puts a circuit breaker in front of a store.
    pub(super) fn new(store: SqliteAuthStore) -> Self {
        Self {
            store,
            circuit: CircuitBreaker::default(),
        }
    }

    /// Handles a change without waiting for the file.
    fn keep_in_memory(&self, change: &UsageChange, now: Timestamp) -> ChangeOutcome {
        match change {
            // No other process would learn of the lease.
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

/// Calls that do not change usage state wait as long as the file takes.
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

    /// A change that is kept in memory counts for this process at once, and reaches the file with a later write.
    async fn commit(&self, change: UsageChange, now: Timestamp) -> Result<ChangeOutcome, StoreError> {
        match self.circuit.wait(self.store.commit(change.clone(), now)).await {
            WaitOutcome::Done(outcome) => outcome,
            WaitOutcome::Skipped => Ok(self.keep_in_memory(&change, now)),
            WaitOutcome::TimedOut => {
                tracing::warn!(
                    path = %self.store.path().display(),
                    "the file is locked by another program; for a moment marks are held in memory and written later"
                );
                Ok(self.keep_in_memory(&change, now))
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
