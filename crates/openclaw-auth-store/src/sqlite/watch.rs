//! The thread that notices what other processes write.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use rusqlite::Connection;

use super::cache::{Cache, Unwritten};
use super::connect;
use super::contents::Contents;
use super::fault::Fault;
use super::reader::Reader;

/// Ends the thread at once.
#[derive(Default)]
pub(super) struct Bell {
    rung: Mutex<bool>,
    changed: Condvar,
}

impl Bell {
    pub(super) fn ring(&self) {
        *self.rung.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.changed.notify_all();
    }

    /// Waits for one pause; true when the bell rang.
    fn rang_within(&self, pause: Duration) -> bool {
        let rung = self.rung.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.changed.wait_timeout_while(rung, pause, |rung| !*rung);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

/// The thread's state.
pub(super) struct Watch {
    pub(super) path: PathBuf,
    pub(super) cache: Arc<Cache>,
    pub(super) bell: Arc<Bell>,
    pub(super) pause: Duration,
}

impl Watch {
    /// Looks again and again until the bell rings, also at a file that takes the place of the one before. A damaged row
    /// is reported once per change, and what was last known stays shown.
    pub(super) fn run(self, mut reader: Reader) {
        let mut seen = None;
        let mut is_unreadable = false;
        while !self.bell.rang_within(self.pause) {
            let version = reader.connection().ok().and_then(|(connection, is_new)| {
                if is_new {
                    seen = None;
                }
                connect::data_version(connection).ok()
            });
            if version.is_some() && version == seen {
                continue;
            }
            let looked = reader
                .connection()
                .and_then(|(connection, _)| refresh(connection, &self.path, &self.cache));
            let failed = looked.is_err();
            if let Err(fault) = looked
                && (!is_unreadable || seen != version)
            {
                let error = fault.into_store_error(&self.path);
                tracing::warn!(%error, "the auth store could not be read again");
            }
            is_unreadable = failed;
            seen = version;
        }
    }
}

/// Shows what the file says now.
pub(super) fn refresh(connection: &Connection, path: &Path, cache: &Cache) -> Result<(), Fault> {
    let turn = cache.turn();
    let apart = cache.apart();
    let contents = connect::consistently(connection, |connection| Contents::read(connection, path, &apart))?;
    cache.show(&turn, contents.snapshot, &apart, &Unwritten::default());
    Ok(())
}
