//! `simulate`: what the last requests would have led to under another configuration.

use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use jiff::{SignedDuration, Timestamp};
use openclaw_config::Environment;
use openclaw_gateway::report::ago;
use openclaw_history::recording::RunRecording;
use openclaw_history::replay::{ReplayEnding, ReplayOverrides, ReplayResult, Simulation, simulate};
use openclaw_history::{HistoryReader, RunFilter};
use openclaw_ids::{AgentId, ModelRef};
use openclaw_runner::RunEvent;
use serde::Serialize;

use crate::files::{AgentArg, CommonArgs, Files, PathArgs, absolute, history};
use crate::outcome::{CommandError, Outcome};
use crate::terminal::duration_arg;
use crate::terminal::screen::{Screen, now};
use crate::terminal::{Cell, Render, Style, Table};

/// Arguments of `simulate`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct SimulateArgs {
    /// The other configuration file; failover.json5 is looked for beside it [default: the configured one]
    #[arg(long = "with", value_name = "PATH")]
    other: Option<PathBuf>,
    /// Not longer ago than this, such as 2h or 3d
    #[arg(long, value_name = "TIME", value_parser = duration_arg::span)]
    since: Option<SignedDuration>,
    /// The latest so many requests of each agent
    #[arg(long, value_name = "NUMBER", default_value_t = 1_000)]
    latest: usize,
    #[command(flatten)]
    agent: AgentArg,
    #[command(flatten)]
    common: CommonArgs,
}

const EXAMPLES: &str = "\
What the gateway knew and met in its last requests is in the history. Each is played again under
the other settings and, where it used the agent's own chain, over the other chain. A model that was
not asked then has no answer to give now: such a request is counted as unknown. Nobody is called.
Requests that their first model answered at once are not among them, nor those whose client left,
nor more than a hundred of one second.

Examples:
  openclaw-gateway simulate --with ./openclaw.new.json
  openclaw-gateway simulate --with ./openclaw.new.json --since 3d --agent ops
  openclaw-gateway simulate                    What changed since, if the configuration did

Exit status: 0 nothing would have been otherwise, 1 something would, 2 it cannot tell.";

/// What would have been.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    /// Requests that were played.
    requests: usize,
    /// Those that would have gone otherwise.
    different: usize,
    /// Those of them that would have called a candidate that was not called then.
    unknown: usize,
    /// Recordings of another version, which cannot be played.
    unplayable: usize,
    before: Totals,
    after: Totals,
    /// What would have been otherwise, the oldest first.
    changes: Vec<Change>,
}

/// Sums over the requests whose other outcome is known.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Totals {
    /// Calls made upstream.
    calls: usize,
    /// Requests that were answered.
    answered: usize,
    /// Until the last decision, in milliseconds.
    deciding_ms: u128,
}

/// One request.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Change {
    run_id: String,
    agent: AgentId,
    at: i64,
    requested: String,
    before: RunCourse,
    after: RunCourse,
}

/// How it went, or would have gone.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct RunCourse {
    chain: Vec<ModelRef>,
    calls: usize,
    deciding_ms: u128,
    ending: ReplayEnding,
}

/// The chain of each agent, as configured.
type Chains = HashMap<AgentId, Vec<ModelRef>>;

/// Plays the requests again.
pub(super) fn run(
    environment: &Environment,
    arguments: &SimulateArgs,
    screen: &mut Screen<'_>,
) -> Result<Outcome, CommandError> {
    let files = Files::open(&arguments.common.places, environment)?;
    let other = Files::open(&other_places(arguments, environment), environment)?;
    let policy = Arc::new(other.run_policy());
    let (chains, other_chains) = (chains(&files), chains(&other));
    let history = history::open(&files)?;
    let mut report = Report::default();
    for agent in arguments.agent.ids(&files)? {
        let chain = chains.get(&agent).cloned().unwrap_or_default();
        let other_chain = other_chains.get(&agent);
        for recording in recordings(&history, arguments, &agent)? {
            let Some(recording) = recording else {
                report.unplayable += 1;
                continue;
            };
            // A request that had a chain of its own keeps it.
            let chain = other_chain.filter(|_| recording.chain == chain);
            let circumstances = ReplayOverrides {
                policy: Some(Arc::clone(&policy)),
                chain: chain.cloned(),
            };
            match simulate(&recording, &circumstances) {
                Ok(simulated) => report.add(&agent, &recording, &circumstances, simulated),
                Err(_) => report.unplayable += 1,
            }
        }
    }
    screen.render(&report, arguments.common.output)?;
    Ok(if report.different > 0 {
        Outcome::Findings
    } else {
        Outcome::Fine
    })
}

fn other_places(arguments: &SimulateArgs, environment: &Environment) -> PathArgs {
    match &arguments.other {
        None => arguments.common.places.clone(),
        Some(path) => PathArgs {
            config: Some(absolute(path, environment)),
            ..arguments.common.places.clone()
        },
    }
}

