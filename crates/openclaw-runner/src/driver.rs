//! The async shell: executes the machine's steps and decides nothing.

use std::sync::Arc;
use std::time::Duration;

use openclaw_auth_store::{Applied, UsageChange, UsageStore};
use openclaw_ids::{ProviderId, SessionKey};
use openclaw_session::{Persisted, Rollback, SessionStore};
use tracing::Instrument;

use crate::attempt::{Attempt, AttemptCall};
use crate::clock::Clock;
use crate::committed::{CommittedRun, Completed};
use crate::decision::{RunEvent, RunObserver};
use crate::error::RunError;
use crate::machine::{Event, Machine, Outcome, Step, Winner};
use crate::request::{RunPolicy, RunRequest, RunSession};
use crate::telemetry;

/// How often a probe in flight renews its lease (G4).
const LEASE_RENEWAL: Duration = Duration::from_secs(20);

/// Runs requests over chains of models. Cheap to clone; one per agent, since usage state is per agent.
pub struct Runner<C, U, S> {
    clock: Arc<C>,
    usage: Arc<U>,
    sessions: Arc<S>,
    policy: Arc<RunPolicy>,
    observer: Option<Arc<dyn RunObserver>>,
}

impl<C, U, S> Clone for Runner<C, U, S> {
    fn clone(&self) -> Self {
        Self {
            clock: Arc::clone(&self.clock),
            usage: Arc::clone(&self.usage),
            sessions: Arc::clone(&self.sessions),
            policy: Arc::clone(&self.policy),
            observer: self.observer.clone(),
        }
    }
}

impl<C: Clock, U: UsageStore, S: SessionStore> Runner<C, U, S> {
    /// A runner over these stores.
    pub fn new(clock: Arc<C>, usage: Arc<U>, sessions: Arc<S>, policy: Arc<RunPolicy>) -> Self {
        Self {
            clock,
            usage,
            sessions,
            policy,
            observer: None,
        }
    }

    /// Tells `observer` of every record as it is made.
    #[must_use]
    pub fn with_observer(mut self, observer: Arc<dyn RunObserver>) -> Self {
        self.observer = Some(observer);
        self
    }

    /// Runs one request until a candidate answers or nothing is left to try.
    ///
    /// Dropping the future cancels the run: what was written to the session is taken back before any later read
    /// of it, a probe's lease ends, and no failure is booked (A3, S1).
    ///
    /// # Errors
    /// [`RunError`], with everything that was decided on the way.
    pub async fn run<A: Attempt>(
        &self,
        request: RunRequest,
        attempt: &A,
    ) -> Result<Completed<A::Output, C, U, S>, RunError> {
        let span = tracing::info_span!(
            "run",
            otel.name = telemetry::RUN_SPAN,
            runId = request.run_id.as_str(),
            requestedProvider = request.requested.provider.as_str(),
            requestedModel = request.requested.model.as_str(),
            candidates = request.chain.len(),
        );
        self.drive(request, attempt).instrument(span).await
    }

