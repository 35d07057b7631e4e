//! Reads records back from their JSON: as they were serialised, or as a JSON log writes them.

use std::sync::Arc;

use jiff::Timestamp;
use openclaw_classify::Reason;
use openclaw_ids::ModelRef;
use openclaw_runner::{Decision, DecisionKind, RotationDecision, RotationKind, RunEvent};
use serde::Deserialize;
use serde_json::Value;

use crate::millis;

/// One record, as far as a story needs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Record {
    /// `model_fallback_decision`.
    Candidate(Box<CandidateRecord>),
    /// `embedded_run_failover_decision`.
    Rotation(Box<RotationRecord>),
}

/// A decision about a candidate, read back. Members it does not know are passed over.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CandidateRecord {
    /// When the line was written; known from logs alone.
    #[serde(skip)]
    pub at: Option<Timestamp>,
    /// What was decided.
    pub decision: DecisionKind,
    /// The run; empty without a name.
    #[serde(default)]
    pub run_id: String,
    /// The session.
    #[serde(default)]
    pub session_id: Option<String>,
    /// The provider as it was asked for.
    #[serde(default)]
    pub requested_provider: String,
    /// The model as it was asked for.
    #[serde(default)]
    pub requested_model: String,
    /// The candidate's provider.
    pub candidate_provider: String,
    /// The candidate's model.
    pub candidate_model: String,
    /// Its position, from 1.
    pub attempt: usize,
    /// Length of the chain.
    pub total: usize,
    /// Why.
    #[serde(default)]
    pub reason: Option<Reason>,
    /// The rule that found the reason.
    #[serde(default)]
    pub rule: Option<String>,
    /// HTTP status.
    #[serde(default)]
    pub status: Option<u16>,
    /// Structured code.
    #[serde(default)]
    pub code: Option<String>,
    /// The whole error, redacted and clipped.
    #[serde(default)]
    pub error_preview: Option<String>,
    /// The provider's own message, redacted and clipped.
    #[serde(default)]
    pub provider_error_message_preview: Option<String>,
    /// How the chain stands after it.
    #[serde(default)]
    pub fallback_step_final_outcome: Option<String>,
    /// The provider that comes next.
    #[serde(default)]
    pub next_candidate_provider: Option<String>,
    /// The model that comes next.
    #[serde(default)]
    pub next_candidate_model: Option<String>,
    /// How many credentials were looked at.
    #[serde(default)]
    pub profile_count: Option<usize>,
    /// Whether the probe was the chain's last resort.
    #[serde(default)]
    pub last_resort: Option<bool>,
    /// The kind of the credential that failed or cools down, when it is known and all are of one.
    #[serde(default)]
    pub auth_mode: Option<String>,
    /// When the cooldown is over.
    #[serde(default, with = "jiff::fmt::serde::timestamp::millisecond::optional")]
    pub rests_until: Option<Timestamp>,
    /// How long the run had been going on, in milliseconds.
    #[serde(default)]
    pub elapsed_ms: Option<u64>,
    /// How many equal lines the log left out before this one.
    #[serde(default)]
    pub suppressed_duplicate_count: u64,
}

/// What followed a failed attempt inside a candidate, read back.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RotationRecord {
    /// When the line was written; known from logs alone.
    #[serde(skip)]
    pub at: Option<Timestamp>,
    /// What followed.
    pub decision: RotationKind,
    /// The run; empty without a name.
    #[serde(default)]
    pub run_id: String,
    /// Why the attempt failed.
    pub failover_reason: Reason,
    /// The candidate's provider.
    pub provider: String,
    /// The candidate's model.
    pub model: String,
    /// Hash of the credential that failed; `-` without one.
    #[serde(default)]
    pub profile_id: String,
    /// Its kind, when it is known.
    #[serde(default)]
    pub auth_mode: Option<String>,
    /// HTTP status.
    #[serde(default)]
    pub status: Option<u16>,
    /// The error, redacted and clipped.
    #[serde(default)]
    pub raw_error_preview: Option<String>,
    /// When the cooldown of the credential is over.
    #[serde(default, with = "jiff::fmt::serde::timestamp::millisecond::optional")]
    pub rests_until: Option<Timestamp>,
    /// How long the run had been going on, in milliseconds.
    #[serde(default)]
    pub elapsed_ms: Option<u64>,
    /// The model that a person chose meanwhile.
    #[serde(default)]
    pub redirected_to: Option<String>,
}

/// A line that says it is a record and is none.
#[derive(Debug, thiserror::Error)]
#[error(
    "line {line} is no record this version can read; take it out, or read it with the version that wrote it"
)]
#[non_exhaustive]
pub struct ReadError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong with it.
    #[source]
    source: serde_json::Error,
}

