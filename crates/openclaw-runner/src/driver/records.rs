//! Hands the records of a run to the log and to the observer.

use std::sync::PoisonError;

use openclaw_auth_store::UsageStore;
use openclaw_session::SessionStore;

use super::Runner;
use crate::clock::Clock;
use crate::record::decision::{Decision, RunEvent};
use crate::telemetry;
use crate::telemetry::log_dedup::LogAdmission;

impl<C: Clock, U: UsageStore, S: SessionStore> Runner<C, U, S> {
    /// the log alone leaves out what it just said; observers and reports are told everything.
    fn log_decision(&self, decision: &Decision) {
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        let admission = log.admit(decision, self.clock.now());
        drop(log);
        match admission {
            LogAdmission::Suppress => {}
            LogAdmission::Write { suppressed: 0 } => telemetry::emit_decision(decision),
            LogAdmission::Write { suppressed } => telemetry::emit_decision(&Decision {
                suppressed_duplicate_count: suppressed,
                ..decision.clone()
            }),
        }
    }

    pub(super) fn emit(&self, events: &[RunEvent]) -> usize {
        for event in events {
            match event {
                RunEvent::Candidate(decision) => self.log_decision(decision),
                RunEvent::Rotation(rotation) => telemetry::emit_rotation(rotation),
            }
            self.watcher.event(event);
        }
        events.len()
    }
}
