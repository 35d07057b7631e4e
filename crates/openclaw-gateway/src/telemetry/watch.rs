//! Watches runs from their beginning to their end, whatever the end is.

use std::sync::{Arc, OnceLock};

use openclaw_classify::{Failure, Verdict, describe, preview};
use openclaw_ids::AgentId;
use openclaw_runner::{
    AttemptSeen, Clock, Lost, RunError, RunEvent, RunObserver, RunReport, RunRequest, SystemClock,
    UsageMoved, Winner,
};

use crate::events::Events;
use crate::history::{BrokenNote, Entry, History, Record, RunNote, RunOutcome, window_changes};
use crate::upstream::Wire;

/// Longest error that is kept, in UTF-16 units.
const MAX_ERROR: usize = 400;

/// Where what happens in runs goes.
#[derive(Default)]
pub(crate) struct Telemetry {
    /// Opened when the rest of the state turned out usable.
    history: OnceLock<History>,
    /// Whoever watches as it happens.
    events: Events,
    /// Somebody else who wants to know, too.
    also: Option<Arc<dyn RunObserver>>,
}

impl Telemetry {
    pub(crate) fn new(also: Option<Arc<dyn RunObserver>>) -> Self {
        Self {
            history: OnceLock::new(),
            events: Events::default(),
            also,
        }
    }

    /// From now on, what happens is kept in `history`.
    pub(crate) fn keep_in(&self, history: History) {
        // There is one gateway to a process, which says so once.
        let _ = self.history.set(history);
    }

    /// What is kept; none when nothing is.
    pub(crate) fn history(&self) -> Option<&History> {
        self.history.get().filter(|history| history.is_on())
    }

    /// Whoever watches as it happens.
    pub(crate) fn events(&self) -> &Events {
        &self.events
    }

    /// Whether anybody wants to know what happens.
    fn is_asked(&self) -> bool {
        self.history().is_some() || self.events.are_watched()
    }

    /// Watches the runs of one agent.
    pub(crate) fn observer(self: &Arc<Self>, agent: &AgentId) -> Arc<dyn RunObserver> {
        Arc::new(AgentObserver {
            agent: agent.clone(),
            telemetry: Arc::clone(self),
        })
    }

    /// Watches one run, which begins now.
    pub(crate) fn begin(self: &Arc<Self>, agent: &AgentId, wire: Wire, request: &RunRequest) -> RunWatch {
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
            note,
        }
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
            history.record(Entry { at, record });
        }
    }
}

struct AgentObserver {
    agent: AgentId,
    telemetry: Arc<Telemetry>,
}

impl RunObserver for AgentObserver {
    fn on_event(&self, event: &RunEvent) {
        if self.telemetry.is_asked() {
            self.telemetry.keep(Record::Event(Box::new(event.clone())));
        }
        if let Some(also) = &self.telemetry.also {
            also.on_event(event);
        }
    }

    fn on_attempt(&self, attempt: &AttemptSeen<'_>) {
        if let Some(also) = &self.telemetry.also {
            also.on_attempt(attempt);
        }
    }

    fn on_lost(&self, what: Lost) {
        if let Some(also) = &self.telemetry.also {
            also.on_lost(what);
        }
    }

    fn on_usage(&self, moved: &UsageMoved<'_>) {
        let run_id = Some(moved.run_id);
        for note in window_changes(&self.agent, run_id, moved.before, moved.after, moved.at) {
            self.telemetry.keep(Record::Window(Box::new(note)));
        }
        if let Some(also) = &self.telemetry.also {
            also.on_usage(moved);
        }
    }
}

/// One run that is watched. Dropped before its end was told, it was cancelled.
pub(crate) struct RunWatch {
    telemetry: Arc<Telemetry>,
    run_id: String,
    /// What will be kept; none once it is, or when nothing is kept.
    note: Option<RunNote>,
}

impl RunWatch {
    /// A model answers.
    pub(crate) fn answered(&mut self, winner: &Winner, report: &RunReport) {
        self.ended(RunOutcome::Answered, report, Some(winner));
    }

    /// Nothing answered.
    pub(crate) fn failed(&mut self, error: &RunError) {
        let outcome = match error {
            RunError::Aborted(_) => RunOutcome::Cancelled,
            _ => RunOutcome::Failed,
        };
        self.ended(outcome, error.report(), None);
    }

    /// The answer broke off after its first content.
    pub(crate) fn broke_off(&self, failure: &Failure, verdict: Option<&Verdict>) {
        if self.telemetry.is_asked() {
            self.telemetry.keep(Record::Broken(BrokenNote {
                run_id: self.run_id.clone(),
                reason: verdict.map(|verdict| verdict.reason),
                error: preview(&describe(failure), MAX_ERROR),
            }));
        }
    }

    fn ended(&mut self, outcome: RunOutcome, report: &RunReport, winner: Option<&Winner>) {
        if let Some(note) = self.note.take() {
            self.telemetry.keep(Record::Run(Box::new(RunNote {
                outcome,
                calls: report.calls,
                served: winner.map(|winner| winner.candidate.clone()),
                fallback_index: winner.map(|winner| winner.index),
                first_failure: report.first_failure(),
                ..note
            })));
        }
    }
}

impl Drop for RunWatch {
    fn drop(&mut self) {
        if let Some(note) = self.note.take() {
            self.telemetry.keep(Record::Run(Box::new(note)));
        }
    }
}
