//! The thread that writes what nobody could write at once, and whatever can wait.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread;

use super::Pace;
use super::connect::{self, Checkpoint};
use super::desk::Desk;
use super::request::Request;
use super::turn::Turn;

/// How many changes one transaction takes at most.
const BATCH: usize = 256;
/// How often the thread looks for more before it sleeps: a few microseconds.
const LOOKS: u32 = 32;
/// How many changes a process may write in one turn while others wait: changing turns costs more than writing.
const SLICE: u32 = 8;
/// How many looks without a new change end a turn.
const IDLE_LOOKS: u32 = 1;

/// What the thread is told.
pub(super) enum Message {
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
pub(super) struct Clerk {
    pub(super) path: PathBuf,
    pub(super) desk: Arc<Desk>,
    pub(super) pace: Pace,
}

/// Whether to go on.
#[derive(PartialEq, Eq)]
enum Next {
    Continue,
    Stop,
}

impl Clerk {
    /// Works until it is told to stop.
    pub(super) fn run(self, messages: &Receiver<Message>) {
        let mut uses_wait = false;
        loop {
            let message = match soon(messages) {
                Some(message) => Ok(message),
                None if uses_wait => messages.recv_timeout(self.pace.use_delay),
                None => messages.recv_timeout(self.pace.checkpoint),
            };
            let mut batch = Vec::new();
            let mut next = match message {
                Ok(Message::Used) => {
                    uses_wait = true;
                    continue;
                }
                Ok(Message::Write(request)) => {
                    batch.push(request);
                    Next::Continue
                }
                Ok(Message::Stop) | Err(RecvTimeoutError::Disconnected) => Next::Stop,
                Err(RecvTimeoutError::Timeout) if uses_wait => Next::Continue,
                Ok(Message::Checkpoint) | Err(RecvTimeoutError::Timeout) => {
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
            let mut writer = self.desk.writer();
            writer.write(batch);
            let waited = turn.filter(|(_, left)| *left > 0);
            if let Some((turn, left)) = waited {
                writer.keep_turn(turn, left);
            }
            uses_wait = writer.has_urgent();
            self.desk.took(changes);
            drop(writer);
            if next == Next::Stop {
                let mut writer = self.desk.writer();
                drop(writer.take_turn());
                writer.checkpoint(Checkpoint::Truncate);
                return;
            }
            self.linger();
        }
    }

    /// The right to write, and for how many changes it may be kept: none where nobody else wanted it.
    fn turn(&self) -> Option<(Turn, u32)> {
        let kept = self.desk.writer().take_turn();
        kept.map(|(turn, left)| (turn, left.saturating_sub(1)))
            .or_else(|| {
                let (turn, waited) = self.desk.queue().turn()?;
                Some((turn, if waited { SLICE } else { 0 }))
            })
    }

    /// Gives whoever just got an answer the time to bring the next change within the same turn, and ends the turn.
    fn linger(&self) {
        let mut left = self.desk.writer().changes_left();
        let mut idle = 0;
        while left > 0 && idle < IDLE_LOOKS && !self.desk.has_waiting() {
            thread::yield_now();
            let now = self.desk.writer().changes_left();
            idle = if now < left { 0 } else { idle + 1 };
            left = now;
        }
        if !self.desk.has_waiting() {
            drop(self.desk.writer().take_turn());
        }
    }

    /// Moves the log into the file, over a connection of its own so that changes are written meanwhile.
    fn checkpoint(&self) {
        match connect::writer(&self.path, self.pace.wait) {
            Ok(connection) => connect::checkpoint(&connection, Checkpoint::Passive, self.pace.wait),
            Err(error) => tracing::debug!(%error, "the auth store could not be opened for a checkpoint"),
        }
    }
}

/// What comes right after a write: whoever marks again and again is not made to wake this thread each time.
fn soon(messages: &Receiver<Message>) -> Option<Message> {
    for _ in 0..LOOKS {
        if let Ok(message) = messages.try_recv() {
            return Some(message);
        }
        thread::yield_now();
    }
    None
}

/// Adds what is queued already.
fn fill(batch: &mut Vec<Request>, messages: &Receiver<Message>) -> Next {
    while batch.len() < BATCH {
        match messages.try_recv() {
            Ok(Message::Write(request)) => batch.push(request),
            // The batch takes the uses along, and the log can wait.
            Ok(Message::Checkpoint | Message::Used) => {}
            Ok(Message::Stop) => return Next::Stop,
            Err(_) => break,
        }
    }
    Next::Continue
}
