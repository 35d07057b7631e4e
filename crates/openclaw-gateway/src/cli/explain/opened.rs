//! Why a candidate rested when a request came: which window held it back, and which request had opened that.

use std::collections::BTreeMap;
use std::io;

use jiff::Timestamp;
use openclaw_classify::Reason;
use openclaw_cooldown::Lane;
use openclaw_ids::{AgentId, ModelRef, ProfileId, ProviderId};
use openclaw_runner::explain::{Fate, Story as RunStory, Visit};
use serde::Serialize;

use super::request::run_story;
use crate::cli::CommandError;
use crate::cli::files::{Files, ReadAgent};
use crate::cli::history::{hash, rested};
use crate::cli::render::{Tone, ago};
use crate::cli::rest::free_and_tried;
use crate::cli::screen::Screen;
use crate::history::{
    BrokenNote, HistoryReader, Rested, StoredRun, StoredWindow, WindowChange, WindowFilter,
};
use crate::visible::visible;

/// How many changes of windows are searched for the one that matters.
const SEARCHED: usize = 10_000;

/// A candidate that rested when a request came, and the windows that held it back; none when the history knows of none.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Held {
    model: String,
    windows: Vec<Opened>,
}

/// A window, and what opened it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Opened {
    #[serde(flatten)]
    window: StoredWindow,
    /// What the request met that opened it; none for what a person did, and for a request that is forgotten.
    #[serde(skip_serializing_if = "Option::is_none")]
    evidence: Option<Evidence>,
    /// When it was set free since; none when it was left to its end.
    #[serde(
        with = "jiff::fmt::serde::timestamp::millisecond::optional",
        skip_serializing_if = "Option::is_none"
    )]
    cleared_at: Option<Timestamp>,
}

/// What a request met.
#[derive(Debug, Serialize)]
struct Evidence {
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
}

/// What held back the candidates of `run` that were passed over, or asked although they rested.
///
/// # Errors
/// When the history cannot be read.
pub(super) fn held(
    history: &HistoryReader,
    files: &Files,
    run: &StoredRun,
    story: &RunStory,
) -> Result<Vec<Held>, CommandError> {
    let rested =
        |visit: &&Visit| visit.probed.is_some() || visit.fate == Fate::Skipped && visit.rests_until.is_some();
    let mut visits: Vec<&Visit> = Vec::new();
    for visit in story.visits.iter().filter(rested) {
        // A last resort was passed over before.
        if !visits.iter().any(|known| known.model == visit.model) {
            visits.push(visit);
        }
    }
    if visits.is_empty() {
        return Ok(Vec::new());
    }
    let changes = history.windows(&WindowFilter {
        latest: Some(SEARCHED),
        ..WindowFilter::default()
    })?;
    let open = open_at(&changes, run);
    let agent = ReadAgent::open(files, &run.note.agent).ok();
    let provider_of = |profile: &ProfileId| {
        let stored = agent.as_ref().and_then(|agent| agent.seen.credential(profile));
        let stored = stored.map(|credential| credential.provider().clone());
        stored.or_else(|| profile.as_str().split(':').next()?.parse().ok())
    };
    let mut held = Vec::new();
    for visit in visits {
        let Ok(model) = visit.model.parse::<ModelRef>() else {
            continue;
        };
        let holds = |window: &&StoredWindow| holds(window, &model, files, &provider_of);
        let windows = open.iter().filter(holds);
        held.push(Held {
            model: visit.model.clone(),
            windows: windows
                .map(|window| {
                    Ok(Opened {
                        evidence: evidence(history, window)?,
                        cleared_at: cleared(&changes, window, run),
                        window: window.clone(),
                    })
                })
                .collect::<Result<_, CommandError>>()?,
        });
    }
    Ok(held)
}

/// The windows of the run's agent and of the main one that were open when it came, each with the change that opened it
/// and the end it had.
fn open_at(changes: &[StoredWindow], run: &StoredRun) -> Vec<StoredWindow> {
    let mut open: BTreeMap<String, StoredWindow> = BTreeMap::new();
    let owners = [&run.note.agent, &AgentId::main()];
    for change in changes {
        let limit = match change.note.change {
            // What the run itself set free was not free when it came.
            WindowChange::Cleared => run.note.started_at,
            WindowChange::Extended | WindowChange::Opened | WindowChange::Shortened => run.at,
        };
        if change.at > limit || !owners.contains(&&change.note.agent) {
            continue;
        }
        let what = match &change.note.rested {
            Rested::Profile { profile, lane } => format!("{profile}\n{lane}"),
            Rested::Endpoint { endpoint } => format!("\n{endpoint}"),
        };
        let what = format!("{}\n{what}", change.note.agent);
        match change.note.change {
            WindowChange::Cleared => {
                open.remove(&what);
            }
            WindowChange::Opened => {
                open.insert(what, change.clone());
            }
            WindowChange::Extended | WindowChange::Shortened => {
                let known = open.entry(what).or_insert_with(|| change.clone());
                known.note.until = change.note.until;
            }
        }
    }
    let is_open = |window: &StoredWindow| window.note.until > run.note.started_at;
    open.into_values().filter(is_open).collect()
}

