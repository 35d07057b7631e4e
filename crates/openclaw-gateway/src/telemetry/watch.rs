//! Watches runs from their beginning to their end, whatever the end is.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use jiff::Timestamp;
use openclaw_auth_store::{ChangeOutcome, StoreError, UsageChange, UsageStore};
use openclaw_classify::{Failure, Verdict, describe, preview};
use openclaw_history::recording::{Recorder, RecordingBudget, RecordingSink, RunRecording};
use openclaw_history::{
    BrokenAnswer, Entry, History, Record, RunNote, RunOutcome, commit_operator_change, window_changes,
};
use openclaw_ids::{AgentId, ProviderId};
use openclaw_runner::{
    AttemptObservation, Clock, LostWrite, RunError, RunEvent, RunObserver, RunReport, RunRequest, Runner,
    SystemClock, UsageTransition, Winner,
};
use openclaw_session::SessionStore;
use openclaw_wire::{MissingEnd, WireFormat};
use tokio::time::Instant;

use crate::telemetry::events::Events;
use crate::telemetry::metrics::{Metrics, RunEnd};

/// Longest error that is kept, in UTF-16 units.
const MAX_ERROR: usize = 400;

/// Where what happens in runs goes.
pub(crate) struct Telemetry {
    metrics: Metrics,
    /// Whether runs are recorded, so that they can be played again.
    records: bool,
    recordings: RecordingBudget,
    /// Opened when the rest of the state turned out usable.
    history: OnceLock<History>,
    /// The live events.
    events: Events,
    /// An observer of the embedding program.
    also: Option<Arc<dyn RunObserver>>,
}

impl Telemetry {
    pub(crate) fn new(metrics: Metrics, records: bool, also: Option<Arc<dyn RunObserver>>) -> Self {
        Self {
            metrics,
            records,
            recordings: RecordingBudget::default(),
            history: OnceLock::new(),
            events: Events::default(),
            also,
        }
    }

    /// Counts and keeps nothing that anybody sees.
    #[cfg(test)]
    pub(crate) fn idle() -> Self {
        let push = None::<(opentelemetry_otlp::MetricExporter, Duration)>;
        let resource = opentelemetry_sdk::Resource::builder_empty().build();
        Self::new(Metrics::new(push, resource), false, None)
    }

    /// From now on, what happens is kept in `history`.
    pub(crate) fn keep_in(&self, history: History) {
        self.metrics.watch_history(&history);
        // There is one gateway to a process, which says so once.
        let _ = self.history.set(history);
    }

    /// What is kept; none when nothing is.
    pub(crate) fn history(&self) -> Option<&History> {
        self.history.get().filter(|history| history.is_on())
    }

    /// What is counted.
    pub(crate) fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    /// The live events.
    pub(crate) fn events(&self) -> &Events {
        &self.events
    }

    /// Whether anybody wants to know what happens.
    fn is_asked(&self) -> bool {
        self.history().is_some() || self.events.are_watched()
    }

    /// Watches the runs of one agent, and what rests in its store.
    pub(crate) fn watch<C, U, S>(
        self: &Arc<Self>,
        agent: &AgentId,
        usage: &Arc<U>,
        runner: Runner<C, U, S>,
    ) -> Runner<C, U, S>
    where
        C: Clock,
        U: UsageStore + 'static,
        S: SessionStore,
    {
        self.metrics.watch_store(usage);
        let observer = Arc::new(AgentObserver {
            agent: agent.clone(),
            telemetry: Arc::clone(self),
        });
        let runner = runner.with_observer(Arc::clone(&observer) as Arc<dyn RunObserver>);
        if self.records {
            runner.with_recorder(Arc::new(Recorder::new(observer)))
        } else {
            runner
        }
    }

