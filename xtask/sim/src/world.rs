//! The simulated world at a moment: which call fails how, and which run probes which provider.

pub(crate) mod logins;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use openclaw_runner::Clock;

use crate::faults::provider::{Flaw, ProviderFault};
use crate::faults::store_outage::{File, How};
use crate::random::SeededRandom;
use crate::setup::Setup;
use crate::time::{MINUTE, SECOND, START, at};
use crate::trace::{ActualState, CallOutcome, LastProbe};
use crate::world::logins::{Logins, refreshing};

/// A world in motion.
pub(crate) struct World {
    pub(crate) setup: Setup,
    pub(crate) logins: Logins,
    /// Where the lock files of refreshes are.
    pub(crate) folder: std::path::PathBuf,
    origin: tokio::time::Instant,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Thousandths of a call that are left, and when that was.
    buckets: BTreeMap<(String, usize), (i64, i64)>,
    /// Probes in flight: agent, provider, run.
    probing: BTreeSet<(usize, String, String)>,
    probed: BTreeMap<(usize, String), LastProbe>,
    unanswered: BTreeMap<(usize, String), i64>,
    crashed_at: BTreeMap<(usize, String), i64>,
    /// How many calls came to which end.
    ends: BTreeMap<&'static str, u64>,
}

/// What a call comes to.
pub(crate) struct DrawnCall {
    /// How long it takes, in milliseconds.
    pub(crate) takes: i64,
    pub(crate) fate: CallOutcome,
    /// When the limit is said to end.
    pub(crate) reset: i64,
    pub(crate) strength: i64,
    /// Whether something was shown before it failed.
    pub(crate) visible: bool,
    /// Whether the answer breaks off after its first content.
    pub(crate) cut: bool,
}

impl World {
    /// A world whose clock starts with tokio's.
    pub(crate) fn new(setup: Setup) -> Self {
        Self {
            setup,
            logins: Logins::default(),
            folder: refreshing::folder(),
            origin: tokio::time::Instant::now(),
            state: Mutex::default(),
        }
    }

