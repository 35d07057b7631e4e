//! What happened to a request, from the history.

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
use crate::terminal::{OutputArgs, Render, Style, Table};

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

/// Shows what happened to a request.
pub(super) fn explain(
    files: &Files,
    id: &str,
    output: OutputArgs,
    screen: &mut Screen<'_>,
) -> Result<Outcome, CommandError> {
    let history = history::open(files)?;
    let story = history.story(id)?.ok_or_else(|| UnknownRequest(id.to_owned()))?;
    show(&history, &story, files, output, screen)
}

/// Shows what happened to the last request that went to a fallback or failed, else to the last that met any trouble.
pub(super) fn explain_last(
    files: &Files,
    agent: &AgentArg,
    output: OutputArgs,
    screen: &mut Screen<'_>,
) -> Result<Outcome, CommandError> {
    let Some(history) = HistoryReader::open(&files.state_dir)? else {
        return nothing(NO_REQUEST, output, screen);
    };
    let filter = RunFilter {
        agent: agent.named(files)?,
        latest: Some(SEARCHED),
        ..RunFilter::default()
    };
    let runs = history.runs(&filter)?;
    if runs.is_empty() {
        return nothing(NO_REQUEST, output, screen);
    }
    let mut troubled = runs.iter().rev().filter(|run| met_trouble(run)).peekable();
    let latest = troubled.peek().copied();
    let Some(run) = troubled.find(|run| went_on(run)).or(latest) else {
        let count = runs.len();
        let text =
            format!("None of the last {count} requests met trouble: each was answered by its first model.");
        return nothing(&text, output, screen);
    };
    let story = history.story(&run.note.run_id)?;
    let story = story.ok_or_else(|| UnknownRequest(run.note.run_id.clone()))?;
    show(&history, &story, files, output, screen)
}

/// Whether a request went to a fallback or failed.
fn went_on(run: &StoredRun) -> bool {
    match run.note.outcome {
        RunOutcome::Answered => run.note.fallback_index.is_some_and(|index| index > 0),
        RunOutcome::Cancelled => false,
        RunOutcome::Failed => true,
    }
}

fn nothing(text: &str, output: OutputArgs, screen: &mut Screen<'_>) -> Result<Outcome, CommandError> {
    screen.render(&NoExplanation(text), output)?;
    Ok(Outcome::Findings)
}

/// Why there is no request to explain.
struct NoExplanation<'t>(&'t str);

impl Render for NoExplanation<'_> {
    fn text(&self, screen: &mut Screen<'_>) -> io::Result<()> {
        screen.line(self.0)
    }

    fn json(&self) -> impl Serialize {
        json!(null)
    }
}

/// The explanation as JSON.
#[derive(Serialize)]
struct RequestExplanation<'s> {
    run: Option<&'s StoredRun>,
    story: Option<&'s RunStory>,
    /// What held back the candidates that were cooling down.
    held: &'s [CooldownCause],
    records: &'s [openclaw_history::StoredRecord],
}

fn show(
    history: &HistoryReader,
    story: &StoredStory,
    files: &Files,
    output: OutputArgs,
    screen: &mut Screen<'_>,
) -> Result<Outcome, CommandError> {
    let run_story = run_story(story)?;
    let held = match (&story.run, &run_story) {
        (Some(run), Some(run_story)) => held(history, files, run, run_story)?,
        (Some(_) | None, _) => Vec::new(),
    };
    let explained = ExplainedRequest {
        stored: story,
        run_story,
        held,
        files,
    };
    screen.render(&explained, output)?;
    Ok(Outcome::Fine)
}

/// A request, what happened to it, and the installation whose names its text uses.
struct ExplainedRequest<'s> {
    stored: &'s StoredStory,
    run_story: Option<RunStory>,
    held: Vec<CooldownCause>,
    files: &'s Files,
}

impl Render for ExplainedRequest<'_> {
    fn text(&self, screen: &mut Screen<'_>) -> io::Result<()> {
        let now = now();
        match &self.stored.run {
            Some(run) => show_run(run, now, screen)?,
            None => screen.toned(Style::Warn, STILL_RUNNING)?,
        }
        self.show_story(screen)?;
        if let Some(run) = &self.stored.run {
            show_held(&self.held, run, now, screen)?;
        }
        show_breaks(self.stored, screen)?;
        screen.section("Windows", &window_table(self.stored, now)?)
    }

    fn json(&self) -> impl Serialize {
        RequestExplanation {
            run: self.stored.run.as_ref(),
            story: self.run_story.as_ref(),
            held: &self.held,
            records: &self.stored.told,
        }
    }
}

impl ExplainedRequest<'_> {
    fn show_story(&self, screen: &mut Screen<'_>) -> io::Result<()> {
        if let Some(story) = &self.run_story {
            screen.line("")?;
            let names = Names::of(self.files);
            return screen.line(names.put_into(&story.to_string()).trim_end());
        }
        let run = self.stored.run.as_ref();
        if run.is_some_and(|run| run.note.outcome == RunOutcome::Answered) {
            screen.line("  Its first model answered at once, and there was nothing to decide.")?;
        }
        Ok(())
    }
}

fn held(
    history: &HistoryReader,
    files: &Files,
    run: &StoredRun,
    run_story: &RunStory,
) -> Result<Vec<CooldownCause>, CommandError> {
    let agent = ReadAgent::open(files, &run.note.agent).ok();
    let provider_of = |_: &AgentId, profile: &ProfileId| {
        let credential = agent.as_ref()?.seen.credential(profile)?;
        Some(credential.provider().clone())
    };
    let search = CauseSearch::new(history, &files.aliases, &provider_of, WINDOWS_SEARCHED);
    Ok(search.held(run, run_story)?)
}

/// Shows where the answer broke off.
fn show_breaks(story: &StoredStory, screen: &mut Screen<'_>) -> io::Result<()> {
    for stored in story.told.iter().filter(|stored| stored.kind == "broken") {
        let broken: BrokenAnswer = serde_json::from_value(stored.record.clone())?;
        let why = broken.reason.map(|reason| format!(" ({reason})"));
        let why = why.unwrap_or_default();
        screen.line("")?;
        screen.toned(
            Style::Bad,
            format!("The answer broke off after it had begun{why}: {}", broken.error),
        )?;
    }
    Ok(())
}

fn window_table(story: &StoredStory, now: Timestamp) -> io::Result<Table> {
    let mut table = Table::new(&["WHAT", "WINDOW", "WHY", "FREE IN"]);
    for stored in story.told.iter().filter(|stored| stored.kind == "window") {
        let note: WindowNote = serde_json::from_value(stored.record.clone())?;
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
    Ok(table)
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
