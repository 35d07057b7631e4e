//! Every instrument: its name, its labels, what it means and what to do about it. The documentation is checked against
//! this table, and so are the dashboard and the alert rules.

/// What an instrument counts in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A number that only grows; restarts begin at 0.
    Counter,
    /// A number of the moment.
    Gauge,
    /// Durations in seconds, in buckets.
    Histogram,
}

/// One instrument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// Its name in OTLP; [`prometheus_name`](Self::prometheus_name) is its name in a scrape.
    pub name: &'static str,
    /// What it counts in.
    pub kind: Kind,
    /// Its labels. None of them takes a session, a key, a profile, a model or a text of a provider.
    pub labels: &'static [&'static str],
    /// What it means, in one sentence without a full stop.
    pub help: &'static str,
    /// What to do when it looks wrong.
    pub remedy: &'static str,
}

/// All instruments, sorted by name.
#[rustfmt::skip]
pub const INSTRUMENTS: &[Row] = &[
    Row { name: "openclaw.attempts", kind: Kind::Counter, labels: &["provider", "outcome", "reason"],
        help: "Calls made upstream, by what came of them",
        remedy: "A rising share of one provider's failures names the provider and the reason; `explain` shows one of them" },
    Row { name: "openclaw.broken_answers", kind: Kind::Counter, labels: &["wire", "reason"],
        help: "Streams that broke off after their first content",
        remedy: "The client got part of an answer and an error event; look at the provider and at proxies in between" },
    Row { name: "openclaw.cooldowns_active", kind: Kind::Gauge, labels: &["provider", "lane"],
        help: "Windows that block a credential, one of its models or an endpoint now",
        remedy: "`cooldown list` shows which, why and until when; `cooldown clear` ends one that is wrong" },
    Row { name: "openclaw.cooldowns_opened", kind: Kind::Counter, labels: &["provider", "lane", "reason"],
        help: "Windows that opened, and new episodes of open ones",
        remedy: "`cooldown history` shows them in order, with the request that opened each" },
    Row { name: "openclaw.dropped_series", kind: Kind::Counter, labels: &["metric"],
        help: "Measurements that were counted under `other`, because their metric has as many series as it may",
        remedy: "Somebody invents provider names; look at the log for the requests" },
    Row { name: "openclaw.history_dropped", kind: Kind::Counter, labels: &[],
        help: "Entries that are missing from the decision history, because too many waited or the file could not be written",
        remedy: "Look at the log for the reason, and at the disk; requests are not affected" },
    Row { name: "openclaw.immediate_retries", kind: Kind::Counter, labels: &["provider", "met"],
        help: "Calls made once more at once after what looked like chance: `reset`, `500`, `502` or `504`",
        remedy: "A few are what chance is; many mean that something between here and the provider drops connections" },
    Row { name: "openclaw.lenient_ends", kind: Kind::Counter, labels: &["provider", "wire", "missing"],
        help: "Streams that were complete and left out their `end_event`, their `stop_reason` or `both`",
        remedy: "Nothing, if it is always so: the provider's server does not follow the format. If it begins one day, look whether its answers are whole" },
    Row { name: "openclaw.overhead", kind: Kind::Histogram, labels: &["wire"],
        help: "What the gateway itself took of a request: from its head to its first content, without the calls made",
        remedy: "Milliseconds are normal under load; more means that the machine or the disk of the state directory is busy" },
    Row { name: "openclaw.probes", kind: Kind::Counter, labels: &["provider", "reason"],
        help: "Resting candidates that were tried all the same, to see whether they are back",
        remedy: "Nothing: this is how a provider is found to be back" },
    Row { name: "openclaw.requests", kind: Kind::Counter, labels: &["wire", "status"],
        help: "Requests that got an answer, by its HTTP status; a client that left first is not among them",
        remedy: "5xx: see `openclaw_runs_total` and the attempts; 4xx: look at the clients" },
    Row { name: "openclaw.rotations", kind: Kind::Counter, labels: &["provider", "decision", "reason"],
        help: "What followed failed attempts inside a candidate: another credential, the next model, or nothing",
        remedy: "`surface_error` is what clients see; many `rotate_profile` mean that one key of several is bad" },
    Row { name: "openclaw.runs", kind: Kind::Counter, labels: &["wire", "outcome"],
        help: "Requests that were planned and run: `answered`, `answered_by_fallback`, `failed` or `cancelled` by the client",
        remedy: "`failed`: nothing in the chain answered, so look at `status`; `answered_by_fallback`: the primary is in trouble" },
    Row { name: "openclaw.skipped_events", kind: Kind::Counter, labels: &["provider", "wire"],
        help: "Events of streams that nobody can read, and that were left out of an answer",
        remedy: "The log names the requests; the provider's server or a proxy in between damages its answers" },
    Row { name: "openclaw.skips", kind: Kind::Counter, labels: &["provider", "reason"],
        help: "Candidates that were passed over without a call, because they rest",
        remedy: "Expected while a window is open; `cooldown list` shows it" },
    Row { name: "openclaw.store_errors", kind: Kind::Counter, labels: &["store"],
        help: "State that could not be written: credentials or sessions",
        remedy: "Look at the log, at the disk and at other programs on the same files; `doctor` checks them" },
    Row { name: "openclaw.time_to_first_content", kind: Kind::Histogram, labels: &["provider"],
        help: "How long a client of a stream waited for its first content, failed attempts included",
        remedy: "Compare with the upstream duration of the same provider: the difference was lost on other candidates" },
    Row { name: "openclaw.transitions", kind: Kind::Counter, labels: &["from", "to", "reason"],
        help: "Moves from one candidate of a chain to the next, by provider",
        remedy: "Shows where requests go when a provider fails; make sure that the provider they go to can take them" },
    Row { name: "openclaw.unclassified", kind: Kind::Counter, labels: &["provider"],
        help: "Failures that no rule recognises",
        remedy: "`explain` one of them; a rule for it belongs into the classification" },
    Row { name: "openclaw.upstream_duration", kind: Kind::Histogram, labels: &["provider", "outcome"],
        help: "How long one call took: until the whole answer, the first content of a stream, or the failure",
        remedy: "The provider is slow; shorter limits in `failover.json5` move on sooner" },
];

/// Of the gateway's own part; from ten microseconds, in seconds.
pub(super) const OVERHEAD_BUCKETS: &[f64] = &[
    0.000_01, 0.000_025, 0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1,
    0.5, 2.5,
];
/// Of what providers take, in seconds.
pub(super) const UPSTREAM_BUCKETS: &[f64] = &[
    0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0,
];

impl Row {
    /// Its name in a scrape: with underscores, its unit and, of counters, `_total`.
    pub fn prometheus_name(&self) -> String {
        let name = self.name.replace('.', "_");
        match self.kind {
            Kind::Counter => name + "_total",
            Kind::Gauge => name,
            Kind::Histogram => name + "_seconds",
        }
    }
}

/// The row of an instrument.
pub(super) fn row(name: &str) -> Option<&'static Row> {
    INSTRUMENTS.iter().find(|row| row.name == name)
}
