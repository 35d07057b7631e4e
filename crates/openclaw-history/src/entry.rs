//! The entries of the history: records of runs, recordings, ends of runs and changes of cooldown windows.

use jiff::Timestamp;
use jiff::fmt::serde::timestamp::millisecond;
use openclaw_classify::Reason;
use openclaw_cooldown::Lane;
use openclaw_ids::{AgentId, ModelRef, ProfileId, ProviderId, SessionId, SessionKey};
use openclaw_runner::RunEvent;
use serde::{Deserialize, Serialize};

use crate::recording::RunRecording;

/// One thing that happened.
#[derive(Debug, Clone)]
pub struct Entry {
    /// When.
    pub at: Timestamp,
    /// What.
    pub record: Record,
}

/// What happened.
#[derive(Debug, Clone)]
pub enum Record {
    /// An answer broke off after its first content.
    Broken(BrokenAnswer),
    /// A decision about a candidate or a credential.
    Event(Box<RunEvent>),
    /// All that a run knew and met, so that it can be played again.
    Recording(AgentId, Box<RunRecording>),
    /// How a run ended.
    Run(Box<RunNote>),
    /// A window opened, grew or ended early.
    Window(Box<WindowNote>),
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunOutcome {
    /// A model answered; for a stream, its first content came.
    Answered,
    /// The client left before there was an answer.
    Cancelled,
    /// Nothing answered.
    Failed,
}

/// One run, in the few facts that belong to all of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunNote {
    /// Names the run: the `x-openclaw-request-id` of its answer.
    pub run_id: String,
    /// The agent.
    pub agent: AgentId,
    /// The conversation, when there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_key: Option<SessionKey>,
    /// Its transcript.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// The wire format that was asked in.
    pub wire: String,
    /// The candidates in order; the first is the requested model.
    pub chain: Vec<ModelRef>,
    /// When it began.
    #[serde(with = "millisecond::required")]
    pub started_at: Timestamp,
    /// How it ended.
    pub outcome: RunOutcome,
    /// Calls made upstream.
    pub calls: usize,
    /// Who answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub served: Option<ModelRef>,
    /// Its position in the chain, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fallback_index: Option<usize>,
    /// Why the first thing that failed did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_failure: Option<Reason>,
}

/// An answer that broke off after its first content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BrokenAnswer {
    /// Names the run.
    pub run_id: String,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// What may be shown of the error.
    pub error: String,
}

/// What cools down.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, rename_all = "camelCase")]
pub enum CooldownTarget {
    /// A lane of a credential.
    Profile {
        /// The credential.
        profile: ProfileId,
        /// Which of its windows.
        lane: Lane,
    },
    /// The address of a provider, which belongs to no credential (D4).
    Endpoint {
        /// The provider.
        endpoint: ProviderId,
    },
}

/// What happened to a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WindowChange {
    /// It ended before its time: a success, a clear, or another secret.
    Cleared,
    /// Its end moved later, in the same episode.
    Extended,
    /// It blocks from now on.
    Opened,
    /// Its end moved earlier: a provider stated a nearer one (D7).
    Shortened,
}

/// A window that opened, moved its end, or ended before its time. That it is over at its end needs no entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WindowNote {
    /// The agent whose state it is.
    pub agent: AgentId,
    /// What cools down.
    #[serde(flatten)]
    pub rested: CooldownTarget,
    /// What happened.
    pub change: WindowChange,
    /// When the window's latest episode began.
    #[serde(with = "millisecond::required")]
    pub opened_at: Timestamp,
    /// The first instant that is free again; for a cleared window, when it would have been.
    #[serde(with = "millisecond::required")]
    pub until: Timestamp,
    /// Why it cools down.
    pub reason: Reason,
    /// The step of its ladder, from 1.
    pub steps: u32,
    /// The run that caused it; none for what a person did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
}

impl Record {
    /// The name of its kind in the file.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Broken(_) => BROKEN,
            Self::Event(event) => match **event {
                RunEvent::Candidate(_) => DECISION,
                RunEvent::Rotation(_) => ROTATION,
            },
            Self::Recording(..) => RECORDING,
            Self::Run(_) => RUN,
            Self::Window(_) => WINDOW,
        }
    }

    /// Its JSON, with the names of the log and of the answers.
    pub fn json(&self) -> serde_json::Result<String> {
        let mut json = Vec::new();
        self.write(&mut json)?;
        String::from_utf8(json).map_err(serde::ser::Error::custom)
    }

    /// Writes its JSON behind what is there.
    pub(crate) fn write(&self, to: &mut Vec<u8>) -> serde_json::Result<()> {
        match self {
            Self::Broken(note) => serde_json::to_writer(to, note),
            Self::Event(event) => match &**event {
                RunEvent::Candidate(decision) => serde_json::to_writer(to, decision),
                RunEvent::Rotation(rotation) => serde_json::to_writer(to, rotation),
            },
            Self::Recording(_, recording) => serde_json::to_writer(to, recording),
            Self::Run(note) => serde_json::to_writer(to, note),
            Self::Window(note) => serde_json::to_writer(to, note),
        }
    }
}

/// A [`Record::Broken`].
pub(crate) const BROKEN: &str = "broken";
/// A [`Record::Event`] about a candidate.
pub(crate) const DECISION: &str = "decision";
/// A [`Record::Recording`].
pub(crate) const RECORDING: &str = "recording";
/// A [`Record::Event`] about a credential.
pub(crate) const ROTATION: &str = "rotation";
/// A [`Record::Run`].
pub(crate) const RUN: &str = "run";
/// A [`Record::Window`].
pub(crate) const WINDOW: &str = "window";
