//! The thread that notices what other processes write.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use openclaw_sqlite::{FollowingReader, consistent_read, data_version};
use rusqlite::Connection;

use super::cache::{Cache, Unwritten};
use super::contents::Contents;
use super::fault::Fault;
use super::write_coordinator::WriteCoordinator;
use super::writer::Others;
use crate::StoreError;

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
    pub(super) coordinator: Arc<WriteCoordinator>,
    pub(super) bell: Arc<Bell>,
    pub(super) pause: Duration,
}

/// For how many looks in a row the writer may be busy before the file is asked over another connection, which cannot
/// tell our own writes from those of others.
const BUSY_LOOKS: u32 = 20;

/// What the file was like at the last look.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Version {
    /// Our own writes do not count.
    OfOthers(Others),
    /// Every write counts.
    OfAll(i64),
}

impl Watch {
    /// Looks again and again until the bell rings.
    pub(super) fn run(self, mut look: Look) {
        while !self.bell.rang_within(self.pause) {
            look.again(&self.path, &self.cache, &self.coordinator);
        }
    }
}

/// Looks at a file, and at the one that takes its place, and what was seen.
pub(super) struct Look {
    reader: FollowingReader,
    seen: Option<Version>,
    is_unreadable: bool,
    /// What the last failure was about, so that it is told once.
    told: Option<Version>,
    busy: u32,
}

impl Look {
    /// `shown` is what others had written to what is shown already, which is what the file of `reader` says.
    pub(super) fn new(mut reader: FollowingReader, shown: Option<Others>) -> Self {
        // The file that is there now; a failure is told when it is looked at.
        drop(reader.connection());
        Self {
            reader,
            seen: shown.map(Version::OfOthers),
            is_unreadable: false,
            told: None,
            busy: 0,
        }
    }

    /// Reads the file if somebody else may have changed it. A damaged row is reported once per change, and what was last
    /// known stays shown.
    pub(super) fn again(&mut self, path: &Path, cache: &Cache, coordinator: &WriteCoordinator) {
        let writer = coordinator.idle_writer();
        self.busy = if writer.is_some() { 0 } else { self.busy + 1 };
        let others = writer.and_then(|writer| writer.others());
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
        if version.is_some() && version == self.seen && !is_new {
            return;
        }
        let looked = opened.and_then(|(connection, _)| refresh(connection, path, cache));
        let failed = looked.err().map(|fault| fault.into_store_error(path));
        if let Some(error) = &failed
            && (!self.is_unreadable || self.told != version)
        {
            tracing::warn!(%error, "the auth store could not be read again");
        }
        // A damaged row stays one until somebody writes; whatever else stood in the way may be gone at the next look.
        let is_known = failed
            .as_ref()
            .is_none_or(|error| matches!(error, StoreError::Unreadable(_)));
        self.seen = version.filter(|_| is_known);
        self.told = version;
        self.is_unreadable = failed.is_some();
    }
}

/// Shows what the file says now.
pub(super) fn refresh(connection: &Connection, path: &Path, cache: &Cache) -> Result<(), Fault> {
    let turn = cache.turn();
    let apart = cache.apart();
    let contents = consistent_read(connection, |connection| Contents::read(connection, path, &apart))?;
    cache.show(&turn, contents.snapshot, &apart, &Unwritten::default());
    Ok(())
}

/// The connection to the file that is there now, and whether it is a new one.
pub(super) fn connection(reader: &mut FollowingReader) -> Result<(&Connection, bool), Fault> {
    reader.connection()?.ok_or(Fault::Gone)
}
