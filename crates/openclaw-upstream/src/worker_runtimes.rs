//! Worker threads that serve connections, each with a current-thread runtime of its own.
//!
//! A request, its connections upstream and its timers stay on one thread, so nothing is handed over or stolen.

use std::cell::Cell;
use std::future::Future;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::available_parallelism;

use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::oneshot;

thread_local! {
    static CURRENT_WORKER: Cell<usize> = const { Cell::new(0) };
}

/// The largest number of workers: one for each processor.
pub(crate) fn max_workers() -> usize {
    available_parallelism().map_or(1, usize::from)
}

/// The number of the worker that this thread is, from 0; every thread that is no worker counts as the first.
pub(crate) fn current_worker() -> usize {
    CURRENT_WORKER.get()
}

/// The workers of one process. Dropping this ends them and everything that still runs on them.
#[derive(Debug)]
pub struct WorkerRuntimes {
    /// All workers but the caller's own thread.
    others: Vec<Worker>,
    /// How many tasks each worker has, the caller's own thread first.
    loads: Arc<[AtomicUsize]>,
}

#[derive(Debug)]
struct Worker {
    runtime: Handle,
    /// Ends the thread when it is dropped.
    _running: oneshot::Sender<()>,
}

impl WorkerRuntimes {
    /// The caller's own thread, alone.
    pub fn one() -> Self {
        Self {
            others: Vec::new(),
            loads: Arc::new([AtomicUsize::new(0)]),
        }
    }

    /// One worker for each processor, the caller's own thread included.
    ///
    /// # Errors
    /// When the system starts no thread.
    pub fn all() -> io::Result<Self> {
        let others: Vec<Worker> = (1..max_workers()).map(Worker::start).collect::<io::Result<_>>()?;
        let loads = (0..=others.len()).map(|_| AtomicUsize::new(0)).collect();
        Ok(Self { others, loads })
    }

    /// Runs `work` on the worker that has the fewest tasks; its argument says whether that is the caller's own thread.
    pub fn spawn<W>(&self, work: impl FnOnce(bool) -> W)
    where
        W: Future<Output = ()> + Send + 'static,
    {
        let load = |index: &usize| self.loads[*index].load(Ordering::Relaxed);
        let chosen = (0..self.loads.len()).min_by_key(load).unwrap_or_default();
        let share = LoadGuard::of(Arc::clone(&self.loads), chosen);
        let other = chosen.checked_sub(1).and_then(|index| self.others.get(index));
        let work = work(other.is_none());
        let work = async move {
            work.await;
            drop(share);
        };
        match other {
            Some(other) => other.runtime.spawn(work),
            None => tokio::spawn(work),
        };
    }
}

impl Worker {
    fn start(number: usize) -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_io().enable_time().build()?;
        let handle = runtime.handle().clone();
        let (running, ended) = oneshot::channel();
        std::thread::Builder::new()
            .name(format!("openclaw-core-{number}"))
            .spawn(move || run(number, runtime, ended))?;
        Ok(Self {
            runtime: handle,
            _running: running,
        })
    }
}

fn run(number: usize, runtime: Runtime, ended: oneshot::Receiver<()>) {
    CURRENT_WORKER.set(number);
    // Nothing is ever sent, so this is the end.
    let _ = runtime.block_on(ended);
    runtime.shutdown_background();
}

/// Counts one task of a worker until it is dropped.
struct LoadGuard {
    loads: Arc<[AtomicUsize]>,
    index: usize,
}

impl LoadGuard {
    fn of(loads: Arc<[AtomicUsize]>, index: usize) -> Self {
        loads[index].fetch_add(1, Ordering::Relaxed);
        Self { loads, index }
    }
}

impl Drop for LoadGuard {
    fn drop(&mut self) {
        self.loads[self.index].fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use tokio::sync::mpsc;

    use super::*;

    #[tokio::test]
    async fn work_goes_to_the_worker_with_the_fewest_tasks_and_ends_with_it() {
        let workers = WorkerRuntimes {
            others: vec![Worker::start(1).unwrap(), Worker::start(2).unwrap()],
            loads: Arc::new([const { AtomicUsize::new(0) }; 3]),
        };
        let (told, mut heard) = mpsc::unbounded_channel();
        for _ in 0..3 {
            let told = told.clone();
            workers.spawn(move |is_here| async move {
                told.send((current_worker(), is_here)).unwrap();
                std::future::pending::<()>().await;
                drop(told);
            });
        }
        drop(told);
        let mut seen = BTreeSet::new();
        while seen.len() < 3 {
            seen.insert(heard.recv().await.unwrap());
        }
        assert_eq!(seen, BTreeSet::from([(0, true), (1, false), (2, false)]));
        assert!(workers.loads.iter().all(|load| load.load(Ordering::Relaxed) == 1));
        let loads = Arc::clone(&workers.loads);
        drop(workers);
        while loads[1..].iter().any(|load| load.load(Ordering::Relaxed) > 0) {
            tokio::task::yield_now().await;
        }
    }
}
