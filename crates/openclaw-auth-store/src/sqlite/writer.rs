//! The one connection that writes: changes that are brought together share one transaction.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use openclaw_ids::AgentId;
use openclaw_sqlite::{
    BusyWait, Checkpoint, FairLockGuard, FileId, FileWatch, FilesystemKind, data_version, immediate, is_busy,
};
use rusqlite::Connection;

use super::Pace;
use super::cache::{Apart, Cache, Turn as View, Unwritten};
use super::contents::{Contents, Extent};
use super::fault::Fault;
use super::request::{Occasion, Op, Outcome, Request};
use super::{connect, schema};
use crate::{AuthSnapshot, ChangeOutcome, StoreError, UsageChange};

/// After how many writes on a task's thread the modes of the files are looked at again: SQLite makes its files as private
/// as the store.
const TIDY: u64 = 64;

/// What is needed to write, and what is known of the file.
pub(super) struct Writer {
    path: PathBuf,
    cache: Arc<Cache>,
    agent: AgentId,
    /// Gone after a failure that left it in an unknown state, and when the file is another one.
    connection: Option<Connection>,
    /// The file that the connection is to.
    file: FileWatch,
    filesystem: FilesystemKind,
    pace: Pace,
    /// What the file said after the last write; true as long as nobody else has written.
    known: Option<Known>,
    /// How often the file was opened again.
    reopened: u64,
    /// The right to write, kept for a few more changes.
    kept: Option<(FairLockGuard, u32)>,
    writes: u64,
    /// Somebody else had written before the last write.
    saw_others: bool,
    /// The last write failed, and somebody was told.
    warned: bool,
}

/// What a connection read, and is still true as long as nobody else commits.
pub(super) struct Known {
    pub(super) contents: Contents,
    /// SQLite's count of what other connections committed.
    pub(super) version: i64,
}

impl Known {
    /// Reads the file, within a transaction.
    ///
    /// # Errors
    /// The first row that cannot be read, or what SQLite says.
    pub(super) fn read(connection: &Connection, path: &Path, apart: &Arc<Apart>) -> Result<Self, Fault> {
        let version = data_version(connection)?;
        let contents = Contents::read(connection, path, apart)?;
        Ok(Self { contents, version })
    }
}

/// Changes when somebody else has written, and when the file was opened again, but not with our own writes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Others {
    reopened: u64,
    version: i64,
}

impl Others {
    /// As they were when the file was opened first.
    pub(super) fn at_first(known: &Known) -> Self {
        Self {
            reopened: 0,
            version: known.version,
        }
    }
}

/// Whether somebody else's lock is waited for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Patience {
    None,
    AsPaced,
}

/// Why nothing was written at once.
enum Refusal {
    /// Somebody is in the way; whoever may wait has to do it.
    Busy,
    Failed(StoreError),
}

impl Writer {
    pub(super) fn new(
        path: PathBuf,
        agent: AgentId,
        cache: Arc<Cache>,
        opened: Option<(Connection, Known)>,
        filesystem: FilesystemKind,
        pace: Pace,
    ) -> Self {
        let (connection, known) = opened.unzip();
        Self {
            file: FileWatch::new(&path),
            path,
            cache,
            agent,
            connection,
            filesystem,
            pace,
            known,
            reopened: 0,
            kept: None,
            writes: 0,
            saw_others: false,
            warned: false,
        }
    }

    /// The right to write that was kept, if any.
    pub(super) fn take_turn(&mut self) -> Option<(FairLockGuard, u32)> {
        self.kept.take()
    }

    /// Keeps the right to write for at most that many changes more.
    pub(super) fn keep_turn(&mut self, turn: FairLockGuard, changes: u32) {
        if changes > 0 {
            self.kept = Some((turn, changes));
        }
    }

    /// How many changes more the right to write is kept for.
    pub(super) fn changes_left(&self) -> u32 {
        self.kept.as_ref().map_or(0, |(_, left)| *left)
    }

    /// Whether something should reach the file soon that it does not know.
    pub(super) fn has_urgent(&self) -> bool {
        self.cache.unwritten().is_urgent()
    }

    /// Whether somebody else had written before the last write.
    pub(super) fn saw_others(&self) -> bool {
        self.saw_others
    }

