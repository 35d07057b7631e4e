//! The thread that writes what nobody could write at once, and whatever can wait.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread;

use openclaw_sqlite::{Acquired, Checkpoint, Contention, FairLockGuard, TryAcquire};

use super::Pace;
use super::connect;
use super::request::Request;
use super::write_coordinator::WriteCoordinator;

/// How many changes one transaction takes at most.
const BATCH: usize = 256;
/// How often the thread looks for more before it sleeps: a few microseconds.
const LOOKS: u32 = 32;
/// How many changes a process may write in one turn while others wait: changing turns costs more than writing.
const SLICE: u32 = 4;
/// How many looks without a new change end a turn.
const IDLE_LOOKS: u32 = 1;

/// What the thread is told.
pub(super) enum WriteCommand {
    /// The log should be moved into the file.
    Checkpoint,
    /// There are uses to be written before long (D11).
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
    pub(super) pace: Pace,
}

/// Whether to go on.
#[derive(PartialEq, Eq)]
enum Next {
    Continue,
    Stop,
}

/// How the right to write was come by.
enum MyTurn {
    AtOnce(#[expect(dead_code, reason = "held, not read")] FairLockGuard),
    InLine(Acquired),
    /// It was kept for so many changes more.
    Kept(FairLockGuard, u32),
    /// There is no queue, or it does not move.
    NoQueue,
}

impl WriteWorker {
    /// Works until it is told to stop.
    pub(super) fn run(self, messages: &Receiver<WriteCommand>) {
        let mut uses_wait = false;
        loop {
            let message = match soon(messages) {
                Some(message) => Ok(message),
                None if uses_wait => messages.recv_timeout(self.pace.use_delay),
                None => messages.recv_timeout(self.pace.checkpoint),
            };
            let mut batch = Vec::new();
            let mut next = match message {
                Ok(WriteCommand::Used) => {
                    uses_wait = true;
                    continue;
                }
                Ok(WriteCommand::Write(request)) => {
                    batch.push(request);
                    Next::Continue
                }
                Ok(WriteCommand::Stop) | Err(RecvTimeoutError::Disconnected) => Next::Stop,
                Err(RecvTimeoutError::Timeout) if uses_wait => Next::Continue,
                Ok(WriteCommand::Checkpoint) | Err(RecvTimeoutError::Timeout) => {
                    self.checkpoint();
                    continue;
                }
            };
            let turn = self.turn();
            if !batch.is_empty() {
                // What came while this process waited goes along.
                next = fill(&mut batch, messages);
            }
            let changes = batch.len();
            let mut writer = self.coordinator.writer();
            writer.write(batch);
            match turn {
                MyTurn::AtOnce(_) | MyTurn::NoQueue => {}
                MyTurn::Kept(turn, left) => writer.keep_turn(turn, left.saturating_sub(1)),
                MyTurn::InLine(Acquired { guard, contention }) => {
                    let alone = contention == Contention::None && !writer.saw_others();
                    self.coordinator.set_contended(!alone);
                    if !alone {
                        writer.keep_turn(guard, SLICE);
                    }
                }
            }
            uses_wait = writer.has_urgent();
            self.coordinator.took(changes);
            drop(writer);
            if next == Next::Stop {
                let mut writer = self.coordinator.writer();
                drop(writer.take_turn());
                writer.checkpoint(Checkpoint::Truncate);
                return;
            }
            self.linger();
        }
    }

    fn turn(&self) -> MyTurn {
        if let Some((turn, left)) = self.coordinator.writer().take_turn() {
            return MyTurn::Kept(turn, left);
        }
        if !self.coordinator.is_contended() {
            match self.coordinator.fair_lock().try_acquire() {
                TryAcquire::Unsupported => return MyTurn::NoQueue,
                TryAcquire::Contended => {}
                TryAcquire::Acquired(turn) => return MyTurn::AtOnce(turn),
            }
        }
        self.coordinator
            .fair_lock()
            .acquire()
            .map_or(MyTurn::NoQueue, MyTurn::InLine)
    }

    /// Gives whoever just got an answer the time to bring the next change within the same turn, and ends the turn.
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
            drop(self.coordinator.writer().take_turn());
        }
    }

    /// Moves the log into the file, over a connection of its own so that changes are written meanwhile.
    fn checkpoint(&self) {
        match openclaw_sqlite::open_read_write(&self.path, self.pace.wait) {
            Ok(connection) => connect::checkpoint(&connection, Checkpoint::Passive, self.pace.wait),
            Err(error) => tracing::debug!(%error, "the auth store could not be opened for a checkpoint"),
        }
    }
}

/// What comes right after a write: whoever marks again and again is not made to wake this thread each time.
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
fn fill(batch: &mut Vec<Request>, messages: &Receiver<WriteCommand>) -> Next {
    while batch.len() < BATCH {
        match messages.try_recv() {
            Ok(WriteCommand::Write(request)) => batch.push(request),
            // The batch takes the uses along, and the log can wait.
            Ok(WriteCommand::Checkpoint | WriteCommand::Used) => {}
            Ok(WriteCommand::Stop) => return Next::Stop,
            Err(_) => break,
        }
    }
    Next::Continue
}
