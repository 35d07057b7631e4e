//! Judges run after run, up to the first one of which something does not hold.

use std::collections::{HashMap, VecDeque};

use openclaw_history::explain;
use openclaw_runner::RunReport;

use crate::check::{CHECKS, Tally, Violation, check_all};
use crate::trace::Trace;

/// How many earlier runs of an agent a story begins with.
const EARLIER: usize = 5;

/// How many runs each check concerned so far, and what was found.
#[derive(Default)]
pub(super) struct Verdict {
    pub(super) runs: u64,
    pub(super) tally: Tally,
    pub(super) found: Option<FoundViolation>,
    earlier: HashMap<usize, VecDeque<RunReport>>,
}

/// The first thing that does not hold.
#[derive(Debug, Clone)]
pub(crate) struct FoundViolation {
    pub(crate) violation: Violation,
    pub(crate) trace: Trace,
    /// The runs of the agent before it.
    pub(crate) earlier: Vec<RunReport>,
}

impl Verdict {
    /// Checks a run that is over.
    pub(super) fn judge(&mut self, trace: Trace) {
        self.runs += 1;
        if self.found.is_some() {
            return;
        }
        let violation = check_all(CHECKS, &trace, &mut self.tally);
        let earlier = self.earlier.entry(trace.agent).or_default();
        if let Some(violation) = violation {
            let earlier = earlier.iter().cloned().collect();
            self.found = Some(FoundViolation {
                violation,
                trace,
                earlier,
            });
            return;
        }
        if let Some(report) = trace.report.filter(|report| !report.events.is_empty()) {
            earlier.push_back(report);
            if earlier.len() > EARLIER {
                earlier.pop_front();
            }
        }
    }
}

impl FoundViolation {
    /// The run and those before it, for people.
    pub(crate) fn story(&self) -> String {
        let reports = self.earlier.iter().chain(&self.trace.report);
        let told: Vec<String> = reports
            .filter_map(explain::story_of)
            .map(|story| story.to_string())
            .collect();
        told.join("\n")
    }
}
