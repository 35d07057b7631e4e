//! What made a candidate cool down, as lines of text.

use jiff::Timestamp;
use openclaw_cooldown::Lane;
use openclaw_history::{CooldownTarget, StoredRun, WindowNote};

use super::{CauseWindow, CooldownCause};
use crate::report::relative_time::ago;
use crate::report::release_time::free_and_tried;
use crate::telemetry::terminal_escape::visible;

/// What stands above it.
pub const CAUSES_HEADING: &str = "What made it rest";

/// What held back the candidates of `run`, one sentence a line.
pub fn cause_lines(held: &[CooldownCause], run: &StoredRun, now: Timestamp) -> Vec<String> {
    let mut lines = Vec::new();
    for CooldownCause { model, windows } in held {
        if windows.is_empty() {
            lines.push(format!(
                "  {model}: the history does not know; it forgot, or another program did it"
            ));
        }
        for opened in windows {
            tell_window(model, opened, run, now, &mut lines);
        }
    }
    lines
}

fn tell_window(
    model: &str,
    CauseWindow {
        window,
        evidence,
        cleared_at,
    }: &CauseWindow,
    run: &StoredRun,
    now: Timestamp,
    lines: &mut Vec<String>,
) {
    let note = &window.note;
    let (free, tried) = free_and_tried(Some(note.reason), Some(note.until), None, now);
    let end = match (free.as_str(), tried.as_str()) {
        _ if cleared_at.is_some() => {
            let when = cleared_at.map(|at| ago(at, now)).unwrap_or_default();
            format!("set free {when}")
        }
        ("now", _) => "over by now".to_owned(),
        (_, "") => format!("free in {free}"),
        (_, "now") => format!("free {free}"),
        _ => format!("free {free}, tried in {tried}"),
    };
    let (what, reason, since) = (rested(note), note.reason, ago(note.opened_at, now));
    lines.push(format!(
        "  {model}: {what} rested ({reason}) since {since}, {end}"
    ));
    let Some(id) = &note.run_id else {
        lines.push("    a person laid it to rest: openclaw-gateway cooldown set".to_owned());
        return;
    };
    if *id == run.note.run_id {
        lines.push("    this request itself opened that window, as told above".to_owned());
        return;
    }
    let facts = evidence.iter().flat_map(|evidence| {
        let status = evidence.status.map(|status| format!("HTTP {status}"));
        let rule = evidence.rule.as_ref().map(|rule| format!("rule {rule}"));
        let detail = evidence
            .detail
            .as_ref()
            .map(|detail| format!("\"{}\"", visible(detail)));
        [status, rule, detail].into_iter().flatten()
    });
    let facts: Vec<String> = facts.collect();
    let met = if facts.is_empty() {
        String::new()
    } else {
        format!(": {}", facts.join(", "))
    };
    let when = ago(window.at, now);
    lines.push(format!("    request {id} opened that window, {when}{met}"));
    lines.push(format!("    see openclaw-gateway explain {id}"));
}

/// What a window is about, for people.
pub fn rested(note: &WindowNote) -> String {
    match &note.rested {
        CooldownTarget::Profile { profile, lane } => match lane {
            Lane::Model(model) => format!("{profile} for {model}"),
            Lane::AuthPermanent | Lane::Billing | Lane::Blocked | Lane::Profile => profile.to_string(),
        },
        CooldownTarget::Endpoint { endpoint } => format!("address of {endpoint}"),
    }
}
