//! The decision record: one struct, of which the log line, the HTTP body and `explain` are views.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use openclaw_chain::Requested;
use openclaw_classify::{Reason, RuleId};
use openclaw_ids::{ModelRef, SessionId};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::record::error_fields::ErrorFields;
use crate::record::millis;
use crate::record::rotation::RotationDecision;
use crate::record::summary::AttemptRecord;

/// The value of `fallbackStepType`.
pub(crate) const STEP_TYPE: &str = "fallback_step";

/// What was decided about a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecisionKind {
    /// An attempt failed and the chain goes on, or ends.
    CandidateFailed,
    /// An attempt succeeded after something had gone wrong before.
    CandidateSucceeded,
    /// A candidate that cools down is tried all the same.
    ProbeCooldownCandidate,
    /// The candidate is not tried.
    SkipCandidate,
}

impl DecisionKind {
    /// All kinds.
    pub const ALL: [Self; 4] = [
        Self::CandidateFailed,
        Self::CandidateSucceeded,
        Self::ProbeCooldownCandidate,
        Self::SkipCandidate,
    ];

    /// The wire name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::CandidateFailed => "candidate_failed",
            Self::CandidateSucceeded => "candidate_succeeded",
            Self::ProbeCooldownCandidate => "probe_cooldown_candidate",
            Self::SkipCandidate => "skip_candidate",
        }
    }
}

impl Serialize for DecisionKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for DecisionKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        let known = Self::ALL.into_iter().find(|kind| kind.as_str() == name);
        known.ok_or_else(|| unknown("decision about a candidate", &name))
    }
}

/// The error for a name that no record of this version uses.
pub(crate) fn unknown<E: serde::de::Error>(what: &str, name: &str) -> E {
    E::custom(format_args!("`{name}` is no {what}"))
}

/// How a chain stands after a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepOutcome {
    /// No candidate is left.
    ChainExhausted,
    /// The next candidate follows.
    NextFallback,
    /// This candidate answered.
    Succeeded,
    /// The failure went to the caller, since every model would repeat it; ours, beyond.
    Surfaced,
}

impl StepOutcome {
    /// The wire name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ChainExhausted => "chain_exhausted",
            Self::NextFallback => "next_fallback",
            Self::Succeeded => "succeeded",
            Self::Surfaced => "surfaced",
        }
    }
}

/// The `fallbackStep*` fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FallbackStep {
    /// The candidate that was left.
    pub from_model: ModelRef,
    /// The candidate that follows or answered; none at the end of the chain.
    pub to_model: Option<ModelRef>,
    /// Why it was left.
    pub from_failure_reason: Option<Reason>,
    /// Redacted detail of the failure.
    pub from_failure_detail: Option<Arc<str>>,
    /// Position of the deciding candidate, from 1.
    pub chain_position: usize,
    /// How the chain stands now.
    pub final_outcome: StepOutcome,
}

/// One decision about one candidate. Serialises to the flat record of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// What was decided.
    pub kind: DecisionKind,
    /// The run.
    pub run_id: String,
    /// The session, when there is one.
    pub session_id: Option<SessionId>,
    /// The caller's queue.
    pub lane: Option<String>,
    /// The reference as the caller wrote it.
    pub requested: Requested,
    /// The candidate decided about.
    pub candidate: ModelRef,
    /// Its position, from 1.
    pub attempt: usize,
    /// Length of the chain.
    pub total: usize,
    /// Why it failed, is skipped or cools down.
    pub reason: Option<Reason>,
    /// The classification rule that decided the reason; ours, beyond.
    pub rule: Option<RuleId>,
    /// HTTP status of the failure, or the reason's default.
    pub status: Option<u16>,
    /// Structured code of the failure.
    pub code: Option<String>,
    /// What may be shown of the error.
    pub error: ErrorFields,
    /// The step fields; none for probes and for a success without earlier attempts.
    pub step: Option<FallbackStep>,
    /// The candidate that comes next.
    pub next_candidate: Option<ModelRef>,
    /// Whether the candidate is the first of the chain.
    pub is_primary: bool,
    /// Whether the candidate is the one asked for.
    pub requested_model_matched: bool,
    /// Whether the chain has more than one candidate.
    pub fallback_configured: bool,
    /// Set on probes that may use a cooling credential (R-4.5b).
    pub allow_transient_cooldown_probe: Option<bool>,
    /// How many profiles were looked at, on cooldown skips and probes.
    pub profile_count: Option<usize>,
    /// Set when the probe is the chain's last resort (G3); ours, beyond.
    pub last_resort: Option<bool>,
    /// The attempts before a success.
    pub previous_attempts: Vec<AttemptRecord>,
    /// The kind of the credential that failed or cools down (`api_key`, `oauth` or `token`), when all of them are of one;
    /// ours, beyond.
    pub auth_mode: Option<&'static str>,
    /// When what was marked for the failure, or what holds the candidate back, is over; ours, beyond.
    pub rests_until: Option<Timestamp>,
    /// How long the run had been going on; ours, beyond.
    pub elapsed: Duration,
    /// How many equal records were not written to the log before this one; zero in a run's own report.
    pub suppressed_duplicate_count: u64,
}

