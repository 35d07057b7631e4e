//! `/admin/v1/decisions` and `/admin/v1/windows`: what was decided, and the story of one run.

use std::path::PathBuf;

use axum::Json;
use jiff::Timestamp;
use openclaw_ids::{AgentId, ProfileId, SessionKey};
use openclaw_runner::explain;
use serde::{Deserialize, Serialize};

use super::agents::unusable;
use super::asked::Asked;
use crate::history::{
    HistoryError, HistoryReader, RunFilter, RunOutcome, StoredRun, StoredWindow, Story, WindowFilter,
};
use crate::http::{ApiError, PathName, Served};

/// How many are told when nobody says.
const USUAL: usize = 50;
/// The most that are told at once.
const MOST: usize = 1_000;

/// Which are wanted; what is not set excludes nothing.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Wanted {
    agent: Option<String>,
    session: Option<String>,
    profile: Option<String>,
    /// Unix milliseconds.
    since: Option<i64>,
    limit: Option<usize>,
}

/// Runs, the latest first.
#[derive(Debug, Serialize)]
pub(super) struct Runs {
    pub(super) runs: Vec<StoredRun>,
}

/// Window changes, the latest first.
#[derive(Debug, Serialize)]
pub(super) struct Windows {
    pub(super) windows: Vec<StoredWindow>,
}

/// A run with its story.
#[derive(Debug, Serialize)]
pub(super) struct Told {
    /// For people, one sentence a line.
    pub(super) text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) story: Option<explain::Story>,
    #[serde(flatten)]
    record: Story,
}

/// The last runs.
pub(super) async fn runs(served: Served, Asked(wanted): Asked<Wanted>) -> Result<Json<Runs>, ApiError> {
    let session = wanted.session.as_deref().map(SessionKey::try_new).transpose();
    let filter = RunFilter {
        agent: wanted.agent.as_deref().map(AgentId::new),
        session: session.map_err(|error| ApiError::invalid(&error.to_string()))?,
        since: instant(wanted.since)?,
        latest: Some(wanted.limit.unwrap_or(USUAL).min(MOST)),
    };
    latest_runs(&served, filter).await.map(Json)
}

pub(super) async fn latest_runs(served: &Served, filter: RunFilter) -> Result<Runs, ApiError> {
    let mut runs = read(served, move |reader| reader.runs(&filter))
        .await?
        .unwrap_or_default();
    runs.reverse();
    Ok(Runs { runs })
}

/// The last changes of windows.
pub(super) async fn windows(served: Served, Asked(wanted): Asked<Wanted>) -> Result<Json<Windows>, ApiError> {
    let profile = wanted.profile.as_deref().map(ProfileId::try_new).transpose();
    let filter = WindowFilter {
        agent: wanted.agent.as_deref().map(AgentId::new),
        profile: profile.map_err(|error| ApiError::invalid(&error.to_string()))?,
        since: instant(wanted.since)?,
        latest: Some(wanted.limit.unwrap_or(USUAL).min(MOST)),
    };
    latest_windows(&served, filter).await.map(Json)
}

pub(super) async fn latest_windows(served: &Served, filter: WindowFilter) -> Result<Windows, ApiError> {
    let windows = read(served, move |reader| reader.windows(&filter)).await?;
    let mut windows = windows.unwrap_or_default();
    windows.reverse();
    Ok(Windows { windows })
}

/// One run, by the id of its request.
pub(super) async fn one(served: Served, PathName(id): PathName) -> Result<Json<Told>, ApiError> {
    let told = story(&served, &id).await?;
    told.map(Json).ok_or_else(|| {
        ApiError::unknown("nothing is known of such a run; x-openclaw-request-id of an answer names it")
    })
}

pub(super) async fn story(served: &Served, id: &str) -> Result<Option<Told>, ApiError> {
    let wanted = id.to_owned();
    let found = read(served, move |reader| reader.story(&wanted)).await?.flatten();
    Ok(found.map(tell))
}

fn tell(record: Story) -> Told {
    let lines: Vec<String> = record.told.iter().map(|told| told.record.to_string()).collect();
    // What this version cannot read, it cannot tell; the records themselves are there all the same.
    let story = explain::read(&lines.join("\n"))
        .ok()
        .and_then(|records| explain::stories(&records).into_iter().next());
    let text = match (&story, &record.run) {
        (Some(story), _) => story.to_string(),
        (None, Some(run)) => at_once(run),
        (None, None) => "The run goes on, or its process ended before it did.".to_owned(),
    };
    Told { text, story, record }
}

/// A run that left no record but its end.
fn at_once(run: &StoredRun) -> String {
    let served = run.note.served.as_ref();
    match (run.note.outcome, served) {
        (RunOutcome::Answered, Some(model)) => format!("{model} answered at once."),
        (RunOutcome::Answered, None) => "It was answered.".to_owned(),
        (RunOutcome::Cancelled, _) => "The client left before there was an answer.".to_owned(),
        (RunOutcome::Failed, _) => "Nothing answered.".to_owned(),
    }
}

fn instant(ms: Option<i64>) -> Result<Option<Timestamp>, ApiError> {
    let at = ms.map(Timestamp::from_millisecond).transpose();
    at.map_err(|_| ApiError::invalid("`since` must be a time in Unix milliseconds"))
}

/// Reads the history where that may take its time; `None` when nothing was kept yet.
async fn read<T: Send + 'static>(
    served: &Served,
    query: impl FnOnce(&HistoryReader) -> Result<T, HistoryError> + Send + 'static,
) -> Result<Option<T>, ApiError> {
    if let Some(history) = served.process.telemetry.history() {
        // So that a run is told that was answered a moment ago.
        history.flush().await;
    }
    let state_dir: PathBuf = served.process.state_dir.clone();
    let reading = tokio::task::spawn_blocking(move || {
        let Some(reader) = HistoryReader::open(&state_dir)? else {
            return Ok(None);
        };
        query(&reader).map(Some)
    });
    let read: Result<Option<T>, HistoryError> = reading.await.map_err(|error| unusable(&error))?;
    read.map_err(|error| unusable(&error))
}
