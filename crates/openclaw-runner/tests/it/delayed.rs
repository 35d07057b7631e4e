//! A store whose writes take a fixed time.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use openclaw_auth_store::{AuthSnapshot, ChangeOutcome, UsageChange, UsageStore};
use openclaw_ids::SessionKey;
use openclaw_session::{
    CasOutcome, Revision, Rollback, SessionEntry, SessionStore, StoreError, VersionedEntry,
};

/// The store, and how long each write takes.
pub(crate) struct Delayed<S>(pub(crate) S, pub(crate) Duration);

impl<U: UsageStore> UsageStore for Delayed<U> {
    fn snapshot(&self) -> Arc<AuthSnapshot> {
        self.0.snapshot()
    }

    async fn commit(
        &self,
        change: UsageChange,
        now: Timestamp,
    ) -> Result<ChangeOutcome, openclaw_auth_store::StoreError> {
        tokio::time::sleep(self.1).await;
        self.0.commit(change, now).await
    }

    fn enqueue(&self, change: UsageChange, now: Timestamp) {
        self.0.enqueue(change, now);
    }
}

impl<S: SessionStore> SessionStore for Delayed<S> {
    async fn load(&self, key: &SessionKey) -> Result<Option<VersionedEntry>, StoreError> {
        self.0.load(key).await
    }

    async fn compare_and_set(
        &self,
        key: &SessionKey,
        expected: Revision,
        entry: SessionEntry,
    ) -> Result<CasOutcome, StoreError> {
        tokio::time::sleep(self.1).await;
        self.0.compare_and_set(key, expected, entry).await
    }

    fn enqueue_rollback(&self, key: &SessionKey, rollback: Rollback, now: Timestamp) {
        self.0.enqueue_rollback(key, rollback, now);
    }

    async fn list(&self) -> Result<Vec<(SessionKey, VersionedEntry)>, StoreError> {
        self.0.list().await
    }
}
