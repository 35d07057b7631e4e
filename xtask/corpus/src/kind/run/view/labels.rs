//! How the files name reasons: `unknown` of what no rule recognised, and nothing added to what was said.

use std::collections::HashMap;

use openclaw_classify::Reason;
use openclaw_ids::ModelRef;
use openclaw_runner::{AttemptRecord, CandidateOutcome, Decision, DecisionKind};
use serde_json::{Map, Value};

use super::ObservedRun;
use crate::kind::run::script::{Script, is_classified};

/// Candidates whose failure was classified before it was thrown: as what, and whether a status was given then. Nothing
/// is added to what was said.
#[derive(Default)]
pub(super) struct ReasonLabels(HashMap<ModelRef, (String, bool)>);

impl ReasonLabels {
    pub(super) fn take(&mut self, decision: &Decision, script: &Script) {
        let error = script
            .thrown()
            .filter(|_| decision.kind == DecisionKind::CandidateFailed);
        if let Some(error) = error.filter(|error| is_classified(error)) {
            let reason = error["reason"].as_str().unwrap_or("unknown").to_owned();
            self.0
                .insert(decision.candidate.clone(), (reason, !error["status"].is_null()));
        }
    }

    fn reason(&self, candidate: &ModelRef) -> Option<&str> {
        self.0.get(candidate).map(|(reason, _)| reason.as_str())
    }

    pub(super) fn has_status(&self, candidate: &ModelRef) -> bool {
        self.0.get(candidate).is_none_or(|(_, status)| *status)
    }
}

impl ObservedRun {
    /// The flat record, without what is ours alone and without a label for the unrecognised.
    pub(super) fn record(&self, decision: &Decision, unnamed: UnrecognisedLabel) -> Map<String, Value> {
        let Ok(Value::Object(mut record)) = serde_json::to_value(decision) else {
            return Map::new();
        };
        for ours in [
            "authMode",
            "consoleMessage",
            "elapsedMs",
            "lastResort",
            "restsUntil",
            "rule",
        ] {
            record.remove(ours);
        }
        let label = match (decision.kind, decision.previous_attempts.last()) {
            (DecisionKind::CandidateSucceeded, Some(left)) => Some(self.reason(left)),
            (DecisionKind::CandidateSucceeded, None) => None,
            (DecisionKind::CandidateFailed, _) => {
                let said = self.classified.reason(&decision.candidate);
                said.or((unnamed == UnrecognisedLabel::Unknown).then_some("unknown"))
            }
            (DecisionKind::ProbeCooldownCandidate | DecisionKind::SkipCandidate, _) => Some("unclassified"),
        };
        for member in ["reason", "fallbackStepFromFailureReason"] {
            if record.get(member).is_some_and(|reason| reason == "unclassified") {
                match label {
                    None => record.remove(member),
                    Some(label) => record.insert(member.to_owned(), label.into()),
                };
            }
        }
        if !self.classified.has_status(&decision.candidate) {
            record.remove("status");
        }
        if let Some(Value::Array(shown)) = record.get_mut("previousAttempts") {
            for (shown, left) in shown.iter_mut().zip(&decision.previous_attempts) {
                shown["reason"] = self.reason(left).into();
                if let Some(members) = shown
                    .as_object_mut()
                    .filter(|_| !self.classified.has_status(&left.candidate))
                {
                    members.remove("status");
                }
            }
        }
        record
    }

    /// The files say `unknown` of what no rule recognised.
    pub(super) fn reason<'r>(&'r self, record: &'r AttemptRecord) -> &'r str {
        match (record.reason.unwrap_or(Reason::Unknown), record.outcome) {
            (Reason::Unclassified, CandidateOutcome::Failed) => {
                self.classified.reason(&record.candidate).unwrap_or("unknown")
            }
            (reason, _) => reason.as_str(),
        }
    }
}

/// How a failure shows that no rule recognised.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum UnrecognisedLabel {
    Absent,
    Unknown,
}

/// The message of a summary, in which each reason is that of its attempt.
pub(super) fn relabelled(message: &str, attempts: &[&str]) -> String {
    let mut labels = attempts.iter();
    let mut pieces = message.split("(unclassified)");
    let mut whole = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let label = labels.next().unwrap_or(&"unknown");
        whole.extend(["(", label, ")", piece]);
    }
    whole
}
