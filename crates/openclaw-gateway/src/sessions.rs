//! An agent's sessions, which a run can do without: a file that cannot be opened is tried again by the next request.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use openclaw_ids::SessionKey;
use openclaw_session::{
    CasOutcome, OpenError, Revision, Rollback, SessionEntry, SessionStore, SqliteSessionStore, StoreError,
    Versioned,
};
use tokio::sync::OnceCell;

/// The session file of one agent.
#[derive(Debug)]
pub(crate) struct Sessions {
    path: PathBuf,
    opened: OnceCell<SqliteSessionStore>,
}

impl Sessions {
    /// The sessions at `path`, opened when they are first needed.
    pub(crate) fn at(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            opened: OnceCell::new(),
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
    async fn load(&self, key: &SessionKey) -> Result<Option<Versioned>, StoreError> {
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

    async fn list(&self) -> Result<Vec<(SessionKey, Versioned)>, StoreError> {
        self.store().await?.list().await
    }
}
