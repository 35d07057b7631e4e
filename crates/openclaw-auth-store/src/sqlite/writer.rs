//! The one writing connection: changes of a batch share one transaction.

mod fold;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use openclaw_ids::AgentId;
use openclaw_sqlite::{
    BusyWait, Checkpoint, FairLockGuard, FileId, FileWatch, FilesystemKind, data_version, immediate, is_busy,
};
use rusqlite::Connection;

use super::Timing;
use super::cache::{Cache, PublishGuard as View, UnstoredState, UnwrittenChanges};
use super::contents::Contents;
use super::fault::Fault;
use super::request::{Operation, Outcome, Request};
use super::{connect, schema};
use crate::StoreError;
use fold::moment;

/// After how many writes on calling threads the file modes are checked again: SQLite gives its side files the mode of
/// the store.
const TIDY: u64 = 64;

/// The writer and its view of the file.
pub(super) struct Writer {
    path: PathBuf,
    cache: Arc<Cache>,
    agent: AgentId,
    /// `None` after a failure that left it in an unknown state, and when the file was replaced.
    connection: Option<Connection>,
    /// Notices when the file of the connection is replaced.
    file: FileWatch,
    filesystem: FilesystemKind,
    timing: Timing,
    /// The state of the file after the last write; valid until another connection writes.
    known: Option<FileState>,
    /// How often the file was opened again.
    reopened: u64,
    /// The fair lock, kept for a few more changes.
    reserved_lock: Option<(FairLockGuard, u32)>,
    writes: u64,
    /// Another process had written before the last write.
    saw_others: bool,
    /// The last write failed, which was logged.
    warned: bool,
}

/// What a connection has read; valid until another connection commits.
pub(super) struct FileState {
    pub(super) contents: Contents,
    /// SQLite's count of what other connections committed.
    pub(super) version: i64,
}

impl FileState {
    /// Reads the file, within a transaction.
    ///
    /// # Errors
    /// The first row that cannot be read, or what SQLite says.
    pub(super) fn read(
        connection: &Connection,
        path: &Path,
        unstored: &Arc<UnstoredState>,
    ) -> Result<Self, Fault> {
        let version = data_version(connection)?;
        let contents = Contents::read(connection, path, unstored)?;
        Ok(Self { contents, version })
    }
}

/// Changes with writes of other processes and when the file is opened again, but not with this process's writes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct ForeignVersion {
    reopened: u64,
    version: i64,
}

impl ForeignVersion {
    /// The version right after opening.
    pub(super) fn at_first(known: &FileState) -> Self {
        Self {
            reopened: 0,
            version: known.version,
        }
    }
}

/// Whether a write waits for locks of other connections.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LockWait {
    None,
    Configured,
}

/// Why nothing was written.
enum Refusal {
    /// Another connection is in the way; a write that waits may succeed.
    Busy,
    Failed(StoreError),
}

impl Writer {
    pub(super) fn new(
        path: PathBuf,
        agent: AgentId,
        cache: Arc<Cache>,
        opened: Option<(Connection, FileState)>,
        filesystem: FilesystemKind,
        timing: Timing,
    ) -> Self {
        let (connection, known) = opened.unzip();
        Self {
            file: FileWatch::new(&path),
            path,
            cache,
            agent,
            connection,
            filesystem,
            timing,
            known,
            reopened: 0,
            reserved_lock: None,
            writes: 0,
            saw_others: false,
            warned: false,
        }
    }

    /// The kept lock, if any.
    pub(super) fn take_lock(&mut self) -> Option<(FairLockGuard, u32)> {
        self.reserved_lock.take()
    }

    /// Keeps the lock for at most that many changes more.
    pub(super) fn keep_lock(&mut self, turn: FairLockGuard, changes: u32) {
        if changes > 0 {
            self.reserved_lock = Some((turn, changes));
        }
    }

