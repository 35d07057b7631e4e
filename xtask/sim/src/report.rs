//! What the terminal shows.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::arguments::Arguments;
use crate::check::{CHECKS, Tally};
use crate::play::{FoundViolation, SimulationResult};
use crate::setup::Setup;
use crate::time::{HOUR, START};

/// How long nothing is said before progress is.
const PATIENCE: Duration = Duration::from_secs(1);

/// Everything that was played.
pub(crate) struct Report {
    arguments: Arguments,
    seeds: u64,
    began: Instant,
    told: Instant,
    lasted: i64,
    runs: u64,
    calls: BTreeMap<&'static str, u64>,
    checks: Tally,
    broken: Vec<(u64, String)>,
}

impl Report {
    pub(crate) fn new(arguments: &Arguments) -> Self {
        let now = wall();
        Self {
            arguments: arguments.clone(),
            seeds: 0,
            began: now,
            told: now,
            lasted: 0,
            runs: 0,
            calls: BTreeMap::new(),
            checks: Tally::new(),
            broken: Vec::new(),
        }
    }

    /// Told after every simulated hour.
    pub(crate) fn progress(&mut self, seed: u64, hour: i64) {
        let now = wall();
        if now.duration_since(self.told) >= PATIENCE {
            self.told = now;
            eprintln!("seed {seed}: hour {hour} of {}", self.arguments.hours);
        }
    }

    pub(crate) fn played(&mut self, seed: u64, played: &SimulationResult) {
        self.seeds += 1;
        self.lasted += played.lasted;
        self.runs += played.runs;
        for (what, count) in &played.calls {
            *self.calls.entry(what).or_default() += count;
        }
        for (check, runs) in &played.tally {
            *self.checks.entry(check).or_default() += runs;
        }
        if let Some(found) = &played.found {
            self.broken.push((seed, found.violation.check.to_owned()));
        }
    }

    pub(crate) fn found(seed: u64, found: &FoundViolation) {
        eprintln!(
            "seed {seed}: {} does not hold in run {}; looking for a smaller world",
            found.violation.check, found.trace.run
        );
    }

    /// The smallest world in which something does not hold.
    pub(crate) fn shrunk(&self, setup: &Setup, found: &FoundViolation) {
        let violation = &found.violation;
        let at = found.trace.ended.max(found.trace.began) - START;
        eprintln!("\n{}: {}", violation.check, violation.says);
        eprintln!(
            "broken by run {} after {} s: {}",
            found.trace.run,
            at / 1_000,
            violation.how
        );
        eprintln!("\nThe runs of its agent until then:\n\n{}", found.story());
        eprintln!(
            "Smallest world found: {} sessions, {} hours; troubles:",
            setup.sessions.len(),
            setup.hours
        );
        for provider in &setup.providers {
            for spell in &provider.spells {
                let (from, until) = ((spell.from - START) / 1_000, (spell.until - START) / 1_000);
                eprintln!(
                    "  {} {:?} from {from} s until {until} s",
                    provider.name, spell.trouble
                );
            }
        }
        for jam in &setup.store_outages {
            let (from, until) = ((jam.from - START) / 1_000, (jam.until - START) / 1_000);
            let (agent, file, how) = (jam.agent, jam.file, jam.how);
            eprintln!("  agent {agent} {file:?} {how:?} from {from} s until {until} s");
        }
        eprintln!(
            "Play it again: cargo xtask sim {}\n",
            self.arguments.again(setup.seed)
        );
    }

    /// The table at the end; whether everything holds.
    pub(crate) fn finish(&self) -> bool {
        let took = wall().duration_since(self.began);
        let hours = self.lasted / HOUR;
        if self.arguments.json {
            let line = json!({
                "seeds": self.seeds,
                "simulatedHours": hours,
                "runs": self.runs,
                "calls": self.calls,
                "checks": self.checks,
                "broken": self.broken.iter().map(|(seed, check)| json!({ "seed": seed, "check": check })).collect::<Vec<_>>(),
                "tookMs": u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
            });
            println!("{line}");
            return self.broken.is_empty();
        }
        println!("{:<22}{:>12}", "seeds", self.seeds);
        println!("{:<22}{:>12}", "simulated hours", hours);
        println!("{:<22}{:>12}", "runs", self.runs);
        for (what, count) in &self.calls {
            println!("{:<22}{count:>12}", format!("calls {what}"));
        }
        println!();
        for check in CHECKS {
            let runs = self.checks.get(check.id).copied().unwrap_or(0);
            let broken = self.broken.iter().filter(|(_, id)| id == check.id).count();
            let verdict = match (broken, runs) {
                (0, 0) => "never met".to_owned(),
                (0, _) => "holds".to_owned(),
                (count, _) => format!("BROKEN in {count} seeds"),
            };
            println!("{:<22}{runs:>12}  {verdict}", check.id);
        }
        println!("\n{} simulated days in {:.1} s", hours / 24, took.as_secs_f64());
        self.broken.is_empty()
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "how long the tool takes is told to a person"
)]
fn wall() -> Instant {
    Instant::now()
}
