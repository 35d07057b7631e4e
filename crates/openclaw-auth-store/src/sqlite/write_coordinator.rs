//! Who writes: whoever brings a change while nobody else is there, and otherwise the thread that takes all of them.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

use openclaw_sqlite::{FairLock, TryAcquire};

use super::request::{Op, Outcome, Request};
use super::write_worker::WriteCommand;
use super::writer::Writer;
use crate::StoreError;

/// For how many changes everything goes to the thread after several came at once: sharing a transaction beats
/// taking turns.
const CROWD: u32 = 16;
/// After how many writes the thread is asked to move the log into the file, well before SQLite would do it within
/// one of them.
const CHECKPOINT: u64 = 256;

/// Where changes are brought.
pub(super) struct WriteCoordinator {
    writer: Mutex<Writer>,
    fair_lock: FairLock,
    messages: Sender<WriteCommand>,
    /// Changes that were handed to the thread and are not written yet; nobody overtakes them.
    handed: AtomicUsize,
    crowd: AtomicU32,
    /// Other processes waited for their turn when this one had it. Until none does, everything goes through the queue:
    /// whoever looks at the right moment would else pass those who are just being woken.
    contended: AtomicBool,
}

impl WriteCoordinator {
    pub(super) fn new(writer: Writer, fair_lock: FairLock, messages: Sender<WriteCommand>) -> Self {
        Self {
            writer: Mutex::new(writer),
            fair_lock,
            messages,
            handed: AtomicUsize::new(0),
            crowd: AtomicU32::new(0),
            contended: AtomicBool::new(false),
        }
    }

    /// Writes a small change on the caller's thread, which takes some ten microseconds; `None` when anybody is in the
    /// way or it could take longer. It never waits.
    pub(super) fn at_once(&self, request: &Request) -> Option<Outcome> {
        match request.op {
            Op::Change(_) | Op::Login(..) => {}
            Op::Import(..) | Op::Remove(_) | Op::RemoveProvider(_) | Op::SetOrder(..) | Op::Upsert(..) => {
                return None;
            }
        }
        if self.is_crowded() || self.handed.load(Ordering::Acquire) > 0 {
            return None;
        }
        let Some(mut writer) = self.idle_writer() else {
            self.expect_crowd();
            return None;
        };
        if !writer.is_local() || self.handed.load(Ordering::Acquire) > 0 {
            return None;
        }
        let outcome = match writer.take_turn() {
            Some((turn, left)) => {
                let outcome = writer.write_at_once(request);
                writer.keep_turn(turn, left.saturating_sub(1));
                outcome?
            }
            None if self.contended.load(Ordering::Relaxed) => return None,
            None => match self.fair_lock.try_acquire() {
                TryAcquire::Unsupported => writer.write_at_once(request)?,
                TryAcquire::Contended => {
                    self.contended.store(true, Ordering::Relaxed);
                    return None;
                }
                TryAcquire::Acquired(guard) => {
                    let outcome = writer.write_at_once(request);
                    drop(guard);
                    outcome?
                }
            },
        };
        if writer.writes().is_multiple_of(CHECKPOINT) {
            // The thread is there as long as the store is.
            drop(self.messages.send(WriteCommand::Checkpoint));
        }
        Some(outcome)
    }

    /// Leaves a change to the thread.
    pub(super) fn hand_over(&self, request: Request) -> Result<(), StoreError> {
        self.handed.fetch_add(1, Ordering::AcqRel);
        self.send(WriteCommand::Write(request))
    }

    pub(super) fn send(&self, message: WriteCommand) -> Result<(), StoreError> {
        self.messages.send(message).map_err(|_| StoreError::Closed)
    }

    /// Changes that were handed over are written.
    pub(super) fn took(&self, changes: usize) {
        if changes > 1 {
            self.expect_crowd();
        }
        self.handed.fetch_sub(changes, Ordering::AcqRel);
    }

    /// Whether changes wait for the thread.
    pub(super) fn has_waiting(&self) -> bool {
        self.handed.load(Ordering::Acquire) > 0
    }

    pub(super) fn fair_lock(&self) -> &FairLock {
        &self.fair_lock
    }

    /// Whether other processes write all the time, too.
    pub(super) fn is_contended(&self) -> bool {
        self.contended.load(Ordering::Relaxed)
    }

    pub(super) fn set_contended(&self, contended: bool) {
        self.contended.store(contended, Ordering::Relaxed);
    }

    /// The writer, as soon as nobody has it; a panic has left it as after a failed write.
    pub(super) fn writer(&self) -> MutexGuard<'_, Writer> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The writer, if nobody has it.
    pub(super) fn idle_writer(&self) -> Option<MutexGuard<'_, Writer>> {
        match self.writer.try_lock() {
            Ok(writer) => Some(writer),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    fn expect_crowd(&self) {
        self.crowd.store(CROWD, Ordering::Relaxed);
    }

    /// Whether others were here a moment ago.
    fn is_crowded(&self) -> bool {
        let less = |left: u32| left.checked_sub(1);
        self.crowd
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, less)
            .is_ok()
    }
}