    /// Watches one run, whose request is answered since `started`.
    pub(crate) fn begin(
        self: &Arc<Self>,
        agent: &AgentId,
        wire: WireFormat,
        request: &RunRequest,
        started: Instant,
    ) -> RunWatch {
        let session = request.session.as_ref();
        let note = self.is_asked().then(|| RunNote {
            run_id: request.run_id.clone(),
            agent: agent.clone(),
            session_key: session.map(|session| session.key.clone()),
            session_id: session.map(|session| session.id.clone()),
            wire: wire.name().to_owned(),
            chain: request.chain.clone(),
            started_at: SystemClock.now(),
            outcome: RunOutcome::Cancelled,
            calls: 0,
            served: None,
            fallback_index: None,
            first_failure: None,
        });
        RunWatch {
            telemetry: Arc::clone(self),
            run_id: request.run_id.clone(),
            wire: wire.label(),
            started,
            upstream: Arc::default(),
            is_over: false,
            served_by: None,
            note,
        }
    }

    /// Makes a change that a person asked for, and tells what it did to windows.
    pub(crate) async fn commit_operator_change<U: UsageStore>(
        &self,
        agent: &AgentId,
        store: &U,
        change: UsageChange,
        now: Timestamp,
    ) -> Result<ChangeOutcome, StoreError> {
        let (applied, notes) = commit_operator_change(agent, store, change, now).await?;
        for note in notes {
            self.keep(Record::Window(Box::new(note)));
        }
        Ok(applied)
    }

    fn keep(&self, record: Record) {
        let at = SystemClock.now();
        if self.events.are_watched()
            && let Ok(json) = record.json()
            && let Ok(members) = serde_json::from_str::<serde_json::Value>(&json)
        {
            self.events.tell(at, record.kind(), &members);
        }
        if let Some(history) = self.history() {
            history.record(&Entry { at, record });
        }
    }
}

struct AgentObserver {
    agent: AgentId,
    telemetry: Arc<Telemetry>,
}

impl RunObserver for AgentObserver {
    fn on_event(&self, event: &RunEvent) {
        self.telemetry.metrics.event(event);
        if self.telemetry.is_asked() {
            self.telemetry.keep(Record::Event(Box::new(event.clone())));
        }
        if let Some(also) = &self.telemetry.also {
            also.on_event(event);
        }
    }

    fn on_attempt(&self, attempt: &AttemptObservation<'_>) {
        self.telemetry.metrics.attempt(attempt);
        if let Some(also) = &self.telemetry.also {
            also.on_attempt(attempt);
        }
    }

    fn on_lost(&self, what: LostWrite) {
        self.telemetry.metrics.lost(what.store());
        if let Some(also) = &self.telemetry.also {
            also.on_lost(what);
        }
    }

    fn on_usage(&self, moved: &UsageTransition<'_>) {
        let run_id = Some(moved.run_id);
        let notes = window_changes(&self.agent, run_id, moved.before, moved.after, moved.at);
        self.telemetry.metrics.windows(moved, &notes);
        for note in notes {
            self.telemetry.keep(Record::Window(Box::new(note)));
        }
        if let Some(also) = &self.telemetry.also {
            also.on_usage(moved);
        }
    }
}

impl RecordingSink for AgentObserver {
    fn on_recording(&self, recording: RunRecording) {
        // For the file alone: live events carry each step as it happens.
        if let Some(history) = self.telemetry.history() {
            history.record(&Entry {
                at: SystemClock.now(),
                record: Record::Recording(self.agent.clone(), Box::new(recording)),
            });
        }
    }

    fn has_room(&self, now: Timestamp) -> bool {
        self.telemetry.recordings.take(now)
    }

    fn wants_uneventful(&self) -> bool {
        // The note of such a run says everything.
        false
    }
}

/// Adds up the time that calls took.
#[derive(Debug, Default)]
pub(crate) struct Stopwatch(AtomicU64);

impl Stopwatch {
    /// Adds the time since `started`.
    pub(crate) fn add_since(&self, started: Instant) {
        let nanos = u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.0.fetch_add(nanos, Ordering::Relaxed);
    }

    fn total(&self) -> Duration {
        Duration::from_nanos(self.0.load(Ordering::Relaxed))
    }
}

/// Where the time of a run went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RunTimes {
    /// To the gateway itself.
    pub(crate) own: Duration,
    /// To the calls that were made.
    pub(crate) upstream: Duration,
}

