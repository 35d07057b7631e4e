#![doc = include_str!("../README.md")]

mod attempt;
mod clock;
mod driver;
mod error;
pub mod machine;
mod observer;
mod record;
mod recorder;
mod request;
mod skip_cache;
pub mod telemetry;

pub use attempt::{Attempt, AttemptCall, Judgement, MergedAnswer, Rejection, RejectionKind, Repair};
pub use clock::{Clock, SystemClock};
pub use driver::Runner;
pub use driver::committed_run::{CommittedRun, CompletedRun};
pub use error::RunError;
pub use machine::{RunLimit, Standing, Winner};
pub use observer::{
    AttemptObservation, AttemptResult, CooldownWindows, LostWrite, RunObserver, StoreKind, UsageTransition,
};
pub use record::decision::{Decision, DecisionKind, FallbackStep, RunEvent, StepOutcome, printable};
pub use record::error_fields::ErrorFields;
pub use record::report::{FailedAttempt, RunReport};
pub use record::rotation::{RotationDecision, RotationKind};
pub use record::summary::{
    AttemptRecord, CandidateOutcome, FallbackSummaryError, LOGIN_NOT_RENEWED, ProfileFailure, login_command,
};
pub use recorder::{RunRecorder, RunStart, StepRecorder, StepSummary};
pub use request::endpoints::{EndpointKeys, LoginEndpoint, LoginUse, Reach};
pub use request::plan::{Plan, Turn, TurnSession, plan};
pub use request::{
    ChainKind, InlineWait, LargerContext, PersistPolicy, RunLimits, RunOptions, RunPolicy, RunRequest,
    RunSession, RunSettings, incompatible,
};
pub use skip_cache::{Marker, Markers, SkipCache, parse_skip_ttl};
pub use telemetry::log_dedup::{LogAdmission, LogDedup};
