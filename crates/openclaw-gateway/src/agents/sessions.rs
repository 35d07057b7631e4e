//! An agent's sessions, which a run can do without: a file that cannot be opened is tried again by the next request.

use std::future::Future;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use openclaw_ids::SessionKey;
use openclaw_session::{
    CasOutcome, OpenError, Revision, Rollback, SessionEntry, SessionStore, SqliteSessionStore, StoreError,
    VersionedEntry,
};
use tokio::sync::OnceCell;

use super::circuit_breaker::{CircuitBreaker, Waited};

/// The session file of one agent.
#[derive(Debug)]
pub(crate) struct Sessions {
    path: PathBuf,
    opened: OnceCell<SqliteSessionStore>,
    circuit: CircuitBreaker,
}

/// The session file does not answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NoAnswer {
    /// It did not a moment ago.
    #[error("the session file did not answer a moment ago, so nobody waits for it now")]
    Lately,
    /// It does not now.
    #[error("the session file does not answer; another program keeps it locked")]
    Now,
}

impl Sessions {
    /// The sessions at `path`, opened when they are first needed.
    pub(crate) fn at(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            opened: OnceCell::new(),
            circuit: CircuitBreaker::default(),
        }
    }

    /// Waits for work on the file, but not long, and not at all when that was in vain a moment ago: a file that another
    /// program keeps locked costs the memory of the session and not the answer.
    ///
    /// # Errors
    /// [`NoAnswer`] when the file does not answer.
    pub(crate) async fn patiently<T>(&self, work: impl Future<Output = T>) -> Result<T, NoAnswer> {
        match self.circuit.wait(work).await {
            Waited::Done(done) => Ok(done),
            Waited::Skipped => Err(NoAnswer::Lately),
            Waited::TooLong => Err(NoAnswer::Now),
        }
    }

    /// Opens the file, unless that happened already.
    ///
    /// # Errors
    /// As [`SqliteSessionStore::open`]; the next call tries again.
    pub(crate) async fn open(&self) -> Result<&SqliteSessionStore, OpenError> {
        let open = || async {
            let path = self.path.clone();
            match tokio::task::spawn_blocking(move || SqliteSessionStore::open(&path)).await {
                Ok(opened) => opened,
                // Opening neither panics nor is it cancelled; if it ever does, it is tried where it can be seen.
                Err(_) => SqliteSessionStore::open(&self.path),
            }
        };
        self.opened.get_or_try_init(open).await
    }

    async fn store(&self) -> Result<&SqliteSessionStore, StoreError> {
        // Why it cannot be opened was said by whoever opened it first.
        self.open().await.map_err(|_| StoreError::Closed)
    }
}

impl SessionStore for Sessions {
    async fn load(&self, key: &SessionKey) -> Result<Option<VersionedEntry>, StoreError> {
        self.store().await?.load(key).await
    }

    async fn compare_and_set(
        &self,
        key: &SessionKey,
        expected: Revision,
        entry: SessionEntry,
    ) -> Result<CasOutcome, StoreError> {
        self.store().await?.compare_and_set(key, expected, entry).await
    }

    fn enqueue_rollback(&self, key: &SessionKey, rollback: Rollback, now: Timestamp) {
        // What was written through a file that is open is taken back through it.
        if let Some(store) = self.opened.get() {
            store.enqueue_rollback(key, rollback, now);
        }
    }

    async fn list(&self) -> Result<Vec<(SessionKey, VersionedEntry)>, StoreError> {
        self.store().await?.list().await
    }
}