/// When a window was set free after a run had met it. A later one in the same place is another one, unless it followed
/// before this one was over.
fn cleared(changes: &[StoredWindow], window: &StoredWindow, run: &StoredRun) -> Option<Timestamp> {
    let is_end = |change: &&StoredWindow| {
        let (own, other) = (&window.note, &change.note);
        let is_same = other.agent == own.agent
            && other.rested == own.rested
            && (other.opened_at == own.opened_at || change.at < own.until);
        is_same && other.change == WindowChange::Cleared && change.at > run.note.started_at
    };
    changes.iter().find(is_end).map(|change| change.at)
}

fn holds(
    window: &StoredWindow,
    model: &ModelRef,
    files: &Files,
    provider_of: &impl Fn(&ProfileId) -> Option<ProviderId>,
) -> bool {
    match &window.note.rested {
        Rested::Endpoint { endpoint } => endpoint == model.provider(),
        Rested::Profile { profile, lane } => {
            let own = provider_of(profile)
                .is_some_and(|provider| files.aliases.share_credentials(&provider, model.provider()));
            own && match lane {
                Lane::Model(one) => one == model.model(),
                Lane::AuthPermanent | Lane::Billing | Lane::Blocked | Lane::Profile => true,
            }
        }
    }
}

/// What the request met that opened a window, as its own records say.
fn evidence(history: &HistoryReader, window: &StoredWindow) -> Result<Option<Evidence>, CommandError> {
    let Some(id) = &window.note.run_id else {
        return Ok(None);
    };
    let Some(kept) = history.story(id)? else {
        return Ok(None);
    };
    for told in kept.told.iter().filter(|told| told.kind == "broken") {
        let broken: BrokenNote = serde_json::from_value(told.record.clone())?;
        if broken.reason == Some(window.note.reason) {
            return Ok(Some(Evidence {
                status: None,
                rule: None,
                detail: Some(format!("the answer broke off: {}", broken.error)),
            }));
        }
    }
    let Some(story) = run_story(&kept)? else {
        return Ok(None);
    };
    Ok(story.visits.iter().find_map(|visit| met(visit, window)))
}

/// What a visit says of the failure that opened `window`.
fn met(visit: &Visit, window: &StoredWindow) -> Option<Evidence> {
    let reason = window.note.reason;
    let rule = |of: Reason| visit.rule.clone().filter(|_| visit.reason == Some(of));
    match &window.note.rested {
        Rested::Profile { profile, .. } => {
            let hash = hash(profile);
            let failed = visit.credentials.iter().find(|credential| {
                credential.profile.as_deref() == Some(&*hash) && credential.reason == reason
            })?;
            Some(Evidence {
                status: failed.status,
                rule: rule(failed.reason),
                detail: failed.detail.clone(),
            })
        }
        Rested::Endpoint { endpoint } => {
            let model: ModelRef = visit.model.parse().ok()?;
            let failed = model.provider() == endpoint && visit.fate == Fate::Failed;
            failed.then(|| Evidence {
                status: visit.status,
                rule: visit.rule.clone(),
                detail: visit.detail.clone(),
            })
        }
    }
}

/// Tells it to people.
pub(super) fn show(
    held: &[Held],
    run: &StoredRun,
    now: Timestamp,
    screen: &mut Screen<'_>,
) -> io::Result<()> {
    if held.is_empty() {
        return Ok(());
    }
    screen.line("")?;
    screen.toned(Tone::Strong, "What made it rest")?;
    for Held { model, windows } in held {
        if windows.is_empty() {
            screen.line(format!(
                "  {model}: the history does not know; it forgot, or another program did it"
            ))?;
        }
        for opened in windows {
            show_window(model, opened, run, now, screen)?;
        }
    }
    Ok(())
}

fn show_window(
    model: &str,
    Opened {
        window,
        evidence,
        cleared_at,
    }: &Opened,
    run: &StoredRun,
    now: Timestamp,
    screen: &mut Screen<'_>,
) -> io::Result<()> {
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
    screen.line(format!(
        "  {model}: {what} rested ({reason}) since {since}, {end}"
    ))?;
    let Some(id) = &note.run_id else {
        return screen.line("    a person laid it to rest: openclaw-gateway cooldown set");
    };
    if *id == run.note.run_id {
        return screen.line("    this request itself opened that window, as told above");
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
    screen.line(format!("    request {id} opened that window, {when}{met}"))?;
    screen.line(format!("    see openclaw-gateway explain {id}"))
}

#[cfg(test)]
mod tests;
