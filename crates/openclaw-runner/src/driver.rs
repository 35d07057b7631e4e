//! The async shell: executes the machine's steps and decides nothing.

pub(crate) mod effects;
mod records;
mod undo;

use std::fmt::Write;
use std::future::Future;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use jiff::Timestamp;
use openclaw_auth_store::{UsageChange, UsageStore};
use openclaw_classify::{Failure, Reason, classify};
use openclaw_ids::{ModelRef, ProviderId, SessionKey};
use openclaw_session::{NoticeDesk, SessionRotated, SessionStore};
use tokio::time::Instant;
use tracing::Instrument;

use crate::attempt::{Attempt, AttemptCall, Judgement, Merged};
use crate::busy::{BusySession, BusySessions};
use crate::clock::Clock;
use crate::coalesce::Coalescer;
use crate::committed::{CommittedRun, Completed};
use crate::committed_turn::CommittedTurn;
use crate::error::{RunError, RunReport};
use crate::machine::{Event, Machine, Outcome, Preserved, Step, Winner};
use crate::observer::{AttemptResult, AttemptSeen, RunObserver, Watcher};
use crate::replay::RunRecorder;
use crate::replay::quiet::QuietTape;
use crate::replay::tape::Tape;
use crate::request::{ChainKind, RunOptions, RunPolicy, RunRequest};
use crate::skip_cache::SkipCache;
use crate::telemetry;

use undo::Undo;

/// How often a probe in flight renews its lease (G4).
const LEASE_RENEWAL: Duration = Duration::from_secs(20);

/// Runs requests over chains of models. Cheap to clone; one per agent, since usage state is per agent.
pub struct Runner<C, U, S> {
    clock: Arc<C>,
    usage: Arc<U>,
    sessions: Arc<S>,
    policy: Arc<RunPolicy>,
    watcher: Watcher,
    recorder: Option<Arc<dyn RunRecorder>>,
    skips: Arc<Mutex<SkipCache>>,
    log: Arc<Mutex<Coalescer>>,
    desk: Arc<NoticeDesk>,
    busy: Arc<BusySessions>,
}

impl<C, U, S> Clone for Runner<C, U, S> {
    fn clone(&self) -> Self {
        Self {
            clock: Arc::clone(&self.clock),
            usage: Arc::clone(&self.usage),
            sessions: Arc::clone(&self.sessions),
            policy: Arc::clone(&self.policy),
            watcher: self.watcher.clone(),
            recorder: self.recorder.clone(),
            skips: Arc::clone(&self.skips),
            log: Arc::clone(&self.log),
            desk: Arc::clone(&self.desk),
            busy: Arc::clone(&self.busy),
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
            watcher: Watcher::default(),
            recorder: None,
            skips: Arc::default(),
            log: Arc::default(),
            desk: Arc::default(),
            busy: Arc::default(),
        }
    }

    /// Tells busy runs that their session points to another transcript now: after a compaction they write to that one,
    /// after a reset or expiry they write nothing more (S1).
    pub fn session_rotated(&self, key: &SessionKey, rotated: &SessionRotated) {
        self.busy.rotated(key, rotated);
    }

    /// This runner under another policy, as after a change of the configuration. What it remembers of earlier runs is
    /// shared between both; runs that began keep the policy they began with.
    #[must_use]
    pub fn with_policy(mut self, policy: Arc<RunPolicy>) -> Self {
        self.policy = policy;
        self
    }

    /// Tells `observer` of what happens in runs as it happens.
    #[must_use]
    pub fn with_observer(mut self, observer: Arc<dyn RunObserver>) -> Self {
        self.watcher = Watcher::new(observer);
        self
    }

    /// Hands the recording of every run that ends to `recorder`, or of those that it wants, so that it can be played
    /// again. Runs that nobody records cost nothing for it.
    #[must_use]
    pub fn with_recorder(mut self, recorder: Arc<dyn RunRecorder>) -> Self {
        self.recorder = Some(recorder);
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
        self.run_with(request, RunOptions::default(), attempt).await
    }

    /// Runs one request with options of its own; see [`run`](Self::run).
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub async fn run_with<A: Attempt>(
        &self,
        request: RunRequest,
        options: RunOptions,
        attempt: &A,
    ) -> Result<Completed<A::Output, C, U, S>, RunError> {
        let span = telemetry::run_span(&request);
        // Callers hold a run in place, and the whole machine is in it.
        let driven = Box::pin(self.drive(request, &options, attempt));
        let ended = driven.instrument(span.clone()).await;
        telemetry::ran(&span, ended.as_ref().map(|completed| &completed.winner.candidate));
        ended
    }

