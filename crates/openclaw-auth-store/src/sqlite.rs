//! The SQLite engine: one file per agent, shared with OpenClaw (auth-store.md 2, X-5).

mod cache;
mod connect;
mod contents;
mod fault;
mod folder;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod import;
mod read_only;
mod request;
mod rows;
mod schema;
mod store_traits;
mod watch;
mod write_coordinator;
mod write_worker;
mod writer;

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use jiff::Timestamp;
use openclaw_cooldown::CooldownConfig;
use openclaw_ids::{AgentId, ProfileId};
use openclaw_sqlite::{BusyWait, FairLock, FilesystemKind, FollowingReader};
use rusqlite::Connection;
use tokio::sync::oneshot;

use crate::{
    AmbientProfile, Cause, ChangeOutcome, LegacyProfiles, OpenError, StoreError, UsageChange, UsageStore,
};
use cache::{Cache, PendingUse, UnstoredState};
use fault::Fault;
use request::{ImportCondition, Operation, Outcome, Request};
use watch::{FileObserver, FileWatcher, StopSignal};
use write_coordinator::WriteCoordinator;
use write_worker::{WriteCommand, WriteWorker};
use writer::{FileState, ForeignVersion, Writer};

/// The store of one agent, in `<agent folder>/openclaw-agent.sqlite`.
///
/// While no other writer is active, a change is written on the calling thread, which takes some ten microseconds;
/// otherwise a thread commits all queued changes in one transaction. A task never waits for a lock of another process.
/// Readers get a snapshot that this process's writes refresh at once, and those of other processes within 50 ms. When
/// the file is replaced, the new one is used within the same time; while it is missing, the last known state stays
/// shown. Dropping the store writes what is queued and joins its threads, which takes as long as another process locks
/// the file.
pub struct SqliteAuthStore {
    path: PathBuf,
    cache: Arc<Cache>,
    coordinator: Arc<WriteCoordinator>,
    stop_signal: Arc<StopSignal>,
    /// For [`refresh`](Self::refresh).
    reader: Mutex<FollowingReader>,
    threads: Vec<JoinHandle<()>>,
}

/// The intervals at which the threads act by themselves.
#[derive(Debug, Clone, Copy)]
struct Timing {
    /// Between two checks for writes of other processes.
    watch: Duration,
    /// How long a use may stay unwritten (D11); the write itself has to fit into the second, too.
    use_delay: Duration,
    /// Between two checkpoints while the worker is idle (D4).
    checkpoint: Duration,
    /// How locks of other connections are waited for.
    wait: BusyWait,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            watch: Duration::from_millis(50),
            use_delay: Duration::from_millis(900),
            checkpoint: Duration::from_mins(30),
            wait: connect::LOCK_WAIT,
        }
    }
}

impl SqliteAuthStore {
    /// Opens the store of `agent` in its folder; creates the folder and `openclaw-agent.sqlite` in it where they are
    /// missing.
    ///
    /// `ambient` are the profiles that are not stored. `now` is recorded as the time of opening. A file that
    /// cannot be used stays as it is. A sound file on a full or read-only disk is opened, too; its changes are
    /// buffered until they can be written. This blocks on file I/O.
    ///
    /// # Errors
    /// An [`OpenError`] that names the file and what to do.
    pub fn open(
        agent_dir: &Path,
        agent: &AgentId,
        ambient: Vec<AmbientProfile>,
        config: CooldownConfig,
        now: Timestamp,
    ) -> Result<Self, OpenError> {
        Self::open_with(agent_dir, agent, ambient, config, now, Timing::default())
    }

