//! What is kept of a run so that it can be played again.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use openclaw_classify::{
    Certainty, Failure, HintSource, Owner, Reason, ResetHint, RuleId, Scope, TimeoutPhase, TimerOwner,
    Transport, Verdict,
};
use openclaw_ids::{ModelRef, ProfileId, ProviderId, SessionId};
use openclaw_session::{PinSource, ProfilePin};
use serde::{Deserialize, Serialize};

use super::policy::RecordedPolicy;
use super::state::{StateChanges, UsageState};
use crate::error::FailedAttempt;
use crate::machine::RejectedAnswer;
use crate::observation::ErrorFields;
use crate::summary::{AttemptRecord, CandidateOutcome};

/// One run as it was: what it was asked, what it knew, what it met. Serialises to one JSON object without secrets; its
/// length is bounded by the chain, the credentials of the chain's providers and the steps a run can take.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunRecording {
    /// Names the run.
    pub run_id: String,
    /// Names the run in leases.
    pub(crate) holder: String,
    /// When it began, in Unix milliseconds.
    #[serde(with = "instant")]
    pub started_at: Timestamp,
    /// What of a millisecond `started_at` leaves out, in nanoseconds.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) started_at_nanos: i32,
    /// The session, when there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// The caller's queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lane: Option<String>,
    /// The provider as it was asked for.
    pub requested_provider: String,
    /// The model as it was asked for.
    pub requested_model: String,
    /// The candidates in order.
    pub chain: Vec<ModelRef>,
    /// The profile pin and who made it: `auto` or `user`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pin: Option<(ProfileId, PinSource)>,
    /// What the run did otherwise than others.
    pub options: RecordedOptions,
    /// The policy, as far as it concerns the chain.
    pub policy: RecordedPolicy,
    /// The usage state that the run began with, as far as it concerns the chain.
    pub state: UsageState,
    /// Fallbacks that had refused their login in the session a short while before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub auth_skips: Vec<RecordedSkip>,
    /// What the run did and met, in order.
    pub steps: Vec<RecordedStep>,
}

/// Options of one run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RecordedOptions {
    /// The most attempts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_attempts: Option<usize>,
    /// The longest time, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_duration_ms: Option<u64>,
    /// Whether it was a chain of image models.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub image: bool,
    /// Providers that manage their own credentials.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub own_auth: Vec<ProviderId>,
    /// Credentials that could not serve the run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub set_aside: Vec<ProfileId>,
    /// Sizes of models in tokens, when an overflow may go on to a larger one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_windows: Option<Vec<(ModelRef, u64)>>,
    /// The size of the prompt in tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_tokens: Option<u64>,
    /// How long the only candidate is waited for, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait_for_reset_ms: Option<u64>,
    /// Fallbacks that cannot serve the request.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unfit: Vec<RecordedShortfall>,
}

/// A fallback that cannot serve the request, and why: for its window, its images, or its tools.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RecordedShortfall {
    /// The fallback.
    pub model: ModelRef,
    /// Whether it takes no images, rather than call no tools; only without a window.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub images: bool,
    /// How many tokens it holds, and how many are needed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<(u64, u64)>,
}

/// A fallback that is skipped because it refused its login.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RecordedSkip {
    /// The fallback.
    pub model: ModelRef,
    /// How it refused.
    pub reason: Reason,
    /// Until when it is skipped, in nanoseconds after the start.
    pub until: i64,
}

/// One step of the run and what came of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RecordedStep {
    /// When it ended, in nanoseconds after the start of the run.
    pub at: i64,
    /// What it was.
    #[serde(flatten)]
    pub result: StepResult,
}

/// What a step was and what came of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", tag = "did")]
pub enum StepResult {
    /// A candidate answered.
    Answered {
        /// Who.
        model: ModelRef,
        /// With which credential.
        profile: Option<ProfileId>,
    },
    /// Usage state was written, or could not be.
    Committed {
        /// What kind of change it was.
        change: String,
        /// Whether the change took effect: `done`, `heldElsewhere`, `unchanged` or `lost`.
        applied: String,
        /// What others had changed by then.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        others: Option<Box<StateChanges>>,
    },
    /// A candidate failed, or its answer was of no use.
    Failed {
        /// Who.
        model: ModelRef,
        /// With which credential.
        profile: Option<ProfileId>,
        /// How.
        failure: Box<RecordedFailure>,
    },
    /// Somebody looked whether a person had chosen another model.
    Looked {
        /// The choice.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        chosen: Option<RecordedSelection>,
        /// The credentials of its provider, when the chain had none of it before.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        others: Option<Box<StateChanges>>,
    },
    /// A refused login was noted in the session.
    Noted,
    /// A candidate had not answered when the run's time was over.
    OutOfTime {
        /// Who.
        model: ModelRef,
        /// With which credential.
        profile: Option<ProfileId>,
    },
    /// The request was looked at for a repair.
    Repaired {
        /// For whom.
        model: ModelRef,
        /// Whether it was repaired.
        done: bool,
    },
    /// The session was written, which decides nothing and takes time.
    Session {
        /// What was written; nothing in older recordings.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        wrote: Option<SessionWrite>,
    },
    /// The run waited.
    Waited {
        /// How long, in milliseconds.
        ms: u64,
    },
}

/// What a run writes to its session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum SessionWrite {
    /// The candidate that is about to be asked.
    Choice,
    /// That the primary is being probed.
    Probe,
    /// What was there before the choice.
    WayBack,
}

/// What a person chose while the run was busy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RecordedSelection {
    /// The model.
    pub model: ModelRef,
    /// The runtime.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime: Option<String>,
    /// The profile and who pinned it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pin: Option<(ProfileId, PinSource)>,
}

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

impl RunRecording {
    /// When the run began, exactly.
    pub(crate) fn start(&self) -> Timestamp {
        let rest = SignedDuration::from_nanos(self.started_at_nanos.into());
        self.started_at.saturating_add(rest).unwrap_or(self.started_at)
    }

    /// The instant `nanos` after the start.
    pub(crate) fn after(&self, nanos: i64) -> Timestamp {
        let start = self.start();
        let after = start.saturating_add(SignedDuration::from_nanos(nanos));
        after.unwrap_or(start)
    }
}

/// Nanoseconds from `start` to `at`; saturates after 292 years.
pub(crate) fn nanos(start: Timestamp, at: Timestamp) -> i64 {
    let passed = at.duration_since(start).as_nanos();
    i64::try_from(passed).unwrap_or(if passed < 0 { i64::MIN } else { i64::MAX })
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
        let rule = RuleId::written(&self.rule);
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

pub(crate) fn pin_of(pin: &ProfilePin) -> (ProfileId, PinSource) {
    (pin.profile.clone(), pin.source)
}

pub(crate) fn pinned((profile, source): &(ProfileId, PinSource)) -> ProfilePin {
    ProfilePin {
        profile: profile.clone(),
        source: *source,
    }
}

pub(crate) fn whole_millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands the member over by reference"
)]
fn is_zero(nanos: &i32) -> bool {
    *nanos == 0
}

/// An instant as Unix milliseconds.
pub(crate) mod instant {
    use jiff::Timestamp;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(at: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i64(at.as_millisecond())
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Timestamp, D::Error> {
        let millis = i64::deserialize(deserializer)?;
        Timestamp::from_millisecond(millis).map_err(serde::de::Error::custom)
    }
}
