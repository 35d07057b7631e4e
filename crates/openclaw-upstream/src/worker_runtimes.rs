//! The threads that connections are served on, each with a runtime of its own.
//!
//! A request, its connections upstream and what it waits for stay on one thread, where nothing is handed over or stolen.

use std::cell::Cell;
use std::future::Future;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::available_parallelism;

use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::oneshot;

thread_local! {
    static HERE: Cell<usize> = const { Cell::new(0) };
}

/// How many threads a process serves on at most.
pub fn most() -> usize {
    available_parallelism().map_or(1, usize::from)
}

/// The number of the thread that this runs on, from 0; every thread that serves no connections is a part of the first.
pub fn here() -> usize {
    HERE.get()
}

/// The threads of one process. They end, and all that still runs on them, when this is dropped.
#[derive(Debug)]
pub struct WorkerRuntimes {
    /// All but the thread of whoever uses this.
    others: Vec<Other>,
    /// How much each has to do, the user's own thread first.
    loads: Arc<[AtomicUsize]>,
}

#[derive(Debug)]
struct Other {
    runtime: Handle,
    /// Ends the thread when it is dropped.
    _running: oneshot::Sender<()>,
}

impl WorkerRuntimes {
    /// The thread of whoever uses this, alone.
    pub fn one() -> Self {
        Self {
            others: Vec::new(),
            loads: Arc::new([AtomicUsize::new(0)]),
        }
    }

    /// One thread for each processor, that of whoever uses this included.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn all() -> io::Result<Self> {
        let others: Vec<Other> = (1..most()).map(Other::start).collect::<io::Result<_>>()?;
        let loads = (0..=others.len()).map(|_| AtomicUsize::new(0)).collect();
        Ok(Self { others, loads })
    }

    /// Does `work` on the thread that has the least to do, and says whether that is this one.
    pub fn spawn<W>(&self, work: impl FnOnce(bool) -> W)
    where
        W: Future<Output = ()> + Send + 'static,
    {
        let load = |index: &usize| self.loads[*index].load(Ordering::Relaxed);
        let chosen = (0..self.loads.len()).min_by_key(load).unwrap_or_default();
        let share = Share::of(Arc::clone(&self.loads), chosen);
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

impl Other {
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
    HERE.set(number);
    // Nothing is ever sent, so this is the end.
    let _ = runtime.block_on(ended);
    runtime.shutdown_background();
}

/// A part of a thread's load, until it is dropped.
struct Share {
    loads: Arc<[AtomicUsize]>,
    index: usize,
}

impl Share {
    fn of(loads: Arc<[AtomicUsize]>, index: usize) -> Self {
        loads[index].fetch_add(1, Ordering::Relaxed);
        Self { loads, index }
    }
}

impl Drop for Share {
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
    async fn work_goes_to_whoever_has_least_and_ends_with_its_threads() {
        let cores = WorkerRuntimes {
            others: vec![Other::start(1).unwrap(), Other::start(2).unwrap()],
            loads: Arc::new([const { AtomicUsize::new(0) }; 3]),
        };
        let (told, mut heard) = mpsc::unbounded_channel();
        for _ in 0..3 {
            let told = told.clone();
            cores.spawn(move |is_here| async move {
                told.send((here(), is_here)).unwrap();
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
        assert!(cores.loads.iter().all(|load| load.load(Ordering::Relaxed) == 1));
        let loads = Arc::clone(&cores.loads);
        drop(cores);
        while loads[1..].iter().any(|load| load.load(Ordering::Relaxed) > 0) {
            tokio::task::yield_now().await;
        }
    }
}