    fn open_with(
        agent_dir: &Path,
        agent: &AgentId,
        ambient: Vec<AmbientProfile>,
        config: CooldownConfig,
        now: Timestamp,
        timing: Timing,
    ) -> Result<Self, OpenError> {
        let unstored = Arc::new(UnstoredState::of(ambient.clone()));
        let (path, existed) = folder::prepare(agent_dir, agent)?;
        let filesystem = FilesystemKind::of(&path);
        if filesystem == FilesystemKind::WithoutLocks {
            return Err(OpenError::UnsafeVolume { path });
        }
        let connection = Self::connect(&path, agent, &unstored, existed, filesystem, timing.wait);
        let opened = connection.and_then(|connection| {
            let (connection, looked) = connection;
            let known = openclaw_sqlite::immediate(&connection, |connection| {
                schema::check(connection, &path, agent)?;
                schema::complete(connection, agent, now)?;
                let version = openclaw_sqlite::data_version(connection)?;
                match looked {
                    // No other connection has written since the first read.
                    Some(known) if known.version == version => Ok(known),
                    Some(_) | None => FileState::read(connection, &path, &unstored),
                }
            })?;
            Ok((connection, known))
        });
        let (opened, snapshot) = match opened {
            Ok((connection, known)) => {
                openclaw_sqlite::restrict_database_files(&path).map_err(|source| OpenError::Io {
                    path: path.clone(),
                    source: Arc::new(source),
                })?;
                let snapshot = known.contents.snapshot.clone();
                (Some((connection, known)), snapshot)
            }
            Err(fault) if existed => (None, read_only::despite(fault, agent_dir, agent, ambient)?),
            Err(fault) => return Err(fault.into_open_error(&path)),
        };
        let cache = Cache::new(snapshot, unstored, config);
        Self::start(&path, agent, opened, cache, filesystem, timing)
    }

    /// Checks and reads the file before the first write to it, which is the switch of the journal mode.
    fn connect(
        path: &Path,
        agent: &AgentId,
        unstored: &Arc<UnstoredState>,
        existed: bool,
        filesystem: FilesystemKind,
        wait: BusyWait,
    ) -> Result<(Connection, Option<FileState>), Fault> {
        let connection = openclaw_sqlite::open_read_write(path, wait)?;
        let mut known = None;
        if existed {
            schema::check(&connection, path, agent)?;
            if schema::is_complete(&connection)? {
                let looked = openclaw_sqlite::consistent_read(&connection, |connection| {
                    FileState::read(connection, path, unstored)
                })?;
                known = Some(looked);
            } else {
                openclaw_sqlite::quick_check(&connection)?;
            }
        }
        connect::configure(&connection, filesystem, wait)?;
        Ok((connection, known))
    }

