//! What commands share that read the history.

use std::collections::BTreeMap;
use std::path::PathBuf;

use openclaw_auth_store::{ChangeOutcome, StoreError, UsageChange, UsageStore};
use openclaw_gateway::report::profile_hash;
use openclaw_gateway::retention;
use openclaw_history::{
    Entry, History, HistoryReader, Record, WindowChange, commit_operator_change, history_path,
};
use openclaw_ids::{AgentId, ProfileId};

use crate::files::{Files, ReadAgent};
use crate::outcome::CommandError;
use crate::terminal::screen;

/// There is no history yet.
#[derive(Debug, thiserror::Error)]
#[error(
    "there is no history in {}: no gateway has answered a request here yet, or it is switched off by history.enabled",
    .0.display()
)]
struct NoHistory(PathBuf);

/// The history of the state directory.
///
/// # Errors
/// When there is none, or it cannot be read.
pub(crate) fn open(files: &Files) -> Result<HistoryReader, CommandError> {
    let found = HistoryReader::open(&files.state_dir)?;
    Ok(found.ok_or_else(|| NoHistory(history_path(&files.state_dir)))?)
}

/// The names of the credentials of all agents, by the hashes that records hold: records may be read elsewhere, and names
/// stay on this machine.
pub(crate) struct Names(BTreeMap<String, ProfileId>);

impl Names {
    /// Reads them. An agent that cannot be read has none.
    pub(crate) fn of(files: &Files) -> Self {
        let agents = files.agents().into_iter();
        let read = agents.filter_map(|agent| ReadAgent::open(files, &agent).ok());
        let ids = read.flat_map(|agent| {
            let ids = agent.seen.profiles.keys().chain(agent.seen.ambient.keys());
            ids.cloned().collect::<Vec<_>>()
        });
        Self(ids.map(|id| (profile_hash(&id), id)).collect())
    }

    /// `text` with the names in place of the hashes.
    pub(crate) fn put_into(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, (hash, id)| {
            text.replace(&format!("credential {hash}"), &format!("credential {id}"))
        })
    }
}

/// Makes a change of usage state by hand, and notes in the history what it did to windows. A history that cannot be
/// written costs the note alone.
///
/// # Errors
/// When the change did not happen.
pub(crate) async fn commit(
    files: &Files,
    agent: &AgentId,
    store: &impl UsageStore,
    change: UsageChange,
) -> Result<ChangeOutcome, StoreError> {
    let now = screen::now();
    let (applied, notes) = commit_operator_change(agent, store, change, now).await?;
    let retention = retention(&files.config.failover.history);
    if !notes.is_empty()
        && let Ok(history) = History::open(&files.state_dir, retention, now)
    {
        for note in notes {
            let record = Record::Window(Box::new(note));
            history.record(&Entry { at: now, record });
        }
        history.flush().await;
    }
    Ok(applied)
}

/// What happened to a window, for people.
pub(crate) fn window_word(change: WindowChange) -> &'static str {
    match change {
        WindowChange::Cleared => "set free",
        WindowChange::Extended => "made longer",
        WindowChange::Opened => "opened",
        WindowChange::Shortened => "made shorter",
    }
}
