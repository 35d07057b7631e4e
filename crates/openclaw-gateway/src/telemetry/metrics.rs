//! What this process counts. Prometheus scrapes the same instruments that OTLP pushes.
//!
//! A measurement is a look-up and an addition: each combination of labels is bound once. No label takes a session, a key,
//! a profile, a model or a text of a provider, and each instrument has at most a bounded number of series.

mod active_cooldowns;
mod family;
mod instruments;
mod prometheus;
mod reader;
mod table;

use std::sync::Arc;
use std::time::Duration;

use openclaw_auth_store::UsageStore;
use openclaw_classify::Reason;
use openclaw_history::{CooldownTarget, History, WindowChange, WindowNote};
use openclaw_runner::{
    AttemptObservation, AttemptResult, Clock, CooldownWindows, Decision, DecisionKind, RotationDecision,
    RunEvent, StepOutcome, StoreKind, SystemClock, UsageTransition,
};
use opentelemetry::KeyValue;
use opentelemetry::metrics::{BoundCounter, Meter, MeterProvider};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::metrics::data::ResourceMetrics;
use opentelemetry_sdk::metrics::exporter::PushMetricExporter;
use opentelemetry_sdk::metrics::reader::MetricReader;
use opentelemetry_sdk::metrics::{PeriodicReader, SdkMeterProvider};

use active_cooldowns::{ENDPOINT, Stores, lane_name};
use instruments::{Instruments, expected};
use reader::Scraper;

pub(crate) use prometheus::CONTENT_TYPE;
pub use table::{INSTRUMENTS as METRICS, Kind as MetricKind, Row as Metric};

/// The instruments of one gateway.
pub(crate) struct Metrics {
    provider: SdkMeterProvider,
    scraper: Scraper,
    stores: Arc<Stores>,
    own: Arc<Instruments>,
}

/// How a request that was run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RunEnd {
    Answered,
    AnsweredByFallback,
    Cancelled,
    Failed,
}

impl RunEnd {
    fn as_str(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::AnsweredByFallback => "answered_by_fallback",
            Self::Cancelled => "cancelled",
            Self::Failed => "failed",
        }
    }
}

impl Metrics {
    /// Instruments that are scraped and, with an exporter, pushed at every `interval` as well.
    pub(crate) fn new<E: PushMetricExporter>(push: Option<(E, Duration)>, resource: Resource) -> Self {
        let scraper = Scraper::default();
        let builder = SdkMeterProvider::builder()
            .with_resource(resource)
            .with_reader(scraper.clone());
        let builder = match push {
            None => builder,
            Some((exporter, interval)) => {
                builder.with_reader(PeriodicReader::builder(exporter).with_interval(interval).build())
            }
        };
        let provider = builder.build();
        let meter = provider.meter(SCOPE);
        let stores = Arc::<Stores>::default();
        let own = Arc::new(Instruments::new(&meter));
        observe_resting(&meter, &stores);
        observe_dropped(&meter, &own);
        Self {
            provider,
            scraper,
            stores,
            own,
        }
    }

