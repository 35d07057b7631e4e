//! The observer of runs: it is called for every record, attempt, change of usage state and lost write.

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use openclaw_auth_store::{AuthSnapshot, ChangeOutcome, EndpointKey, StoreError, UsageChange, UsageStore};
use openclaw_classify::Verdict;
use openclaw_cooldown::{EndpointWindow, Lane, Window};
use openclaw_ids::{ModelRef, ProfileId, ProviderId};

use crate::record::decision::RunEvent;

/// Is told of what happens in runs as it happens, for example to print or to count it. None of its methods should
/// block.
pub trait RunObserver: Send + Sync {
    /// Called with every record, before the next step of the run begins.
    fn on_event(&self, event: &RunEvent);

    /// Called when an attempt is over. Nothing by default.
    fn on_attempt(&self, attempt: &AttemptObservation<'_>) {
        let _ = attempt;
    }

    /// Called when something could not be written, and the run goes on without it. Nothing by default.
    fn on_lost(&self, what: LostWrite) {
        let _ = what;
    }

    /// Called when a run changed a cooldown of a credential or an endpoint. Nothing by default.
    fn on_usage(&self, moved: &UsageTransition<'_>) {
        let _ = moved;
    }
}

/// One attempt that is over.
#[derive(Debug, Clone, Copy)]
pub struct AttemptObservation<'a> {
    /// The run.
    pub run_id: &'a str,
    /// The candidate.
    pub candidate: &'a ModelRef,
    /// Its position in the chain, from 1.
    pub position: usize,
    /// How long it took: until its failure, or until its answer cannot be taken back.
    pub elapsed: Duration,
    /// What came of it.
    pub result: AttemptResult<'a>,
}

/// What came of an attempt.
#[derive(Debug, Clone, Copy)]
pub enum AttemptResult<'a> {
    /// It was answered; the caller may still have refused what the answer was worth.
    Answered,
    /// It failed; without a verdict where the failure says nothing.
    Failed(Option<&'a Verdict>),
    /// The time of the run was over first (A8).
    OutOfTime,
}

/// What a run changed about the cooldowns of a credential or an endpoint.
#[derive(Debug, Clone, Copy)]
pub struct UsageTransition<'a> {
    /// The run.
    pub run_id: &'a str,
    /// The windows before.
    pub before: &'a CooldownWindows,
    /// The windows now. Other tasks may have changed more in between.
    pub after: &'a CooldownWindows,
    /// When.
    pub at: Timestamp,
}

/// The cooldown windows of a credential or an endpoint, active and past.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CooldownWindows {
    /// An endpoint.
    Endpoint(EndpointKey, Option<EndpointWindow>),
    /// A credential.
    Profile {
        /// Its name.
        profile: ProfileId,
        /// Whose it is; none when it is not known any more.
        provider: Option<ProviderId>,
        /// Its windows.
        windows: BTreeMap<Lane, Window>,
    },
}

impl CooldownWindows {
    /// What `snapshot` knows of that which `change` may set to cool down or set free; none for a change that does neither.
    pub fn of(change: &UsageChange, snapshot: &AuthSnapshot) -> Option<Self> {
        match change {
            UsageChange::Clear { profile }
            | UsageChange::ClearLane { profile, .. }
            | UsageChange::CoolDown { profile, .. }
            | UsageChange::StatedEnd { profile, .. }
            | UsageChange::Failure { profile, .. }
            | UsageChange::Success { profile, .. } => {
                let credential = snapshot.credential(profile);
                Some(Self::Profile {
                    profile: profile.clone(),
                    provider: credential.map(|credential| credential.provider().clone()),
                    windows: snapshot.usage(profile).windows.clone(),
                })
            }
            UsageChange::EndpointFailure { endpoint, .. } | UsageChange::EndpointSuccess { endpoint } => {
                let window = snapshot.endpoints.get(endpoint).copied();
                Some(Self::Endpoint(endpoint.clone(), window))
            }
            UsageChange::ProbeEnd { .. }
            | UsageChange::ProbeRenew { .. }
            | UsageChange::ProbeStart { .. }
            | UsageChange::Used { .. } => None,
        }
    }
}

