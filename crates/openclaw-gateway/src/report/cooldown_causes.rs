//! Why a candidate was cooling down when a request came: the window that blocked it, and the request that opened the window.

mod lines;

use std::cell::OnceCell;
use std::collections::BTreeMap;

use jiff::Timestamp;
use openclaw_auth_store::log_id;
use openclaw_classify::Reason;
use openclaw_cooldown::Lane;
use openclaw_history::explain::{self, Fate, ReadError, Story as RunStory, Visit};
use openclaw_history::{
    BrokenAnswer, CooldownTarget, HistoryError, HistoryReader, StoredRun, StoredStory, StoredWindow,
    WindowChange, WindowFilter,
};
use openclaw_ids::{AgentId, ModelRef, ProfileId, ProviderId};
use openclaw_providers::AuthAliases;
use serde::Serialize;
use serde_json::json;

pub use lines::{CAUSES_HEADING, cause_lines, rested};

/// A candidate that rested when a request came, and the windows that held it back; none when the history knows of none.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CooldownCause {
    /// The candidate, as provider and model.
    pub model: String,
    /// The windows that held it back.
    pub windows: Vec<CauseWindow>,
}

/// A window, and what opened it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CauseWindow {
    #[serde(flatten)]
    /// The window as the history holds it.
    pub window: StoredWindow,
    /// What the request met that opened it; none for what a person did, and for a request that is forgotten.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Evidence>,
    /// When it was set free since; none when it was left to its end.
    #[serde(
        with = "jiff::fmt::serde::timestamp::millisecond::optional",
        skip_serializing_if = "Option::is_none"
    )]
    pub cleared_at: Option<Timestamp>,
}

/// What a request met.
#[derive(Debug, Serialize)]
pub struct Evidence {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

/// Why there is nothing to tell of a request.
#[derive(Debug, thiserror::Error)]
pub enum UntoldError {
    /// The history cannot be read.
    #[error(transparent)]
    History(#[from] HistoryError),
    /// A note about an answer that broke off.
    #[error("a note of the history cannot be read; it was written by another version")]
    Note(#[from] serde_json::Error),
    /// Its records.
    #[error(transparent)]
    Records(#[from] ReadError),
}

/// The decisions of a run, put together; none when there was nothing to decide.
///
/// # Errors
/// When its records cannot be read.
pub fn run_story(story: &StoredStory) -> Result<Option<RunStory>, ReadError> {
    let lines = story.told.iter().map(|told| {
        let line = json!({"timestamp": told.at.to_string(), "fields": told.record});
        line.to_string()
    });
    let records = explain::read(&lines.collect::<Vec<_>>().join("\n"))?;
    Ok(explain::stories(&records).into_iter().next())
}

/// Looks in a history for what held candidates back.
pub struct CauseSearch<'a> {
    history: &'a HistoryReader,
    aliases: &'a AuthAliases,
    /// The provider of an agent's credential, where it is still there.
    provider_of: &'a dyn Fn(&AgentId, &ProfileId) -> Option<ProviderId>,
    most: usize,
    /// The last changes of windows, once a candidate rested.
    changes: OnceCell<Vec<StoredWindow>>,
}

impl<'a> CauseSearch<'a> {
    /// Looks through the last `most` changes of windows, which are read once, when they are needed.
    pub fn new(
        history: &'a HistoryReader,
        aliases: &'a AuthAliases,
        provider_of: &'a dyn Fn(&AgentId, &ProfileId) -> Option<ProviderId>,
        most: usize,
    ) -> Self {
        Self {
            history,
            aliases,
            provider_of,
            most,
            changes: OnceCell::new(),
        }
    }

    /// What held back the candidates of `run` that were passed over, or asked although they rested.
    ///
    /// # Errors
    /// When the history cannot be read.
    pub fn held(&self, run: &StoredRun, story: &RunStory) -> Result<Vec<CooldownCause>, UntoldError> {
        let rested = |visit: &&Visit| {
            visit.probed.is_some() || visit.fate == Fate::Skipped && visit.rests_until.is_some()
        };
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
        let changes = self.changes()?;
        let open = open_at(changes, run);
        let mut held = Vec::new();
        for visit in visits {
            let Ok(model) = visit.model.parse::<ModelRef>() else {
                continue;
            };
            let windows = open.iter().filter(|window| self.holds(window, &model, run));
            held.push(CooldownCause {
                model: visit.model.clone(),
                windows: windows
                    .map(|window| {
                        Ok(CauseWindow {
                            evidence: self.evidence(window)?,
                            cleared_at: cleared(changes, window, run),
                            window: window.clone(),
                        })
                    })
                    .collect::<Result<_, UntoldError>>()?,
            });
        }
        Ok(held)
    }

    fn changes(&self) -> Result<&[StoredWindow], HistoryError> {
        if let Some(changes) = self.changes.get() {
            return Ok(changes);
        }
        let changes = self.history.windows(&WindowFilter {
            latest: Some(self.most),
            ..WindowFilter::default()
        })?;
        Ok(self.changes.get_or_init(|| changes))
    }

    /// Whether a window of `run`'s time keeps its agent from `model`.
    fn holds(&self, window: &StoredWindow, model: &ModelRef, run: &StoredRun) -> bool {
        match &window.note.rested {
            CooldownTarget::Endpoint { endpoint } => endpoint == model.provider(),
            CooldownTarget::Profile { profile, lane } => {
                let known = (self.provider_of)(&run.note.agent, profile);
                let provider = known.or_else(|| profile.as_str().split(':').next()?.parse().ok());
                let is_own = provider
                    .is_some_and(|provider| self.aliases.share_credentials(&provider, model.provider()));
                is_own
                    && match lane {
                        Lane::Model(one) => one == model.model(),
                        Lane::AuthPermanent | Lane::Billing | Lane::Blocked | Lane::Profile => true,
                    }
            }
        }
    }

    /// What the request met that opened a window, as its own records say.
    fn evidence(&self, window: &StoredWindow) -> Result<Option<Evidence>, UntoldError> {
        let Some(id) = &window.note.run_id else {
            return Ok(None);
        };
        let Some(kept) = self.history.story(id)? else {
            return Ok(None);
        };
        for told in kept.told.iter().filter(|told| told.kind == "broken") {
            let broken: BrokenAnswer = serde_json::from_value(told.record.clone())?;
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
            CooldownTarget::Profile { profile, lane } => format!("{profile}\n{lane}"),
            CooldownTarget::Endpoint { endpoint } => format!("\n{endpoint}"),
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

/// What stands for a credential in records.
pub fn profile_hash(id: &ProfileId) -> String {
    let hash = log_id(Some(id));
    hash.strip_prefix("sha256:").unwrap_or(&hash).to_owned()
}

/// What a visit says of the failure that opened `window`.
fn met(visit: &Visit, window: &StoredWindow) -> Option<Evidence> {
    let reason = window.note.reason;
    let rule = |of: Reason| visit.rule.clone().filter(|_| visit.reason == Some(of));
    match &window.note.rested {
        CooldownTarget::Profile { profile, .. } => {
            let hash = profile_hash(profile);
            let failed = visit.credentials.iter().find(|credential| {
                credential.profile.as_deref() == Some(&*hash) && credential.reason == reason
            })?;
            Some(Evidence {
                status: failed.status,
                rule: rule(failed.reason),
                detail: failed.detail.clone(),
            })
        }
        CooldownTarget::Endpoint { endpoint } => {
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

#[cfg(test)]
mod tests;
