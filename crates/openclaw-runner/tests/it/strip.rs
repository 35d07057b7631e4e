//! One run as a line of signs.

use jiff::{SignedDuration, Timestamp};
use openclaw_auth_store::AuthSnapshot;
use openclaw_classify::Reason;
use openclaw_ids::ModelRef;
use openclaw_runner::{DecisionKind, RotationKind, RunError, RunEvent, RunReport, Standing};

use crate::scenarios::Outcome;

/// A run as the document shows it.
pub(crate) struct Strip {
    after: SignedDuration,
    /// The candidates in order.
    pub(crate) chain: Vec<String>,
    /// What each candidate did, in order.
    pub(crate) walk: String,
    /// What the person saw.
    pub(crate) ending: String,
    /// What rests afterwards.
    pub(crate) rests: String,
}

/// A candidate and its signs.
struct Cell {
    model: ModelRef,
    signs: Vec<String>,
    is_closed: bool,
}

impl Strip {
    pub(crate) fn new(after: SignedDuration, chain: Vec<String>, outcome: &Outcome, now: Timestamp) -> Self {
        let (report, ending, answered) = match outcome {
            Ok(done) => {
                let what = match done.winner.standing {
                    Standing::Good => "the answer of",
                    Standing::Preserved => "for want of a better one, the answer of",
                };
                let by = &done.winner.candidate;
                let with = done.winner.profile.as_ref();
                let with = with.map_or_else(String::new, |profile| format!(" with `{profile}`"));
                (&done.report, format!("{what} `{by}`{with}"), Some(by))
            }
            Err(error @ RunError::Aborted(report)) => {
                assert_eq!(error.user_text(now), "");
                (
                    &**report,
                    "nothing: it was the caller who stopped".to_owned(),
                    None,
                )
            }
            Err(error) => (error.report(), shown(&error.user_text(now)), None),
        };
        // A cancelled attempt leaves no record: it was the one that came next.
        let stopped = matches!(outcome, Err(RunError::Aborted(_)))
            .then(|| chain.get(report.attempts.len()))
            .flatten();
        let stopped = stopped.map(|model| model.parse().unwrap());
        Self {
            after,
            chain,
            walk: walk(report, answered, stopped),
            ending,
            rests: String::new(),
        }
    }

    /// When the run began, since the first one.
    pub(crate) fn time(&self) -> String {
        span(self.after)
    }
}

/// Lines as one cell.
fn shown(text: &str) -> String {
    text.lines().collect::<Vec<_>>().join("<br>")
}

fn walk(report: &RunReport, answered: Option<&ModelRef>, stopped: Option<ModelRef>) -> String {
    let mut cells: Vec<Cell> = Vec::new();
    for event in &report.events {
        let (model, sign, closes) = match event {
            RunEvent::Candidate(decision) => {
                let reason = because(decision.reason, decision.status);
                let (sign, closes) = match decision.kind {
                    DecisionKind::CandidateFailed => (format!("❌ {reason}"), true),
                    DecisionKind::CandidateSucceeded => ("✅".to_owned(), true),
                    DecisionKind::ProbeCooldownCandidate => ("🔎".to_owned(), false),
                    DecisionKind::SkipCandidate => (format!("💤 {reason}"), true),
                };
                (&decision.candidate, sign, closes)
            }
            RunEvent::Rotation(rotation) => {
                let follows = match rotation.kind {
                    // The candidate's own record follows.
                    RotationKind::FallbackModel | RotationKind::SurfaceError => continue,
                    RotationKind::InlineWait | RotationKind::WaitForReset => "⏳",
                    RotationKind::Redirect => "👤",
                    RotationKind::RetryRepaired => "🔧",
                    RotationKind::RotateProfile => "🔑",
                };
                let sign = format!("❌ {} {follows}", because(Some(rotation.reason), rotation.status));
                (&rotation.candidate, sign, rotation.kind == RotationKind::Redirect)
            }
        };
        add(&mut cells, model, sign, closes);
    }
    let last = cells
        .last()
        .map(|cell| (&cell.model, cell.signs.last().is_some_and(|sign| sign == "✅")));
    if let Some(by) = answered
        .filter(|by| last != Some((*by, true)) && report.attempts.iter().all(|left| left.candidate != **by))
    {
        add(&mut cells, by, "✅".to_owned(), true);
    }
    if let Some(model) = stopped {
        add(&mut cells, &model, "✋".to_owned(), true);
    }
    let cells = cells
        .iter()
        .map(|cell| format!("`{}` {}", cell.model, cell.signs.join(" ")));
    let walked = cells.collect::<Vec<_>>().join(" ➜ ");
    if walked.is_empty() {
        "nobody was asked".to_owned()
    } else {
        walked
    }
}

fn add(cells: &mut Vec<Cell>, model: &ModelRef, sign: String, closes: bool) {
    match cells
        .last_mut()
        .filter(|cell| !cell.is_closed && cell.model == *model)
    {
        Some(cell) => {
            cell.signs.push(sign);
            cell.is_closed = closes;
        }
        None => cells.push(Cell {
            model: model.clone(),
            signs: vec![sign],
            is_closed: closes,
        }),
    }
}

fn because(reason: Option<Reason>, status: Option<u16>) -> String {
    let reason = reason
        .map_or("dropped when the time was over", Reason::as_str)
        .replace('_', " ");
    match status {
        Some(status) => format!("{reason} ({status})"),
        None => reason,
    }
}

/// Every window that is active, for how long from now.
pub(crate) fn rests(snapshot: &AuthSnapshot, now: Timestamp) -> String {
    let mut lines = Vec::new();
    for id in snapshot.profiles.keys() {
        for (lane, window) in snapshot
            .usage(id)
            .windows
            .iter()
            .filter(|(_, window)| window.is_active(now))
        {
            let reason = window.reason.as_str().replace('_', " ");
            let left = span(window.until.duration_since(now));
            lines.push(format!("`{id}` {lane}: {reason}, {left}"));
        }
    }
    let endpoints = snapshot.endpoints.iter();
    let mut resting: Vec<_> = endpoints.filter(|(_, window)| window.is_active(now)).collect();
    resting.sort_by_key(|(key, window)| (window.until, key.base_url.clone()));
    for (key, window) in resting {
        lines.push(format!(
            "{}: {}",
            key.base_url,
            span(window.until.duration_since(now))
        ));
    }
    lines.join("<br>")
}

/// A length of time in its largest units.
fn span(length: SignedDuration) -> String {
    let millis = length.as_millis();
    let (hours, minutes, seconds, rest) = (
        millis / 3_600_000,
        millis / 60_000 % 60,
        millis / 1_000 % 60,
        millis % 1_000,
    );
    let seconds = match (seconds, rest) {
        (0, 0) => String::new(),
        (seconds, 0) => format!("{seconds} s"),
        (seconds, rest) => format!("{seconds}.{rest:03} s"),
    };
    let parts = [
        (hours > 0).then(|| format!("{hours} h")),
        (minutes > 0).then(|| format!("{minutes} min")),
        Some(seconds).filter(|seconds| !seconds.is_empty()),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() {
        "0 s".to_owned()
    } else {
        parts.join(" ")
    }
}
