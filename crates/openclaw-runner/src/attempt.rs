//! The attempt that the caller implements: one call of one candidate with one credential.

use std::future::Future;

use openclaw_classify::Failure;
use openclaw_ids::{ModelRef, ProfileId};
use openclaw_session::Progress;

/// Performs attempts. The runner decides which, when and how many.
///
/// An attempt returns when it can no longer be taken back: a plain answer when it is whole, a stream at its
/// first content. What happens afterwards is told to the run's [`CommittedRun`](crate::CommittedRun).
pub trait Attempt: Send + Sync {
    /// What a successful attempt yields.
    type Output: Send;

    /// Performs one attempt and reports a failure with every fact it knows. Dropping the future cancels it.
    fn attempt(&self, call: AttemptCall) -> impl Future<Output = Result<Self::Output, Failure>> + Send;

    /// Judges an answer that an attempt returned: it may be a failure all the same. Every answer is accepted
    /// unless this says otherwise.
    fn classify_result(&self, output: &Self::Output, call: &AttemptCall) -> Judgement {
        let _ = (output, call);
        Judgement::Accepted
    }

    /// Joins the last rejected answer with the preserved one when the chain ends without a good one. The
    /// preserved answer stands alone unless this says otherwise. Not called when they are the same.
    fn merge_exhausted(&self, latest: Self::Output, preserved: Self::Output) -> MergedAnswer<Self::Output> {
        drop(latest);
        MergedAnswer::Preserved(preserved)
    }

    /// Repairs the request after a format failure, so that the same candidate and credential can be tried once more
    /// (R4). Asked once per candidate; nothing is repaired unless this says otherwise.
    fn repair_format(&self, call: &AttemptCall, failure: &Failure) -> Repair {
        let _ = (call, failure);
        Repair::None
    }

    /// What the outside world has seen of this turn by now. Asked after a failed attempt: once anything was
    /// delivered or done, no further attempt is made (BL-92).
    fn progress(&self) -> Progress {
        Progress::Clean
    }
}

/// What an answer is worth.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Judgement {
    /// It is the answer of the run.
    Accepted,
    /// It counts as a failure of its candidate.
    Rejected(Rejection),
}

/// An answer that counts as a failure.
#[derive(Clone, PartialEq, Eq)]
pub struct Rejection {
    /// What is wrong with it, in the members of a failure.
    pub failure: Failure,
    /// How the failure is to be read.
    pub kind: RejectionKind,
    /// Set when the answer may be delivered should nothing better come; the highest number wins, the later answer
    /// on ties.
    pub preserve: Option<i32>,
}

impl std::fmt::Debug for Rejection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The failure holds a provider's words as they came, and they may quote a key.
        f.debug_struct("Rejection")
            .field("kind", &self.kind)
            .field("preserve", &self.preserve)
            .finish_non_exhaustive()
    }
}

/// How the failure of a rejected answer is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RejectionKind {
    /// The answer carries a provider's failure, which is classified like any other.
    Failure,
    /// Nothing in it is of use: empty, reasoning alone, incomplete. Its reason is `empty_response` (A1).
    Useless,
}

/// Whether a request was repaired (R4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repair {
    /// The next attempt sends the repaired request.
    Done,
    /// There is nothing to repair.
    None,
}

/// An answer made at the end of a chain without a good one, and whose name it bears.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MergedAnswer<T> {
    /// The candidate that answered last.
    Latest(T),
    /// The candidate whose answer was preserved.
    Preserved(T),
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
    /// The credential is cooling down and this attempt may use it all the same (R-4.5b).
    pub allow_transient_cooldown_probe: bool,
    /// The attempt is made to find out whether something that cools down works again.
    pub is_probe: bool,
    /// No candidate comes after this one.
    pub is_final_fallback_attempt: bool,
}