impl Decision {
    /// The value of `event` in every candidate decision.
    pub const EVENT: &str = "model_fallback_decision";

    /// The number of equal records that were held back, if any were.
    pub(crate) fn suppressed(&self) -> Option<u64> {
        (self.suppressed_duplicate_count > 0).then_some(self.suppressed_duplicate_count)
    }

    /// The one-line text of.
    pub fn console_message(&self) -> String {
        let requested = format!("{}/{}", self.requested.provider, self.requested.model);
        let (candidate, next) = (
            self.candidate.key(),
            self.next_candidate.as_ref().map(ModelRef::key),
        );
        let reason = self.reason.unwrap_or(Reason::Unknown);
        let mut message = [
            "model fallback decision: decision=",
            self.kind.as_str(),
            " requested=",
            &printable(&requested),
            " candidate=",
            &printable(&candidate),
            " reason=",
            reason.as_str(),
        ]
        .concat();
        if let Some(kind) = &self.error.provider_error_type {
            message.extend([" providerErrorType=", &printable(kind)]);
        }
        message.extend([" next=", &printable(next.as_deref().unwrap_or("none"))]);
        if let Some(detail) = self.error.detail() {
            message.extend([" detail=", &printable(detail)]);
        }
        if let Some(count) = self.suppressed() {
            message.extend([" (", &count.to_string(), " duplicates suppressed in last 30s)"]);
        }
        message
    }
}

/// `text` without control characters, so that a provider's text can neither break the line nor colour the terminal.
pub fn printable(text: &str) -> Cow<'_, str> {
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    let mut in_escape = false;
    for c in text.chars() {
        match c {
            '\u{1b}' => in_escape = true,
            _ if in_escape => in_escape = !c.is_ascii_alphabetic(),
            c if c.is_control() => shown.push(' '),
            c => shown.push(c),
        }
    }
    Cow::Owned(shown)
}

impl Serialize for Decision {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("event", Self::EVENT)?;
        map.serialize_entry("tags", &["error_handling", "model_fallback", self.kind.as_str()])?;
        map.serialize_entry("decision", self.kind.as_str())?;
        entry(&mut map, "runId", named(&self.run_id))?;
        entry(&mut map, "sessionId", self.session_id.as_ref())?;
        entry(&mut map, "lane", self.lane.as_ref())?;
        map.serialize_entry("requestedProvider", &self.requested.provider)?;
        map.serialize_entry("requestedModel", &self.requested.model)?;
        map.serialize_entry("candidateProvider", self.candidate.provider())?;
        map.serialize_entry("candidateModel", self.candidate.model())?;
        map.serialize_entry("attempt", &self.attempt)?;
        map.serialize_entry("total", &self.total)?;
        entry(&mut map, "reason", self.reason.as_ref())?;
        entry(&mut map, "rule", self.rule.as_ref().map(RuleId::as_str))?;
        entry(&mut map, "status", self.status.as_ref())?;
        entry(&mut map, "code", self.code.as_ref())?;
        serialize_error(&mut map, &self.error)?;
        if let Some(step) = &self.step {
            serialize_step(&mut map, step)?;
        }
        entry(
            &mut map,
            "nextCandidateProvider",
            self.next_candidate.as_ref().map(ModelRef::provider),
        )?;
        entry(
            &mut map,
            "nextCandidateModel",
            self.next_candidate.as_ref().map(ModelRef::model),
        )?;
        map.serialize_entry("isPrimary", &self.is_primary)?;
        map.serialize_entry("requestedModelMatched", &self.requested_model_matched)?;
        map.serialize_entry("fallbackConfigured", &self.fallback_configured)?;
        entry(
            &mut map,
            "allowTransientCooldownProbe",
            self.allow_transient_cooldown_probe.as_ref(),
        )?;
        entry(&mut map, "profileCount", self.profile_count.as_ref())?;
        entry(&mut map, "lastResort", self.last_resort.as_ref())?;
        entry(&mut map, "authMode", self.auth_mode)?;
        entry(
            &mut map,
            "restsUntil",
            self.rests_until.map(Timestamp::as_millisecond),
        )?;
        map.serialize_entry("elapsedMs", &millis::whole(self.elapsed))?;
        entry(&mut map, "suppressedDuplicateCount", self.suppressed().as_ref())?;
        if self.kind == DecisionKind::CandidateSucceeded {
            map.serialize_entry("previousAttempts", &PreviousAttempts(&self.previous_attempts))?;
        }
        map.serialize_entry("consoleMessage", &self.console_message())?;
        map.end()
    }
}