/// The records among the lines of `text`, in order: serialised ones, and lines of a JSON log that holds them in
/// `fields`. Other lines of a log are passed over.
///
/// # Errors
/// [`ReadError`] for the first line that names itself a record but lacks what every record has.
pub fn read(text: &str) -> Result<Vec<Record>, ReadError> {
    let lines = text.lines().enumerate();
    let records = lines.filter_map(|(index, line)| {
        let record = record(line.trim())?;
        Some(record.map_err(|source| ReadError {
            line: index + 1,
            source,
        }))
    });
    records.collect()
}

/// The record in one line, if it is one.
fn record(line: &str) -> Option<Result<Record, serde_json::Error>> {
    if !line.starts_with('{') {
        return None;
    }
    let mut value: Value = serde_json::from_str(line).ok()?;
    let at = value.get("timestamp").and_then(Value::as_str);
    let at = at.and_then(|text| text.parse().ok());
    let value = match value.get_mut("fields") {
        Some(fields) => fields.take(),
        None => value,
    };
    parse(value, at)
}

fn parse(value: Value, at: Option<Timestamp>) -> Option<Result<Record, serde_json::Error>> {
    match value.get("event").and_then(Value::as_str)? {
        Decision::EVENT => Some(
            serde_json::from_value(value)
                .map(|record: CandidateRecord| Record::Candidate(Box::new(CandidateRecord { at, ..record }))),
        ),
        RotationDecision::EVENT => Some(
            serde_json::from_value(value)
                .map(|record: RotationRecord| Record::Rotation(Box::new(RotationRecord { at, ..record }))),
        ),
        _ => None,
    }
}

fn owned(text: Option<&Arc<str>>) -> Option<String> {
    text.map(ToString::to_string)
}

impl From<&RunEvent> for Record {
    fn from(event: &RunEvent) -> Self {
        match event {
            RunEvent::Candidate(decision) => Self::Candidate(Box::new(CandidateRecord {
                at: None,
                decision: decision.kind,
                run_id: decision.run_id.clone(),
                session_id: decision.session_id.as_ref().map(ToString::to_string),
                requested_provider: decision.requested.provider.clone(),
                requested_model: decision.requested.model.clone(),
                candidate_provider: decision.candidate.provider().to_string(),
                candidate_model: decision.candidate.model().to_string(),
                attempt: decision.attempt,
                total: decision.total,
                reason: decision.reason,
                rule: decision.rule.as_ref().map(ToString::to_string),
                status: decision.status,
                code: decision.code.clone(),
                error_preview: owned(decision.error.error_preview.as_ref()),
                provider_error_message_preview: owned(decision.error.provider_error_message_preview.as_ref()),
                fallback_step_final_outcome: decision
                    .step
                    .as_ref()
                    .map(|step| step.final_outcome.as_str().to_owned()),
                next_candidate_provider: decision
                    .next_candidate
                    .as_ref()
                    .map(|next| next.provider().to_string()),
                next_candidate_model: decision
                    .next_candidate
                    .as_ref()
                    .map(|next| next.model().to_string()),
                profile_count: decision.profile_count,
                last_resort: decision.last_resort,
                auth_mode: decision.auth_mode.map(str::to_owned),
                rests_until: decision.rests_until,
                elapsed_ms: Some(millis::whole(decision.elapsed)),
                suppressed_duplicate_count: decision.suppressed_duplicate_count,
            })),
            RunEvent::Rotation(rotation) => Self::Rotation(Box::new(RotationRecord {
                at: None,
                decision: rotation.kind,
                run_id: rotation.run_id.clone(),
                failover_reason: rotation.reason,
                provider: rotation.candidate.provider().to_string(),
                model: rotation.candidate.model().to_string(),
                profile_id: rotation.profile_hash.clone(),
                auth_mode: rotation.auth_mode.map(str::to_owned),
                status: rotation.status,
                raw_error_preview: owned(rotation.error.error_preview.as_ref()),
                rests_until: rotation.rests_until,
                elapsed_ms: Some(millis::whole(rotation.elapsed)),
                redirected_to: rotation.redirected_to.as_ref().map(ModelRef::key),
            })),
        }
    }
}

impl Record {
    /// The run; empty without a name.
    pub fn run_id(&self) -> &str {
        match self {
            Self::Candidate(record) => &record.run_id,
            Self::Rotation(record) => &record.run_id,
        }
    }
}

impl CandidateRecord {
    /// The candidate as `provider/model`.
    pub fn candidate(&self) -> String {
        format!("{}/{}", self.candidate_provider, self.candidate_model)
    }

    /// The best short text of the error.
    pub(crate) fn detail(&self) -> Option<&str> {
        self.provider_error_message_preview
            .as_deref()
            .or(self.error_preview.as_deref())
    }

    /// The candidate that comes next.
    pub(crate) fn next(&self) -> Option<String> {
        let provider = self.next_candidate_provider.as_ref()?;
        Some(format!("{provider}/{}", self.next_candidate_model.as_ref()?))
    }
}

impl RotationRecord {
    /// The candidate as `provider/model`.
    pub fn candidate(&self) -> String {
        format!("{}/{}", self.provider, self.model)
    }
}