    /// What others have written, as far as it can be told without opening the file again: not once another one has taken
    /// its place, to which nothing is written before this store does.
    pub(super) fn others(&self) -> Option<Others> {
        if self.file.is_replaced() {
            return None;
        }
        let version = data_version(self.connection.as_ref()?).ok()?;
        Some(Others {
            reopened: self.reopened,
            version,
        })
    }

    /// How often this store wrote.
    pub(super) fn writes(&self) -> u64 {
        self.writes
    }

    /// Whether the file is on a disk of this machine, where a write does not wait for anything.
    pub(super) fn is_local(&self) -> bool {
        self.filesystem == FilesystemKind::Local
    }

    pub(super) fn checkpoint(&self, how: Checkpoint) {
        if let Some(connection) = &self.connection {
            connect::checkpoint(connection, how, self.pace.wait);
        }
    }

    /// Writes one change if nobody is in the way; `None` when somebody is, or the file has to be opened again.
    pub(super) fn write_at_once(&mut self, request: &Request) -> Option<Outcome> {
        let cache = Arc::clone(&self.cache);
        let view = cache.try_turn()?;
        self.follow();
        self.connection.as_ref()?;
        let unwritten = cache.unwritten();
        let requests = std::slice::from_ref(request);
        match self.transact(requests, &unwritten, Patience::None, Some(&view)) {
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

    /// Writes what is brought, and what the file does not know yet, and answers.
    pub(super) fn write(&mut self, batch: Vec<Request>) {
        let unwritten = self.cache.unwritten();
        if batch.is_empty() && unwritten.is_empty() {
            return;
        }
        let outcomes = self
            .transact(&batch, &unwritten, Patience::AsPaced, None)
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
                // Who dropped the future does not want to know.
                Some(reply) => drop(reply.send(outcome)),
                None => {
                    if let Err(error) = outcome {
                        tracing::warn!(%error, "a change of usage state was not stored");
                    }
                }
            }
        }
    }

    /// Keeps what could not be written for the next write, where it would be lost otherwise.
    fn settle(&self, request: &Request, error: StoreError) -> StoreError {
        // Over a damaged row the last good view stays until somebody repairs it (D13).
        let damaged = matches!(error, StoreError::Unreadable(_));
        match &request.op {
            Op::Change(change) if !damaged => self.cache.keep(change, request.now),
            Op::Login(id, change) => self.cache.keep_login(id, change, request.now),
            Op::Change(_)
            | Op::Import(..)
            | Op::Remove(_)
            | Op::RemoveProvider(_)
            | Op::SetOrder(..)
            | Op::Upsert(..) => {}
        }
        error
    }

