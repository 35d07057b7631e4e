//! `/admin/v1/decisions` and `/admin/v1/windows`: what was decided, and the story of one run.

use std::collections::HashMap;
use std::sync::Arc;

use axum::Json;
use jiff::Timestamp;
use openclaw_auth_store::{AuthSnapshot, UsageStore};
use openclaw_history::{
    HistoryError, HistoryReader, RunFilter, RunOutcome, StoredRun, StoredStory, StoredWindow, WindowFilter,
    explain,
};
use openclaw_ids::{AgentId, ProfileId, ProviderId, SessionKey};
use openclaw_runner::{Clock, SystemClock};
use serde::{Deserialize, Serialize};

use super::agents::unusable;
use super::params::Params;
use crate::http::{ApiError, PathName, RequestContext};
use crate::report::{CAUSES_HEADING, CauseSearch, CooldownCause, cause_lines, run_story};

/// How many are returned without `limit`.
const USUAL: usize = 50;
/// The most that are returned at once.
const MOST: usize = 1_000;
/// How many changes of windows are searched for those that mattered to one run.
const SEARCHED: usize = 10_000;
/// The same for many runs that are shown again every other second.
const SEARCHED_FOR_MANY: usize = 1_000;

/// The filter of a query; what is not set excludes nothing.
#[derive(Debug, Default, Deserialize)]
pub(super) struct HistoryQuery {
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
    runs: Vec<StoredRun>,
}

/// Window changes, the latest first.
#[derive(Debug, Serialize)]
pub(super) struct Windows {
    windows: Vec<StoredWindow>,
}

/// A run with its story.
#[derive(Debug, Serialize)]
pub(super) struct RunDetails {
    /// For people, one sentence a line.
    pub(super) text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    story: Option<explain::Story>,
    /// What held back the candidates that rested.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    held: Vec<CooldownCause>,
    #[serde(flatten)]
    record: StoredStory,
}

/// The last runs.
pub(super) async fn runs(
    served: RequestContext,
    Params(wanted): Params<HistoryQuery>,
) -> Result<Json<Runs>, ApiError> {
    let session = wanted.session.as_deref().map(SessionKey::try_new).transpose();
    let filter = RunFilter {
        agent: wanted.agent.as_deref().map(AgentId::new),
        session: session.map_err(|error| ApiError::invalid(&error.to_string()))?,
        since: instant(wanted.since)?,
        latest: Some(wanted.limit.unwrap_or(USUAL).min(MOST)),
    };
    let runs = read(&served, move |reader| latest(reader, &filter)).await?;
    Ok(Json(Runs {
        runs: runs.unwrap_or_default(),
    }))
}

fn latest(reader: &HistoryReader, filter: &RunFilter) -> Result<Vec<StoredRun>, HistoryError> {
    let mut runs = reader.runs(filter)?;
    runs.reverse();
    Ok(runs)
}

/// The last runs, the latest first, each of those that `have_stories` with its own.
///
/// # Errors
/// When the history cannot be read.
pub(super) async fn runs_with_details(
    served: &RequestContext,
    filter: RunFilter,
    have_stories: fn(&StoredRun) -> bool,
) -> Result<Vec<(StoredRun, Option<RunDetails>)>, UnreadHistory> {
    let providers = ProviderLookup::of(served).await;
    let told = read(served, move |reader| {
        let provider_of = |agent: &AgentId, profile: &ProfileId| providers.provider_of(agent, profile);
        let search = CauseSearch::new(
            reader,
            &providers.served.generation.policy.aliases,
            &provider_of,
            SEARCHED_FOR_MANY,
        );
        let runs = latest(reader, &filter)?.into_iter();
        runs.map(|run| {
            let story = if have_stories(&run) {
                reader.story(&run.note.run_id)?
            } else {
                None
            };
            Ok((run, story.map(|story| tell(&search, story))))
        })
        .collect()
    });
    Ok(told.await?.unwrap_or_default())
}

