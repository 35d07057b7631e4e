//! Decides where a change is written: on the calling thread while no other writer is active, otherwise by the worker.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

use openclaw_sqlite::{FairLock, LockAttempt};

use super::request::{Operation, Outcome, Request};
use super::write_worker::WriteCommand;
use super::writer::Writer;
use crate::StoreError;

/// For how many changes everything goes to the worker after several came at once: a shared transaction beats passing
/// the lock.
const BURST: u32 = 16;
/// After how many writes the worker makes a checkpoint, well before SQLite would make one within a write.
const CHECKPOINT: u64 = 256;

/// Takes changes from all threads.
pub(super) struct WriteCoordinator {
    writer: Mutex<Writer>,
    fair_lock: FairLock,
    messages: Sender<WriteCommand>,
    /// Queued changes that are not written yet; no later change overtakes them.
    handed: AtomicUsize,
    burst: AtomicU32,
    /// Other processes waited for the fair lock while this one held it. Until none does, every write waits for the
    /// lock: an attempt at the right moment would else pass processes that are just being woken.
    contended: AtomicBool,
}

impl WriteCoordinator {
    pub(super) fn new(writer: Writer, fair_lock: FairLock, messages: Sender<WriteCommand>) -> Self {
        Self {
            writer: Mutex::new(writer),
            fair_lock,
            messages,
            handed: AtomicUsize::new(0),
            burst: AtomicU32::new(0),
            contended: AtomicBool::new(false),
        }
    }

    /// Writes a small change on the calling thread, which takes some ten microseconds; `None` when another writer is
    /// active or it could take longer. Never waits.
    pub(super) fn try_write(&self, request: &Request) -> Option<Outcome> {
        match request.op {
            Operation::Change(_) | Operation::Login(..) => {}
            Operation::Import(..)
            | Operation::Remove(_)
            | Operation::RemoveProvider(_)
            | Operation::SetOrder(..)
            | Operation::Upsert(..) => {
                return None;
            }
        }
        if self.is_in_burst() || self.handed.load(Ordering::Acquire) > 0 {
            return None;
        }
        let Some(mut writer) = self.idle_writer() else {
            self.expect_burst();
            return None;
        };
        if !writer.is_local() || self.handed.load(Ordering::Acquire) > 0 {
            return None;
        }
        let outcome = match writer.take_lock() {
            Some((turn, left)) => {
                let outcome = writer.write_at_once(request);
                writer.keep_lock(turn, left.saturating_sub(1));
                outcome?
            }
            None if self.contended.load(Ordering::Relaxed) => return None,
            None => match self.fair_lock.try_acquire() {
                LockAttempt::Unsupported => writer.write_at_once(request)?,
                LockAttempt::Contended => {
                    self.contended.store(true, Ordering::Relaxed);
                    return None;
                }
                LockAttempt::Acquired(guard) => {
                    let outcome = writer.write_at_once(request);
                    drop(guard);
                    outcome?
                }
            },
        };
        if writer.writes().is_multiple_of(CHECKPOINT) {
            // The worker lives as long as the store.
            drop(self.messages.send(WriteCommand::Checkpoint));
        }
        Some(outcome)
    }

    /// Queues a change for the worker.
    pub(super) fn hand_over(&self, request: Request) -> Result<(), StoreError> {
        self.handed.fetch_add(1, Ordering::AcqRel);
        self.send(WriteCommand::Write(request))
    }

    pub(super) fn send(&self, message: WriteCommand) -> Result<(), StoreError> {
        self.messages.send(message).map_err(|_| StoreError::Closed)
    }

    /// Notes that queued changes are written.
    pub(super) fn finished(&self, changes: usize) {
        if changes > 1 {
            self.expect_burst();
        }
        self.handed.fetch_sub(changes, Ordering::AcqRel);
    }

    /// Whether changes are queued.
    pub(super) fn has_waiting(&self) -> bool {
        self.handed.load(Ordering::Acquire) > 0
    }

    pub(super) fn fair_lock(&self) -> &FairLock {
        &self.fair_lock
    }

    /// Whether other processes are writing, too.
    pub(super) fn is_contended(&self) -> bool {
        self.contended.load(Ordering::Relaxed)
    }

    pub(super) fn set_contended(&self, contended: bool) {
        self.contended.store(contended, Ordering::Relaxed);
    }

    /// The writer, once it is free; a panic leaves it as after a failed write.
    pub(super) fn writer(&self) -> MutexGuard<'_, Writer> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The writer, if it is free.
    pub(super) fn idle_writer(&self) -> Option<MutexGuard<'_, Writer>> {
        match self.writer.try_lock() {
            Ok(writer) => Some(writer),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    fn expect_burst(&self) {
        self.burst.store(BURST, Ordering::Relaxed);
    }

    /// Whether several changes came at once a moment ago.
    fn is_in_burst(&self) -> bool {
        let less = |left: u32| left.checked_sub(1);
        self.burst
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, less)
            .is_ok()
    }
}