    /// Writes a batch in one transaction and shows the result; one refused change does not stop the others.
    fn transact(
        &mut self,
        batch: &[Request],
        unwritten: &Unwritten,
        patience: Patience,
        view: Option<&View<'_>>,
    ) -> Result<Vec<Outcome>, Refusal> {
        self.follow();
        let opened = match self.connection.take() {
            Some(connection) => Ok(connection),
            None => self.open_again(moment(batch, unwritten)),
        };
        let result = opened.and_then(|connection| {
            let wait = match patience {
                Patience::None => BusyWait::None,
                Patience::AsPaced => self.pace.wait,
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

    /// Lets go of the file when another one has taken its place: what is written into the old one is read by nobody.
    fn follow(&mut self) {
        if self.file.update() {
            self.connection = None;
        }
    }

    /// Opens the file that is there now as it is opened at the start; it may be a copy that was put back.
    fn open_again(&mut self, now: Timestamp) -> Result<Connection, Fault> {
        self.known = None;
        self.reopened = self.reopened.wrapping_add(1);
        if self.file.id() == FileId::MISSING {
            return Err(Fault::Gone);
        }
        let connection = openclaw_sqlite::open_read_write(&self.path, self.pace.wait)?;
        schema::check(&connection, &self.path, &self.agent)?;
        let is_complete = schema::is_complete(&connection)?;
        if !is_complete {
            openclaw_sqlite::quick_check(&connection)?;
        }
        connect::configure(&connection, self.filesystem, self.pace.wait)?;
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
        unwritten: &Unwritten,
        view: Option<&View<'_>>,
    ) -> Result<Vec<Outcome>, Fault> {
        let cache = Arc::clone(&self.cache);
        let mut own = None;
        let (known, outcomes) = immediate(connection, |connection| {
            let mut known = self.look(connection)?;
            let outcomes = self.fold(&mut known.contents, batch, unwritten, connection)?;
            if view.is_none() {
                own = Some(cache.turn());
            }
            Ok::<_, Fault>((known, outcomes))
        })?;
        if let Some(view) = view.or(own.as_ref()) {
            let contents = &known.contents;
            cache.show(view, contents.snapshot.clone(), contents.apart(), unwritten);
        }
        self.known = Some(known);
        self.writes = self.writes.wrapping_add(1);
        Ok(outcomes)
    }

    /// What the file says now: what is known already, unless somebody else has written.
    fn look(&mut self, connection: &Connection) -> Result<Known, Fault> {
        let version = data_version(connection)?;
        let apart = self.cache.apart();
        self.saw_others = self.known.as_ref().is_some_and(|known| known.version != version);
        match self.known.take() {
            Some(known) if known.version == version && Arc::ptr_eq(known.contents.apart(), &apart) => {
                Ok(known)
            }
            Some(_) | None => Known::read(connection, &self.path, &apart),
        }
    }

    /// Folds everything into the contents, and writes what is different.
    fn fold(
        &self,
        contents: &mut Contents,
        batch: &[Request],
        unwritten: &Unwritten,
        connection: &Connection,
    ) -> Result<Vec<Outcome>, Fault> {
        for request in batch {
            if let Op::Import(legacy, occasion) = &request.op
                && (*occasion == Occasion::Always || contents.is_new())
            {
                contents.import(legacy, request.now);
            }
        }
        let usage_alone =
            unwritten.logins.is_empty() && batch.iter().all(|request| request.change().is_some());
        let before = (!usage_alone).then(|| contents.snapshot.clone());
        let config = self.cache.config();
        let after = &mut contents.snapshot;
        for (id, change, at) in &unwritten.logins {
            after.apply_login(id, change, *at);
        }
        for (change, at) in &unwritten.kept {
            // What it was about may be gone by now.
            if after.check(change).is_ok() {
                after.apply(change, *at, &config);
            }
        }
        for (profile, at) in &unwritten.uses {
            let profile = profile.clone();
            after.apply(&UsageChange::Used { profile }, *at, &config);
        }
        let outcomes = batch.iter().map(|request| self.perform(request, after)).collect();
        let now = moment(batch, unwritten);
        let extent = if let Some(before) = &before {
            Extent::Everything(before)
        } else {
            let changes = batch.iter().filter_map(Request::change);
            let kept = unwritten.kept.iter().map(|(change, _)| change);
            Extent::usage(changes.chain(kept), unwritten.uses.iter().map(|(id, _)| id))
        };
        contents.write(connection, &extent, now)?;
        Ok(outcomes)
    }

    fn perform(&self, request: &Request, snapshot: &mut AuthSnapshot) -> Outcome {
        match &request.op {
            Op::Change(change) => {
                snapshot.check(change)?;
                return Ok(snapshot.apply(change, request.now, &self.cache.config()));
            }
            Op::Login(id, change) => return Ok(snapshot.apply_login(id, change, request.now)),
            // It was done before the changes, which may be about what it brought.
            Op::Import(..) => {}
            Op::Remove(id) => snapshot.remove(id)?,
            Op::RemoveProvider(provider) => snapshot.remove_provider(provider),
            Op::SetOrder(provider, ids) => snapshot.set_order(provider.clone(), ids.clone()),
            Op::Upsert(id, credential) => snapshot.upsert(id.clone(), (**credential).clone())?,
        }
        Ok(ChangeOutcome::Done)
    }

    /// Takes the files away from everybody else (L21).
    fn tidy(&self) {
        if let Err(error) = openclaw_sqlite::restrict_database_files(&self.path) {
            tracing::warn!(%error, "the mode of the auth store could not be set");
        }
    }
}

/// When the latest of it happened.
fn moment(batch: &[Request], unwritten: &Unwritten) -> Timestamp {
    let times = batch.iter().map(|request| request.now).chain(unwritten.times());
    times.max().unwrap_or(Timestamp::UNIX_EPOCH)
}
