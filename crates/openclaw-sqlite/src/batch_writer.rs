//! A thread that owns a connection and commits the commands that wait together in one batch.

use std::io;
use std::sync::mpsc::{self, Receiver, Sender, SyncSender, TrySendError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// What the thread does with the commands.
pub trait BatchWorker: Send + 'static {
    /// One thing to do, with whatever its answer is sent over.
    type Command: Send + 'static;

    /// Runs on the thread before the first command is awaited.
    fn on_start(&mut self) {}

    /// Does the commands of a batch in order, usually in one transaction, and answers them. Never empty.
    fn perform(&mut self, batch: Vec<Self::Command>);
}

/// How commands are queued and put together.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct BatchOptions {
    thread_name: String,
    max_batch: usize,
    gather: Option<Duration>,
    max_queued: Option<usize>,
}

impl BatchOptions {
    /// Batches of at most `max_batch` commands from an unbounded queue, begun as soon as there is a command. The bound
    /// keeps the first command of a batch from waiting for ever.
    pub fn new(thread_name: impl Into<String>, max_batch: usize) -> Self {
        Self {
            thread_name: thread_name.into(),
            max_batch,
            gather: None,
            max_queued: None,
        }
    }

    /// Lets commands gather for this long after the first one, for commands that no caller waits for.
    #[must_use]
    pub fn with_gather(mut self, time: Duration) -> Self {
        self.gather = Some(time);
        self
    }

    /// Bounds how many commands may wait; further ones are refused.
    #[must_use]
    pub fn with_max_queued(mut self, commands: usize) -> Self {
        self.max_queued = Some(commands);
        self
    }
}

/// The sending side. Dropping it finishes the commands that wait, ends the thread and joins it.
#[derive(Debug)]
pub struct BatchWriter<C> {
    queue: Option<Queue<C>>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
enum Queue<C> {
    Bounded(SyncSender<C>),
    Unbounded(Sender<C>),
}

impl<C: Send + 'static> BatchWriter<C> {
    /// Starts the thread.
    ///
    /// # Errors
    /// When the system has no thread for it.
    pub fn start<W: BatchWorker<Command = C>>(options: BatchOptions, mut worker: W) -> io::Result<Self> {
        let (queue, commands) = if let Some(bound) = options.max_queued {
            let (sender, commands) = mpsc::sync_channel(bound);
            (Queue::Bounded(sender), commands)
        } else {
            let (sender, commands) = mpsc::channel();
            (Queue::Unbounded(sender), commands)
        };
        let builder = thread::Builder::new().name(options.thread_name.clone());
        let thread = builder.spawn(move || run(&mut worker, &commands, &options))?;
        Ok(Self {
            queue: Some(queue),
            thread: Some(thread),
        })
    }

    /// Queues a command behind all others. Never waits.
    ///
    /// # Errors
    /// Gives the command back when the queue is full, or when the thread has ended.
    pub fn send(&self, command: C) -> Result<(), TrySendError<C>> {
        match &self.queue {
            Some(Queue::Bounded(queue)) => queue.try_send(command),
            Some(Queue::Unbounded(queue)) => queue
                .send(command)
                .map_err(|refused| TrySendError::Disconnected(refused.0)),
            None => Err(TrySendError::Disconnected(command)),
        }
    }
}

impl<C> Drop for BatchWriter<C> {
    fn drop(&mut self) {
        self.queue = None;
        if let Some(thread) = self.thread.take() {
            // Ends the time in which commands gather.
            thread.thread().unpark();
            // A thread that panicked has nothing left to finish.
            drop(thread.join());
        }
    }
}

fn run<W: BatchWorker>(worker: &mut W, commands: &Receiver<W::Command>, options: &BatchOptions) {
    worker.on_start();
    while let Ok(first) = commands.recv() {
        if let Some(time) = options.gather {
            thread::park_timeout(time);
        }
        let mut batch = vec![first];
        batch.extend(commands.try_iter().take(options.max_batch.saturating_sub(1)));
        worker.perform(batch);
    }
}

#[cfg(test)]
mod tests;