/// The last changes of windows.
pub(super) async fn windows(
    served: RequestContext,
    Params(wanted): Params<HistoryQuery>,
) -> Result<Json<Windows>, ApiError> {
    let profile = wanted.profile.as_deref().map(ProfileId::try_new).transpose();
    let filter = WindowFilter {
        agent: wanted.agent.as_deref().map(AgentId::new),
        profile: profile.map_err(|error| ApiError::invalid(&error.to_string()))?,
        since: instant(wanted.since)?,
        latest: Some(wanted.limit.unwrap_or(USUAL).min(MOST)),
    };
    let windows = read(&served, move |reader| reader.windows(&filter)).await?;
    let mut windows = windows.unwrap_or_default();
    windows.reverse();
    Ok(Json(Windows { windows }))
}

/// One run, by the id of its request.
pub(super) async fn one(
    served: RequestContext,
    PathName(id): PathName,
) -> Result<Json<RunDetails>, ApiError> {
    let providers = ProviderLookup::of(&served).await;
    let told = read(&served, move |reader| {
        let provider_of = |agent: &AgentId, profile: &ProfileId| providers.provider_of(agent, profile);
        let search = CauseSearch::new(
            reader,
            &providers.served.generation.policy.aliases,
            &provider_of,
            SEARCHED,
        );
        Ok(reader.story(&id)?.map(|story| tell(&search, story)))
    });
    told.await?.flatten().map(Json).ok_or_else(|| {
        ApiError::unknown("nothing is known of such a run; x-openclaw-request-id of an answer names it")
    })
}

/// Which provider each agent's credentials are of.
struct ProviderLookup {
    served: RequestContext,
    seen: HashMap<AgentId, Arc<AuthSnapshot>>,
}

impl ProviderLookup {
    async fn of(served: &RequestContext) -> Self {
        let mut seen = HashMap::new();
        for id in served.generation.config.chain.agent_ids() {
            // What cannot be opened is told by the status; ids name their providers mostly.
            if let Ok(agent) = served.process.agents.get(&id).await {
                seen.insert(id, agent.usage.snapshot());
            }
        }
        let served = served.clone();
        Self { served, seen }
    }

    fn provider_of(&self, agent: &AgentId, profile: &ProfileId) -> Option<ProviderId> {
        let credential = self.seen.get(agent)?.credential(profile)?;
        Some(credential.provider().clone())
    }
}

fn tell(search: &CauseSearch<'_>, record: StoredStory) -> RunDetails {
    // What this version cannot read, it cannot tell; the records themselves are there all the same.
    let story = run_story(&record).ok().flatten();
    let mut text = match (&story, &record.run) {
        (Some(story), _) => story.to_string(),
        (None, Some(run)) => at_once(run),
        (None, None) => "The run goes on, or its process ended before it did.".to_owned(),
    };
    let mut held = Vec::new();
    if let (Some(story), Some(run)) = (&story, &record.run) {
        held = search.held(run, story).unwrap_or_default();
        if !held.is_empty() {
            let lines = cause_lines(&held, run, SystemClock.now()).join("\n");
            text = format!("{}\n\n{CAUSES_HEADING}\n{lines}", text.trim_end());
        }
    }
    RunDetails {
        text,
        story,
        held,
        record,
    }
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

/// What happened cannot be told.
#[derive(Debug, thiserror::Error)]
pub(super) enum UnreadHistory {
    #[error(transparent)]
    History(#[from] HistoryError),
    #[error("the history was not read, because the process is ending")]
    Interrupted,
}

impl From<UnreadHistory> for ApiError {
    fn from(error: UnreadHistory) -> Self {
        unusable(&error)
    }
}

/// Reads the history where that may take its time; `None` when nothing was kept yet.
async fn read<T: Send + 'static>(
    served: &RequestContext,
    query: impl FnOnce(&HistoryReader) -> Result<T, HistoryError> + Send + 'static,
) -> Result<Option<T>, UnreadHistory> {
    if let Some(history) = served.process.telemetry.history() {
        // So that a run is told that was answered a moment ago.
        history.flush().await;
    }
    let state_dir = served.process.state_dir.clone();
    let reading = tokio::task::spawn_blocking(move || {
        let Some(reader) = HistoryReader::open(&state_dir)? else {
            return Ok(None);
        };
        query(&reader).map(Some)
    });
    let read: Result<Option<T>, HistoryError> = reading.await.map_err(|_| UnreadHistory::Interrupted)?;
    Ok(read?)
}
