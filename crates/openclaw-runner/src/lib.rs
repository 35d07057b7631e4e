#![doc = include_str!("../README.md")]

mod attempt;
mod busy;
mod clock;
mod coalesce;
mod committed;
mod committed_turn;
mod decision;
mod driver;
mod endpoints;
mod error;
mod hash;
pub mod machine;
mod mark;
mod millis;
mod observation;
mod observer;
mod patience;
mod plan;
mod policy;
mod recorder;
mod request;
mod rotation;
mod skip_cache;
mod summary;
pub mod telemetry;
mod user_text;

pub use attempt::{Attempt, AttemptCall, Judgement, Merged, Rejection, RejectionKind, Repair};
pub use clock::{Clock, SystemClock};
pub use coalesce::{Admission, Coalescer};
pub use committed::{CommittedRun, Completed};
pub use decision::{Decision, DecisionKind, FallbackStep, RunEvent, StepOutcome, printable};
pub use driver::Runner;
pub use endpoints::{EndpointKeys, LoginEndpoint, LoginUse, Reach};
pub use error::{FailedAttempt, RunError, RunReport};
pub use machine::{RunLimit, Standing, Winner};
pub use observation::ErrorFields;
pub use observer::{AttemptResult, AttemptSeen, Lost, LostIn, Resting, RunObserver, UsageMoved};
pub use plan::{Plan, Turn, TurnSession, plan};
pub use recorder::{RunRecorder, RunStart, StepRecorder, StepSummary};
pub use request::{
    ChainKind, InlineWait, LargerContext, PersistPolicy, RunLimits, RunOptions, RunPolicy, RunRequest,
    RunSession, RunSettings, unfit,
};
pub use rotation::{RotationDecision, RotationKind};
pub use skip_cache::{Marker, Markers, SkipCache, parse_skip_ttl};
pub use summary::{
    AttemptRecord, CandidateOutcome, FallbackSummaryError, LOGIN_NOT_RENEWED, ProfileFailure, login_command,
};
