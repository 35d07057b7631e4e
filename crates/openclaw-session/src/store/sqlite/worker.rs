//! The work of the thread that owns the connection: commands in order, writes that wait together in one transaction.

use std::path::Path;
use std::sync::Arc;

use openclaw_sqlite::rusqlite::{self, Connection};
use openclaw_sqlite::{BatchOptions, BatchWorker, BatchWriter, FileWatch, immediate};

use super::command::StoreCommand;
use super::connect::{self, OpenError};
use super::store_error;

/// How many commands share one transaction at most, so that the first of them need not wait for ever.
const MAX_BATCH: usize = 128;

/// Starts the thread.
pub(super) fn start(connection: Connection, path: &Path) -> Result<BatchWriter<StoreCommand>, OpenError> {
    let options = BatchOptions::new("openclaw-sessions", MAX_BATCH);
    BatchWriter::start(options, StoreWorker::new(connection, path)).map_err(OpenError::Thread)
}

struct StoreWorker {
    connection: Connection,
    /// The file that the connection is to, or that could not be used instead.
    file: FileWatch,
}

impl BatchWorker for StoreWorker {
    type Command = StoreCommand;

    fn perform(&mut self, batch: Vec<StoreCommand>) {
        self.follow_path();
        self.answer(batch);
    }
}

impl StoreWorker {
    fn new(connection: Connection, path: &Path) -> Self {
        Self {
            connection,
            file: FileWatch::new(path),
        }
    }

    /// Opens the file that is at the path now: what is written into a removed one is read by no process. A file that
    /// cannot be used is reported once, and the earlier one is used until there is another.
    fn follow_path(&mut self) {
        if !self.file.is_replaced() {
            return;
        }
        match connect::open(self.file.path()) {
            Ok(connection) => self.connection = connection,
            Err(error) => tracing::warn!(
                error = &error as &dyn std::error::Error,
                "another session file took the place of the one in use, and cannot be used"
            ),
        }
        self.file.update();
    }

    /// Performs the commands and answers each. Reads need neither room on the disk nor the lock of another process, so
    /// they do not fail with the writes beside them.
    fn answer(&mut self, mut batch: Vec<StoreCommand>) {
        let failure = self.perform_together(&mut batch).err().map(Arc::new);
        let path = self.file.path();
        for mut command in batch {
            let failure = if failure.is_some() && !command.writes() {
                command.perform(&self.connection, path).err().map(Arc::new)
            } else {
                failure.clone()
            };
            command.finish(failure.map(|source| store_error(path, source)));
        }
    }

    /// Performs the commands in order, in one transaction when any of them writes.
    fn perform_together(&self, batch: &mut [StoreCommand]) -> rusqlite::Result<()> {
        let writes = batch.iter().any(StoreCommand::writes);
        let path = self.file.path();
        let perform = |connection: &Connection| {
            batch
                .iter_mut()
                .try_for_each(|command| command.perform(connection, path))
        };
        if writes {
            immediate(&self.connection, perform)
        } else {
            let mut perform = perform;
            perform(&self.connection)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::store::sqlite::command::PendingReply;
    use crate::store::sqlite::connect;
    use crate::store::{CasOutcome, Revision, StoreError};
    use crate::testing::{entry, key};

    #[test]
    fn reads_go_on_while_another_process_keeps_writes_away() {
        let directory = tempfile::TempDir::new().unwrap();
        let path = directory.path().join("s.sqlite");
        let connection = connect::open(&path).unwrap();
        connection.busy_timeout(Duration::ZERO).unwrap();
        let mut worker = StoreWorker::new(connection, &path);
        let mut write_and_read = || {
            let (reply, mut written) = PendingReply::new();
            let write = StoreCommand::CompareAndSet {
                key: key("k"),
                expected: Revision::NONE,
                entry: Box::new(entry("")),
                reply,
            };
            let (reply, mut read) = PendingReply::new();
            let load = StoreCommand::Load { key: key("k"), reply };
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
