//! What a world consists of: drawn from the seed before anything happens.

use crate::faults::provider::{FaultPeriod, ProviderFault};
use crate::faults::store_outage::{StoreOutage, store_outages};
use crate::random::SeededRandom;
use crate::time::{HOUR, MINUTE, SECOND, START};

/// A world.
#[derive(Debug, Clone)]
pub(crate) struct Setup {
    pub(crate) seed: u64,
    pub(crate) hours: i64,
    pub(crate) providers: Vec<Provider>,
    pub(crate) agents: Vec<Agent>,
    pub(crate) processes: Vec<Process>,
    pub(crate) sessions: Vec<Session>,
    /// When stores cannot be written.
    pub(crate) store_outages: Vec<StoreOutage>,
}

/// A provider: its models, the keys that exist for it, and its troubles to come.
#[derive(Debug, Clone)]
pub(crate) struct Provider {
    pub(crate) name: &'static str,
    pub(crate) models: Vec<String>,
    /// Zero: it needs none.
    pub(crate) keys: usize,
    /// How many of them, from the first on, are logins whose tokens end.
    pub(crate) logins: usize,
    /// Calls per minute and key that it takes, if it counts.
    pub(crate) per_minute: Option<i64>,
    pub(crate) spells: Vec<FaultPeriod>,
}

/// An agent: a store of its own and a chain.
#[derive(Debug, Clone)]
pub(crate) struct Agent {
    /// The primary, then its fallbacks, as `provider/model`.
    pub(crate) chain: Vec<String>,
    /// Whether its keys have a written order.
    pub(crate) ordered: bool,
}

/// A process: a clock of its own over the shared stores.
#[derive(Debug, Clone)]
pub(crate) struct Process {
    /// How far its clock is ahead, in milliseconds.
    pub(crate) ahead: i64,
}

/// A session: one conversation with an agent.
#[derive(Debug, Clone)]
pub(crate) struct Session {
    pub(crate) number: usize,
    pub(crate) agent: usize,
    /// None moves from process to process.
    pub(crate) process: Option<usize>,
    /// The mean time between two requests, in milliseconds.
    pub(crate) pause: i64,
    /// Whether nothing is remembered of it.
    pub(crate) stateless: bool,
}

/// The id of a provider's credential by its number.
pub(crate) fn profile_id(provider: &str, key: usize) -> String {
    format!("{provider}:k{key}")
}

/// The number in the id of a credential.
pub(crate) fn key_number(profile: &str) -> Option<usize> {
    profile.rsplit_once(":k")?.1.parse().ok()
}

const PROVIDERS: [&str; 6] = ["anthropic", "google", "groq", "local", "mistral", "openai"];

impl Setup {
    /// The world of `seed` for so many hours.
    pub(crate) fn of(seed: u64, hours: i64) -> Self {
        let mut random = SeededRandom::of(seed, 0);
        let count = 2 + random.below(4);
        let mut names = PROVIDERS.to_vec();
        let providers: Vec<Provider> = (0..count)
            .map(|_| {
                let name = names.remove(random.below(names.len()));
                provider(name, seed, hours, &mut random)
            })
            .collect();
        let agents: Vec<Agent> = (0..=random.below(3))
            .map(|_| agent(&providers, &mut random))
            .collect();
        let clocks = random.below(4);
        let processes: Vec<Process> = (0..=random.below(4))
            .map(|_| Process {
                ahead: match clocks {
                    // Half of all worlds have good clocks, a quarter slightly wrong ones, a quarter broken ones.
                    0 | 1 => 0,
                    2 => random.between(-5 * SECOND, 5 * SECOND),
                    _ => random.between(-2 * HOUR, 2 * HOUR),
                },
            })
            .collect();
        let sessions = (0..6 + random.below(20))
            .map(|number| Session {
                number,
                agent: random.below(agents.len()),
                process: (!random.chance(300)).then(|| random.below(processes.len())),
                pause: random.spread(20 * SECOND, 20 * MINUTE),
                stateless: random.chance(250),
            })
            .collect();
        Self {
            seed,
            hours,
            store_outages: store_outages(seed, hours, agents.len()),
            providers,
            agents,
            processes,
            sessions,
        }
    }

    /// Whether all clocks agree.
    pub(crate) fn clocks_agree(&self) -> bool {
        self.processes.iter().all(|process| process.ahead == 0)
    }

    /// Whether all clocks agree well enough for leases, which are renewed 40 s before they end.
    pub(crate) fn leases_hold(&self) -> bool {
        let ahead = |process: &Process| process.ahead;
        let (least, most) = (
            self.processes.iter().map(ahead).min(),
            self.processes.iter().map(ahead).max(),
        );
        most.zip(least)
            .is_none_or(|(most, least)| most - least <= 20 * SECOND)
    }

    pub(crate) fn provider(&self, name: &str) -> Option<&Provider> {
        self.providers.iter().find(|provider| provider.name == name)
    }
}

fn provider(name: &'static str, seed: u64, hours: i64, random: &mut SeededRandom) -> Provider {
    let models: Vec<String> = (0..=random.below(3)).map(|number| format!("m{number}")).collect();
    let keys = if name == "local" { 0 } else { 1 + random.below(3) };
    let spells = spells(name, &models, keys, seed, hours);
    let mut own = SeededRandom::of(seed, actor(name).wrapping_add(1));
    let logins = if own.chance(300) { own.below(keys + 1) } else { 0 };
    Provider {
        name,
        models,
        keys,
        logins,
        per_minute: random.chance(400).then(|| random.between(2, 30)),
        spells,
    }
}

fn agent(providers: &[Provider], random: &mut SeededRandom) -> Agent {
    let mut all: Vec<String> = providers
        .iter()
        .flat_map(|provider| {
            provider
                .models
                .iter()
                .map(move |model| format!("{}/{model}", provider.name))
        })
        .collect();
    let length = 1 + random.below(all.len().min(5));
    let chain = (0..length).map(|_| all.remove(random.below(all.len()))).collect();
    Agent {
        chain,
        ordered: random.chance(300),
    }
}

/// A provider's number among those that throw random.
fn actor(name: &str) -> u64 {
    name.bytes()
        .fold(7, |hash, byte| hash.wrapping_mul(31).wrapping_add(byte.into()))
}

/// The troubles of a provider: some wait between them, most are short, some last for hours.
fn spells(name: &str, models: &[String], keys: usize, seed: u64, hours: i64) -> Vec<FaultPeriod> {
    let mut random = SeededRandom::of(seed, actor(name));
    let mut spells = Vec::new();
    let mut at = START + random.spread(MINUTE, 2 * HOUR);
    while at < START + hours * HOUR {
        let trouble = *random.pick(&ProviderFault::ALL);
        let (shortest, longest) = trouble.length();
        let until = at + random.spread(shortest, longest);
        let key = (trouble.is_of_a_key() && keys > 0).then(|| random.below(keys));
        let model = trouble.is_of_a_model().then(|| random.below(models.len()));
        spells.push(FaultPeriod {
            trouble,
            from: at,
            until,
            key,
            model,
            strength: random.between(0, 999),
        });
        at += random.spread(10 * MINUTE, 6 * HOUR);
    }
    spells
}
