//! The only candidate is waited for until its limit is over, where that is wished (BL-91).

use std::sync::Arc;
use std::time::Duration;

use openclaw_classify::Reason;

use super::{Machine, NextAction, Step};
use crate::record::decision::RunEvent;
use crate::record::error_fields::ErrorFields;
use crate::record::rotation::{RotationDecision, RotationKind};
use crate::request::ChainKind;

/// No run waits more often than this; each wait is at least as long as the shortest cooldown.
pub(super) const MOST_WAITS: usize = 16;

/// How long a run may still wait.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ResetWait {
    left: Duration,
    /// How often it did.
    pub(super) made: usize,
}

impl ResetWait {
    pub(super) fn new(longest: Option<Duration>) -> Self {
        Self {
            left: longest.unwrap_or_default(),
            made: 0,
        }
    }

    /// Whether the run may wait at all.
    pub(super) fn is_wished(&self) -> bool {
        !self.left.is_zero()
    }
}

impl Machine {
    /// Waits until the only candidate is back, when it cools down for `reason` and back in time; then it is entered
    /// again. What cools down until an operator acts is not waited for.
    pub(super) fn waits_for_reset(&mut self, index: usize, reason: Reason) -> bool {
        let worth = matches!(reason, Reason::Overloaded | Reason::RateLimit);
        let alone = self.request.chain.len() == 1 && !self.redirects.are_made();
        if !worth || !alone || self.kind == ChainKind::Image || self.reset_wait.made >= MOST_WAITS {
            return false;
        }
        let current = self.current.as_ref();
        if current.is_some_and(|current| current.failing().is_some_and(|(_, stays, _)| stays)) {
            return false;
        }
        let wait = self.soonest_expiry().map(|until| until.duration_since(self.now));
        let Some(wait) = wait.and_then(|wait| Duration::try_from(wait).ok()) else {
            return false;
        };
        if wait.is_zero() || wait > self.reset_wait.left || self.within_time(wait) < wait {
            return false;
        }
        self.reset_wait.left -= wait;
        self.reset_wait.made += 1;
        if current.is_some() {
            self.record_rotation(RotationKind::WaitForReset);
        } else {
            self.record_wait(index, reason);
        }
        if let Some(mut current) = self.current.take() {
            self.undo(&mut current);
            // Should the candidate not even be asked again, this is why the run failed.
            self.last_failed = current.failures.pop();
        }
        self.pending.push_back(Step::Sleep(wait));
        self.then = NextAction::Enter(index);
        true
    }

    /// As [`waits_for_reset`](Self::waits_for_reset), for the candidate at hand.
    pub(super) fn waits_for_reset_of_current(&mut self, reason: Reason) -> bool {
        let index = self.current.as_ref().map(|current| current.index);
        index.is_some_and(|index| self.waits_for_reset(index, reason))
    }

    /// A wait for a candidate that was cooling down before it was called.
    fn record_wait(&mut self, index: usize, reason: Reason) {
        let record = RotationDecision {
            run_id: self.request.run_id.clone(),
            kind: RotationKind::WaitForReset,
            reason,
            candidate: self.request.chain[index].clone(),
            profile_hash: "-".to_owned(),
            auth_mode: None,
            status: None,
            error: ErrorFields::default(),
            redirected_to: None,
            rests_until: self.soonest_expiry(),
            elapsed: self.elapsed(),
        };
        self.events.push(RunEvent::Rotation(Arc::new(record)));
    }
}
