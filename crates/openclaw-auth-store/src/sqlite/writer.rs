//! The thread that owns every write: queued changes share one transaction.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread;

use jiff::Timestamp;
use openclaw_ids::{ProfileId, ProviderId};
use rusqlite::Connection;
use tokio::sync::oneshot;

use super::Pace;
use super::cache::{Cache, Unwritten};
use super::connect::Checkpoint;
use super::contents::Contents;
use super::fault::Fault;
use super::turn::Queue;
use super::volume::Volume;
use super::{connect, folder};
use crate::{Applied, AuthSnapshot, Credential, Legacy, LoginChange, StoreError, UsageChange};

/// How many changes one transaction takes at most.
const BATCH: usize = 256;

/// How often the thread looks for more before it sleeps: a few microseconds.
const LOOKS: u32 = 32;

/// What the thread is told.
pub(super) enum Message {
    /// There are uses to be written before long (D11).
    Used,
    /// Write a change.
    Write(Request),
    /// Write what is queued and end.
    Stop,
}

/// One change, and who waits for it.
pub(super) struct Request {
    pub(super) op: Op,
    pub(super) now: Timestamp,
    pub(super) reply: Option<oneshot::Sender<Result<Applied, StoreError>>>,
}

/// What can be written.
pub(super) enum Op {
    Change(UsageChange),
    Import(Box<Legacy>, Occasion),
    Login(ProfileId, LoginChange),
    Remove(ProfileId),
    RemoveProvider(ProviderId),
    SetOrder(ProviderId, Vec<ProfileId>),
    Upsert(ProfileId, Box<Credential>),
}

/// When an import counts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Occasion {
    Always,
    /// Only while no profile was ever stored (G2).
    FirstUse,
}

/// The thread's state.
pub(super) struct Writer {
    pub(super) path: PathBuf,
    pub(super) cache: Arc<Cache>,
    /// Gone after a failure that left it in an unknown state.
    pub(super) connection: Option<Connection>,
    pub(super) volume: Volume,
    pub(super) pace: Pace,
}

/// Whether to go on.
#[derive(PartialEq, Eq)]
enum Next {
    Continue,
    Stop,
}

