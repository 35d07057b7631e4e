//! The last runs: a strip of time, and each with its story.

use jiff::Timestamp;
use openclaw_history::{RunNote, RunOutcome, StoredRun};

use super::agents::words;
use super::html::Html;
use crate::report::ago;

/// A run, and what happened in it where that is worth telling.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) run: StoredRun,
    pub(super) text: Option<String>,
}

/// How much the strip may show, in milliseconds, with the words at its beginning and in its middle.
#[rustfmt::skip]
const SPANS: &[(i64, &str, &str)] = &[
    (300_000, "5 min ago", "2½ min"),
    (1_200_000, "20 min ago", "10 min"),
    (3_600_000, "1 h ago", "30 min"),
    (21_600_000, "6 h ago", "3 h"),
    (86_400_000, "a day ago", "12 h"),
];
/// Its width.
const WIDTH: i64 = 1_000;

/// How a run ended, as a colour and in words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RunResult {
    Cancelled,
    Failed,
    Fallback,
    First,
}

impl RunResult {
    fn of(note: &RunNote) -> Self {
        match (note.outcome, note.fallback_index) {
            (RunOutcome::Cancelled, _) => Self::Cancelled,
            (RunOutcome::Failed, _) => Self::Failed,
            (RunOutcome::Answered, Some(0) | None) => Self::First,
            (RunOutcome::Answered, Some(_)) => Self::Fallback,
        }
    }

    fn class(self) -> &'static str {
        match self {
            Self::Cancelled => "cancelled",
            Self::Failed => "failed",
            Self::Fallback => "fallback",
            Self::First => "first",
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Cancelled => "client left",
            Self::Failed => "no answer",
            Self::Fallback => "a fallback answered",
            Self::First => "its own model answered",
        }
    }
}

/// Whether a run needs no story: the first model answered, and nothing failed before.
pub(super) fn is_plain(run: &StoredRun) -> bool {
    RunResult::of(&run.note) == RunResult::First && run.note.first_failure.is_none()
}

/// The section of the last runs, which come the latest first.
pub(super) fn decisions(runs: &[Run], now: Timestamp) -> Html {
    let mut html = Html::default().raw("<section class=\"runs\"><h2>Last decisions</h2>");
    if runs.is_empty() {
        return html.raw("<p class=\"none\">none yet; they appear with the first request</p></section>");
    }
    html = html.nested(&strip(runs, now)).raw("<ul>");
    for run in runs {
        html = html.raw("<li>").nested(&item(run, now)).raw("</li>");
    }
    html.raw("</ul></section>")
}

/// The time that the runs took place in, one mark a run.
fn strip(runs: &[Run], now: Timestamp) -> Html {
    let age = |run: &StoredRun| {
        now.as_millisecond()
            .saturating_sub(run.at.as_millisecond())
            .max(0)
    };
    let oldest = runs.iter().map(|run| age(&run.run)).max().unwrap_or_default();
    let wide_enough = SPANS.iter().find(|(span, ..)| *span >= oldest);
    let (span, begin, middle) = *wide_enough.unwrap_or(&SPANS[SPANS.len() - 1]);
    let mut html = Html::default()
        .raw("<figure><svg class=\"strip\" viewBox=\"0 0 1000 44\" role=\"img\" aria-label=\"One mark a run\">")
        .raw("<line class=\"axis\" x1=\"0\" x2=\"1000\" y1=\"30\" y2=\"30\"/>")
        .raw("<text y=\"42\" x=\"0\">")
        .raw(begin)
        .raw("</text><text class=\"middle\" y=\"42\" x=\"500\">")
        .raw(middle)
        .raw("</text><text class=\"now\" y=\"42\" x=\"1000\">now</text>");
    // The oldest first, so that the latest lie on top.
    for Run { run, .. } in runs.iter().rev().filter(|run| age(&run.run) <= span) {
        html = html
            .raw("<circle class=\"")
            .raw(RunResult::of(&run.note).class())
            .raw("\" r=\"7\" cy=\"14\" cx=\"")
            .number((WIDTH - age(run).saturating_mul(WIDTH) / span).clamp(8, WIDTH - 8))
            .raw("\"><title>")
            .text(&format!("{}: {}", ago(run.at, now), headline(&run.note)))
            .raw("</title></circle>");
    }
    html = html.raw("</svg><figcaption>");
    for look in [
        RunResult::First,
        RunResult::Fallback,
        RunResult::Failed,
        RunResult::Cancelled,
    ] {
        html = html
            .raw("<span class=\"dot ")
            .raw(look.class())
            .raw("\"></span>")
            .raw(look.words())
            .raw(" ");
    }
    html.raw("</figcaption></figure>")
}

/// One line about a run.
fn headline(note: &RunNote) -> String {
    let asked = note
        .chain
        .first()
        .map(openclaw_ids::ModelRef::key)
        .unwrap_or_default();
    let served = note.served.as_ref().map(openclaw_ids::ModelRef::key);
    let why = note
        .first_failure
        .map(|reason| format!(" ({})", words(reason)))
        .unwrap_or_default();
    match (RunResult::of(note), served) {
        (RunResult::First, Some(served)) => format!("{served} answered{why}"),
        (RunResult::Fallback, Some(served)) => format!("{served} answered for {asked}{why}"),
        (RunResult::Failed, _) => format!("no answer for {asked}{why}"),
        (RunResult::Cancelled, _) => format!("the client left before {asked} answered{why}"),
        (RunResult::First | RunResult::Fallback, None) => format!("answered for {asked}{why}"),
    }
}

fn item(run: &Run, now: Timestamp) -> Html {
    let note = &run.run.note;
    let line = Html::default()
        .raw("<span class=\"dot ")
        .raw(RunResult::of(note).class())
        .raw("\"></span><span class=\"line\">")
        .text(&headline(note))
        .raw("</span> <small>")
        .text(note.session_key.as_ref().map_or("", |key| key.as_str()))
        .raw(" ")
        .text(&ago(run.run.at, now))
        .raw("</small>");
    match &run.text {
        None => Html::default()
            .raw("<div class=\"plain\">")
            .nested(&line)
            .raw("</div>"),
        Some(text) => Html::default()
            .raw("<details data-id=\"")
            .text(&note.run_id)
            .raw("\"><summary>")
            .nested(&line)
            .raw("</summary><pre>")
            .text(text)
            .raw("</pre><small class=\"id\">")
            .text(&note.run_id)
            .raw("</small></details>"),
    }
}
