//! What a caller, an observer and a log reader see of a run, in the shapes of the files.

mod labels;

use jiff::Timestamp;
use openclaw_classify::{Certainty, Reason};
use openclaw_runner::machine::{Outcome, PreservedAnswer};
use openclaw_runner::{
    AttemptCall, AttemptRecord, CandidateOutcome, Decision, DecisionKind, FailedAttempt,
    FallbackSummaryError, RunReport, Winner,
};
use serde_json::{Map, Value, json};

use super::script::Script;
use labels::{ReasonLabels, UnrecognisedLabel, relabelled};

/// One attempt.
pub(super) struct Call(Value);

impl Call {
    pub(super) fn of(call: &AttemptCall) -> Self {
        let mut options = json!({ "isFinalFallbackAttempt": call.is_final_fallback_attempt });
        if call.allow_transient_cooldown_probe {
            options["allowTransientCooldownProbe"] = true.into();
        }
        Self(json!({
            "provider": call.candidate.provider(),
            "model": call.candidate.model(),
            "options": options,
        }))
    }
}

/// Everything that is seen while a run goes on.
pub(super) struct ObservedRun {
    pub(super) calls: Vec<Call>,
    steps: Vec<Value>,
    decisions: Vec<Value>,
    errors: Vec<Value>,
    failovers: Vec<Value>,
    /// Session and queue, as far as the run has them.
    place: Map<String, Value>,
    classified: ReasonLabels,
}

impl ObservedRun {
    pub(super) fn new(run: &Value) -> Self {
        let members = ["sessionId", "lane"].into_iter();
        let given = members.filter(|member| run[*member].as_str().is_some_and(|text| !text.is_empty()));
        Self {
            calls: Vec::new(),
            steps: Vec::new(),
            decisions: Vec::new(),
            errors: Vec::new(),
            failovers: Vec::new(),
            place: given
                .map(|member| (member.to_owned(), run[member].clone()))
                .collect(),
            classified: ReasonLabels::default(),
        }
    }

    /// Takes a decision and, unless the log leaves it out, the record of it.
    pub(super) fn note(&mut self, decision: &Decision, written: Option<Decision>, script: &Script) {
        // A result that was found wanting has a reason, be it an unknown one.
        let unnamed = if script.is_rejected() {
            UnrecognisedLabel::Unknown
        } else {
            UnrecognisedLabel::Absent
        };
        self.classified.take(decision, script);
        let mut all = self.record(decision, unnamed);
        all.retain(|name, _| name.starts_with("fallbackStep"));
        if !all.is_empty() {
            self.steps.push(all.into());
        }
        if let Some(written) = written {
            self.decisions.push(self.record(&written, unnamed).into());
        }
        let skipped = decision.kind == DecisionKind::SkipCandidate;
        let rests = decision
            .error
            .error_preview
            .as_deref()
            .is_some_and(|text| text.ends_with("(suspending lanes)"));
        if skipped && rests && self.place.contains_key("sessionId") {
            let mut event = self.place.clone();
            event.insert("fromProvider".to_owned(), json!(decision.candidate.provider()));
            event.insert("fromModel".to_owned(), json!(decision.candidate.model()));
            event.insert("reason".to_owned(), json!(decision.reason));
            event.insert(
                "suspended".to_owned(),
                (decision.attempt == decision.total).into(),
            );
            self.failovers.push(event.into());
        }
        if decision.kind == DecisionKind::CandidateFailed {
            let mut told = json!({
                "provider": decision.candidate.provider(),
                "model": decision.candidate.model(),
                "attempt": decision.attempt,
                "total": decision.total,
            });
            // The observer of errors gets the sentence, and not what it was made of.
            if let Some(said) = script.rejected().and_then(|(_, said)| said["message"].as_str()) {
                told["error"] = said.into();
            }
            self.errors.push(told);
        }
    }

