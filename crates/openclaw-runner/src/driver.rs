//! The async shell: executes the machine's steps and decides nothing.

pub(crate) mod active_sessions;
mod attempt;
mod cancel_guard;
pub(crate) mod committed_run;
pub(crate) mod committed_turn;
mod recording;
mod records;
mod result;
pub(crate) mod store_timeout;
mod store_writes;

use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use jiff::Timestamp;
use openclaw_auth_store::{AuthSnapshot, UsageStore};
use openclaw_ids::SessionKey;
use openclaw_session::{NoticeOutbox, SessionRotation, SessionStore};
use tracing::Instrument;

use crate::attempt::{Attempt, Judgement};
use crate::clock::Clock;
use crate::driver::active_sessions::ActiveSessions;
use crate::driver::committed_run::CompletedRun;
use crate::error::RunError;
use crate::machine::{Event, Machine, Step};
use crate::observer::{RunObserver, Watcher};
use crate::recorder::{RunRecorder, RunStart, StepSummary};
use crate::request::{ChainKind, RunOptions, RunPolicy, RunRequest};
use crate::skip_cache::{Markers, SkipCache};
use crate::telemetry;
use crate::telemetry::log_dedup::LogDedup;

use attempt::beside;
use cancel_guard::CancelGuard;
use recording::LazyRecording;
use result::AttemptAnswers;

/// Runs requests over chains of models. Cheap to clone; one per agent, since usage state is per agent.
pub struct Runner<C, U, S> {
    clock: Arc<C>,
    usage: Arc<U>,
    sessions: Arc<S>,
    policy: Arc<RunPolicy>,
    watcher: Watcher,
    recorder: Option<Arc<dyn RunRecorder>>,
    skips: Arc<Mutex<SkipCache>>,
    log: Arc<Mutex<LogDedup>>,
    desk: Arc<NoticeOutbox>,
    busy: Arc<ActiveSessions>,
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
    pub fn session_rotated(&self, key: &SessionKey, rotated: &SessionRotation) {
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

    /// Records every run with `recorder`, or those that it wants. Without a recorder a run costs nothing for it.
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
    ) -> Result<CompletedRun<A::Output, C, U, S>, RunError> {
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
    ) -> Result<CompletedRun<A::Output, C, U, S>, RunError> {
        let span = telemetry::run_span(&request);
        // Callers hold a run in place, and the whole machine is in it.
        let driven = Box::pin(self.drive(request, &options, attempt));
        let ended = driven.instrument(span.clone()).await;
        telemetry::ran(&span, ended.as_ref().map(|completed| &completed.winner.candidate));
        ended
    }

    /// The recording of a run that starts `now`; none without a recorder.
    fn recording<'r>(
        &'r self,
        options: &'r RunOptions,
        auth_skips: &Markers,
        snapshot: &Arc<AuthSnapshot>,
        now: Timestamp,
    ) -> Option<LazyRecording<'r>> {
        self.recorder.as_deref().map(|recorder| {
            let start = RunStart {
                options,
                policy: &self.policy,
                auth_skips: auth_skips.clone(),
                snapshot: Arc::clone(snapshot),
                now,
            };
            LazyRecording::new(recorder, start)
        })
    }

    async fn drive<A: Attempt>(
        &self,
        request: RunRequest,
        options: &RunOptions,
        attempt: &A,
    ) -> Result<CompletedRun<A::Output, C, U, S>, RunError> {
        let session = match options.kind {
            ChainKind::Image => None,
            ChainKind::Text => request.session.clone().map(|session| self.busy.enter(session)),
        };
        let requested = request.chain.first().cloned();
        let mut undo = CancelGuard {
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
        let mut recording = self.recording(options, &skips, &snapshot, now);
        let mut machine = Machine::new(request, Arc::clone(&self.policy), holder, snapshot, now)
            .with_options(options)
            .with_auth_skips(skips);
        let mut emitted = 0;
        // The calls made, the accepted answer, and the rejected ones that may be needed at the end by the number of
        // their call.
        let (mut calls, mut answers) = (0, AttemptAnswers::default());
        let mut marks_probe = false;
        for _ in 0..machine.max_steps() {
            let step = machine.next();
            emitted += self.emit(machine.events_since(emitted));
            let summary = recording.as_ref().and_then(|_| StepSummary::of(&step));
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
                                self.note_good_login(session.as_deref(), &call.candidate);
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
                    if let Some(recording) = recording {
                        recording.finish(&outcome, &machine, self.clock.now());
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
            match recording.as_mut().zip(summary) {
                None => machine.on(event, now),
                Some((recording, summary)) => recording.on(summary, event, &mut machine, now),
            }
        }
        let outcome = machine.give_up();
        self.finish(outcome, answers, session, requested, attempt)
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
