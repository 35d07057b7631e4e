//! The session store of an agent, opened on first use; a run works without it, and the next request tries again.

use std::future::Future;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use openclaw_ids::SessionKey;
use openclaw_session::{
    CasOutcome, OpenError, Revision, Rollback, SessionEntry, SessionStore, SqliteSessionStore, StoreError,
    VersionedEntry,
};
use tokio::sync::OnceCell;

use super::circuit_breaker::{CircuitBreaker, WaitOutcome};

/// The session file of one agent.
#[derive(Debug)]
pub(crate) struct Sessions {
    path: PathBuf,
    opened: OnceCell<SqliteSessionStore>,
    circuit: CircuitBreaker,
}

/// Why the session file cannot be used now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SessionFileError {
    /// It did not answer a moment ago, so the circuit is open.
    #[error("the session file did not answer a moment ago, so nobody waits for it now")]
    CircuitOpen,
    /// It did not answer within the limit.
    #[error("the session file does not answer; another program keeps it locked")]
    TimedOut,
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

    /// Waits for work on the file within the limit of its circuit breaker, and not at all while the circuit is open: a
    /// file that another program keeps locked costs the memory of the session and not the answer.
    ///
    /// # Errors
    /// [`SessionFileError`] when the file does not answer in time.
    pub(crate) async fn with_time_limit<T>(
        &self,
        work: impl Future<Output = T>,
    ) -> Result<T, SessionFileError> {
        match self.circuit.wait(work).await {
            WaitOutcome::Done(done) => Ok(done),
            WaitOutcome::Skipped => Err(SessionFileError::CircuitOpen),
            WaitOutcome::TimedOut => Err(SessionFileError::TimedOut),
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
                // The task neither panics nor is cancelled; if it ever does, opening here shows why.
                Err(_) => SqliteSessionStore::open(&self.path),
            }
        };
        self.opened.get_or_try_init(open).await
    }

    async fn store(&self) -> Result<&SqliteSessionStore, StoreError> {
        // The reason was reported by the caller that tried to open it first.
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
        // A change that was written is rolled back through the file that is open since.
        if let Some(store) = self.opened.get() {
            store.enqueue_rollback(key, rollback, now);
        }
    }

    async fn list(&self) -> Result<Vec<(SessionKey, VersionedEntry)>, StoreError> {
        self.store().await?.list().await
    }
}