    pub(super) fn finish(mut self, outcome: &Outcome, script: &Script, now: Timestamp) -> Value {
        let outcome = self.outcome(outcome, script);
        let calls: Vec<Value> = self.calls.into_iter().map(|call| call.0).collect();
        json!({
            "calls": calls,
            "outcome": outcome,
            "steps": self.steps,
            "decisions": self.decisions,
            "onError": self.errors,
            "failoverEvents": self.failovers,
            "endMs": now.as_millisecond(),
        })
    }

    fn outcome(&mut self, outcome: &Outcome, script: &Script) -> Value {
        match outcome {
            Outcome::Aborted(report) => {
                self.tell_errors(report);
                let error = match script.rejected() {
                    Some((candidate, judged)) => {
                        let (provider, model) = (candidate.provider().as_str(), candidate.model().as_str());
                        said(self.place.clone(), provider, model, judged)
                    }
                    None => thrown(script),
                };
                json!({ "error": error })
            }
            Outcome::Completed(winner, report) => {
                self.tell_errors(report);
                self.ok("completed", &script.answer(winner.index + 1), winner, report)
            }
            Outcome::Exhausted(summary, report) | Outcome::LimitReached(_, summary, report) => {
                self.tell_errors(report);
                json!({ "error": self.summary(summary, script) })
            }
            Outcome::Failed(attempt, report) | Outcome::Surfaced(attempt, report) => {
                self.tell_errors(report);
                json!({ "error": self.error(attempt, script) })
            }
            Outcome::Preserved(PreservedAnswer { kept, latest }, report) => {
                self.tell_errors(report);
                let preferred = script.answer(kept.1.index + 1);
                if script.merges && kept.0 != latest.0 {
                    let joined =
                        json!({ "latest": script.answer(latest.1.index + 1), "preferred": preferred });
                    self.ok("exhausted", &joined, &latest.1, report)
                } else {
                    self.ok("exhausted", &preferred, &kept.1, report)
                }
            }
        }
    }

    /// The texts of failed attempts are those of their records.
    fn tell_errors(&mut self, report: &RunReport) {
        for told in self.errors.iter_mut().filter(|told| told["error"].is_null()) {
            let of = |record: &&AttemptRecord| {
                json!(record.candidate.provider()) == told["provider"]
                    && json!(record.candidate.model()) == told["model"]
            };
            if let Some(record) = report.attempts.iter().find(of) {
                told["error"] = record.error.clone().into();
            }
        }
    }

    /// The failure of one attempt as the error of the run.
    fn error(&self, attempt: &FailedAttempt, script: &Script) -> Value {
        let said = script.thrown();
        // What no rule recognised, or only guessed to be too long, is returned as it came.
        let guessed = attempt.verdict.reason == Reason::ContextOverflow
            && (attempt.verdict.certainty == Certainty::Default || script.is_rejected());
        let is_coerced = is_recognised(attempt)
            && !guessed
            && said.is_none_or(|error| {
                error["$type"] != "FailoverError" && (error.is_object() || !error.is_null())
            });
        if !is_coerced {
            return thrown(script);
        }
        let record = &attempt.record;
        let mut error = self.place.clone();
        let mut put = |name: &str, value: Value| error.insert(name.to_owned(), value);
        put("name", "FailoverError".into());
        put("message", record.error.clone().into());
        put("reason", json!(record.reason));
        put("provider", json!(record.candidate.provider()));
        put("model", json!(record.candidate.model()));
        put("rethrown", false.into());
        if let Some(status) = record.status {
            put("status", status.into());
        }
        if let Some(code) = &record.code {
            put("code", code.clone().into());
        }
        if let Some(error) = said {
            put("rawError", record.error.clone().into());
            // as the other program has it; nothing here is suspended.
            let asks = matches!(attempt.verdict.reason, Reason::Billing | Reason::RateLimit);
            put("suspend", asks.into());
            if error["$type"] == "Error" {
                put("cause", cause(error));
            }
        }
        error.into()
    }