impl Writer {
    /// Works until it is told to stop, or nobody is left who could tell it.
    pub(super) fn run(mut self, messages: &Receiver<Message>) {
        let queue = Queue::new(&self.path);
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
                Err(RecvTimeoutError::Timeout) => {
                    self.checkpoint(Checkpoint::Passive);
                    continue;
                }
            };
            let turn = queue.turn();
            if !batch.is_empty() {
                // What came while this process waited goes along.
                next = fill(&mut batch, messages);
            }
            self.write(batch);
            drop(turn);
            uses_wait = !self.cache.unwritten().uses.is_empty();
            if next == Next::Stop {
                self.checkpoint(Checkpoint::Truncate);
                return;
            }
        }
    }

    fn checkpoint(&self, how: Checkpoint) {
        if let Some(connection) = &self.connection {
            connect::checkpoint(connection, how, self.pace.wait);
        }
    }

    fn write(&mut self, batch: Vec<Request>) {
        let unwritten = self.cache.unwritten();
        if batch.is_empty() && unwritten.uses.is_empty() {
            return;
        }
        let outcomes = self.transact(&batch, &unwritten);
        if let Err(error) = &outcomes
            && batch.is_empty()
        {
            tracing::warn!(%error, "the last uses of profiles were not stored");
        }
        let mut outcomes = outcomes.map(Vec::into_iter);
        for request in batch {
            let outcome = match &mut outcomes {
                Ok(outcomes) => outcomes.next().unwrap_or(Err(StoreError::Closed)),
                Err(error) => {
                    // Over a damaged row the last good view stays until somebody repairs it (D13).
                    let damaged = matches!(error, StoreError::Unreadable(_));
                    if let (Op::Change(change), false) = (&request.op, damaged) {
                        self.cache.keep(change, request.now);
                    }
                    Err(error.clone())
                }
            };
            match request.reply {
                // Who dropped the future does not want to know.
                Some(reply) => drop(reply.send(outcome)),
                None => {
                    if let Err(error) = outcome {
                        tracing::warn!(%error, "a change of usage state was not stored");
                    }
                }
            }
        }
    }

    /// Writes a batch in one transaction and shows the result; one refused change does not stop the others.
    fn transact(
        &mut self,
        batch: &[Request],
        unwritten: &Unwritten,
    ) -> Result<Vec<Result<Applied, StoreError>>, StoreError> {
        let connection = match self.connection.take() {
            Some(connection) => Ok(connection),
            None => connect::writer(&self.path, self.pace.wait).and_then(|connection| {
                connect::configure(&connection, self.volume, self.pace.wait).map(|()| connection)
            }),
        };
        let result = connection.map_err(Fault::from).and_then(|connection| {
            let outcomes = self.transact_on(&connection, batch, unwritten);
            if connection.is_autocommit() {
                self.connection = Some(connection);
            }
            outcomes
        });
        result.map_err(|fault| fault.into_store_error(&self.path))
    }

    fn transact_on(
        &self,
        connection: &Connection,
        batch: &[Request],
        unwritten: &Unwritten,
    ) -> Result<Vec<Result<Applied, StoreError>>, Fault> {
        let cache = &self.cache;
        let mut turn = None;
        let (after, outcomes) = connect::immediately(connection, |connection| {
            let apart = cache.apart();
            let mut contents = Contents::read(connection, &self.path, &apart)?;
            for request in batch {
                if let Op::Import(legacy, occasion) = &request.op
                    && (*occasion == Occasion::Always || contents.is_new())
                {
                    contents.import(legacy, &apart, request.now);
                }
            }
            let mut after = contents.snapshot.clone();
            for (change, at) in &unwritten.kept {
                // What it was about may be gone by now.
                if after.check(change).is_ok() {
                    after.apply(change, *at, &cache.config());
                }
            }
            for (profile, at) in &unwritten.uses {
                let profile = profile.clone();
                after.apply(&UsageChange::Used { profile }, *at, &cache.config());
            }
            let outcomes: Vec<_> = batch
                .iter()
                .map(|request| self.perform(request, &mut after))
                .collect();
            let times = batch
                .iter()
                .map(|request| request.now)
                .chain(unwritten.uses.iter().map(|(_, at)| *at))
                .chain(unwritten.kept.iter().map(|(_, at)| *at));
            contents.write(connection, &after, times.max().unwrap_or(Timestamp::UNIX_EPOCH))?;
            turn = Some(cache.turn());
            Ok::<_, Fault>((after, outcomes))
        })?;
        if let Some(turn) = turn {
            cache.show(&turn, after, unwritten);
        }
        if let Err(error) = folder::close_files(&self.path) {
            tracing::warn!(%error, "the mode of the auth store could not be set");
        }
        Ok(outcomes)
    }

    fn perform(&self, request: &Request, snapshot: &mut AuthSnapshot) -> Result<Applied, StoreError> {
        match &request.op {
            Op::Change(change) => {
                snapshot.check(change)?;
                return Ok(snapshot.apply(change, request.now, &self.cache.config()));
            }
            Op::Login(id, change) => return Ok(snapshot.apply_login(id, change, request.now)),
            // It was done before the changes, which may be about what it brought.
            Op::Import(..) => {}
            Op::Remove(id) => snapshot.remove(id)?,
            Op::RemoveProvider(provider) => snapshot.remove_provider(provider),
            Op::SetOrder(provider, ids) => snapshot.set_order(provider.clone(), ids.clone()),
            Op::Upsert(id, credential) => snapshot.upsert(id.clone(), (**credential).clone())?,
        }
        Ok(Applied::Done)
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
            // The batch takes the uses along.
            Ok(Message::Used) => {}
            Ok(Message::Stop) => return Next::Stop,
            Err(_) => break,
        }
    }
    Next::Continue
}
