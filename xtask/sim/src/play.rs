//! A world with its engine, and how it is played.

mod agent;
pub(crate) mod caller;
pub(crate) mod observed_stores;
pub(crate) mod session;
mod verdict;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::check::Tally;
use crate::setup::Setup;
use crate::time::{HOUR, START, span};
use crate::trace::Trace;
use crate::world::World;
use crate::world::logins::people;
use crate::world::logins::refreshing::Process;

use agent::SimulatedAgent;
pub(crate) use verdict::FoundViolation;
use verdict::Verdict;

/// A world with its engine.
pub(crate) struct Simulation {
    pub(crate) world: Arc<World>,
    pub(crate) agents: Vec<SimulatedAgent>,
    /// What each process refreshes logins with.
    pub(crate) logins: Vec<Arc<Process>>,
    /// Of a thousand runs so many are recorded and played again.
    pub(crate) taped: u64,
    witness: Box<Witness>,
    verdict: Mutex<Verdict>,
}

/// Sees every run that is over, before it is checked.
pub(crate) type Witness = dyn Fn(&Trace) + Send + Sync;

/// What came of a world.
pub(crate) struct SimulationResult {
    pub(crate) runs: u64,
    /// How far it was played, in milliseconds.
    pub(crate) lasted: i64,
    pub(crate) calls: BTreeMap<&'static str, u64>,
    pub(crate) tally: Tally,
    pub(crate) found: Option<FoundViolation>,
}

impl Simulation {
    fn new(setup: Setup, taped: u64, witness: Box<Witness>) -> Arc<Self> {
        let world = Arc::new(World::new(setup));
        let agents = (0..world.setup.agents.len())
            .map(|index| SimulatedAgent::new(&world, index))
            .collect();
        let logins = (0..world.setup.processes.len())
            .map(|number| Arc::new(Process::new(&world, number)))
            .collect();
        Arc::new(Self {
            world,
            agents,
            logins,
            taped,
            witness,
            verdict: Mutex::default(),
        })
    }

    /// Checks a run that is over.
    pub(crate) fn judge(&self, trace: Trace) {
        (self.witness)(&trace);
        self.verdict().judge(trace);
    }

    fn is_broken(&self) -> bool {
        self.verdict().found.is_some()
    }

    fn verdict(&self) -> MutexGuard<'_, Verdict> {
        self.verdict.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Plays a world in virtual time, until its end or the first thing that does not hold. `every` is told after each
/// simulated hour.
pub(crate) fn play(setup: Setup, taped: u64, every: impl FnMut(i64)) -> SimulationResult {
    play_before(setup, taped, Box::new(|_| {}), every)
}

/// As [`play`], before a witness.
pub(crate) fn play_before(
    setup: Setup,
    taped: u64,
    witness: Box<Witness>,
    mut every: impl FnMut(i64),
) -> SimulationResult {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build();
    let Ok(runtime) = runtime else {
        unreachable!("a runtime of one thread needs nothing from outside")
    };
    let hours = setup.hours;
    let stage = runtime.block_on(async {
        let sessions = setup.sessions.clone();
        let stage = Simulation::new(setup, taped, witness);
        let mut tasks: Vec<_> = sessions
            .into_iter()
            .map(|session| tokio::spawn(crate::play::session::play(Arc::clone(&stage), session)))
            .collect();
        let stores = stage.agents.iter().map(|agent| Arc::clone(&agent.usage.store));
        tasks.push(tokio::spawn(people(Arc::clone(&stage.world), stores.collect())));
        for hour in 1..=hours {
            // Looked at more often than once an hour, so that what comes after the first finding costs little.
            for _ in 0..12 {
                tokio::time::sleep(span(HOUR / 12)).await;
                if stage.is_broken() || tasks.iter().any(tokio::task::JoinHandle::is_finished) {
                    break;
                }
            }
            every(hour);
            if stage.is_broken() || tasks.iter().any(tokio::task::JoinHandle::is_finished) {
                break;
            }
        }
        for task in tasks {
            if task.is_finished() {
                if let Err(panic) = task.await {
                    std::panic::resume_unwind(panic.into_panic());
                }
            } else {
                task.abort();
            }
        }
        stage
    });
    let lasted = {
        let _inside = runtime.enter();
        stage.world.now() - START
    };
    // Refreshes that go on end with the runtime; nothing reads what is left of them.
    drop(runtime);
    drop(std::fs::remove_dir_all(&stage.world.folder));
    let mut verdict = stage.verdict();
    SimulationResult {
        runs: verdict.runs,
        lasted,
        calls: stage.world.counts(),
        tally: std::mem::take(&mut verdict.tally),
        found: verdict.found.take(),
    }
}
