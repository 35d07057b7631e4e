//! The trace of a session's last runs: which candidates were tried, skipped or answered (BL-81).

use jiff::Timestamp;
use openclaw_ids::ModelRef;
use serde::{Deserialize, Serialize};

use super::{SessionEntry, lenient_serde};

/// How one step of a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepOutcome {
    /// The attempt failed.
    Failed,
    /// The candidate was not attempted.
    Skipped,
    /// The candidate answered.
    Succeeded,
}

/// One attempt, skip or success.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceStep {
    /// The candidate.
    pub model: ModelRef,
    /// How it ended.
    pub outcome: StepOutcome,
    /// The wire name of the reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The HTTP status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The provider's error code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// The provider's words, redacted and short (M2).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// The candidate that followed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<ModelRef>,
}

/// One run, step by step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunTrace {
    /// The run.
    pub run_id: String,
    /// When it ended.
    #[serde(
        deserialize_with = "lenient_serde::instant",
        serialize_with = "lenient_serde::serialize_instant"
    )]
    pub at: Timestamp,
    /// In order.
    pub steps: Vec<TraceStep>,
}

impl RunTrace {
    /// Whether the run went as it should: the first candidate answered.
    fn is_uneventful(&self) -> bool {
        self.steps
            .iter()
            .all(|step| step.outcome == StepOutcome::Succeeded)
    }
}

/// How many runs are kept with a session.
const KEPT_RUNS: usize = 5;

/// How many steps of one run are kept, its last ones.
const KEPT_STEPS: usize = 32;

/// Adds a run to the session's last ones; `None` when nothing failed or was skipped in it.
pub fn record_trace(entry: &SessionEntry, trace: &RunTrace) -> Option<SessionEntry> {
    if trace.is_uneventful() {
        return None;
    }
    let mut next = entry.clone();
    let runs = &mut next.failover.recent_runs;
    let mut kept = trace.clone();
    kept.at = lenient_serde::whole_millis(kept.at);
    kept.steps.drain(..kept.steps.len().saturating_sub(KEPT_STEPS));
    runs.push(kept);
    runs.drain(..runs.len().saturating_sub(KEPT_RUNS));
    Some(next)
}

impl SessionEntry {
    /// The last runs in which something failed or was skipped, the oldest first.
    pub fn recent_runs(&self) -> &[RunTrace] {
        &self.failover.recent_runs
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{at, entry, model};

    fn step(text: &str, outcome: StepOutcome, next: Option<&str>) -> TraceStep {
        TraceStep {
            model: model(text),
            outcome,
            reason: (outcome != StepOutcome::Succeeded).then(|| "rate_limit".to_owned()),
            status: None,
            code: None,
            summary: None,
            next: next.map(model),
        }
    }

    fn run(id: &str, steps: Vec<TraceStep>) -> RunTrace {
        RunTrace {
            run_id: id.to_owned(),
            at: at(2000),
            steps,
        }
    }

    #[test]
    fn bl_81_a_success_on_the_third_candidate_leaves_three_steps() {
        let steps = vec![
            step("a/m", StepOutcome::Skipped, Some("b/m")),
            step("b/m", StepOutcome::Failed, Some("c/m")),
            step("c/m", StepOutcome::Succeeded, None),
        ];
        let session = record_trace(&entry(""), &run("r1", steps.clone())).unwrap();
        let read_again: SessionEntry =
            serde_json::from_str(&serde_json::to_string(&session).unwrap()).unwrap();
        assert_eq!(read_again, session);
        assert_eq!(read_again.recent_runs(), [run("r1", steps)]);
    }

    #[test]
    fn a_run_without_trouble_is_not_kept() {
        let steps = vec![step("a/m", StepOutcome::Succeeded, None)];
        assert_eq!(record_trace(&entry(""), &run("r1", steps)), None);
    }

    #[test]
    fn only_the_last_runs_and_steps_are_kept() {
        let mut session = entry("");
        for index in 0..KEPT_RUNS + 2 {
            let steps = (0..KEPT_STEPS + 3)
                .map(|at| step(&format!("a/m{at}"), StepOutcome::Failed, None))
                .collect();
            session = record_trace(&session, &run(&index.to_string(), steps)).unwrap();
        }
        let ids: Vec<_> = session
            .recent_runs()
            .iter()
            .map(|run| run.run_id.as_str())
            .collect();
        assert_eq!(ids, ["2", "3", "4", "5", "6"]);
        let last = &session.recent_runs()[4].steps;
        assert_eq!((last.len(), &last[0].model), (KEPT_STEPS, &model("a/m3")));
    }
}
