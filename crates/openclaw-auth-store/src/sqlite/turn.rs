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
        self.in_line()
    }

    /// The turn after everybody who waits already.
    fn in_line(&self) -> Option<Turn<'_>> {
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

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::sqlite::tests::eventually;

    #[test]
    fn who_has_just_written_lets_the_next_one_pass() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store");
        let (first, second) = (Queue::new(&path), Queue::new(&path));
        let order = Mutex::new(Vec::new());
        let turn = first.turn().unwrap();
        thread::scope(|scope| {
            scope.spawn(|| {
                let turn = second.in_line().unwrap();
                order.lock().unwrap().push("second");
                drop(turn);
            });
            let next = open(&folder.path().join("store-next")).unwrap();
            let is_taken = || match next.try_lock() {
                Ok(()) => {
                    next.unlock().unwrap();
                    false
                }
                Err(_) => true,
            };
            eventually("somebody waits", is_taken);
            drop(turn);
            let turn = first.turn().unwrap();
            order.lock().unwrap().push("first again");
            drop(turn);
        });
        assert_eq!(*order.lock().unwrap(), ["second", "first again"]);
    }

    #[test]
    fn without_files_there_is_no_queue() {
        let folder = tempfile::tempdir().unwrap();
        let queue = Queue::new(&folder.path().join("none/store"));
        assert!(queue.turn().is_none());
    }

    #[test]
    #[cfg(unix)]
    fn l21_the_files_are_their_owners() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store");
        drop(Queue::new(&path));
        for suffix in SUFFIXES {
            let file = std::fs::metadata(folder.path().join(format!("store{suffix}"))).unwrap();
            let mode = std::os::unix::fs::PermissionsExt::mode(&file.permissions());
            assert_eq!(mode & 0o777, 0o600);
        }
    }
}