/// The name of a run, if it has one.
pub(crate) fn named(run_id: &str) -> Option<&str> {
    (!run_id.is_empty()).then_some(run_id)
}

pub(crate) fn entry<M: SerializeMap, T: Serialize>(
    map: &mut M,
    name: &'static str,
    value: Option<T>,
) -> Result<(), M::Error> {
    match value {
        Some(value) => map.serialize_entry(name, &value),
        None => Ok(()),
    }
}

fn serialize_error<M: SerializeMap>(map: &mut M, error: &ErrorFields) -> Result<(), M::Error> {
    entry(map, "errorPreview", error.error_preview.as_ref())?;
    entry(map, "errorHash", error.error_hash.as_ref())?;
    entry(map, "errorFingerprint", error.error_fingerprint.as_ref())?;
    entry(map, "httpCode", error.http_code.as_ref())?;
    entry(map, "providerErrorType", error.provider_error_type.as_ref())?;
    entry(
        map,
        "providerErrorMessagePreview",
        error.provider_error_message_preview.as_ref(),
    )?;
    entry(map, "requestIdHash", error.request_id_hash.as_ref())
}

fn serialize_step<M: SerializeMap>(map: &mut M, step: &FallbackStep) -> Result<(), M::Error> {
    map.serialize_entry("fallbackStepType", STEP_TYPE)?;
    map.serialize_entry("fallbackStepFromModel", &step.from_model)?;
    entry(map, "fallbackStepToModel", step.to_model.as_ref())?;
    entry(
        map,
        "fallbackStepFromFailureReason",
        step.from_failure_reason.as_ref(),
    )?;
    entry(
        map,
        "fallbackStepFromFailureDetail",
        step.from_failure_detail.as_ref(),
    )?;
    map.serialize_entry("fallbackStepChainPosition", &step.chain_position)?;
    map.serialize_entry("fallbackStepFinalOutcome", step.final_outcome.as_str())
}

struct PreviousAttempts<'a>(&'a [AttemptRecord]);

impl Serialize for PreviousAttempts<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(PreviousAttempt))
    }
}

struct PreviousAttempt<'a>(&'a AttemptRecord);

impl Serialize for PreviousAttempt<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("provider", self.0.candidate.provider())?;
        map.serialize_entry("model", self.0.candidate.model())?;
        entry(&mut map, "reason", self.0.reason.as_ref())?;
        entry(&mut map, "status", self.0.status.as_ref())?;
        entry(&mut map, "code", self.0.code.as_ref())?;
        serialize_error(&mut map, &self.0.fields)?;
        map.end()
    }
}

/// One record of a run, in the order it was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunEvent {
    /// About a candidate.
    Candidate(Arc<Decision>),
    /// About a credential of the current candidate.
    Rotation(Arc<RotationDecision>),
}

#[cfg(test)]
mod tests {
    use super::printable;

    #[test]
    fn r_12_6_control_characters_and_colours_are_dropped() {
        assert_eq!(printable("a\u{1b}[31mred\u{1b}[0m\nb\tc"), "ared b c");
    }
}
