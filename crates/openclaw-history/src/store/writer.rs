//! The thread that owns the writing connection: entries that wait together are committed together.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::TrySendError;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use openclaw_classify::error_chain;
use openclaw_sqlite::{BatchOptions, BatchWorker, BatchWriter, FileId};
use rusqlite::{Connection, TransactionBehavior};
use tokio::sync::oneshot;

use super::Losses;
use super::connect;
use super::error::HistoryError;
use super::prune::{Retention, prune};
use super::row::Row;
use super::table;

/// How many entries may wait; further ones are dropped.
const QUEUE: usize = 8_192;
/// How many bytes may wait, those of the transaction that is being written included; what would be more is dropped.
/// That is room for as many entries of the usual size: a decision takes about a KiB.
pub(crate) const QUEUE_BYTES: usize = 8 << 20;
/// How many entries share one transaction at most.
const BATCH: usize = 1_024;
/// How long the thread lets entries gather. Nothing waits for it, and waking it for each would cost the requests more.
const GATHER: Duration = Duration::from_millis(20);
/// After how many written bytes, as a part of the limit, the size is looked at again.
const LOOK_AGAIN: u64 = 16;
/// How long entries may outlive their age while next to nothing is written.
const FORGET_AGAIN: SignedDuration = SignedDuration::from_hours(1);

#[derive(Debug)]
enum Job {
    Row(Box<Row>),
    /// Answered when everything before it is done.
    Flush(oneshot::Sender<()>),
}

/// The sending side; dropping it writes what waits and ends the thread.
#[derive(Debug)]
pub(crate) struct Writer {
    jobs: BatchWriter<Job>,
    waiting_bytes: Arc<AtomicUsize>,
}

impl Writer {
    pub(crate) fn start(
        connection: Connection,
        path: &Path,
        retention: Retention,
        losses: Arc<Losses>,
        now: Timestamp,
    ) -> Result<Self, HistoryError> {
        let waiting_bytes = Arc::<AtomicUsize>::default();
        let worker = Worker {
            connection,
            waiting_bytes: Arc::clone(&waiting_bytes),
            path: path.to_owned(),
            file_id: FileId::of(path),
            retention,
            losses,
            unseen: 0,
            forgot_at: now,
            failing: false,
        };
        let options = BatchOptions::new("openclaw-history", BATCH)
            .with_gather(GATHER)
            .with_max_queued(QUEUE);
        let jobs = BatchWriter::start(options, worker).map_err(HistoryError::Thread)?;
        Ok(Self { jobs, waiting_bytes })
    }

    /// Queues an entry; whether there was room.
    pub(crate) fn send(&self, row: Row) -> bool {
        let bytes = row.bytes();
        let before = self.waiting_bytes.fetch_add(bytes, Ordering::Relaxed);
        let fits = before.saturating_add(bytes) <= QUEUE_BYTES;
        let sent = fits && self.jobs.send(Job::Row(Box::new(row))).is_ok();
        if !sent {
            self.waiting_bytes.fetch_sub(bytes, Ordering::Relaxed);
        }
        sent
    }

    pub(crate) async fn flush(&self) {
        let (done, answer) = oneshot::channel();
        let mut job = Job::Flush(done);
        // Full means that the thread is busy and makes room soon.
        while let Err(refused) = self.jobs.send(job) {
            match refused {
                TrySendError::Full(back) => job = back,
                TrySendError::Disconnected(_) => return,
            }
            tokio::time::sleep(GATHER).await;
        }
        // A thread that is gone has nothing left to write.
        let _ = answer.await;
    }
}

struct Worker {
    connection: Connection,
    path: PathBuf,
    /// The file that the connection is to, or that could not be used instead.
    file_id: FileId,
    retention: Retention,
    losses: Arc<Losses>,
    waiting_bytes: Arc<AtomicUsize>,
    /// Bytes written since the size was looked at.
    unseen: u64,
    /// When it was last looked for what is too old.
    forgot_at: Timestamp,
    /// Whether the last write failed, so that a full disk is told once.
    failing: bool,
}

impl BatchWorker for Worker {
    type Command = Job;

    fn on_start(&mut self) {
        self.forget(self.forgot_at);
    }

    fn perform(&mut self, batch: Vec<Job>) {
        let mut rows = Vec::new();
        let mut flushes = Vec::new();
        for job in batch {
            match job {
                Job::Row(row) => rows.push(row),
                Job::Flush(done) => flushes.push(done),
            }
        }
        self.write(&rows);
        let bytes = rows.iter().map(|row| row.bytes()).sum();
        drop(rows);
        self.waiting_bytes.fetch_sub(bytes, Ordering::Relaxed);
        for done in flushes {
            // The waiting task may be gone.
            let _ = done.send(());
        }
    }
}

impl Worker {
    /// Goes to the file that is there now; it may be removed at any time. One that cannot be used is told once.
    fn follow(&mut self) {
        if FileId::of(&self.path) == self.file_id {
            return;
        }
        match connect::open(&self.path) {
            Ok(connection) => self.connection = connection,
            Err(error) => tracing::warn!(
                error = error_chain::line(&error),
                "the file of decisions was removed or replaced, and cannot be used"
            ),
        }
        self.file_id = FileId::of(&self.path);
    }

    fn write(&mut self, rows: &[Box<Row>]) {
        let Some(last) = rows.last() else { return };
        self.follow();
        match self.insert(rows) {
            Ok(bytes) => {
                self.failing = false;
                self.unseen = self.unseen.saturating_add(bytes);
            }
            Err(source) => {
                let lost = u64::try_from(rows.len()).unwrap_or(u64::MAX);
                self.losses.failed.fetch_add(lost, Ordering::Relaxed);
                if !std::mem::replace(&mut self.failing, true) {
                    self.warn("decisions were not kept", source);
                }
            }
        }
        let is_much = self.unseen >= self.retention.bytes / LOOK_AGAIN;
        if is_much || last.at().duration_since(self.forgot_at) >= FORGET_AGAIN {
            self.forget(last.at());
        }
    }

    fn insert(&mut self, rows: &[Box<Row>]) -> rusqlite::Result<u64> {
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        let bytes = table::insert(&transaction, rows)?;
        transaction.commit()?;
        Ok(bytes)
    }

    fn forget(&mut self, now: Timestamp) {
        (self.unseen, self.forgot_at) = (0, now);
        if let Err(source) = prune(&self.connection, self.retention, now) {
            self.warn("old decisions were not forgotten", source);
        }
    }

    fn warn(&self, what: &'static str, source: rusqlite::Error) {
        let error = HistoryError::of(&self.path, source);
        tracing::warn!(error = error_chain::line(&error), "{what}");
    }
}
