//! What the caller brings: one attempt with one candidate and one credential.

use std::future::Future;

use openclaw_classify::Failure;
use openclaw_ids::{ModelRef, ProfileId};

/// Performs attempts. The runner decides which, when and how many.
///
/// An attempt returns when it can no longer be taken back: a plain answer when it is whole, a stream at its
/// first content. What happens afterwards is told to the run's [`CommittedRun`](crate::CommittedRun).
pub trait Attempt: Send + Sync {
    /// What a successful attempt yields.
    type Output: Send;

    /// Performs one attempt and reports a failure with every fact it knows. Dropping the future cancels it.
    fn attempt(&self, call: AttemptCall) -> impl Future<Output = Result<Self::Output, Failure>> + Send;
}

/// One attempt to make.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttemptCall {
    /// The model to ask.
    pub candidate: ModelRef,
    /// The credential to use; none when the provider has no profile at all (R-9.1b).
    pub profile: Option<ProfileId>,
    /// Position in the chain, from 1.
    pub position: usize,
    /// Length of the chain.
    pub total: usize,
    /// The credential is resting and this attempt may use it all the same (R-4.5b).
    pub allow_transient_cooldown_probe: bool,
    /// No candidate comes after this one.
    pub is_final_fallback_attempt: bool,
}