    /// For how many changes more the lock is kept.
    pub(super) fn changes_left(&self) -> u32 {
        self.reserved_lock.as_ref().map_or(0, |(_, left)| *left)
    }

    /// Whether unwritten state should reach the file soon.
    pub(super) fn has_urgent(&self) -> bool {
        self.cache.unwritten().is_urgent()
    }

    /// Whether another process had written before the last write.
    pub(super) fn saw_others(&self) -> bool {
        self.saw_others
    }

    /// The version by writes of other processes; `None` when the file was replaced or is not open.
    pub(super) fn foreign_version(&self) -> Option<ForeignVersion> {
        if self.file.is_replaced() {
            return None;
        }
        let version = data_version(self.connection.as_ref()?).ok()?;
        Some(ForeignVersion {
            reopened: self.reopened,
            version,
        })
    }

    /// How often this store wrote.
    pub(super) fn writes(&self) -> u64 {
        self.writes
    }

    /// Whether the file is on a disk of this machine, where a write does not wait for a network.
    pub(super) fn is_local(&self) -> bool {
        self.filesystem == FilesystemKind::Local
    }

    pub(super) fn checkpoint(&self, how: Checkpoint) {
        if let Some(connection) = &self.connection {
            connect::checkpoint(connection, how, self.timing.wait);
        }
    }

    /// Writes one change if no other connection is in the way; `None` otherwise, or when the file has to be opened
    /// again.
    pub(super) fn write_at_once(&mut self, request: &Request) -> Option<Outcome> {
        let cache = Arc::clone(&self.cache);
        let view = cache.try_publish_guard()?;
        self.follow();
        self.connection.as_ref()?;
        let unwritten = cache.unwritten();
        let requests = std::slice::from_ref(request);
        match self.transact(requests, &unwritten, LockWait::None, Some(&view)) {
            Ok(outcomes) => {
                if self.writes.is_multiple_of(TIDY) {
                    self.tidy();
                }
                outcomes.into_iter().next()
            }
            Err(Refusal::Busy) => None,
            Err(Refusal::Failed(error)) => Some(Err(self.settle(request, error))),
        }
    }

    /// Writes a batch together with everything unwritten, and answers the requests.
    pub(super) fn write(&mut self, batch: Vec<Request>) {
        let unwritten = self.cache.unwritten();
        if batch.is_empty() && unwritten.is_empty() {
            return;
        }
        let outcomes = self
            .transact(&batch, &unwritten, LockWait::Configured, None)
            .map_err(|refusal| match refusal {
                Refusal::Busy => StoreError::Busy {
                    path: self.path.clone(),
                },
                Refusal::Failed(error) => error,
            });
        if let Err(error) = &outcomes
            && batch.is_empty()
            && !self.warned
        {
            tracing::warn!(%error, "what only this process knows could not be stored yet");
        }
        self.warned = outcomes.is_err();
        self.tidy();
        let mut outcomes = outcomes.map(Vec::into_iter);
        for request in batch {
            let outcome = match &mut outcomes {
                Ok(outcomes) => outcomes.next().unwrap_or(Err(StoreError::Closed)),
                Err(error) => Err(self.settle(&request, error.clone())),
            };
            match request.reply {
                // The caller has dropped its future.
                Some(reply) => drop(reply.send(outcome)),
                None => {
                    if let Err(error) = outcome {
                        tracing::warn!(%error, "a change of usage state was not stored");
                    }
                }
            }
        }
    }

    /// Buffers what could not be written for the next write, where it would be lost otherwise.
    fn settle(&self, request: &Request, error: StoreError) -> StoreError {
        // Over a damaged row the last good view stays until an operator repairs it (D13).
        let damaged = matches!(error, StoreError::Unreadable(_));
        match &request.op {
            Operation::Change(change) if !damaged => self.cache.buffer(change, request.now),
            Operation::Login(id, change) => self.cache.buffer_login(id, change, request.now),
            Operation::Change(_)
            | Operation::Import(..)
            | Operation::Remove(_)
            | Operation::RemoveProvider(_)
            | Operation::SetOrder(..)
            | Operation::Upsert(..) => {}
        }
        error
    }

