//! The queue that the writers of several processes stand in, because SQLite lets whoever comes at the right moment win.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Sender, SyncSender};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use crate::file::with_suffix;

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
    /// For looks that do not wait.
    files: Option<[Arc<File>; 2]>,
    /// Stands in the queue for this process, because a wait may be given up; told where to bring the turn. It starts
    /// with the first wait.
    stand_in: OnceLock<Option<Sender<SyncSender<Waited>>>>,
}

/// A turn that was asked for, and how it came.
pub(super) struct Waited {
    pub(super) turn: Turn,
    pub(super) others: Others,
}

/// Whether somebody else had the turn, or waited for it, when it was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Others {
    Before,
    None,
}

/// The right to write; dropping it lets the next one have it.
pub(super) struct Turn(Arc<File>);

/// What a look at the queue finds.
pub(super) enum Chance {
    /// There is no queue on this file system.
    NoQueue,
    /// Others write, or wait.
    Others,
    /// It is this process's turn.
    Turn(Turn),
}

impl Queue {
    pub(super) fn new(store: &Path) -> Self {
        let paths = SUFFIXES.map(|suffix| with_suffix(store, suffix));
        let files = open_all(&paths).ok();
        Self {
            paths,
            files,
            stand_in: OnceLock::new(),
        }
    }

    /// The turn if nobody has it and nobody waits for it.
    pub(super) fn at_once(&self) -> Chance {
        let Some([next, turn]) = &self.files else {
            return Chance::NoQueue;
        };
        match is_free(next) {
            Some(true) => {}
            Some(false) => return Chance::Others,
            None => return Chance::NoQueue,
        }
        let is_free = is_free(turn);
        match (next.unlock(), is_free) {
            (Ok(()), Some(true)) => Chance::Turn(Turn(Arc::clone(turn))),
            (Ok(()), Some(false)) => Chance::Others,
            (Err(_), _) | (_, None) => Chance::NoQueue,
        }
    }

    /// The turn after everybody who waits already; `None` where there is no queue, or when it does not move.
    pub(super) fn turn(&self) -> Option<Waited> {
        self.files.as_ref()?;
        let (arrived, arrival) = mpsc::sync_channel(1);
        let stand_in = self.stand_in.get_or_init(|| stand_in(&self.paths).ok());
        stand_in.as_ref()?.send(arrived).ok()?;
        arrival.recv_timeout(PATIENCE).ok()
    }
}

/// The thread that waits. It ends with the queue, or when it gets the lock that it waits for then.
fn stand_in(paths: &[PathBuf; 2]) -> io::Result<Sender<SyncSender<Waited>>> {
    let [next, turn] = open_all(paths)?;
    let (ask, asked) = mpsc::channel::<SyncSender<Waited>>();
    let waiting = move || {
        for arrived in asked {
            if let Ok(others) = wait_in_line(&next, &turn) {
                let turn = Turn(Arc::clone(&turn));
                // Where nobody waits any more, the turn ends here.
                drop(arrived.send(Waited { turn, others }));
            }
            drop(next.unlock());
        }
    };
    let name = "auth-store-queue".to_owned();
    thread::Builder::new().name(name).spawn(waiting)?;
    Ok(ask)
}

/// Gets first the one lock and then the other.
fn wait_in_line(next: &File, turn: &File) -> io::Result<Others> {
    let mut others = Others::None;
    for file in [next, turn] {
        if is_free(file) != Some(true) {
            others = Others::Before;
            file.lock()?;
        }
    }
    Ok(others)
}

impl Drop for Turn {
    fn drop(&mut self) {
        if let Err(error) = self.0.unlock() {
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
        let Chance::Turn(turn) = first.at_once() else {
            panic!("nobody else is there");
        };
        thread::scope(|scope| {
            scope.spawn(|| {
                let waited = second.turn().unwrap();
                order.lock().unwrap().push("second");
                drop(waited);
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
            let again = first.turn().unwrap();
            order.lock().unwrap().push("first again");
            drop(again);
        });
        assert_eq!(*order.lock().unwrap(), ["second", "first again"]);
    }

    #[test]
    fn where_nobody_waits_a_turn_comes_alone_and_goes_on_drop() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store");
        let (first, second) = (Queue::new(&path), Queue::new(&path));
        let waited = first.turn().unwrap();
        assert_eq!(waited.others, Others::None);
        // The lock of whoever is next is given back a moment later.
        eventually("others", || matches!(second.at_once(), Chance::Others));
        drop(waited);
        eventually("a turn", || matches!(second.at_once(), Chance::Turn(_)));
    }

    #[test]
    fn without_files_there_is_no_queue() {
        let folder = tempfile::tempdir().unwrap();
        let queue = Queue::new(&folder.path().join("none/store"));
        assert!(queue.turn().is_none());
        assert!(matches!(queue.at_once(), Chance::NoQueue));
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
