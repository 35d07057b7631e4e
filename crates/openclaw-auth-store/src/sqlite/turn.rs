//! The queue that the writers of several processes stand in, because SQLite lets whoever comes at the right moment win.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// What the files beside the store are called.
const SUFFIXES: [&str; 2] = ["-next", "-turn"];
/// How long a writer stands in the queue before it tries its luck without: a holder that was stopped must not stop
/// everybody.
const PATIENCE: Duration = Duration::from_secs(1);

/// The files whose locks make the queue.
///
/// Whoever has the turn writes. Whoever is next holds the other lock until it gets the turn, so that the one that has
/// just written cannot have the turn again before somebody who waits. The system hands locks out in the order in which
/// they were asked for, and takes them back from processes that die.
///
/// It is about fairness alone; that one writes at a time is SQLite's business. Where the file system has no locks,
/// there is no queue.
pub(super) struct Queue {
    paths: [PathBuf; 2],
    /// Open as long as the locks work; whoever has to wait opens them again, because a wait may be given up.
    files: Option<[File; 2]>,
}

/// The right to write; dropping it lets the next one have it.
pub(super) enum Turn<'q> {
    AtOnce(&'q File),
    AfterOthers(#[expect(dead_code, reason = "held, not read")] File),
}

impl Queue {
    pub(super) fn new(store: &Path) -> Self {
        let paths = SUFFIXES.map(|suffix| {
            let mut name = store.as_os_str().to_owned();
            name.push(suffix);
            PathBuf::from(name)
        });
        let files = open_all(&paths).ok();
        Self { paths, files }
    }

    /// Waits for the turn; `None` where there is no queue, or when it does not move.
    pub(super) fn turn(&self) -> Option<Turn<'_>> {
        let [next, turn] = self.files.as_ref()?;
        if is_free(next)? {
            let is_free = is_free(turn);
            next.unlock().ok()?;
            if is_free? {
                return Some(Turn::AtOnce(turn));
            }
        }
        let [next, turn] = open_all(&self.paths).ok()?;
        let (arrived, arrival) = mpsc::sync_channel(1);
        let waiting = move || {
            if next.lock().and_then(|()| turn.lock()).is_ok() {
                // Nobody waits any more when this fails, and the locks end with their files.
                drop(arrived.send(turn));
            }
        };
        let name = "auth-store-queue".to_owned();
        thread::Builder::new().name(name).spawn(waiting).ok()?;
        arrival.recv_timeout(PATIENCE).ok().map(Turn::AfterOthers)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        if let Self::AtOnce(file) = self
            && let Err(error) = file.unlock()
        {
            tracing::warn!(%error, "the queue of the writers could not be left");
        }
    }
}

/// Takes a lock that nobody has; `None` where there are no locks.
fn is_free(file: &File) -> Option<bool> {
    match file.try_lock() {
        Ok(()) => Some(true),
        Err(TryLockError::WouldBlock) => Some(false),
        Err(TryLockError::Error(_)) => None,
    }
}

fn open_all(paths: &[PathBuf; 2]) -> io::Result<[File; 2]> {
    let [next, turn] = paths;
    Ok([open(next)?, open(turn)?])
}

fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}