    /// The true time, in Unix milliseconds.
    pub(crate) fn now(&self) -> i64 {
        START + i64::try_from(self.origin.elapsed().as_millis()).unwrap_or(i64::MAX)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What becomes of a write that begins now; none when nothing is wrong.
    pub(crate) fn jam(&self, agent: usize, file: File) -> Option<How> {
        let now = self.now();
        let mut store_outages = self.setup.store_outages.iter();
        let jam = store_outages
            .find(|jam| (jam.agent, jam.file) == (agent, file) && (jam.from..jam.until).contains(&now))?;
        Some(jam.how)
    }

    /// What becomes of a call that begins now.
    pub(crate) fn draw(
        &self,
        provider: &str,
        model: &str,
        key: Option<usize>,
        random: &mut SeededRandom,
    ) -> DrawnCall {
        let now = self.now();
        let mut drawn = DrawnCall {
            takes: random.spread(80, 3_000),
            fate: CallOutcome::Answered,
            reset: now,
            strength: 0,
            visible: random.chance(20),
            cut: random.chance(8),
        };
        if random.chance(12) {
            drawn.fate = CallOutcome::Flawed(*random.pick(&Flaw::ALL));
            return drawn;
        }
        let Some(of) = self.setup.provider(provider) else {
            return drawn;
        };
        let model = of.models.iter().position(|known| known == model);
        for spell in of.spells.iter().filter(|spell| spell.strikes(now, key, model)) {
            match spell.trouble {
                ProviderFault::Slow => drawn.takes += 5 * SECOND + spell.strength * 80,
                ProviderFault::Flapping if !random.chance(500) => {}
                trouble => {
                    drawn.fate = CallOutcome::Troubled(trouble);
                    // Some limits end before their stated time, some go on after it.
                    drawn.reset = spell.until + (spell.strength - 300) * MINUTE / 2;
                    drawn.strength = spell.strength;
                }
            }
        }
        if drawn.fate == CallOutcome::Answered && !self.takes_one(provider, key, of.per_minute, now) {
            drawn.fate = CallOutcome::Troubled(ProviderFault::Throttled);
            drawn.strength = random.between(0, 99);
        }
        match drawn.fate {
            CallOutcome::Troubled(ProviderFault::Refused) => drawn.takes = 20,
            CallOutcome::Troubled(ProviderFault::Silent) => drawn.takes = 30 * SECOND,
            CallOutcome::Answered
            | CallOutcome::Dropped
            | CallOutcome::Flawed(_)
            | CallOutcome::Troubled(_) => {}
        }
        drawn
    }

    /// What is wrong now with a provider as a whole, or with a key of it.
    pub(crate) fn trouble(&self, provider: &str, key: Option<usize>) -> Option<ProviderFault> {
        let now = self.now();
        let mut spells = self.setup.provider(provider)?.spells.iter();
        let spell = spells.find(|spell| spell.strikes(now, key, None))?;
        Some(spell.trouble)
    }

    /// Whether the provider's count lets one more call through.
    fn takes_one(&self, provider: &str, key: Option<usize>, per_minute: Option<i64>, now: i64) -> bool {
        let Some(per_minute) = per_minute else { return true };
        let mut state = self.state();
        let bucket = state
            .buckets
            .entry((provider.to_owned(), key.unwrap_or(0)))
            .or_insert((per_minute * 1_000, now));
        let refilled = bucket.0 + (now - bucket.1) * per_minute / 60;
        *bucket = (refilled.min(per_minute * 1_000), now);
        let enough = bucket.0 >= 1_000;
        if enough {
            bucket.0 -= 1_000;
        }
        enough
    }

    /// A probe begins; how many others of the same provider and agent are in flight.
    pub(crate) fn probe_begins(
        &self,
        agent: usize,
        provider: &str,
        profile: Option<String>,
        run: &str,
    ) -> usize {
        let began = self.now();
        let mut state = self.state();
        let others = state
            .probing
            .iter()
            .filter(|(of, what, who)| (*of, what.as_str()) == (agent, provider) && who != run)
            .count();
        state.probing.insert((agent, provider.to_owned(), run.to_owned()));
        let key = (agent, provider.to_owned());
        state.probed.insert(key, LastProbe { began, profile });
        others
    }

    /// A probe is over.
    pub(crate) fn probe_ends(&self, agent: usize, provider: &str, run: &str) {
        self.state()
            .probing
            .remove(&(agent, provider.to_owned(), run.to_owned()));
    }

    /// A call ended without an answer.
    pub(crate) fn unanswered(&self, agent: usize, provider: &str) {
        let now = self.now();
        self.state().unanswered.insert((agent, provider.to_owned()), now);
    }

    /// From this time on (Unix milliseconds) a lease may be left although no process holds it.
    pub(crate) fn lease_left(&self, agent: usize, late: i64) {
        let now = self.now() + late;
        let mut state = self.state();
        for provider in &self.setup.providers {
            state.crashed_at.insert((agent, provider.name.to_owned()), now);
        }
    }

    /// A process died in the middle of a run.
    pub(crate) fn crashed(&self, agent: usize, run: &str) {
        let mut state = self.state();
        let theirs: Vec<(usize, String, String)> = state
            .probing
            .iter()
            .filter(|(.., who)| who == run)
            .cloned()
            .collect();
        for probe in theirs {
            state.probing.remove(&probe);
        }
        drop(state);
        self.lease_left(agent, 0);
    }

    pub(crate) fn count(&self, what: &'static str) {
        *self.state().ends.entry(what).or_default() += 1;
    }

    pub(crate) fn counts(&self) -> BTreeMap<&'static str, u64> {
        self.state().ends.clone()
    }

    /// What is true of a provider now.
    pub(crate) fn truth(&self, agent: usize, provider: &str) -> ActualState {
        let now = self.now();
        let state = self.state();
        let key = (agent, provider.to_owned());
        let at = |map: &BTreeMap<(usize, String), i64>| map.get(&key).copied().unwrap_or(0);
        let spells = self
            .setup
            .provider(provider)
            .map_or(&[][..], |provider| &provider.spells);
        let troubles = || {
            spells
                .iter()
                .filter(|spell| spell.trouble != ProviderFault::Slow && spell.from <= now)
        };
        let is_ill = troubles().any(|spell| now < spell.until);
        let last = troubles().map(|spell| spell.until).max().unwrap_or(START);
        ActualState {
            well_since: (!is_ill).then_some(last),
            last_unanswered: at(&state.unanswered),
            last_probe: state.probed.get(&key).cloned(),
            probe_in_flight: state
                .probing
                .iter()
                .any(|(of, what, _)| (*of, what) == (key.0, &key.1)),
            last_crash: at(&state.crashed_at),
            models: self
                .setup
                .provider(provider)
                .map_or(0, |provider| provider.models.len()),
        }
    }
}

/// The clock of one process.
pub(crate) struct ProcessClock {
    pub(crate) world: std::sync::Arc<World>,
    pub(crate) ahead: i64,
}

impl Clock for ProcessClock {
    fn now(&self) -> Timestamp {
        at(self.world.now() + self.ahead)
    }
}
