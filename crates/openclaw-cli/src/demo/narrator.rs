//! Tells a run as it goes, one readable line per decision.

use std::io::Write;
use std::sync::{Mutex, PoisonError};

use openclaw_runner::{Decision, DecisionKind, RotationDecision, RotationKind, RunEvent, RunObserver};

/// Prints decisions.
pub(super) struct Narrator(Mutex<Narration>);

struct Narration {
    output: Box<dyn Write + Send>,
    /// The run of the last line, so that the next one gets a heading.
    run: String,
}

impl Narrator {
    /// Writes to `output`.
    pub(super) fn new(output: Box<dyn Write + Send>) -> Self {
        Self(Mutex::new(Narration {
            output,
            run: String::new(),
        }))
    }
}

impl RunObserver for Narrator {
    fn on_event(&self, event: &RunEvent) {
        let (run, line) = match event {
            RunEvent::Candidate(decision) => (&decision.run_id, Some(candidate(decision))),
            RunEvent::Rotation(rotation) => (&rotation.run_id, self::rotation(rotation)),
        };
        let Some(line) = line else {
            return;
        };
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // A terminal that went away must not end the request.
        if state.run != *run {
            state.run.clone_from(run);
            let _ = writeln!(state.output, "\nrequest {run}");
        }
        let _ = writeln!(state.output, "{line}");
        let _ = state.output.flush();
    }
}

fn candidate(decision: &Decision) -> String {
    let model = decision.candidate.key();
    let reason = decision
        .reason
        .map_or("unknown", openclaw_classify::Reason::as_str);
    let next = decision
        .next_candidate
        .as_ref()
        .map(|next| format!(", on to {next}"));
    let next = next.unwrap_or_else(|| ", and nothing is left".to_owned());
    match decision.kind {
        DecisionKind::CandidateFailed => {
            let status = decision
                .status
                .map(|status| format!(" ({status})"))
                .unwrap_or_default();
            format!("  ✗ {model:<14} {reason}{status}{next}")
        }
        DecisionKind::CandidateSucceeded => format!(
            "  ✓ {model:<14} answered, number {} of {}",
            decision.attempt, decision.total
        ),
        DecisionKind::ProbeCooldownCandidate => {
            format!("  ? {model:<14} rests ({reason}) and is tried all the same")
        }
        DecisionKind::SkipCandidate => format!("  – {model:<14} rests ({reason}){next}"),
    }
}

/// What follows a failed key inside one model; the end of the model has a line of its own.
fn rotation(rotation: &RotationDecision) -> Option<String> {
    let status = rotation
        .status
        .map(|status| format!(" ({status})"))
        .unwrap_or_default();
    let follows = match rotation.kind {
        RotationKind::InlineWait => "the same key again after a short wait",
        RotationKind::Redirect => "and a person chose another model",
        RotationKind::RetryRepaired => "the same key again with a repaired request",
        RotationKind::RotateProfile => "on to its next key",
        RotationKind::WaitForReset => "the same key again once its limit is over",
        RotationKind::FallbackModel | RotationKind::SurfaceError => return None,
    };
    let model = rotation.candidate.key();
    Some(format!("  ✗ {model:<14} {}{status}, {follows}", rotation.reason))
}