    /// Writes a batch in one transaction and shows the result; one refused change does not stop the others.
    fn transact(
        &mut self,
        batch: &[Request],
        unwritten: &UnwrittenChanges,
        patience: LockWait,
        view: Option<&View<'_>>,
    ) -> Result<Vec<Outcome>, Refusal> {
        self.follow();
        let opened = match self.connection.take() {
            Some(connection) => Ok(connection),
            None => self.open_again(moment(batch, unwritten)),
        };
        let result = opened.and_then(|connection| {
            let wait = match patience {
                LockWait::None => BusyWait::None,
                LockWait::Configured => self.timing.wait,
            };
            wait.apply(&connection)?;
            let outcomes = self.transact_on(&connection, batch, unwritten, view);
            if connection.is_autocommit() {
                self.connection = Some(connection);
            }
            outcomes
        });
        result.map_err(|fault| match fault {
            Fault::Engine(error) if is_busy(&error) => Refusal::Busy,
            fault => Refusal::Failed(fault.into_store_error(&self.path)),
        })
    }

    /// Closes the connection when the file was replaced: writes into the old file would be lost.
    fn follow(&mut self) {
        if self.file.update() {
            self.connection = None;
        }
    }

    /// Opens the current file with the checks of the first opening; it may be a restored copy.
    fn open_again(&mut self, now: Timestamp) -> Result<Connection, Fault> {
        self.known = None;
        self.reopened = self.reopened.wrapping_add(1);
        if self.file.id() == FileId::MISSING {
            return Err(Fault::Gone);
        }
        let connection = openclaw_sqlite::open_read_write(&self.path, self.timing.wait)?;
        schema::check(&connection, &self.path, &self.agent)?;
        let is_complete = schema::is_complete(&connection)?;
        if !is_complete {
            openclaw_sqlite::quick_check(&connection)?;
        }
        connect::configure(&connection, self.filesystem, self.timing.wait)?;
        if !is_complete {
            immediate(&connection, |connection| {
                schema::complete(connection, &self.agent, now)
            })?;
        }
        Ok(connection)
    }

    fn transact_on(
        &mut self,
        connection: &Connection,
        batch: &[Request],
        unwritten: &UnwrittenChanges,
        view: Option<&View<'_>>,
    ) -> Result<Vec<Outcome>, Fault> {
        let cache = Arc::clone(&self.cache);
        let mut own = None;
        let (known, outcomes) = immediate(connection, |connection| {
            let mut known = self.look(connection)?;
            let outcomes = self.fold(&mut known.contents, batch, unwritten, connection)?;
            if view.is_none() {
                own = Some(cache.publish_guard());
            }
            Ok::<_, Fault>((known, outcomes))
        })?;
        if let Some(view) = view.or(own.as_ref()) {
            let contents = &known.contents;
            cache.publish(view, contents.snapshot.clone(), contents.unstored(), unwritten);
        }
        self.known = Some(known);
        self.writes = self.writes.wrapping_add(1);
        Ok(outcomes)
    }

    /// The state of the file: the known one, unless another connection has written.
    fn look(&mut self, connection: &Connection) -> Result<FileState, Fault> {
        let version = data_version(connection)?;
        let unstored = self.cache.unstored();
        self.saw_others = self.known.as_ref().is_some_and(|known| known.version != version);
        match self.known.take() {
            Some(known) if known.version == version && Arc::ptr_eq(known.contents.unstored(), &unstored) => {
                Ok(known)
            }
            Some(_) | None => FileState::read(connection, &self.path, &unstored),
        }
    }

    /// Makes the files private again (L21).
    fn tidy(&self) {
        if let Err(error) = openclaw_sqlite::restrict_database_files(&self.path) {
            tracing::warn!(%error, "the mode of the auth store could not be set");
        }
    }
}
