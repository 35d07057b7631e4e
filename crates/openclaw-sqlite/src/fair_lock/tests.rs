use std::sync::Mutex;

use super::*;

const NAME: &str = "fair-lock-test";

/// Gives other threads the processor until `done`; fails after many attempts.
fn eventually(what: &str, mut done: impl FnMut() -> bool) {
    const ATTEMPTS: u32 = 20_000_000;
    for _ in 0..ATTEMPTS {
        if done() {
            return;
        }
        thread::yield_now();
    }
    panic!("{what} did not happen");
}

#[test]
fn a_writer_that_has_just_written_lets_the_next_one_pass() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    let (first, second) = (FairLock::new(&path, NAME), FairLock::new(&path, NAME));
    let order = Mutex::new(Vec::new());
    let LockAttempt::Acquired(guard) = first.try_acquire() else {
        panic!("no other writer is there");
    };
    thread::scope(|scope| {
        scope.spawn(|| {
            let acquired = second.acquire().unwrap();
            order.lock().unwrap().push("second");
            drop(acquired);
        });
        let next = open(&folder.path().join("store-next")).unwrap();
        let is_taken = || match next.try_lock() {
            Ok(()) => {
                next.unlock().unwrap();
                false
            }
            Err(_) => true,
        };
        eventually("a waiting writer", is_taken);
        drop(guard);
        let again = first.acquire().unwrap();
        order.lock().unwrap().push("first again");
        drop(again);
    });
    assert_eq!(*order.lock().unwrap(), ["second", "first again"]);
}

#[test]
fn a_free_lock_is_not_contended_and_is_released_on_drop() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    let (first, second) = (FairLock::new(&path, NAME), FairLock::new(&path, NAME));
    let acquired = first.acquire().unwrap();
    assert_eq!(acquired.contention, Contention::None);
    // The lock of the next writer is given back a moment later.
    eventually("contention", || {
        matches!(second.try_acquire(), LockAttempt::Contended)
    });
    drop(acquired);
    eventually("the lock", || {
        matches!(second.try_acquire(), LockAttempt::Acquired(_))
    });
}

#[test]
fn without_files_there_is_no_lock() {
    let folder = tempfile::tempdir().unwrap();
    let lock = FairLock::new(&folder.path().join("none/store"), NAME);
    assert!(lock.acquire().is_none());
    assert!(matches!(lock.try_acquire(), LockAttempt::Unsupported));
}

#[test]
#[cfg(unix)]
fn l21_the_files_are_their_owners() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    drop(FairLock::new(&path, NAME));
    for suffix in SUFFIXES {
        let file = std::fs::metadata(folder.path().join(format!("store{suffix}"))).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::mode(&file.permissions());
        assert_eq!(mode & 0o777, 0o600);
    }
}