/// One run that is watched. Dropped before its end was told, it was cancelled.
pub(crate) struct RunWatch {
    telemetry: Arc<Telemetry>,
    run_id: String,
    wire: &'static str,
    started: Instant,
    upstream: Arc<Stopwatch>,
    is_over: bool,
    /// The candidate that answers, once there is one.
    served_by: Option<ProviderId>,
    /// What will be kept; none once it is, or when nothing is kept.
    note: Option<RunNote>,
}

impl RunWatch {
    /// Takes the time of the calls.
    pub(crate) fn upstream(&self) -> Arc<Stopwatch> {
        Arc::clone(&self.upstream)
    }

    /// Where the time went so far.
    pub(crate) fn spent(&self) -> RunTimes {
        let upstream = self.upstream.total();
        RunTimes {
            own: self.started.elapsed().saturating_sub(upstream),
            upstream,
        }
    }

    /// A model answers.
    pub(crate) fn answered(&mut self, winner: &Winner, report: &RunReport) {
        let end = if winner.index == 0 {
            RunEnd::Answered
        } else {
            RunEnd::AnsweredByFallback
        };
        self.served_by = Some(winner.candidate.provider().clone());
        self.ended(end, report, Some(winner));
    }

    /// Events of the stream were left out, because they cannot be parsed.
    pub(crate) fn skipped(&self, events: u64) {
        self.telemetry
            .metrics
            .skipped_events(self.provider(), self.wire, events);
    }

    /// The stream was complete without all that its format ends with.
    pub(crate) fn ended_without(&self, missing: MissingEnd) {
        let missing = missing.as_str();
        tracing::debug!(
            requestId = self.run_id,
            missing,
            "the answer is complete without all that its format ends with"
        );
        self.telemetry
            .metrics
            .lenient_end(self.provider(), self.wire, missing);
    }

    fn provider(&self) -> &str {
        self.served_by.as_ref().map_or("unknown", ProviderId::as_str)
    }

    /// The answer is a stream, whose first content is there.
    pub(crate) fn streams(&self, winner: &Winner) {
        let provider = winner.candidate.provider().as_str();
        self.telemetry
            .metrics
            .first_content(provider, self.started.elapsed());
    }

    /// Nothing answered.
    pub(crate) fn failed(&mut self, error: &RunError) {
        let end = match error {
            RunError::Aborted(_) => RunEnd::Cancelled,
            _ => RunEnd::Failed,
        };
        self.ended(end, error.report(), None);
    }

    /// The answer broke off after its first content.
    pub(crate) fn broke_off(&self, failure: &Failure, verdict: Option<&Verdict>) {
        let reason = verdict.map(|verdict| verdict.reason);
        self.telemetry.metrics.broke_off(self.wire, reason);
        if self.telemetry.is_asked() {
            self.telemetry.keep(Record::Broken(BrokenAnswer {
                run_id: self.run_id.clone(),
                reason,
                error: preview(&describe(failure), MAX_ERROR),
            }));
        }
    }

    fn ended(&mut self, end: RunEnd, report: &RunReport, winner: Option<&Winner>) {
        self.count(end);
        if let Some(note) = self.note.take() {
            self.telemetry.keep(Record::Run(Box::new(RunNote {
                outcome: match end {
                    RunEnd::Answered | RunEnd::AnsweredByFallback => RunOutcome::Answered,
                    RunEnd::Cancelled => RunOutcome::Cancelled,
                    RunEnd::Failed => RunOutcome::Failed,
                },
                calls: report.calls,
                served: winner.map(|winner| winner.candidate.clone()),
                fallback_index: winner.map(|winner| winner.index),
                first_failure: report.first_failure(),
                ..note
            })));
        }
    }

    fn count(&mut self, end: RunEnd) {
        self.is_over = true;
        self.telemetry.metrics.run(self.wire, end, self.spent().own);
    }
}

impl Drop for RunWatch {
    fn drop(&mut self) {
        if !self.is_over {
            self.count(RunEnd::Cancelled);
        }
        if let Some(note) = self.note.take() {
            self.telemetry.keep(Record::Run(Box::new(note)));
        }
    }
}
