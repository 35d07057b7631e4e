//! Reads the history, with or without a gateway that is writing it.

use std::path::{Path, PathBuf};

use crate::recording::RunRecording;
use jiff::Timestamp;
use openclaw_ids::{AgentId, ProfileId, SessionKey};
use rusqlite::Connection;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::error::HistoryError;
use super::table::{EntryFilter, StoredEntry, select};
use super::{connect, history_path};
use crate::entry::{RECORDING, RUN, RunNote, WINDOW, WindowNote};

/// The history of a state directory, for reading. Its calls block for the time of a query.
#[derive(Debug)]
pub struct HistoryReader {
    connection: Connection,
    path: PathBuf,
}

/// Which runs to read; a field that is not set excludes nothing.
#[derive(Debug, Clone, Default)]
pub struct RunFilter {
    /// Of this agent.
    pub agent: Option<AgentId>,
    /// Of this conversation.
    pub session: Option<SessionKey>,
    /// Not before this instant.
    pub since: Option<Timestamp>,
    /// The latest so many.
    pub latest: Option<usize>,
}

/// Which window changes to read; a field that is not set excludes nothing.
#[derive(Debug, Clone, Default)]
pub struct WindowFilter {
    /// Of this agent.
    pub agent: Option<AgentId>,
    /// Of this credential.
    pub profile: Option<ProfileId>,
    /// Not before this instant.
    pub since: Option<Timestamp>,
    /// The latest so many.
    pub latest: Option<usize>,
}

/// A run, and when it ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StoredRun {
    /// When it ended; for a stream, when its first content came.
    #[serde(with = "jiff::fmt::serde::timestamp::millisecond::required")]
    pub at: Timestamp,
    /// How it ended.
    #[serde(flatten)]
    pub note: RunNote,
}

/// A change of a window, and when it happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StoredWindow {
    /// When.
    #[serde(with = "jiff::fmt::serde::timestamp::millisecond::required")]
    pub at: Timestamp,
    /// What.
    #[serde(flatten)]
    pub note: WindowNote,
}

/// One record of a run's story.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StoredRecord {
    /// When.
    #[serde(with = "jiff::fmt::serde::timestamp::millisecond::required")]
    pub at: Timestamp,
    /// `decision`, `rotation`, `window` or `broken`.
    pub kind: String,
    /// The record with the names of the log.
    pub record: Value,
}

/// All that is known of one run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StoredStory {
    /// How it ended; none while it goes on, and for one whose process died.
    pub run: Option<StoredRun>,
    /// What happened, in order.
    pub told: Vec<StoredRecord>,
}

impl HistoryReader {
    /// Opens the history in `state_dir`; `None` when nothing was kept there yet. Changes nothing.
    ///
    /// # Errors
    /// [`HistoryError`] when there is a file and it cannot be used.
    pub fn open(state_dir: &Path) -> Result<Option<Self>, HistoryError> {
        let path = history_path(state_dir);
        let opened = connect::open_to_read(&path)?;
        Ok(opened.map(|connection| Self { connection, path }))
    }

    /// The story of a run by its request id; `None` when nothing is known of it.
    ///
    /// # Errors
    /// [`HistoryError`] when it cannot be read.
    pub fn story(&self, run_id: &str) -> Result<Option<StoredStory>, HistoryError> {
        let found = self.select(&EntryFilter {
            run_id: Some(run_id),
            ..EntryFilter::default()
        })?;
        if found.is_empty() {
            return Ok(None);
        }
        let (mut run, mut told) = (None, Vec::new());
        for entry in found {
            let at = instant(entry.at);
            if entry.kind == RECORDING {
                continue;
            }
            if entry.kind == RUN {
                let note = self.parse(&entry)?;
                run = Some(StoredRun { at, note });
            } else {
                let record = self.parse(&entry)?;
                let kind = entry.kind;
                told.push(StoredRecord { at, kind, record });
            }
        }
        Ok(Some(StoredStory { run, told }))
    }

    /// Runs, the oldest first.
    ///
    /// # Errors
    /// [`HistoryError`] when they cannot be read.
    pub fn runs(&self, filter: &RunFilter) -> Result<Vec<StoredRun>, HistoryError> {
        let found = self.select(&EntryFilter {
            kind: Some(RUN),
            agent: filter.agent.as_ref().map(AgentId::as_str),
            session_key: filter.session.as_ref().map(SessionKey::as_str),
            since: filter.since.map(Timestamp::as_millisecond),
            latest: filter.latest,
            ..EntryFilter::default()
        })?;
        self.each(&found, |at, note| StoredRun { at, note })
    }

    /// What the runs of an agent knew and met, so that they can be played again; the oldest first. One that another version
    /// wrote otherwise is none. Of the filter, the conversation is not looked at.
    ///
    /// # Errors
    /// [`HistoryError`] when they cannot be read.
    pub fn recordings(&self, filter: &RunFilter) -> Result<Vec<Option<RunRecording>>, HistoryError> {
        let found = self.select(&EntryFilter {
            kind: Some(RECORDING),
            agent: filter.agent.as_ref().map(AgentId::as_str),
            since: filter.since.map(Timestamp::as_millisecond),
            latest: filter.latest,
            ..EntryFilter::default()
        })?;
        let read = found.iter().map(|entry| self.parse(entry).ok());
        Ok(read.collect())
    }

    /// What happened to windows, the oldest first.
    ///
    /// # Errors
    /// [`HistoryError`] when they cannot be read.
    pub fn windows(&self, filter: &WindowFilter) -> Result<Vec<StoredWindow>, HistoryError> {
        let found = self.select(&EntryFilter {
            kind: Some(WINDOW),
            agent: filter.agent.as_ref().map(AgentId::as_str),
            profile: filter.profile.as_ref().map(ProfileId::as_str),
            since: filter.since.map(Timestamp::as_millisecond),
            latest: filter.latest,
            ..EntryFilter::default()
        })?;
        self.each(&found, |at, note| StoredWindow { at, note })
    }

    fn select(&self, wanted: &EntryFilter<'_>) -> Result<Vec<StoredEntry>, HistoryError> {
        select(&self.connection, wanted).map_err(|source| HistoryError::of(&self.path, source))
    }

    /// What each entry says, with the time at which it was kept.
    fn each<N: DeserializeOwned, T>(
        &self,
        found: &[StoredEntry],
        make: impl Fn(Timestamp, N) -> T,
    ) -> Result<Vec<T>, HistoryError> {
        let made = |entry: &StoredEntry| Ok(make(instant(entry.at), self.parse(entry)?));
        found.iter().map(made).collect()
    }

    fn parse<T: DeserializeOwned>(&self, entry: &StoredEntry) -> Result<T, HistoryError> {
        serde_json::from_str(&entry.json).map_err(|source| HistoryError::Entry {
            path: self.path.clone(),
            id: entry.id,
            source,
        })
    }
}

/// A stored instant; what cannot be held is the epoch.
fn instant(ms: i64) -> Timestamp {
    Timestamp::from_millisecond(ms).unwrap_or(Timestamp::UNIX_EPOCH)
}