    fn start(
        path: &Path,
        agent: &AgentId,
        opened: Option<(Connection, FileState)>,
        cache: Cache,
        filesystem: FilesystemKind,
        timing: Timing,
    ) -> Result<Self, OpenError> {
        let failed = |source: Cause| OpenError::Storage {
            path: path.to_owned(),
            source,
        };
        let cache = Arc::new(cache);
        let stop_signal = Arc::new(StopSignal::default());
        let reader = || FollowingReader::new(path.to_owned(), timing.wait);
        let (messages, queue) = mpsc::channel();
        let shown = opened.as_ref().map(|(_, known)| ForeignVersion::at_first(known));
        let look = FileObserver::new(reader(), shown);
        let writer = Writer::new(
            path.to_owned(),
            agent.clone(),
            Arc::clone(&cache),
            opened,
            filesystem,
            timing,
        );
        let coordinator = Arc::new(WriteCoordinator::new(
            writer,
            FairLock::new(path, "auth-store-queue"),
            messages,
        ));
        let worker = WriteWorker {
            path: path.to_owned(),
            coordinator: Arc::clone(&coordinator),
            timing,
        };
        let watch = FileWatcher {
            path: path.to_owned(),
            cache: Arc::clone(&cache),
            coordinator: Arc::clone(&coordinator),
            stop_signal: Arc::clone(&stop_signal),
            pause: timing.watch,
        };
        let mut store = Self {
            path: path.to_owned(),
            cache,
            coordinator,
            stop_signal,
            reader: Mutex::new(reader()),
            threads: Vec::new(),
        };
        let spawn = |name: &str, work: Box<dyn FnOnce() + Send>| {
            let thread = thread::Builder::new().name(name.to_owned());
            thread.spawn(work).map_err(|error| failed(Arc::new(error)))
        };
        let write = spawn("auth-store-write", Box::new(move || worker.run(&queue)))?;
        store.threads.push(write);
        let watch = spawn("auth-store-watch", Box::new(move || watch.run(look)))?;
        store.threads.push(watch);
        Ok(store)
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Uses these settings for changes from now on; open windows stay as they are.
    pub fn set_cooldowns(&self, config: CooldownConfig) {
        self.cache.set_config(config);
    }

    /// Replaces the profiles that are not stored, as after a change of the configuration.
    pub fn set_ambient(&self, ambient: Vec<AmbientProfile>) {
        self.cache.set_ambient(ambient);
    }

    /// Sets what the secret references of profiles resolve to now; a profile that resolves to another secret starts
    /// clean (D9). The value comes from `AuthSnapshot::pointer_fingerprints`; it is not stored.
    pub fn set_resolved(&self, fingerprints: HashMap<ProfileId, String>) {
        self.cache.set_resolved(fingerprints);
    }

    /// Shows a change at once and buffers it for the next write, like one that could not be written: for a caller that
    /// does not wait while another process locks the file. A change that was queued already may be buffered as well.
    pub fn buffer(&self, change: &UsageChange, now: Timestamp) {
        self.cache.buffer(change, now);
    }

    /// Adds what older files hold and the store does not (G26 to G28); see [`LegacyFolder`](crate::LegacyFolder).
    ///
    /// # Errors
    /// A [`StoreError`] when nothing was stored.
    pub async fn import(&self, legacy: LegacyProfiles, now: Timestamp) -> Result<(), StoreError> {
        self.write(Operation::Import(Box::new(legacy), ImportCondition::Always), now)
            .await
            .map(drop)
    }

    /// Adds the logins of the first versions' shared file ([`LegacyProfiles::oauth`]) while no profile was ever stored; does
    /// nothing afterwards (G1, G2). The file stays (G5).
    ///
    /// # Errors
    /// A [`StoreError`] when nothing was stored.
    pub async fn import_on_first_use(
        &self,
        legacy: LegacyProfiles,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        self.write(
            Operation::Import(Box::new(legacy), ImportCondition::FirstUse),
            now,
        )
        .await
        .map(drop)
    }

    /// Reads the file now, for a caller that cannot wait the 50 ms until writes of another process show.
    ///
    /// # Errors
    /// A [`StoreError`] when it cannot be read; the last known state stays shown.
    pub fn refresh(&self) -> Result<(), StoreError> {
        let mut reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
        let looked = watch::connection(&mut reader)
            .and_then(|(connection, _)| watch::refresh(connection, &self.path, &self.cache));
        let looked = match looked {
            Err(fault) if fault.is_of_the_disk() => {
                openclaw_sqlite::open_read_only(&self.path, connect::LOCK_WAIT)
                    .map_err(Fault::from)
                    .and_then(|connection| watch::refresh(&connection, &self.path, &self.cache))
            }
            looked => looked,
        };
        looked.map_err(|fault| fault.into_store_error(&self.path))
    }

    /// The profile of a change that can wait for the next write (D11). While changes are queued or buffered, a success
    /// is written behind them, because they may leave a window that it clears (D10).
    fn mere_use<'c>(&self, change: &'c UsageChange, now: Timestamp) -> Option<&'c ProfileId> {
        let profile = self.snapshot().mere_use(change, now)?;
        let selected = matches!(change, UsageChange::Used { .. });
        (selected || !self.coordinator.has_waiting() && !self.cache.has_buffered()).then_some(profile)
    }

    fn note_use(&self, profile: &ProfileId, now: Timestamp) -> Result<ChangeOutcome, StoreError> {
        let (applied, noted) = self.cache.note_use(profile, now)?;
        if noted == PendingUse::First {
            self.coordinator.send(WriteCommand::Used)?;
        }
        Ok(applied)
    }

    async fn write(&self, op: Operation, now: Timestamp) -> Outcome {
        let request = Request { op, now, reply: None };
        if let Some(outcome) = self.coordinator.try_write(&request) {
            return outcome;
        }
        let (reply, outcome) = oneshot::channel();
        self.coordinator.hand_over(Request {
            reply: Some(reply),
            ..request
        })?;
        outcome.await.unwrap_or(Err(StoreError::Closed))
    }

    /// Queues a change for the thread without waiting for it.
    fn hand_over(&self, op: Operation, now: Timestamp) {
        let request = Request { op, now, reply: None };
        if let Err(error) = self.coordinator.hand_over(request) {
            tracing::warn!(%error, "a change of the store was lost");
        }
    }
}

impl Drop for SqliteAuthStore {
    fn drop(&mut self) {
        self.stop_signal.stop();
        // When the command cannot be sent, the thread has ended already.
        drop(self.coordinator.send(WriteCommand::Stop));
        for thread in self.threads.drain(..) {
            if thread.join().is_err() {
                tracing::error!("a thread of the auth store panicked");
            }
        }
    }
}

impl fmt::Debug for SqliteAuthStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteAuthStore")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