    async fn drive<A: Attempt>(
        &self,
        request: RunRequest,
        attempt: &A,
    ) -> Result<Completed<A::Output, C, U, S>, RunError> {
        let session = request.session.clone();
        let key = session.as_ref().map(|session| session.key.clone());
        let mut undo = Undo {
            runner: self,
            key,
            rollback: None,
            lease: None,
        };
        let holder = request.run_id.clone();
        let mut machine = Machine::new(
            request,
            Arc::clone(&self.policy),
            holder,
            self.usage.snapshot(),
            self.clock.now(),
        );
        let mut emitted = 0;
        let mut answer = None;
        for _ in 0..machine.max_steps() {
            let step = machine.next();
            emitted += self.emit(machine.events_since(emitted));
            let event = match step {
                Step::Attempt(call) => match self.attempt(call, attempt, undo.lease.as_ref()).await {
                    Ok(output) => {
                        answer = Some(output);
                        // First content cannot be taken back, and neither can the choice it stands for (S1).
                        undo.rollback = None;
                        Event::Succeeded
                    }
                    Err(failure) => Event::Failed(Box::new(failure)),
                },
                Step::Commit(change) => self.commit(change, &mut undo).await,
                Step::Finish(outcome) => return self.finish(*outcome, answer, session),
                Step::MarkPrimaryProbe => {
                    self.mark_primary_probe(session.as_ref()).await;
                    Event::Done
                }
                Step::Persist(change) => {
                    self.persist(session.as_ref(), &change, &mut undo.rollback).await;
                    Event::Persisted(undo.rollback.clone().map(Box::new))
                }
                Step::RollBack(rollback) => {
                    self.roll_back(session.as_ref(), &rollback).await;
                    undo.rollback = None;
                    Event::Done
                }
                Step::Sleep(wait) => {
                    tokio::time::sleep(wait).await;
                    Event::Done
                }
            };
            machine.on(event, self.clock.now());
        }
        let outcome = machine.give_up();
        self.finish(outcome, answer, session)
    }

