//! Makes one attempt: within the run's deadline, reported to the observer, with its probe lease renewed meanwhile.

use std::future::Future;
use std::time::Duration;

use jiff::Timestamp;
use openclaw_auth_store::{UsageChange, UsageStore};
use openclaw_classify::{Failure, classify};
use openclaw_ids::ProviderId;
use openclaw_session::SessionStore;
use tokio::time::Instant;
use tracing::Instrument;

use super::Runner;
use crate::attempt::{Attempt, AttemptCall};
use crate::clock::Clock;
use crate::observer::{AttemptObservation, AttemptResult};
use crate::telemetry;

/// How often a probe in flight renews its lease (G4).
const LEASE_RENEWAL: Duration = Duration::from_secs(20);

impl<C: Clock, U: UsageStore, S: SessionStore> Runner<C, U, S> {
    /// The outcome, unless the run's time is over first (A8). What is ready at that very instant counts.
    pub(super) async fn in_time<T>(
        &self,
        deadline: Option<Timestamp>,
        work: impl Future<Output = T>,
    ) -> Option<T> {
        let Some(deadline) = deadline else {
            return Some(work.await);
        };
        let left = Duration::try_from(deadline.duration_since(self.clock.now()));
        tokio::time::timeout(left.unwrap_or_default(), work).await.ok()
    }

    /// Makes an attempt and tells of it when it is over; none when the time of the run was over first.
    pub(super) async fn timed<T>(
        &self,
        run_id: &str,
        call: &AttemptCall,
        made: impl Future<Output = Option<Result<T, Failure>>>,
    ) -> Option<Result<T, Failure>> {
        let (span, started) = (telemetry::attempt_span(call), Instant::now());
        let made = made.instrument(span.clone()).await;
        if !self.watcher.is_watching() && span.is_disabled() {
            // A failure is classified a second time only when an observer or a span needs it.
            return made;
        }
        let verdict = match &made {
            Some(Err(failure)) => classify(failure, self.clock.now()),
            Some(Ok(_)) | None => None,
        };
        let (result, status) = match &made {
            None => (AttemptResult::OutOfTime, None),
            Some(Ok(_)) => (AttemptResult::Answered, None),
            Some(Err(failure)) => (AttemptResult::Failed(verdict.as_ref()), failure.status),
        };
        telemetry::attempted(&span, result, status);
        self.watcher.attempt(&AttemptObservation {
            run_id,
            candidate: &call.candidate,
            position: call.position,
            elapsed: started.elapsed(),
            result,
        });
        made
    }

    /// One attempt; while it probes, its lease is renewed (G4).
    pub(super) async fn attempt<A: Attempt>(
        &self,
        call: AttemptCall,
        attempt: &A,
        lease: Option<&(ProviderId, String)>,
    ) -> Result<A::Output, Failure> {
        if let Some(profile) = &call.profile {
            self.usage.enqueue(
                UsageChange::Used {
                    profile: profile.clone(),
                },
                self.clock.now(),
            );
        }
        let mut work = std::pin::pin!(attempt.attempt(call));
        let Some((provider, holder)) = lease else {
            return work.await;
        };
        loop {
            tokio::select! {
                biased;
                outcome = &mut work => return outcome,
                () = tokio::time::sleep(LEASE_RENEWAL) => {
                    let renewal = UsageChange::ProbeRenew { provider: provider.clone(), holder: holder.clone() };
                    self.usage.enqueue(renewal, self.clock.now());
                }
            }
        }
    }
}

/// What `made` comes to, with `mark` done by then.
pub(super) async fn beside<T>(mark: Option<impl Future<Output = ()>>, made: impl Future<Output = T>) -> T {
    match mark {
        None => made.await,
        Some(mark) => tokio::join!(mark, made).1,
    }
}