    fn summary(&self, summary: &FallbackSummaryError, script: &Script) -> Value {
        let mut error = self.place.clone();
        let mut put = |name: &str, value: Value| error.insert(name.to_owned(), value);
        put("name", "FallbackSummaryError".into());
        let unclassified = |record: &&AttemptRecord| record.reason == Some(Reason::Unclassified);
        let labels: Vec<_> = summary
            .attempts
            .iter()
            .filter(unclassified)
            .map(|record| self.reason(record))
            .collect();
        put("message", relabelled(&summary.to_string(), &labels).into());
        put("attempts", self.attempts(&summary.attempts));
        let soonest = summary.soonest_cooldown_expiry.map(Timestamp::as_millisecond);
        put("soonestCooldownExpiry", json!(soonest));
        put("rethrown", false.into());
        let called = summary
            .attempts
            .iter()
            .rev()
            .find(|record| record.outcome == CandidateOutcome::Failed);
        if let Some(record) = called {
            let name = match (&record.reason, script.thrown()) {
                (Some(Reason::Unclassified), Some(error)) => name(error),
                _ => "FailoverError".to_owned(),
            };
            put("cause", json!({ "name": name, "message": record.error }));
        }
        error.into()
    }

    fn ok(&self, outcome: &str, result: &Value, winner: &Winner, report: &RunReport) -> Value {
        json!({ "ok": {
            "outcome": outcome,
            "result": result,
            "provider": winner.candidate.provider(),
            "model": winner.candidate.model(),
            "attempts": self.attempts(&report.attempts),
        }})
    }

    fn attempts(&self, records: &[AttemptRecord]) -> Value {
        let shown = records.iter().map(|record| {
            let mut shown = json!({
                "provider": record.candidate.provider(),
                "model": record.candidate.model(),
                "error": record.error,
                "reason": self.reason(record),
            });
            if let Some(status) = record
                .status
                .filter(|_| self.classified.has_status(&record.candidate))
            {
                shown["status"] = status.into();
            }
            if let Some(code) = &record.code {
                shown["code"] = code.clone().into();
            }
            // The files do not say which credential an attempt used.
            if let Some(mode) = record
                .auth_mode
                .filter(|_| record.outcome == CandidateOutcome::Skipped)
            {
                shown["authMode"] = mode.into();
            }
            shown
        });
        shown.collect()
    }
}

/// Whether the reason names a provider's failure.
fn is_recognised(attempt: &FailedAttempt) -> bool {
    !matches!(
        attempt.verdict.reason,
        Reason::Aborted | Reason::Local | Reason::Unclassified
    )
}

/// The value that the last attempt threw, as it was.
fn thrown(script: &Script) -> Value {
    script
        .thrown()
        .map_or_else(|| json!({ "rethrown": false }), as_thrown)
}

/// What a result that was found wanting is as an error of its own.
pub(super) fn said(place: Map<String, Value>, provider: &str, model: &str, said: &Value) -> Value {
    let mut error = place;
    let mut put = |name: &str, value: Value| error.insert(name.to_owned(), value);
    put("name", "FailoverError".into());
    put("message", said["message"].clone());
    put("reason", said["reason"].as_str().unwrap_or("unknown").into());
    put("provider", provider.into());
    put("model", model.into());
    put("rethrown", false.into());
    error.into()
}

/// A thrown value as it was.
pub(super) fn as_thrown(error: &Value) -> Value {
    if !error["$type"].is_string() {
        return json!({ "value": error, "rethrown": true });
    }
    let message = match error["harnessId"].as_str() {
        Some(harness) => format!("Requested agent harness \"{harness}\" is not registered.").into(),
        None => error["message"].clone(),
    };
    let mut shown = json!({ "name": name(error), "message": message, "rethrown": true });
    for member in [
        "reason",
        "status",
        "code",
        "provider",
        "model",
        "rawError",
        "sessionId",
        "lane",
        "harnessId",
    ] {
        if !error[member].is_null() {
            shown[member] = error[member].clone();
        }
    }
    if error["cause"].is_object() {
        shown["cause"] = cause(&error["cause"]);
    }
    shown
}

pub(super) fn name(error: &Value) -> String {
    let given = error["name"].as_str().or(error["$type"].as_str());
    given.unwrap_or("Error").to_owned()
}

pub(super) fn cause(error: &Value) -> Value {
    json!({ "name": name(error), "message": error["message"] })
}
