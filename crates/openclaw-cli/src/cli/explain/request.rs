//! A request, told from the history.

use std::io;

use jiff::Timestamp;
use openclaw_gateway::report::ago;
use openclaw_gateway::report::free_and_tried;
use openclaw_gateway::report::rested;
use openclaw_gateway::report::{CAUSES_HEADING, cause_lines};
use openclaw_gateway::report::{CauseSearch, CooldownCause, met_trouble, run_story};
use openclaw_history::explain::Story as RunStory;
use openclaw_history::{
    BrokenAnswer, HistoryReader, RunFilter, RunOutcome, StoredRun, StoredStory, WindowNote,
};
use openclaw_ids::{AgentId, ModelRef, ProfileId};
use serde::Serialize;
use serde_json::json;

use crate::files::history::{self, Names, window_word};
use crate::files::{AgentArg, Files, ReadAgent};
use crate::outcome::{CommandError, Outcome};
use crate::terminal::screen::{Screen, now};
use crate::terminal::{Style, Table};

/// How many of the last runs are searched for one that met trouble.
const SEARCHED: usize = 1_000;

/// How many changes of windows are searched for those that mattered.
const WINDOWS_SEARCHED: usize = 10_000;

const NO_REQUEST: &str = "The history knows no request: no gateway has answered one here yet.";

const STILL_RUNNING: &str =
    "This request is still running, or its gateway ended before it did; so far this happened.";

/// No such request.
#[derive(Debug, thiserror::Error)]
#[error(
    "the history knows no request `{0}`; ids are in the x-openclaw-request-id header of answers and in the log, old \
     entries are forgotten, and of a request that is still running nothing is known before something went wrong"
)]
struct UnknownRequest(String);

/// Tells what happened to a request.
pub(super) fn explain(
    files: &Files,
    id: &str,
    json: bool,
    screen: &mut Screen<'_>,
) -> Result<Outcome, CommandError> {
    let history = history::open(files)?;
    let story = history.story(id)?.ok_or_else(|| UnknownRequest(id.to_owned()))?;
    tell(&history, &story, files, json, screen)
}

/// Tells what happened to the last request that went to a fallback or failed, else to the last that met any trouble.
pub(super) fn explain_last(
    files: &Files,
    agent: &AgentArg,
    json: bool,
    screen: &mut Screen<'_>,
) -> Result<Outcome, CommandError> {
    let Some(history) = HistoryReader::open(&files.state_dir)? else {
        return nothing(NO_REQUEST, json, screen);
    };
    let filter = RunFilter {
        agent: agent.named(files)?,
        latest: Some(SEARCHED),
        ..RunFilter::default()
    };
    let runs = history.runs(&filter)?;
    if runs.is_empty() {
        return nothing(NO_REQUEST, json, screen);
    }
    let mut troubled = runs.iter().rev().filter(|run| met_trouble(run)).peekable();
    let latest = troubled.peek().copied();
    let Some(run) = troubled.find(|run| went_on(run)).or(latest) else {
        let count = runs.len();
        let text =
            format!("None of the last {count} requests met trouble: each was answered by its first model.");
        return nothing(&text, json, screen);
    };
    let story = history.story(&run.note.run_id)?;
    let story = story.ok_or_else(|| UnknownRequest(run.note.run_id.clone()))?;
    tell(&history, &story, files, json, screen)
}

/// Whether a request went to a fallback or failed.
fn went_on(run: &StoredRun) -> bool {
    match run.note.outcome {
        RunOutcome::Answered => run.note.fallback_index.is_some_and(|index| index > 0),
        RunOutcome::Cancelled => false,
        RunOutcome::Failed => true,
    }
}

fn nothing(text: &str, json: bool, screen: &mut Screen<'_>) -> Result<Outcome, CommandError> {
    if json {
        screen.json(&json!(null))?;
    } else {
        screen.line(text)?;
    }
    Ok(Outcome::Findings)
}

/// What is told as JSON.
#[derive(Serialize)]
struct RequestExplanation<'s> {
    run: Option<&'s StoredRun>,
    story: Option<&'s RunStory>,
    /// What held back the candidates that rested.
    held: &'s [CooldownCause],
    records: &'s [openclaw_history::StoredRecord],
}

fn tell(
    history: &HistoryReader,
    story: &StoredStory,
    files: &Files,
    json: bool,
    screen: &mut Screen<'_>,
) -> Result<Outcome, CommandError> {
    let run_story = run_story(story)?;
    let held = match (&story.run, &run_story) {
        (Some(run), Some(told)) => held(history, files, run, told)?,
        (Some(_) | None, _) => Vec::new(),
    };
    if json {
        screen.json(&RequestExplanation {
            run: story.run.as_ref(),
            story: run_story.as_ref(),
            held: &held,
            records: &story.told,
        })?;
        return Ok(Outcome::Fine);
    }
    show(story, run_story.as_ref(), &held, files, screen)?;
    Ok(Outcome::Fine)
}