    async fn drive<A: Attempt>(
        &self,
        request: RunRequest,
        options: &RunOptions,
        attempt: &A,
    ) -> Result<Completed<A::Output, C, U, S>, RunError> {
        let session = match options.kind {
            ChainKind::Image => None,
            ChainKind::Text => request.session.clone().map(|session| self.busy.enter(session)),
        };
        let requested = request.chain.first().cloned();
        let mut undo = Undo {
            runner: self,
            session: session.clone(),
            rollback: None,
            lease: None,
        };
        let holder = holder(&request.run_id);
        let skips = session
            .as_ref()
            .map(|busy| self.skips().markers(&busy.session.id, self.clock.now()));
        let (skips, snapshot, now) = (skips.unwrap_or_default(), self.usage.snapshot(), self.clock.now());
        let recorder = self.recorder.as_ref();
        let mut tape = recorder.map(|_| QuietTape::new(options, &self.policy, &skips, &snapshot, now));
        let mut machine = Machine::new(request, Arc::clone(&self.policy), holder, snapshot, now)
            .with_options(options)
            .with_auth_skips(skips);
        let mut emitted = 0;
        // The calls made, the accepted answer, and the rejected ones that may be needed at the end by the number of
        // their call.
        let (mut calls, mut answers) = (0, Answers::default());
        let mut marks_probe = false;
        for _ in 0..machine.max_steps() {
            let step = machine.next();
            emitted += self.emit(machine.events_since(emitted));
            let taken = tape.as_ref().and_then(|_| Tape::taken(&step));
            let event = match step {
                Step::Attempt(call) => {
                    calls += 1;
                    let made = Box::pin(self.attempt(call.clone(), attempt, undo.lease.as_ref()));
                    let made = self.in_time(machine.deadline(), made);
                    let made = self.timed(machine.run_id(), &call, made);
                    let mark = std::mem::take(&mut marks_probe)
                        .then(|| Box::pin(self.mark_primary_probe(session.as_deref())));
                    match beside(mark, made).await {
                        None => Event::OutOfTime,
                        Some(Ok(output)) => match attempt.classify_result(&output, &call) {
                            Judgement::Accepted => {
                                answers.accepted = Some(output);
                                // First content cannot be taken back, and neither can the choice it stands for (S1).
                                undo.rollback = None;
                                Event::Succeeded
                            }
                            Judgement::Rejected(rejection) => {
                                if rejection.preserve.is_some() || !answers.rejected.is_empty() {
                                    answers.rejected.push((calls, output));
                                }
                                Event::Rejected(Box::new(rejection), attempt.progress())
                            }
                        },
                        Some(Err(failure)) => Event::Failed(Box::new(failure), attempt.progress()),
                    }
                }
                Step::Commit(change) => self.commit(machine.run_id(), change, &mut undo).await,
                Step::Finish(outcome) => {
                    if let Some((recorder, tape)) = recorder.zip(tape) {
                        tape.finish(&machine, recorder.as_ref());
                    }
                    return self.finish(*outcome, answers, session, requested, attempt);
                }
                Step::LookForSwitch(run, default) => {
                    Event::Switch(self.look_for_switch(session.as_deref(), &run, &default).await)
                }
                Step::MarkPrimaryProbe => {
                    // Written beside the attempt: one that never begins leaves no mark (S-6.5).
                    marks_probe = true;
                    Event::Done
                }
                Step::NoteAuthFailure(candidate, reason) => {
                    self.note_auth_failure(session.as_deref(), candidate, reason);
                    Event::Done
                }
                Step::Persist(change) => {
                    self.persist(session.as_deref(), &change, &mut undo.rollback)
                        .await;
                    Event::Persisted(undo.rollback.clone().map(Box::new))
                }
                Step::Repair(call, failure) => Event::Repaired(attempt.repair_format(&call, &failure)),
                Step::RollBack(rollback) => {
                    self.roll_back(session.as_deref(), &rollback).await;
                    undo.rollback = None;
                    Event::Done
                }
                Step::Sleep(wait) => {
                    tokio::time::sleep(wait).await;
                    Event::Done
                }
            };
            let now = self.clock.now();
            match tape.as_mut().zip(taken) {
                None => machine.on(event, now),
                Some((tape, taken)) => tape.hear(taken, event, &mut machine, now),
            }
        }
        let outcome = machine.give_up();
        self.finish(outcome, answers, session, requested, attempt)
    }

    /// The outcome, unless the run's time is over first (A8). What is ready at that very instant counts.
    async fn in_time<T>(&self, deadline: Option<Timestamp>, work: impl Future<Output = T>) -> Option<T> {
        let Some(deadline) = deadline else {
            return Some(work.await);
        };
        let left = Duration::try_from(deadline.duration_since(self.clock.now()));
        tokio::time::timeout(left.unwrap_or_default(), work).await.ok()
    }

