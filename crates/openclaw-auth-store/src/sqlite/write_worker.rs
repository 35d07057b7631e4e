//! The writer thread: commits queued changes in batches, delayed uses, and checkpoints.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread;

use openclaw_sqlite::{AcquiredLock, Checkpoint, Contention, FairLockGuard, LockAttempt};

use super::Timing;
use super::connect;
use super::request::Request;
use super::write_coordinator::WriteCoordinator;

/// How many changes one transaction takes at most.
const BATCH: usize = 256;
/// How often the thread polls its queue before it sleeps: a few microseconds.
const LOOKS: u32 = 32;
/// How many changes a process may write under one lock while others wait: passing the lock on costs more than writing.
const SLICE: u32 = 4;
/// How many polls without a new change release the lock.
const IDLE_LOOKS: u32 = 1;

/// The commands of the thread.
pub(super) enum WriteCommand {
    /// Move the log into the file.
    Checkpoint,
    /// Write the pending uses before long (D11).
    Used,
    /// Write a change.
    Write(Request),
    /// Write what is queued and end.
    Stop,
}

/// The thread's state.
pub(super) struct WriteWorker {
    pub(super) path: PathBuf,
    pub(super) coordinator: Arc<WriteCoordinator>,
    pub(super) timing: Timing,
}

/// Whether to go on.
#[derive(PartialEq, Eq)]
enum Continuation {
    Continue,
    Stop,
}

/// The fair lock as a write holds it.
enum HeldLock {
    Uncontended(#[expect(dead_code, reason = "held, not read")] FairLockGuard),
    Waited(AcquiredLock),
    /// Kept from an earlier write, for this many changes more.
    Reserved(FairLockGuard, u32),
    /// There is no lock, or its holder does not release it.
    Unavailable,
}

impl WriteWorker {
    /// Runs until it is told to stop.
    pub(super) fn run(self, messages: &Receiver<WriteCommand>) {
        let mut uses_wait = false;
        loop {
            let message = match soon(messages) {
                Some(message) => Ok(message),
                None if uses_wait => messages.recv_timeout(self.timing.use_delay),
                None => messages.recv_timeout(self.timing.checkpoint),
            };
            let mut batch = Vec::new();
            let mut next = match message {
                Ok(WriteCommand::Used) => {
                    uses_wait = true;
                    continue;
                }
                Ok(WriteCommand::Write(request)) => {
                    batch.push(request);
                    Continuation::Continue
                }
                Ok(WriteCommand::Stop) | Err(RecvTimeoutError::Disconnected) => Continuation::Stop,
                Err(RecvTimeoutError::Timeout) if uses_wait => Continuation::Continue,
                Ok(WriteCommand::Checkpoint) | Err(RecvTimeoutError::Timeout) => {
                    self.checkpoint();
                    continue;
                }
            };
            let turn = self.turn();
            if !batch.is_empty() {
                // Changes that came while the lock was waited for join the batch.
                next = fill(&mut batch, messages);
            }
            let changes = batch.len();
            let mut writer = self.coordinator.writer();
            writer.write(batch);
            match turn {
                HeldLock::Uncontended(_) | HeldLock::Unavailable => {}
                HeldLock::Reserved(turn, left) => writer.keep_lock(turn, left.saturating_sub(1)),
                HeldLock::Waited(AcquiredLock { guard, contention }) => {
                    let alone = contention == Contention::None && !writer.saw_others();
                    self.coordinator.set_contended(!alone);
                    if !alone {
                        writer.keep_lock(guard, SLICE);
                    }
                }
            }
            uses_wait = writer.has_urgent();
            self.coordinator.finished(changes);
            drop(writer);
            if next == Continuation::Stop {
                let mut writer = self.coordinator.writer();
                drop(writer.take_lock());
                writer.checkpoint(Checkpoint::Truncate);
                return;
            }
            self.linger();
        }
    }

    fn turn(&self) -> HeldLock {
        if let Some((turn, left)) = self.coordinator.writer().take_lock() {
            return HeldLock::Reserved(turn, left);
        }
        if !self.coordinator.is_contended() {
            match self.coordinator.fair_lock().try_acquire() {
                LockAttempt::Unsupported => return HeldLock::Unavailable,
                LockAttempt::Contended => {}
                LockAttempt::Acquired(turn) => return HeldLock::Uncontended(turn),
            }
        }
        self.coordinator
            .fair_lock()
            .acquire()
            .map_or(HeldLock::Unavailable, HeldLock::Waited)
    }

    /// Gives callers that just got an answer the time to send their next change under the same lock, and releases it.
    fn linger(&self) {
        let mut left = self.coordinator.writer().changes_left();
        let mut idle = 0;
        while left > 0 && idle < IDLE_LOOKS && !self.coordinator.has_waiting() {
            thread::yield_now();
            let now = self.coordinator.writer().changes_left();
            idle = if now < left { 0 } else { idle + 1 };
            left = now;
        }
        if !self.coordinator.has_waiting() {
            drop(self.coordinator.writer().take_lock());
        }
    }

    /// Moves the log into the file over another connection, so that changes are written meanwhile.
    fn checkpoint(&self) {
        match openclaw_sqlite::open_read_write(&self.path, self.timing.wait) {
            Ok(connection) => connect::checkpoint(&connection, Checkpoint::Passive, self.timing.wait),
            Err(error) => tracing::debug!(%error, "the auth store could not be opened for a checkpoint"),
        }
    }
}

/// Polls the queue for a moment, so that a caller that sends one change after another does not wake the thread each
/// time.
fn soon(messages: &Receiver<WriteCommand>) -> Option<WriteCommand> {
    for _ in 0..LOOKS {
        if let Ok(message) = messages.try_recv() {
            return Some(message);
        }
        thread::yield_now();
    }
    None
}

/// Adds what is queued already.
fn fill(batch: &mut Vec<Request>, messages: &Receiver<WriteCommand>) -> Continuation {
    while batch.len() < BATCH {
        match messages.try_recv() {
            Ok(WriteCommand::Write(request)) => batch.push(request),
            // The batch includes the uses, and a checkpoint can wait.
            Ok(WriteCommand::Checkpoint | WriteCommand::Used) => {}
            Ok(WriteCommand::Stop) => return Continuation::Stop,
            Err(_) => break,
        }
    }
    Continuation::Continue
}
