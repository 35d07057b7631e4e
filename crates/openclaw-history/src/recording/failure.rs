//! A recorded failure: its classification, without the provider's own words.

use jiff::Timestamp;
use openclaw_classify::{
    Certainty, Failure, HintSource, Owner, Reason, ResetHint, RuleId, Scope, TimeoutPhase, TimerOwner,
    Transport, Verdict,
};
use openclaw_ids::ModelRef;
use openclaw_runner::machine::RejectedAnswer;
use openclaw_runner::{AttemptRecord, CandidateOutcome, ErrorFields, FailedAttempt};
use serde::{Deserialize, Serialize};

use super::{RunRecording, nanos};

/// A failure as it was judged and as records show it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RecordedFailure {
    /// Why.
    pub reason: Reason,
    /// Whether a code or a text said so: `default` or `explicit`.
    pub certainty: String,
    /// Whose fault it is.
    pub owner: String,
    /// What a mark for it concerns.
    pub scope: String,
    /// The rule that decided.
    pub rule: String,
    /// The stated end of a limit, in nanoseconds after the start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint_at: Option<i64>,
    /// Where that was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint_source: Option<String>,
    /// Whether it was believed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint_credible: Option<bool>,
    /// The failure's own words, redacted.
    pub error: String,
    /// HTTP status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// Structured code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// What records show of the error.
    pub fields: ErrorFields,
    /// Whether nothing at all had come back before our own first-byte deadline.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub silent: bool,
    /// Whether something had been shown or done by then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub visible: bool,
    /// The answer that was rejected, when it was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rejected: Option<RejectedAnswer>,
}

impl RecordedFailure {
    /// `attempt` as it was judged, in a run that began at `start`.
    pub(crate) fn of(
        attempt: &FailedAttempt,
        visible: bool,
        rejected: Option<RejectedAnswer>,
        start: Timestamp,
    ) -> Self {
        let FailedAttempt {
            failure,
            verdict,
            record,
        } = attempt;
        let hint = verdict.hint.as_ref();
        Self {
            reason: verdict.reason,
            certainty: verdict.certainty.as_str().to_owned(),
            owner: verdict.owner.as_str().to_owned(),
            scope: verdict.scope.as_str().to_owned(),
            rule: verdict.rule.to_string(),
            hint_at: hint.map(|hint| nanos(start, hint.at)),
            hint_source: hint.map(|hint| hint.source.as_str().to_owned()),
            hint_credible: hint.map(|hint| hint.credible),
            error: record.error.clone(),
            status: record.status,
            code: record.code.clone(),
            fields: record.fields.clone(),
            silent: matches!(failure.transport, Some(SILENT)),
            visible,
            rejected,
        }
    }

    /// The failed attempt at `model` of a run that began at `start`; none when a name in it is not known.
    pub(crate) fn judged(&self, model: &ModelRef, recording: &RunRecording) -> Option<FailedAttempt> {
        let hint = match (self.hint_at, &self.hint_source, self.hint_credible) {
            (Some(at), Some(source), Some(credible)) => Some(ResetHint {
                at: recording.after(at),
                source: named(&HINT_SOURCES, source, HintSource::as_str)?,
                credible,
            }),
            _ => None,
        };
        let rule = RuleId::new(&self.rule);
        Some(FailedAttempt {
            failure: Failure {
                transport: self.silent.then_some(SILENT),
                ..Failure::default()
            },
            verdict: Verdict {
                reason: self.reason,
                certainty: named(&CERTAINTIES, &self.certainty, Certainty::as_str)?,
                owner: named(&OWNERS, &self.owner, Owner::as_str)?,
                scope: named(&SCOPES, &self.scope, Scope::as_str)?,
                hint,
                rule: rule.clone(),
                evidence: None,
            },
            record: AttemptRecord {
                candidate: model.clone(),
                error: self.error.clone(),
                reason: Some(self.reason),
                rule: Some(rule),
                status: self.status,
                code: self.code.clone(),
                auth_mode: None,
                outcome: CandidateOutcome::Failed,
                earlier: Vec::new(),
                fields: self.fields.clone(),
            },
        })
    }
}

const SILENT: Transport = Transport::Timeout(TimeoutPhase::FirstByte, TimerOwner::Us);
const CERTAINTIES: [Certainty; 2] = [Certainty::Default, Certainty::Explicit];
const OWNERS: [Owner; 7] = [
    Owner::Caller,
    Owner::Content,
    Owner::Credential,
    Owner::Model,
    Owner::Network,
    Owner::Provider,
    Owner::Us,
];
const SCOPES: [Scope; 4] = [Scope::Endpoint, Scope::Model, Scope::None, Scope::Profile];
const HINT_SOURCES: [HintSource; 5] = [
    HintSource::Body,
    HintSource::RateLimitHeader,
    HintSource::RetryAfter,
    HintSource::Text,
    HintSource::UsageCheck,
];

fn named<T: Copy>(all: &[T], name: &str, name_of: impl Fn(T) -> &'static str) -> Option<T> {
    all.iter().copied().find(|one| name_of(*one) == name)
}