    /// Makes an attempt and tells of it when it is over; none when the time of the run was over first.
    async fn timed<T>(
        &self,
        run_id: &str,
        call: &AttemptCall,
        made: impl Future<Output = Option<Result<T, Failure>>>,
    ) -> Option<Result<T, Failure>> {
        let (span, started) = (telemetry::attempt_span(call), Instant::now());
        let made = made.instrument(span.clone()).await;
        if !self.watcher.is_watching() && span.is_disabled() {
            // A failure is judged a second time only for somebody.
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
        self.watcher.attempt(&AttemptSeen {
            run_id,
            candidate: &call.candidate,
            position: call.position,
            elapsed: started.elapsed(),
            result,
        });
        made
    }

    /// One attempt; while it probes, its lease is renewed (G4).
    async fn attempt<A: Attempt>(
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

    fn finish<A: Attempt>(
        &self,
        outcome: Outcome,
        mut answers: Answers<A::Output>,
        session: Option<Arc<BusySession>>,
        requested: Option<ModelRef>,
        attempt: &A,
    ) -> Result<Completed<A::Output, C, U, S>, RunError> {
        let completed = |value, winner: Winner, report: RunReport| {
            let turn = session.map(|session| CommittedTurn::new(session, requested, &report.attempts));
            let run = self.committed(report.run_id.clone(), winner.clone(), turn);
            Ok(Completed {
                value,
                winner,
                report,
                run,
            })
        };
        match outcome {
            Outcome::Aborted(report) => Err(RunError::Aborted(Box::new(report))),
            Outcome::Completed(winner, report) => match answers.accepted {
                Some(value) => completed(value, winner, report),
                // The machine completes only on `Event::Succeeded`, which comes with an answer.
                None => Err(RunError::Aborted(Box::new(report))),
            },
            Outcome::Exhausted(summary, report) => Err(RunError::Exhausted(summary, Box::new(report))),
            Outcome::Failed(failed, report) => Err(RunError::Failed(failed, Box::new(report))),
            Outcome::LimitReached(limit, summary, report) => {
                Err(RunError::LimitReached(limit, summary, Box::new(report)))
            }
            Outcome::Preserved(Preserved { kept, latest }, report) => {
                let mut take = |call| {
                    let rejected = &mut answers.rejected;
                    let at = rejected.iter().position(|(number, _)| *number == call)?;
                    Some(rejected.remove(at).1)
                };
                match (take(kept.0), take(latest.0)) {
                    (Some(value), Some(last)) => match attempt.merge_exhausted(last, value) {
                        Merged::Latest(value) => completed(value, latest.1, report),
                        Merged::Preserved(value) => completed(value, kept.1, report),
                    },
                    (Some(value), None) => completed(value, kept.1, report),
                    // The machine names calls that were answered.
                    (None, _) => Err(RunError::Aborted(Box::new(report))),
                }
            }
            Outcome::Surfaced(failed, report) => Err(match failed.verdict.reason {
                Reason::ContextOverflow => RunError::ContextOverflow(failed, Box::new(report)),
                _ => RunError::Surfaced(failed, Box::new(report)),
            }),
        }
    }

    fn committed(
        &self,
        run_id: String,
        winner: Winner,
        turn: Option<CommittedTurn>,
    ) -> CommittedRun<C, U, S> {
        CommittedRun {
            clock: Arc::clone(&self.clock),
            usage: Arc::clone(&self.usage),
            sessions: Arc::clone(&self.sessions),
            desk: Arc::clone(&self.desk),
            watcher: self.watcher.clone(),
            run_id,
            winner,
            turn,
        }
    }
}

/// What `made` comes to, with `mark` done by then.
async fn beside<T>(mark: Option<impl Future<Output = ()>>, made: impl Future<Output = T>) -> T {
    match mark {
        None => made.await,
        Some(mark) => tokio::join!(mark, made).1,
    }
}

/// What attempts yielded.
struct Answers<T> {
    accepted: Option<T>,
    rejected: Vec<(usize, T)>,
}

impl<T> Default for Answers<T> {
    fn default() -> Self {
        Self {
            accepted: None,
            rejected: Vec::new(),
        }
    }
}

/// A name for leases that no other run has, whatever callers call their runs (G4).
fn holder(run_id: &str) -> String {
    static RUNS: AtomicU64 = AtomicU64::new(0);
    let number = RUNS.fetch_add(1, Ordering::Relaxed);
    let mut name = String::with_capacity(run_id.len() + 32);
    name.push_str(run_id);
    // Writing to a text cannot fail.
    let _ = write!(name, "#{}.{number}", std::process::id());
    name
}