fn chains(files: &Files) -> Chains {
    let agents = files.agents().into_iter();
    agents
        .map(|agent| {
            let chain = files.resolver.configured_chain(&agent);
            (agent, chain)
        })
        .collect()
}

fn recordings(
    history: &HistoryReader,
    arguments: &SimulateArgs,
    agent: &AgentId,
) -> Result<Vec<Option<RunRecording>>, CommandError> {
    let since = arguments.since.map(|span| duration_arg::before(now(), span));
    Ok(history.recordings(&RunFilter {
        agent: Some(agent.clone()),
        since,
        latest: Some(arguments.latest),
        ..RunFilter::default()
    })?)
}

impl Report {
    fn add(
        &mut self,
        agent: &AgentId,
        recording: &RunRecording,
        circumstances: &ReplayOverrides,
        simulated: Simulation,
    ) {
        self.requests += 1;
        let differs = simulated.differs();
        let Simulation { before, after } = simulated;
        if matches!(after.ending, ReplayEnding::Unknown { .. }) {
            self.unknown += 1;
        } else {
            self.before.add(&before);
            self.after.add(&after);
        }
        if !differs {
            return;
        }
        self.different += 1;
        let chain = circumstances.chain.clone();
        self.changes.push(Change {
            run_id: recording.run_id.clone(),
            agent: agent.clone(),
            at: recording.started_at.as_millisecond(),
            requested: format!("{}/{}", recording.requested_provider, recording.requested_model),
            before: RunCourse::of(recording.chain.clone(), before),
            after: RunCourse::of(chain.unwrap_or_else(|| recording.chain.clone()), after),
        });
    }
}

impl Totals {
    fn add(&mut self, played: &ReplayResult) {
        self.calls += played.calls.len();
        self.answered += usize::from(matches!(played.ending, ReplayEnding::Answered { .. }));
        self.deciding_ms += deciding_ms(played);
    }
}

impl RunCourse {
    fn of(chain: Vec<ModelRef>, played: ReplayResult) -> Self {
        Self {
            chain,
            calls: played.calls.len(),
            deciding_ms: deciding_ms(&played),
            ending: played.ending,
        }
    }
}

/// When the last decision was made, after the run began.
fn deciding_ms(played: &ReplayResult) -> u128 {
    let elapsed = played.report.events.iter().map(|event| match event {
        RunEvent::Candidate(decision) => decision.elapsed,
        RunEvent::Rotation(rotation) => rotation.elapsed,
    });
    elapsed.max().unwrap_or_default().as_millis()
}

impl Render for Report {
    fn text(&self, screen: &mut Screen<'_>) -> io::Result<()> {
        let unplayable = match self.unplayable {
            0 => String::new(),
            count => format!("; {count} of another version cannot be played"),
        };
        screen.line(format!(
            "{} requests played: {} would have gone otherwise, {} of them to somebody who was not asked then{unplayable}.",
            self.requests, self.different, self.unknown
        ))?;
        if self.requests > 0 {
            screen.section("Where both are known", &total_table(self))?;
        }
        let changes = change_table(&self.changes, now());
        screen.section("What would have been otherwise", &changes)
    }

    fn json(&self) -> impl Serialize {
        self
    }
}

fn total_table(report: &Report) -> Table {
    let mut table = Table::new(&["", "ANSWERED", "CALLS", "DECIDING"]);
    for (name, totals) in [("as it was", &report.before), ("as it would be", &report.after)] {
        table.row([
            name.into(),
            totals.answered.into(),
            totals.calls.into(),
            format!("{} ms", totals.deciding_ms).into(),
        ]);
    }
    table
}

fn change_table(changes: &[Change], now: Timestamp) -> Table {
    let mut table = Table::new(&[
        "WHEN",
        "REQUEST",
        "AGENT",
        "ASKED FOR",
        "AS IT WAS",
        "AS IT WOULD BE",
        "CALLS",
    ]);
    for change in changes {
        let at = Timestamp::from_millisecond(change.at).unwrap_or(now);
        table.row([
            ago(at, now).into(),
            change.run_id.as_str().into(),
            change.agent.as_str().into(),
            change.requested.as_str().into(),
            ending(&change.before.ending),
            ending(&change.after.ending),
            format!("{} → {}", change.before.calls, change.after.calls).into(),
        ]);
    }
    table
}

fn ending(ending: &ReplayEnding) -> Cell {
    match ending {
        ReplayEnding::Answered { model, .. } => Cell::new(Style::Good, model.key()),
        ReplayEnding::Preserved { model } => Cell::new(Style::Warn, format!("what {} had", model.key())),
        ReplayEnding::Unknown { model, .. } => Cell::new(Style::Dim, format!("asks {}", model.key())),
        ReplayEnding::Aborted => Cell::new(Style::Dim, "cancelled"),
        ReplayEnding::Exhausted { .. } => Cell::new(Style::Bad, "nobody"),
        ReplayEnding::Failed { .. } | ReplayEnding::Surfaced { .. } => Cell::new(Style::Bad, "its failure"),
        ReplayEnding::LimitReached { limit } => Cell::new(Style::Bad, limit.as_str()),
    }
}
