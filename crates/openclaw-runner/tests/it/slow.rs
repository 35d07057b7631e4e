//! Stores that take their time, so that a run can be dropped in the middle of every write.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use openclaw_auth_store::{AuthSnapshot, ChangeOutcome, UsageChange, UsageStore};
use openclaw_ids::SessionKey;
use openclaw_session::{
    CasOutcome, MemorySessionStore, Revision, Rollback, SessionEntry, SessionStore, StoreError,
    VersionedEntry,
};
use tokio::task::yield_now;

/// Yields before and after everything that may wait.
pub(crate) struct Slow<S>(pub(crate) S);

impl<U: UsageStore> UsageStore for Slow<U> {
    fn snapshot(&self) -> Arc<AuthSnapshot> {
        self.0.snapshot()
    }

    async fn commit(
        &self,
        change: UsageChange,
        now: Timestamp,
    ) -> Result<ChangeOutcome, openclaw_auth_store::StoreError> {
        yield_now().await;
        let applied = self.0.commit(change, now).await;
        yield_now().await;
        applied
    }

    fn enqueue(&self, change: UsageChange, now: Timestamp) {
        self.0.enqueue(change, now);
    }
}

impl<S: SessionStore> SessionStore for Slow<S> {
    async fn load(&self, key: &SessionKey) -> Result<Option<VersionedEntry>, StoreError> {
        yield_now().await;
        let found = self.0.load(key).await;
        yield_now().await;
        found
    }

    async fn compare_and_set(
        &self,
        key: &SessionKey,
        expected: Revision,
        entry: SessionEntry,
    ) -> Result<CasOutcome, StoreError> {
        yield_now().await;
        let outcome = self.0.compare_and_set(key, expected, entry).await;
        yield_now().await;
        outcome
    }

    fn enqueue_rollback(&self, key: &SessionKey, rollback: Rollback, now: Timestamp) {
        self.0.enqueue_rollback(key, rollback, now);
    }

    async fn list(&self) -> Result<Vec<(SessionKey, VersionedEntry)>, StoreError> {
        self.0.list().await
    }
}

/// Sessions that are written one after the other, each write for so long, also when no caller waits for it any more; who
/// reads waits for what was handed over before.
#[derive(Clone)]
pub(crate) struct Queued {
    pub(crate) store: Arc<MemorySessionStore>,
    pub(crate) takes: Duration,
    pub(crate) turn: Arc<tokio::sync::Mutex<()>>,
}

impl SessionStore for Queued {
    async fn load(&self, key: &SessionKey) -> Result<Option<VersionedEntry>, StoreError> {
        let _turn = self.turn.lock().await;
        self.store.load(key).await
    }

    async fn compare_and_set(
        &self,
        key: &SessionKey,
        expected: Revision,
        entry: SessionEntry,
    ) -> Result<CasOutcome, StoreError> {
        let (this, key) = (self.clone(), key.clone());
        let writing = tokio::spawn(async move {
            let _turn = this.turn.lock().await;
            tokio::time::sleep(this.takes).await;
            this.store.compare_and_set(&key, expected, entry).await
        });
        writing.await.unwrap_or(Err(StoreError::Closed))
    }

    fn enqueue_rollback(&self, key: &SessionKey, rollback: Rollback, now: Timestamp) {
        let (this, key) = (self.clone(), key.clone());
        tokio::spawn(async move {
            let _turn = this.turn.lock().await;
            this.store.enqueue_rollback(&key, rollback, now);
        });
    }

    async fn list(&self) -> Result<Vec<(SessionKey, VersionedEntry)>, StoreError> {
        self.store.list().await
    }
}

/// A store that another program keeps locked: it shows what it knows, and no write ever ends.
pub(crate) struct Locked<S>(pub(crate) S);

impl<U: UsageStore> UsageStore for Locked<U> {
    fn snapshot(&self) -> Arc<AuthSnapshot> {
        self.0.snapshot()
    }

    async fn commit(
        &self,
        _change: UsageChange,
        _now: Timestamp,
    ) -> Result<ChangeOutcome, openclaw_auth_store::StoreError> {
        std::future::pending().await
    }

    fn enqueue(&self, _change: UsageChange, _now: Timestamp) {}
}
