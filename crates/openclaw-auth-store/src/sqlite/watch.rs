//! The thread that watches the file for writes of other processes.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use openclaw_sqlite::{FollowingReader, consistent_read, data_version};
use rusqlite::Connection;

use super::cache::{Cache, UnwrittenChanges};
use super::contents::Contents;
use super::fault::Fault;
use super::write_coordinator::WriteCoordinator;
use super::writer::ForeignVersion;
use crate::StoreError;

/// Tells the thread to end.
#[derive(Default)]
pub(super) struct StopSignal {
    rung: Mutex<bool>,
    changed: Condvar,
}

impl StopSignal {
    pub(super) fn stop(&self) {
        *self.rung.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.changed.notify_all();
    }

    /// Waits for one pause; true when the thread is to end.
    fn is_stopped_within(&self, pause: Duration) -> bool {
        let rung = self.rung.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.changed.wait_timeout_while(rung, pause, |rung| !*rung);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

/// The thread's state.
pub(super) struct FileWatcher {
    pub(super) path: PathBuf,
    pub(super) cache: Arc<Cache>,
    pub(super) coordinator: Arc<WriteCoordinator>,
    pub(super) stop_signal: Arc<StopSignal>,
    pub(super) pause: Duration,
}

/// For how many checks in a row the writer may be busy before the file is checked over another connection, which
/// cannot tell this process's writes from those of others.
const BUSY_LOOKS: u32 = 20;

/// The version of the file at the last check.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Version {
    /// Changes with writes of other processes alone.
    OfOthers(ForeignVersion),
    /// Changes with every write.
    OfAll(i64),
}

impl FileWatcher {
    /// Checks the file until the thread is to end.
    pub(super) fn run(self, mut look: FileObserver) {
        while !self.stop_signal.is_stopped_within(self.pause) {
            look.observe(&self.path, &self.cache, &self.coordinator);
        }
    }
}

/// Observes the file at a path, and any file that replaces it.
pub(super) struct FileObserver {
    reader: FollowingReader,
    version: Option<Version>,
    is_unreadable: bool,
    /// The version that the last reported failure is about, so that it is reported once.
    reported: Option<Version>,
    busy: u32,
}

impl FileObserver {
    /// `shown` is the version of the snapshot that is shown already.
    pub(super) fn new(mut reader: FollowingReader, shown: Option<ForeignVersion>) -> Self {
        // Opens the current file; a failure is reported by the first check.
        drop(reader.connection());
        Self {
            reader,
            version: shown.map(Version::OfOthers),
            is_unreadable: false,
            reported: None,
            busy: 0,
        }
    }

    /// Reads the file if another process may have changed it. A damaged row is reported once per change, and the last
    /// known state stays shown.
    pub(super) fn observe(&mut self, path: &Path, cache: &Cache, coordinator: &WriteCoordinator) {
        let writer = coordinator.idle_writer();
        self.busy = if writer.is_some() { 0 } else { self.busy + 1 };
        let others = writer.and_then(|writer| writer.foreign_version());
        let opened = connection(&mut self.reader);
        let is_new = opened.as_ref().is_ok_and(|(_, is_new)| *is_new);
        let waits = (1..BUSY_LOOKS).contains(&self.busy);
        if waits && opened.is_ok() && !is_new {
            return;
        }
        let version = opened.as_ref().ok().and_then(|(connection, _)| {
            let of_all = || data_version(connection).ok().map(Version::OfAll);
            others.map(Version::OfOthers).or_else(of_all)
        });
        if version.is_some() && version == self.version && !is_new {
            return;
        }
        let looked = opened.and_then(|(connection, _)| refresh(connection, path, cache));
        let failed = looked.err().map(|fault| fault.into_store_error(path));
        if let Some(error) = &failed
            && (!self.is_unreadable || self.reported != version)
        {
            tracing::warn!(%error, "the auth store could not be read again");
        }
        // A damaged row stays damaged until the next write; other failures may be gone at the next check.
        let is_known = failed
            .as_ref()
            .is_none_or(|error| matches!(error, StoreError::Unreadable(_)));
        self.version = version.filter(|_| is_known);
        self.reported = version;
        self.is_unreadable = failed.is_some();
    }
}

/// Reads the file and shows it.
pub(super) fn refresh(connection: &Connection, path: &Path, cache: &Cache) -> Result<(), Fault> {
    let turn = cache.publish_guard();
    let unstored = cache.unstored();
    let contents = consistent_read(connection, |connection| {
        Contents::read(connection, path, &unstored)
    })?;
    cache.publish(&turn, contents.snapshot, &unstored, &UnwrittenChanges::default());
    Ok(())
}

/// The connection to the file that is there now, and whether it is a new one.
pub(super) fn connection(reader: &mut FollowingReader) -> Result<(&Connection, bool), Fault> {
    reader.connection()?.ok_or(Fault::Gone)
}
