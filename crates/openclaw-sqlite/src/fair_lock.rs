//! A fair lock for writers of several processes: SQLite alone lets the connection win that tries at the right moment.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Sender, SyncSender};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use crate::file::with_suffix;

/// What the lock files beside the database are called: the lock of the next writer, and the lock of the writer.
const SUFFIXES: [&str; 2] = ["-next", "-turn"];
/// How long a writer waits before it goes on without the lock: a stopped holder must not stop every process.
const MAX_WAIT: Duration = Duration::from_secs(1);

/// A first-come, first-served lock between the writers of all processes, kept in two files beside the database.
///
/// The holder of the second file's lock writes. The next writer holds the first file's lock until it gets the second, so
/// that a process that has just written cannot write again before one that waits. The system hands file locks out in the
/// order of the requests, and releases those of processes that die.
///
/// The lock is about fairness alone; exclusion stays with SQLite. Where the file system has no locks, or a holder does not
/// release it within a second, writers go on without it.
#[derive(Debug)]
pub struct FairLock {
    paths: [PathBuf; 2],
    thread_name: &'static str,
    /// For attempts that do not wait.
    files: Option<[Arc<File>; 2]>,
    /// The thread that waits for the lock on behalf of this process, because waiting for a file lock cannot be given up.
    /// It starts with the first wait.
    waiter: OnceLock<Option<Sender<SyncSender<AcquiredLock>>>>,
}

/// The lock, and whether it had to be waited for.
#[derive(Debug)]
pub struct AcquiredLock {
    /// Holds the lock until it is dropped.
    pub guard: FairLockGuard,
    /// Whether others used the lock.
    pub contention: Contention,
}

/// Whether another writer held the lock, or waited for it, when it was requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Contention {
    /// Others held it or waited before.
    Contended,
    /// It was free.
    None,
}

/// The held lock; dropping it lets the next writer have it.
#[derive(Debug)]
pub struct FairLockGuard(Arc<File>);

/// What an attempt without waiting comes to.
#[derive(Debug)]
pub enum LockAttempt {
    /// The lock was free and is held now.
    Acquired(FairLockGuard),
    /// Others hold it or wait for it.
    Contended,
    /// There are no locks on this file system.
    Unsupported,
}

impl FairLock {
    /// The lock of the database at `database`; creates its files where they are missing. `thread_name` is what the thread
    /// that waits is called.
    #[must_use]
    pub fn new(database: &Path, thread_name: &'static str) -> Self {
        let paths = SUFFIXES.map(|suffix| with_suffix(database, suffix));
        let files = open_all(&paths).ok();
        Self {
            paths,
            thread_name,
            files,
            waiter: OnceLock::new(),
        }
    }

    /// Acquires the lock if no writer holds it or waits for it. Never waits.
    #[must_use]
    pub fn try_acquire(&self) -> LockAttempt {
        let Some([next, turn]) = &self.files else {
            return LockAttempt::Unsupported;
        };
        match try_lock(next) {
            Some(true) => {}
            Some(false) => return LockAttempt::Contended,
            None => return LockAttempt::Unsupported,
        }
        let is_locked = try_lock(turn);
        match (next.unlock(), is_locked) {
            (Ok(()), Some(true)) => LockAttempt::Acquired(FairLockGuard(Arc::clone(turn))),
            (Ok(()), Some(false)) => LockAttempt::Contended,
            (Err(_), _) | (_, None) => LockAttempt::Unsupported,
        }
    }

    /// Acquires the lock after all writers that wait already; `None` where there are no locks, or when a holder does not
    /// release it within a second. Blocks the thread.
    #[must_use]
    pub fn acquire(&self) -> Option<AcquiredLock> {
        self.files.as_ref()?;
        let (reply, answer) = mpsc::sync_channel(1);
        let waiter = self
            .waiter
            .get_or_init(|| spawn_waiter(&self.paths, self.thread_name).ok());
        waiter.as_ref()?.send(reply).ok()?;
        answer.recv_timeout(MAX_WAIT).ok()
    }
}

/// The thread that waits. It ends with the lock, or when it gets the file lock that it waits for then.
fn spawn_waiter(paths: &[PathBuf; 2], name: &str) -> io::Result<Sender<SyncSender<AcquiredLock>>> {
    let [next, turn] = open_all(paths)?;
    let (sender, requests) = mpsc::channel::<SyncSender<AcquiredLock>>();
    let wait = move || {
        for reply in requests {
            if let Ok(contention) = lock_both(&next, &turn) {
                let guard = FairLockGuard(Arc::clone(&turn));
                // Where the caller has given up, the lock is released here.
                drop(reply.send(AcquiredLock { guard, contention }));
            }
            drop(next.unlock());
        }
    };
    thread::Builder::new().name(name.to_owned()).spawn(wait)?;
    Ok(sender)
}

/// Locks first the one file and then the other.
fn lock_both(next: &File, turn: &File) -> io::Result<Contention> {
    let mut contention = Contention::None;
    for file in [next, turn] {
        if try_lock(file) != Some(true) {
            contention = Contention::Contended;
            file.lock()?;
        }
    }
    Ok(contention)
}

impl Drop for FairLockGuard {
    fn drop(&mut self) {
        if let Err(error) = self.0.unlock() {
            tracing::warn!(%error, "the queue of the writers could not be left");
        }
    }
}

/// Locks a file if it is free, and returns whether it was; `None` where there are no locks.
fn try_lock(file: &File) -> Option<bool> {
    match file.try_lock() {
        Ok(()) => Some(true),
        Err(TryLockError::WouldBlock) => Some(false),
        Err(TryLockError::Error(_)) => None,
    }
}

fn open_all(paths: &[PathBuf; 2]) -> io::Result<[Arc<File>; 2]> {
    let [next, turn] = paths;
    Ok([Arc::new(open(next)?), Arc::new(open(turn)?)])
}

fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

#[cfg(test)]
mod tests;