    /// Counts the active windows of an agent's store, too, for as long as the store is used elsewhere.
    pub(crate) fn watch_store<U: UsageStore + 'static>(&self, usage: &Arc<U>) {
        let usage = Arc::downgrade(usage);
        self.stores
            .add(Box::new(move || usage.upgrade().map(|usage| usage.snapshot())));
    }

    /// Counts what `history` loses, too.
    pub(crate) fn watch_history(&self, history: &History) {
        let history = history.clone();
        let row = expected("openclaw.history_dropped");
        self.provider
            .meter(SCOPE)
            .u64_observable_counter(row.name)
            .with_description(row.help)
            .with_callback(move |observer| {
                observer.observe(history.dropped().saturating_add(history.failed()), &[]);
            })
            .build();
    }

    /// The text of a scrape.
    pub(crate) fn scrape(&self) -> String {
        let mut collected = ResourceMetrics::default();
        // Fails only after the end of the process began.
        let _ = self.scraper.collect(&mut collected);
        prometheus::render(&collected)
    }

    /// Pushes what was not pushed yet, where anything is pushed. Blocks.
    pub(crate) fn shut_down(&self) {
        if let Err(error) = self.provider.shutdown() {
            tracing::warn!(%error, "the last metrics were not delivered");
        }
    }

    /// A request got an answer.
    pub(crate) fn request(&self, wire: &'static str, status: u16) {
        let status = status.to_string();
        self.own.requests.with(&[wire, &status], count);
    }

    /// A request that was run ended; `overhead` is what the gateway itself took of it.
    pub(crate) fn run(&self, wire: &'static str, end: RunEnd, overhead: Duration) {
        self.own.runs.with(&[wire, end.as_str()], count);
        self.own
            .overhead
            .with(&[wire], |series| series.record(overhead.as_secs_f64()));
    }

    /// The first content of a stream came.
    pub(crate) fn first_content(&self, provider: &str, after: Duration) {
        self.own
            .time_to_first_content
            .with(&[provider], |series| series.record(after.as_secs_f64()));
    }

    /// An answer broke off.
    pub(crate) fn broke_off(&self, wire: &'static str, reason: Option<Reason>) {
        self.own.broken_answers.with(&[wire, named(reason)], count);
    }

    /// A call is made once more at once, because of what it `met`.
    pub(crate) fn repeated(&self, provider: &str, met: &'static str) {
        self.own.immediate_retries.with(&[provider, met], count);
    }

    /// Events of a stream were left out, because they cannot be parsed.
    pub(crate) fn skipped_events(&self, provider: &str, wire: &'static str, events: u64) {
        self.own
            .skipped_events
            .with(&[provider, wire], |series| series.add(events));
    }

    /// A stream was complete without all that its format ends with.
    pub(crate) fn lenient_end(&self, provider: &str, wire: &'static str, missing: &'static str) {
        self.own.lenient_ends.with(&[provider, wire, missing], count);
    }

    /// An attempt is over.
    pub(crate) fn attempt(&self, attempt: &AttemptObservation<'_>) {
        let provider = attempt.candidate.provider().as_str();
        let (outcome, reason) = match attempt.result {
            AttemptResult::Answered => ("answered", named(None)),
            AttemptResult::Failed(verdict) => {
                let reason = verdict.map(|verdict| verdict.reason);
                if !is_recognised(reason) {
                    self.own.unclassified.with(&[provider], count);
                }
                ("failed", named(reason))
            }
            AttemptResult::OutOfTime => ("out_of_time", named(None)),
        };
        self.own.attempts.with(&[provider, outcome, reason], count);
        self.own.upstream_duration.with(&[provider, outcome], |series| {
            series.record(attempt.elapsed.as_secs_f64());
        });
    }

    /// Something was decided.
    pub(crate) fn event(&self, event: &RunEvent) {
        match event {
            RunEvent::Candidate(decision) => self.decision(decision),
            RunEvent::Rotation(rotation) => self.rotation(rotation),
        }
    }

    fn decision(&self, decision: &Decision) {
        let (provider, reason) = (decision.candidate.provider().as_str(), named(decision.reason));
        match decision.kind {
            DecisionKind::CandidateFailed | DecisionKind::CandidateSucceeded => {}
            DecisionKind::ProbeCooldownCandidate => self.own.probes.with(&[provider, reason], count),
            DecisionKind::SkipCandidate => self.own.skips.with(&[provider, reason], count),
        }
        let moves_on =
            decision.step.as_ref().map(|step| step.final_outcome) == Some(StepOutcome::NextFallback);
        if let Some(next) = decision.next_candidate.as_ref().filter(|_| moves_on) {
            let labels = [provider, next.provider().as_str(), reason];
            self.own.transitions.with(&labels, count);
        }
    }

    fn rotation(&self, rotation: &RotationDecision) {
        let provider = rotation.candidate.provider().as_str();
        let labels = [provider, rotation.kind.as_str(), rotation.reason.as_str()];
        self.own.rotations.with(&labels, count);
    }

    /// A run changed windows, which `notes` name.
    pub(crate) fn windows(&self, moved: &UsageTransition<'_>, notes: &[WindowNote]) {
        let opened = notes.iter().filter(|note| note.change == WindowChange::Opened);
        for note in opened {
            let (provider, lane) = match (moved.after, &note.rested) {
                (CooldownWindows::Profile { provider, .. }, CooldownTarget::Profile { lane, .. }) => {
                    let provider = provider.as_ref().map_or("unknown", |provider| provider.as_str());
                    (provider, lane_name(lane))
                }
                (CooldownWindows::Endpoint(endpoint, _), _) => (endpoint.provider.as_str(), ENDPOINT),
                (CooldownWindows::Profile { .. }, CooldownTarget::Endpoint { .. }) => continue,
            };
            let labels = [provider, lane, note.reason.as_str()];
            self.own.cooldowns_opened.with(&labels, count);
        }
    }

    /// State could not be written.
    pub(crate) fn lost(&self, store: StoreKind) {
        self.own.store_errors.with(&[store_name(store)], count);
    }
}

/// Under which name the instruments are kept.
const SCOPE: &str = "openclaw-gateway";

/// Whether a rule recognised the failure.
fn is_recognised(reason: Option<Reason>) -> bool {
    !matches!(
        reason,
        None | Some(Reason::NoErrorDetails | Reason::Unclassified | Reason::Unknown)
    )
}

fn named(reason: Option<Reason>) -> &'static str {
    reason.map_or("none", Reason::as_str)
}

fn store_name(store: StoreKind) -> &'static str {
    match store {
        StoreKind::Credentials => "credentials",
        StoreKind::Sessions => "sessions",
    }
}

fn count(series: &BoundCounter<u64>) {
    series.add(1);
}

fn observe_resting(meter: &Meter, stores: &Arc<Stores>) {
    let row = expected("openclaw.cooldowns_active");
    let stores = Arc::clone(stores);
    meter
        .u64_observable_gauge(row.name)
        .with_description(row.help)
        .with_callback(move |observer| {
            let active = stores.active(SystemClock.now());
            for ((provider, lane), count) in active.into_iter().take(family::MAX_SERIES) {
                let labels = [KeyValue::new("provider", provider), KeyValue::new("lane", lane)];
                observer.observe(count, &labels);
            }
        })
        .build();
}

fn observe_dropped(meter: &Meter, own: &Arc<Instruments>) {
    let row = expected("openclaw.dropped_series");
    let own = Arc::clone(own);
    meter
        .u64_observable_counter(row.name)
        .with_description(row.help)
        .with_callback(move |observer| {
            for (metric, dropped) in own.dropped() {
                observer.observe(dropped, &[KeyValue::new("metric", metric)]);
            }
        })
        .build();
}

#[cfg(test)]
mod tests;
