//! The thread that owns the connection: jobs in order, writes that wait together in one transaction.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use rusqlite::{Connection, TransactionBehavior};

use super::connect::{self, OpenError};
use super::job::Job;
use super::place::Place;
use super::store_error;

/// The sending side; dropping it finishes the jobs that wait and ends the thread.
#[derive(Debug)]
pub(super) struct Writer {
    jobs: Option<Sender<Job>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    pub(super) fn start(connection: Connection, path: &Path) -> Result<Self, OpenError> {
        let (jobs, waiting) = channel();
        let mut worker = Worker::new(connection, path);
        let thread = std::thread::Builder::new()
            .name("openclaw-sessions".to_owned())
            .spawn(move || worker.work(&waiting))
            .map_err(OpenError::Thread)?;
        Ok(Self {
            jobs: Some(jobs),
            thread: Some(thread),
        })
    }

    /// Queues a job behind all others; whether there is a thread to see it.
    pub(super) fn send(&self, job: Job) -> bool {
        self.jobs.as_ref().is_some_and(|jobs| jobs.send(job).is_ok())
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has nothing left to finish.
            drop(thread.join());
        }
    }
}

/// How many jobs share one transaction at most, so that the first of them need not wait for ever.
const BATCH: usize = 128;

struct Worker {
    connection: Connection,
    path: PathBuf,
    /// The file that the connection is to, or that could not be used instead.
    place: Place,
}

impl Worker {
    fn new(connection: Connection, path: &Path) -> Self {
        Self {
            connection,
            path: path.to_owned(),
            place: Place::of(path),
        }
    }

    /// Goes to the file that is there now: what is written into one that was removed is read by nobody. One that cannot
    /// be used is told once, and the sessions that were there before are used until there is another.
    fn follow(&mut self) {
        if Place::of(&self.path) == self.place {
            return;
        }
        match connect::open(&self.path) {
            Ok(connection) => self.connection = connection,
            Err(error) => tracing::warn!(
                error = &error as &dyn std::error::Error,
                "another session file took the place of the one in use, and cannot be used"
            ),
        }
        self.place = Place::of(&self.path);
    }

    fn work(&mut self, waiting: &Receiver<Job>) {
        while let Ok(first) = waiting.recv() {
            let mut batch = vec![first];
            batch.extend(waiting.try_iter().take(BATCH - 1));
            self.follow();
            self.answer(batch);
        }
    }

    /// Does the jobs and answers each. Reads need neither room on the disk nor the lock of another process, so they do
    /// not fail with the writes beside them.
    fn answer(&mut self, mut batch: Vec<Job>) {
        let failure = self.perform(&mut batch).err().map(Arc::new);
        for mut job in batch {
            let failure = if failure.is_some() && !job.writes() {
                job.perform(&self.connection, &self.path).err().map(Arc::new)
            } else {
                failure.clone()
            };
            job.finish(failure.map(|source| store_error(&self.path, source)));
        }
    }

    /// Does the jobs in order, in one transaction when any of them writes.
    fn perform(&mut self, batch: &mut [Job]) -> rusqlite::Result<()> {
        if !batch.iter().any(Job::writes) {
            return batch
                .iter_mut()
                .try_for_each(|job| job.perform(&self.connection, &self.path));
        }
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        batch
            .iter_mut()
            .try_for_each(|job| job.perform(&transaction, &self.path))?;
        transaction.commit()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::store::sqlite::connect;
    use crate::store::sqlite::job::Ask;
    use crate::store::{CasOutcome, Revision, StoreError};
    use crate::testing::{entry, key};

    #[test]
    fn reads_go_on_while_another_process_keeps_writes_away() {
        let directory = tempfile::TempDir::new().unwrap();
        let path = directory.path().join("s.sqlite");
        let connection = connect::open(&path).unwrap();
        connection.busy_timeout(Duration::ZERO).unwrap();
        let mut worker = Worker::new(connection, &path);
        let mut write_and_read = || {
            let (ask, mut written) = Ask::new();
            let write = Job::CompareAndSet {
                key: key("k"),
                expected: Revision::NONE,
                entry: Box::new(entry("")),
                ask,
            };
            let (ask, mut read) = Ask::new();
            let load = Job::Load { key: key("k"), ask };
            worker.answer(vec![write, load]);
            (written.try_recv().unwrap(), read.try_recv().unwrap())
        };

        let other = Connection::open(&path).unwrap();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        let (written, read) = write_and_read();
        assert!(matches!(written, Err(StoreError::Busy { .. })), "{written:?}");
        assert!(matches!(read, Ok(None)), "{read:?}");

        other.execute_batch("ROLLBACK").unwrap();
        let (written, read) = write_and_read();
        assert!(matches!(written, Ok(CasOutcome::Stored(_))), "{written:?}");
        assert!(matches!(read, Ok(Some(_))), "{read:?}");
    }
}
