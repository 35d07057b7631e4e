//! Failures that are classified already, as a recording holds them.

use std::sync::Arc;

use openclaw_auth_store::AuthSnapshot;
use openclaw_session::Progress;
use serde::{Deserialize, Serialize};

use super::failed_attempt::login_mode;
use super::{Machine, Standing};
use crate::record::report::FailedAttempt;

/// A failed attempt with the classification it got when it happened.
#[derive(Debug)]
pub struct ClassifiedFailure {
    /// The failure, its verdict, and what records show of it.
    pub attempt: FailedAttempt,
    /// What had been seen of it.
    pub progress: Progress,
    /// The answer that was rejected, when it was one.
    pub rejected: Option<RejectedAnswer>,
}

/// An answer that counted as a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RejectedAnswer {
    /// The priority it is kept with for the end of the chain; none when it is not.
    pub preserve: Option<i32>,
}

impl Machine {
    /// The latest failure of the current candidate, as it was classified.
    pub fn last_failure(&self) -> Option<&FailedAttempt> {
        self.current.as_ref()?.last_failure()
    }

    /// Replaces what is known of the usage state between two steps.
    pub fn learn(&mut self, snapshot: Arc<AuthSnapshot>) {
        self.snapshot = snapshot;
    }

    pub(super) fn on_judged(&mut self, judged: ClassifiedFailure) {
        let ClassifiedFailure {
            mut attempt,
            progress,
            rejected,
        } = judged;
        if let Some((winner, answer)) = self.in_use(Standing::Preserved).zip(rejected) {
            self.rejected.note(self.calls, answer.preserve, winner);
        }
        let credential = self.current.as_ref().and_then(|current| current.profile());
        let credential = credential.and_then(|id| self.snapshot.credential(id));
        attempt.record.auth_mode = credential.and_then(login_mode);
        self.fail_with(attempt, progress);
        self.rejected.was_last = rejected.is_some();
    }
}
