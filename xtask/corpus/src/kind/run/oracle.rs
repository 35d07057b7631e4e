//! Whole runs, calculated naively: a walk over plain texts and numbers under any set of decisions.
//!
//! The chain and what a failure means are inputs here, as they are to the run; they have files of their own. With no
//! decision the walk is the recorded program's, with all of them it is ours.

mod fail;
mod gate;
mod meaning;
mod note;
mod outcome;
mod record;
mod state;
mod walk;

use std::collections::BTreeMap;

use openclaw_chain::{ChainConfig, Requested, Resolver};
use serde_json::{Value, json};

use crate::kind::Switches;
use record::Log;
use state::State;
use walk::Walk;

/// What changes recorded runs.
#[rustfmt::skip]
pub(super) const DECISIONS: &[&str] = &[
    "A1",    // A recognised payload fault surfaces; the same payload would fail the same way.
    "A3",    // Who cancelled is told, and never inferred from the shape of an error.
    "A6",    // A person's switch goes to the chosen model directly, wherever it stands.
    "BL-81", // What surfaces is recorded too.
    "BL-85", // A page of a proxy is shown as one line.
    "D1-D6", // Windows, their ladders, their scope, and what is recorded at all.
    "D7",    // A stated end is probed at checkpoints.
    "D8",    // No provider is exempt from cooldowns.
    "D15",   // Why something is unavailable follows from the windows that block.
    "G1",    // Nearness holds for plain rate limits too.
    "G2",    // A later candidate is probed only when all models of its provider rest, and an earlier one is of that provider.
    "G3",    // A last resort when nothing was tried.
    "G4",    // Every probe counts for the throttle, and the last failure does.
    "G6",    // An unpaid bill is probed at checkpoints.
    "M2",    // The step of a success shows what the step of the failure showed.
    "R3",    // What was marked in a run counts in that run.
];

/// The whole answer under the decisions that hold.
pub(super) fn oracle(input: &Value, on: &Switches) -> Value {
    let config = &input["config"];
    let resolver = match config {
        Value::Null => Resolver::unconfigured(),
        config => Resolver::new(&ChainConfig::lenient(config)),
    };
    let mut process = Process {
        input,
        on,
        now: input["startMs"].as_i64().unwrap_or_default(),
        state: State::read(input, on),
        probed: BTreeMap::new(),
        refused: BTreeMap::new(),
        log: Log::default(),
    };
    let runs = input["runs"].as_array().into_iter().flatten();
    let runs: Vec<Value> = runs
        .map(|run| {
            process.now += run["advanceMs"].as_i64().unwrap_or_default();
            for event in run["before"].as_array().into_iter().flatten() {
                process.apply(event);
            }
            let requested = Requested {
                provider: text(&run["provider"]),
                model: text(&run["model"]),
            };
            let listed = run["fallbacksOverride"].as_array();
            let listed: Option<Vec<String>> = listed.map(|list| list.iter().map(text).collect());
            let chain = resolver.chain(&requested, listed.as_deref());
            let chain = chain.iter().map(super::script::spelled).collect();
            Walk::new(&mut process, run, chain).answer()
        })
        .collect();
    json!({ "runs": runs })
}

/// What the runs of a row share.
struct Process<'i> {
    input: &'i Value,
    on: &'i Switches,
    now: i64,
    state: State<'i>,
    /// When each provider was probed last.
    probed: BTreeMap<String, i64>,
    /// Fallbacks that refused their login: why, and until when that is remembered.
    refused: BTreeMap<(String, String), (String, i64)>,
    log: Log,
}

impl Process<'_> {
    /// One event of the file.
    fn apply(&mut self, event: &Value) {
        if event["op"] == "advance" {
            self.now += event["ms"].as_i64().unwrap_or_default();
        } else {
            self.state.apply(event, self.now);
        }
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
