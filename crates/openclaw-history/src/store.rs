//! The history: one SQLite file with the decisions of all runs, readable after a restart.
//!
//! One file in the state directory serves all agents and all processes. Requests hand their entries to a queue that
//! bounds how many wait and how many bytes they take, and never wait: what does not fit is dropped and counted. A file
//! that cannot be used switches the history off and stops nothing else.

mod connect;
mod error;
mod prune;
mod reader;
mod row;
mod schema;
mod table;
mod writer;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use jiff::Timestamp;

use openclaw_classify::error_chain;

use crate::entry::Entry;
use row::Row;
use writer::Writer;

pub use error::HistoryError;
pub use prune::Retention;
pub use reader::{
    HistoryReader, RunFilter, StoredRecord, StoredRun, StoredStory, StoredWindow, WindowFilter,
};

/// The name of the file in the state directory.
const FILE: &str = "openclaw-failover-history.sqlite";

/// Where the history of a state directory is kept.
pub fn history_path(state_dir: &Path) -> PathBuf {
    state_dir.join(FILE)
}

/// What became of entries that are not in the file.
#[derive(Debug, Default)]
struct Losses {
    dropped: AtomicU64,
    failed: AtomicU64,
}

/// The history of this process. Cheap to clone; the last clone writes what still waits.
#[derive(Debug, Clone, Default)]
pub struct History {
    writer: Option<Arc<Writer>>,
    losses: Arc<Losses>,
}

impl History {
    /// A history that keeps nothing.
    pub fn off() -> Self {
        Self::default()
    }

    /// Opens or creates the file in `state_dir` and deletes what is too old at `now`. Without a retention nothing is kept
    /// and no file is made. Blocks for the time of a few reads.
    ///
    /// # Errors
    /// [`HistoryError`]; nothing was changed then.
    pub fn open(
        state_dir: &Path,
        retention: Option<Retention>,
        now: Timestamp,
    ) -> Result<Self, HistoryError> {
        let Some(retention) = retention else {
            return Ok(Self::off());
        };
        let path = history_path(state_dir);
        let connection = connect::open(&path)?;
        let losses = Arc::<Losses>::default();
        let writer = Writer::start(connection, &path, retention, Arc::clone(&losses), now)?;
        Ok(Self {
            writer: Some(Arc::new(writer)),
            losses,
        })
    }

    /// As [`open`](Self::open); a file that cannot be used is told in the log, and nothing is kept.
    pub fn open_or_off(state_dir: &Path, retention: Option<Retention>, now: Timestamp) -> Self {
        Self::open(state_dir, retention, now).unwrap_or_else(|error| {
            tracing::warn!(
                error = error_chain::line(&error),
                "decisions are not kept: the history cannot be used"
            );
            Self::off()
        })
    }

    /// Whether entries are kept.
    pub fn is_on(&self) -> bool {
        self.writer.is_some()
    }

    /// Hands an entry over; it is dropped and counted when too many wait, or too much.
    pub fn record(&self, entry: &Entry) {
        let Some(writer) = &self.writer else { return };
        let lost = match Row::of(entry).map(|row| writer.send(row)) {
            Ok(true) => return,
            Ok(false) => &self.losses.dropped,
            Err(_) => &self.losses.failed,
        };
        lost.fetch_add(1, Ordering::Relaxed);
    }

    /// Waits until everything handed over so far is in the file, or was lost.
    pub async fn flush(&self) {
        if let Some(writer) = &self.writer {
            writer.flush().await;
        }
    }

    /// How many entries were dropped because too many waited.
    pub fn dropped(&self) -> u64 {
        self.losses.dropped.load(Ordering::Relaxed)
    }

    /// How many entries could not be written.
    pub fn failed(&self) -> u64 {
        self.losses.failed.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests;
