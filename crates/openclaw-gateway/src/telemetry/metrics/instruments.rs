//! Everything that is counted while requests are answered, bound to its rows of the table.

use openclaw_runner::StoreKind;
use opentelemetry::metrics::{BoundCounter, BoundHistogram, Meter};

use super::family::Family;
use super::store_name;
use super::table::{OVERHEAD_BUCKETS, Row, UPSTREAM_BUCKETS, row};

type Counter = Family<BoundCounter<u64>>;
type Histogram = Family<BoundHistogram<f64>>;

/// What is counted, each with its labels.
pub(super) struct Instruments {
    pub(super) attempts: Counter,
    pub(super) broken_answers: Counter,
    pub(super) cooldowns_opened: Counter,
    pub(super) immediate_retries: Counter,
    pub(super) lenient_ends: Counter,
    pub(super) overhead: Histogram,
    pub(super) probes: Counter,
    pub(super) requests: Counter,
    pub(super) rotations: Counter,
    pub(super) runs: Counter,
    pub(super) skipped_events: Counter,
    pub(super) skips: Counter,
    pub(super) store_errors: Counter,
    pub(super) time_to_first_content: Histogram,
    pub(super) transitions: Counter,
    pub(super) unclassified: Counter,
    pub(super) upstream_duration: Histogram,
}

impl Instruments {
    /// All of them, made by `meter`.
    pub(super) fn new(meter: &Meter) -> Self {
        let this = Self {
            attempts: counter(meter, "openclaw.attempts"),
            broken_answers: counter(meter, "openclaw.broken_answers"),
            cooldowns_opened: counter(meter, "openclaw.cooldowns_opened"),
            immediate_retries: counter(meter, "openclaw.immediate_retries"),
            lenient_ends: counter(meter, "openclaw.lenient_ends"),
            overhead: histogram(meter, "openclaw.overhead", OVERHEAD_BUCKETS),
            probes: counter(meter, "openclaw.probes"),
            requests: counter(meter, "openclaw.requests"),
            rotations: counter(meter, "openclaw.rotations"),
            runs: counter(meter, "openclaw.runs"),
            skipped_events: counter(meter, "openclaw.skipped_events"),
            skips: counter(meter, "openclaw.skips"),
            store_errors: counter(meter, "openclaw.store_errors"),
            time_to_first_content: histogram(meter, "openclaw.time_to_first_content", UPSTREAM_BUCKETS),
            transitions: counter(meter, "openclaw.transitions"),
            unclassified: counter(meter, "openclaw.unclassified"),
            upstream_duration: histogram(meter, "openclaw.upstream_duration", UPSTREAM_BUCKETS),
        };
        // A counter that is there from the start shows its first error, too.
        for store in [StoreKind::Credentials, StoreKind::Sessions] {
            this.store_errors
                .with(&[store_name(store)], |series| series.add(0));
        }
        this
    }

    /// Measurements without a series of their own, by the name of their metric.
    pub(super) fn dropped(&self) -> [(&'static str, u64); 17] {
        // All of them are named, so that none is forgotten.
        let Self {
            attempts,
            broken_answers,
            cooldowns_opened,
            immediate_retries,
            lenient_ends,
            overhead,
            probes,
            requests,
            rotations,
            runs,
            skipped_events,
            skips,
            store_errors,
            time_to_first_content,
            transitions,
            unclassified,
            upstream_duration,
        } = self;
        [
            attempts.dropped(),
            broken_answers.dropped(),
            cooldowns_opened.dropped(),
            immediate_retries.dropped(),
            lenient_ends.dropped(),
            overhead.dropped(),
            probes.dropped(),
            requests.dropped(),
            rotations.dropped(),
            runs.dropped(),
            skipped_events.dropped(),
            skips.dropped(),
            store_errors.dropped(),
            time_to_first_content.dropped(),
            transitions.dropped(),
            unclassified.dropped(),
            upstream_duration.dropped(),
        ]
    }
}

/// The row of an instrument.
#[expect(
    clippy::expect_used,
    reason = "the names are constants, and a test makes every instrument"
)]
pub(super) fn expected(name: &str) -> &'static Row {
    row(name).expect("an instrument of the table")
}

fn counter(meter: &Meter, name: &str) -> Counter {
    let row = expected(name);
    let instrument = meter.u64_counter(row.name).with_description(row.help).build();
    Family::new(row.name, row.labels, move |labels| instrument.bind(labels))
}

fn histogram(meter: &Meter, name: &str, buckets: &[f64]) -> Histogram {
    let row = expected(name);
    let instrument = meter
        .f64_histogram(row.name)
        .with_description(row.help)
        .with_unit("s")
        .with_boundaries(buckets.to_vec())
        .build();
    Family::new(row.name, row.labels, move |labels| instrument.bind(labels))
}
