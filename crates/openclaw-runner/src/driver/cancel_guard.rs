//! Takes back what a cancelled run has written: the session override and the probe lease (A3, S1).

use std::sync::Arc;

use openclaw_auth_store::{UsageChange, UsageStore};
use openclaw_ids::ProviderId;
use openclaw_session::{Rollback, SessionStore};

use super::Runner;
use crate::clock::Clock;
use crate::driver::active_sessions::ActiveSession;

/// Takes back, when it is dropped, what the run has written and not confirmed.
pub(super) struct CancelGuard<'r, C, U: UsageStore, S: SessionStore>
where
    C: Clock,
{
    pub(super) runner: &'r Runner<C, U, S>,
    pub(super) session: Option<Arc<ActiveSession>>,
    pub(super) rollback: Option<Rollback>,
    pub(super) lease: Option<(ProviderId, String)>,
}

impl<C: Clock, U: UsageStore, S: SessionStore> Drop for CancelGuard<'_, C, U, S> {
    fn drop(&mut self) {
        let now = self.runner.clock.now();
        if let (Some(rollback), Some(busy)) = (self.rollback.take(), &self.session)
            && let Some(transcript) = busy.transcript()
        {
            let rollback = rollback.with_session_id(transcript);
            self.runner
                .sessions
                .enqueue_rollback(&busy.session.key, rollback, now);
        }
        if let Some((provider, holder)) = self.lease.take() {
            self.runner
                .usage
                .enqueue(UsageChange::ProbeEnd { provider, holder }, now);
        }
    }
}