fn held(
    history: &HistoryReader,
    files: &Files,
    run: &StoredRun,
    told: &RunStory,
) -> Result<Vec<CooldownCause>, CommandError> {
    let agent = ReadAgent::open(files, &run.note.agent).ok();
    let provider_of = |_: &AgentId, profile: &ProfileId| {
        let credential = agent.as_ref()?.seen.credential(profile)?;
        Some(credential.provider().clone())
    };
    let search = CauseSearch::new(history, &files.aliases, &provider_of, WINDOWS_SEARCHED);
    Ok(search.held(run, told)?)
}

fn show(
    story: &StoredStory,
    told: Option<&RunStory>,
    held: &[CooldownCause],
    files: &Files,
    screen: &mut Screen<'_>,
) -> Result<(), CommandError> {
    let now = now();
    match &story.run {
        Some(run) => show_run(run, now, screen)?,
        None => screen.toned(Style::Warn, STILL_RUNNING)?,
    }
    match told {
        Some(told) => {
            screen.line("")?;
            screen.line(Names::of(files).put_into(&told.to_string()).trim_end())?;
        }
        None if story
            .run
            .as_ref()
            .is_some_and(|run| run.note.outcome == RunOutcome::Answered) =>
        {
            screen.line("  Its first model answered at once, and there was nothing to decide.")?;
        }
        None => {}
    }
    if let Some(run) = &story.run {
        show_held(held, run, now, screen)?;
    }
    for told in story.told.iter().filter(|told| told.kind == "broken") {
        let broken: BrokenAnswer = serde_json::from_value(told.record.clone())?;
        let why = broken
            .reason
            .map(|reason| format!(" ({reason})"))
            .unwrap_or_default();
        screen.line("")?;
        screen.toned(
            Style::Bad,
            format!("The answer broke off after it had begun{why}: {}", broken.error),
        )?;
    }
    let mut table = Table::new(&["WHAT", "WINDOW", "WHY", "FREE IN"]);
    for told in story.told.iter().filter(|told| told.kind == "window") {
        let note: WindowNote = serde_json::from_value(told.record.clone())?;
        let free = if note.until > now {
            free_and_tried(Some(note.reason), Some(note.until), None, now).0
        } else {
            "over".to_owned()
        };
        table.row([
            rested(&note).into(),
            window_word(note.change).into(),
            note.reason.as_str().into(),
            free.into(),
        ]);
    }
    screen.section("Windows", &table)?;
    Ok(())
}

fn show_held(
    held: &[CooldownCause],
    run: &StoredRun,
    now: Timestamp,
    screen: &mut Screen<'_>,
) -> io::Result<()> {
    if held.is_empty() {
        return Ok(());
    }
    screen.line("")?;
    screen.toned(Style::Strong, CAUSES_HEADING)?;
    cause_lines(held, run, now)
        .into_iter()
        .try_for_each(|line| screen.line(line))
}

fn show_run(run: &StoredRun, now: Timestamp, screen: &mut Screen<'_>) -> io::Result<()> {
    let note = &run.note;
    screen.toned(Style::Strong, format!("Request {}", note.run_id))?;
    let (tone, outcome) = match (note.outcome, &note.served) {
        (RunOutcome::Answered, Some(model)) if note.fallback_index == Some(0) => {
            (Style::Good, format!("answered by {}", model.key()))
        }
        (RunOutcome::Answered, Some(model)) => {
            (Style::Warn, format!("answered by a fallback, {}", model.key()))
        }
        (RunOutcome::Answered, None) => (Style::Good, "answered".to_owned()),
        (RunOutcome::Cancelled, _) => (
            Style::Dim,
            "the client left before there was an answer".to_owned(),
        ),
        (RunOutcome::Failed, _) => (Style::Bad, "nobody answered".to_owned()),
    };
    let outcome = screen.palette.paint(tone, outcome).to_string();
    screen.line(format!("  Outcome  {outcome}"))?;
    screen.line(format!("  When     {}", ago(run.at, now)))?;
    let session = note
        .session_key
        .as_ref()
        .map(|key| format!(", session {key}"))
        .unwrap_or_default();
    screen.line(format!("  For      agent {}{session}, {}", note.agent, note.wire))?;
    let chain: Vec<String> = note.chain.iter().map(ModelRef::key).collect();
    screen.line(format!("  Chain    {}", chain.join(" → ")))?;
    screen.line(format!("  Calls    {}", note.calls))
}