/// What a run could not write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LostWrite {
    /// What the session remembers of an answer.
    Answer,
    /// The model in use.
    Choice,
    /// A mark for an answer that broke off.
    LateFailure,
    /// That a notice was handed over.
    Notice,
    /// That the session's primary was tried again.
    ProbeMark,
    /// That the model in use is taken back.
    Rollback,
    /// A mark for a good answer.
    SuccessMark,
    /// What a person marked meanwhile.
    Switch,
    /// Any other change of a credential's or an endpoint's state.
    UsageState,
}

impl LostWrite {
    /// What it is, for people.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Answer => "answer in the session",
            Self::Choice => "fallback choice",
            Self::LateFailure => "late failure",
            Self::Notice => "hand-over of a notice",
            Self::ProbeMark => "probe mark",
            Self::Rollback => "rollback",
            Self::SuccessMark => "success mark",
            Self::Switch => "switch of a person",
            Self::UsageState => "usage state",
        }
    }

    /// Which store could not be written.
    pub fn store(self) -> StoreKind {
        match self {
            Self::Answer | Self::Choice | Self::Notice | Self::ProbeMark | Self::Rollback | Self::Switch => {
                StoreKind::Sessions
            }
            Self::LateFailure | Self::SuccessMark | Self::UsageState => StoreKind::Credentials,
        }
    }
}

/// A store that could not be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StoreKind {
    /// The credentials and their state.
    Credentials,
    /// The sessions.
    Sessions,
}

/// The observer of a runner, if it has one.
#[derive(Clone, Default)]
pub(crate) struct Watcher(Option<Arc<dyn RunObserver>>);

impl Watcher {
    pub(crate) fn new(observer: Arc<dyn RunObserver>) -> Self {
        Self(Some(observer))
    }

    /// Whether there is an observer.
    pub(crate) fn is_watching(&self) -> bool {
        self.0.is_some()
    }

    pub(crate) fn event(&self, event: &RunEvent) {
        if let Some(observer) = &self.0 {
            observer.on_event(event);
        }
    }

    pub(crate) fn attempt(&self, attempt: &AttemptObservation<'_>) {
        if let Some(observer) = &self.0 {
            observer.on_attempt(attempt);
        }
    }

    /// Says what could not be written, and why with all causes, as one line.
    pub(crate) fn lost(&self, what: LostWrite, error: &(dyn Error + 'static)) {
        let mut line = error.to_string();
        let mut source = error.source();
        while let Some(cause) = source {
            line.push_str(": ");
            line.push_str(&cause.to_string());
            source = cause.source();
        }
        tracing::error!(
            what = what.as_str(),
            error = line.as_str(),
            "could not be written; the run goes on"
        );
        if let Some(observer) = &self.0 {
            observer.on_lost(what);
        }
    }

    /// Makes a change durable, and tells what it changed.
    pub(crate) async fn commit<U: UsageStore>(
        &self,
        usage: &U,
        run_id: &str,
        change: UsageChange,
        at: Timestamp,
    ) -> Result<ChangeOutcome, StoreError> {
        let Some(observer) = &self.0 else {
            return usage.commit(change, at).await;
        };
        let before = CooldownWindows::of(&change, &usage.snapshot());
        let seen = before.is_some().then(|| change.clone());
        let applied = usage.commit(change, at).await;
        // An engine that could not write holds the change in memory all the same.
        let after = seen.and_then(|change| CooldownWindows::of(&change, &usage.snapshot()));
        if let (Some(before), Some(after)) = (&before, &after)
            && before != after
        {
            observer.on_usage(&UsageTransition {
                run_id,
                before,
                after,
                at,
            });
        }
        applied
    }
}