    /// One attempt; while it probes, its lease is renewed (G4).
    async fn attempt<A: Attempt>(
        &self,
        call: AttemptCall,
        attempt: &A,
        lease: Option<&(ProviderId, String)>,
    ) -> Result<A::Output, openclaw_classify::Failure> {
        if let Some(profile) = &call.profile {
            self.usage.enqueue(
                UsageChange::Used {
                    profile: profile.clone(),
                },
                self.clock.now(),
            );
        }
        let span = tracing::info_span!(
            "attempt",
            otel.name = telemetry::ATTEMPT_SPAN,
            provider = call.candidate.provider().as_str(),
            model = call.candidate.model().as_str(),
            position = call.position,
        );
        let mut work = std::pin::pin!(attempt.attempt(call).instrument(span));
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

    async fn commit(&self, change: UsageChange, undo: &mut Undo<'_, C, U, S>) -> Event {
        let ends = matches!(change, UsageChange::ProbeEnd { .. });
        if let UsageChange::ProbeStart { provider, holder } = &change {
            // Armed before the write: a run dropped in the middle of it still gives the lease back.
            undo.lease = Some((provider.clone(), holder.clone()));
        }
        match self.usage.commit(change, self.clock.now()).await {
            Ok(applied) => {
                if ends || applied == Applied::HeldElsewhere {
                    undo.lease = None;
                }
                Event::Committed(self.usage.snapshot(), applied)
            }
            Err(error) => {
                warn_lost("usage state", &error);
                Event::CommitFailed
            }
        }
    }

    /// Writes the choice; `undo` is armed before the write, so that a run dropped in the middle of it is undone.
    async fn persist(
        &self,
        session: Option<&RunSession>,
        change: &openclaw_session::PersistFallback,
        undo: &mut Option<Rollback>,
    ) {
        let Some(session) = session else { return };
        let now = self.clock.now();
        let written = openclaw_session::update(&*self.sessions, &session.key, |entry| {
            *undo = None;
            let Some(entry) = entry else { return (None, ()) };
            let (entry, persisted) = openclaw_session::persist_fallback(entry, change, now);
            match persisted {
                Persisted::Written(rollback) => *undo = Some(rollback),
                Persisted::Skipped(cause) => {
                    tracing::debug!(?cause, "fallback choice not written to the session");
                }
            }
            (entry, ())
        });
        if let Err(error) = written.await {
            // S-3.7: the attempt goes ahead; a write that did happen is still taken back when it fails.
            warn_lost("fallback choice", &error);
        }
    }

    async fn roll_back(&self, session: Option<&RunSession>, rollback: &Rollback) {
        let Some(session) = session else { return };
        let now = self.clock.now();
        let undone = openclaw_session::update(&*self.sessions, &session.key, |entry| {
            (
                entry.and_then(|entry| openclaw_session::roll_back(entry, rollback, now)),
                (),
            )
        });
        if let Err(error) = undone.await {
            // S-4.4: the attempt's own failure matters more.
            warn_lost("rollback", &error);
        }
    }

    async fn mark_primary_probe(&self, session: Option<&RunSession>) {
        let Some((session, probe)) = session.and_then(|session| Some((session, session.probe.as_ref()?)))
        else {
            return;
        };
        let now = self.clock.now();
        let marked = openclaw_session::update(&*self.sessions, &session.key, |entry| {
            (
                entry.and_then(|entry| openclaw_session::mark_probe(entry, probe, now)),
                (),
            )
        });
        if let Err(error) = marked.await {
            warn_lost("probe mark", &error);
        }
    }

    fn finish<T>(
        &self,
        outcome: Outcome,
        answer: Option<T>,
        session: Option<RunSession>,
    ) -> Result<Completed<T, C, U, S>, RunError> {
        match (outcome, answer) {
            (Outcome::Completed(winner, report), Some(value)) => {
                let run = self.committed(winner.clone(), session);
                Ok(Completed {
                    value,
                    winner,
                    report,
                    run,
                })
            }
            // The machine completes only on `Event::Succeeded`, which comes with an answer.
            (Outcome::Aborted(report) | Outcome::Completed(_, report), _) => {
                Err(RunError::Aborted(Box::new(report)))
            }
            (Outcome::Exhausted(summary, report), _) => Err(RunError::Exhausted(summary, Box::new(report))),
            (Outcome::Failed(attempt, report), _) => Err(RunError::Failed(attempt, Box::new(report))),
            (Outcome::Surfaced(attempt, report), _) => Err(match attempt.verdict.reason {
                openclaw_classify::Reason::ContextOverflow => {
                    RunError::ContextOverflow(attempt, Box::new(report))
                }
                _ => RunError::Surfaced(attempt, Box::new(report)),
            }),
        }
    }

    fn committed(&self, winner: Winner, session: Option<RunSession>) -> CommittedRun<C, U, S> {
        CommittedRun {
            clock: Arc::clone(&self.clock),
            usage: Arc::clone(&self.usage),
            sessions: Arc::clone(&self.sessions),
            winner,
            session,
        }
    }

    fn emit(&self, events: &[RunEvent]) -> usize {
        for event in events {
            match event {
                RunEvent::Candidate(decision) => telemetry::emit_decision(decision),
                RunEvent::Rotation(rotation) => telemetry::emit_rotation(rotation),
            }
            if let Some(observer) = &self.observer {
                observer.on_event(event);
            }
        }
        events.len()
    }
}

/// An error and its causes, as one line.
pub(crate) fn warn_lost(what: &'static str, error: &(dyn std::error::Error + 'static)) {
    let mut line = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        line.push_str(": ");
        line.push_str(&cause.to_string());
        source = cause.source();
    }
    tracing::error!(
        what,
        error = line.as_str(),
        "could not be written; the run goes on"
    );
}

/// Takes back what a dropped run left behind.
struct Undo<'r, C, U: UsageStore, S: SessionStore>
where
    C: Clock,
{
    runner: &'r Runner<C, U, S>,
    key: Option<SessionKey>,
    rollback: Option<Rollback>,
    lease: Option<(ProviderId, String)>,
}

impl<C: Clock, U: UsageStore, S: SessionStore> Drop for Undo<'_, C, U, S> {
    fn drop(&mut self) {
        let now = self.runner.clock.now();
        if let (Some(rollback), Some(key)) = (self.rollback.take(), &self.key) {
            self.runner.sessions.enqueue_rollback(key, rollback, now);
        }
        if let Some((provider, holder)) = self.lease.take() {
            self.runner
                .usage
                .enqueue(UsageChange::ProbeEnd { provider, holder }, now);
        }
    }
}
