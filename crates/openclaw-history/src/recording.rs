//! The recording of a run: what it knew and what it met, so that [`replay`](crate::replay) can play it again.
//!
//! A [`RunRecording`] holds no secret: the credentials without their keys, the usage state, the policy as far as it concerns
//! the chain, and for every step when it ended and what came of it. A failure is recorded as it was judged and as records
//! show it, never in the provider's own words.

mod budget;
mod failure;
mod options;
mod policy;
pub(crate) mod recorder;
mod state;

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use openclaw_classify::Reason;
use openclaw_ids::{ModelRef, ProfileId, ProviderId, SessionId};
use openclaw_session::{PinSource, ProfilePin};
use serde::{Deserialize, Serialize};

pub use budget::RecordingBudget;
pub use failure::RecordedFailure;
pub use options::{RecordedOptions, RecordedShortfall};
pub use policy::{RecordedLoginEndpoint, RecordedPolicy, RecordedProfileConfig, RecordedSettings};
pub use recorder::{Recorder, RecordingSink};
pub use state::{Credentials, RecordedProbe, RecordedProfile, StateChanges, UsageState};

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
    #[serde(with = "jiff::fmt::serde::timestamp::millisecond::required")]
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
    /// The profiles that served the session last, by provider (F-2).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sticky_profiles: BTreeMap<ProviderId, ProfileId>,
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
    /// The session was checked for another model that the user chose.
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

pub(crate) fn pin_of(pin: &ProfilePin) -> (ProfileId, PinSource) {
    (pin.profile.clone(), pin.source)
}

pub(crate) fn pinned((profile, source): &(ProfileId, PinSource)) -> ProfilePin {
    ProfilePin {
        profile: profile.clone(),
        source: *source,
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands the member over by reference"
)]
fn is_zero(nanos: &i32) -> bool {
    *nanos == 0
}
