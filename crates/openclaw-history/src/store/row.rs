//! The row of an entry, as it waits to be written.

use std::cell::RefCell;

use jiff::Timestamp;
use openclaw_ids::{AgentId, ProfileId, SessionKey};
use openclaw_runner::RunEvent;

use crate::entry::{CooldownTarget, Entry, Record};

/// What a row takes beside its texts, with what the allocator keeps of each.
const FIXED: usize = 256;

/// The row of an entry. It shares nothing with the run, so its size is known and what the run knew is free at once.
#[derive(Debug)]
pub(crate) struct Row {
    at: Timestamp,
    kind: &'static str,
    run_id: Option<Box<str>>,
    agent: Option<AgentId>,
    session_key: Option<SessionKey>,
    profile: Option<ProfileId>,
    once: Option<Box<str>>,
    /// The JSON text that is stored.
    json: Box<[u8]>,
}

impl Row {
    /// The row of `entry`.
    ///
    /// # Errors
    /// When its record cannot be JSON.
    pub(crate) fn of(entry: &Entry) -> serde_json::Result<Self> {
        let record = &entry.record;
        let (agent, session_key, profile) = match record {
            Record::Broken(_) | Record::Event(_) => (None, None, None),
            Record::Recording(agent, _) => (Some(agent), None, None),
            Record::Run(note) => (Some(&note.agent), note.session_key.as_ref(), None),
            Record::Window(note) => {
                let profile = match &note.rested {
                    CooldownTarget::Profile { profile, .. } => Some(profile),
                    CooldownTarget::Endpoint { .. } => None,
                };
                (Some(&note.agent), None, profile)
            }
        };
        Ok(Self {
            at: entry.at,
            kind: record.kind(),
            run_id: record.run_id().map(Box::from),
            agent: agent.cloned(),
            session_key: session_key.cloned(),
            profile: profile.cloned(),
            once: record.once().map(String::into_boxed_str),
            json: json(record)?,
        })
    }

    /// What it takes while it waits, about.
    pub(crate) fn bytes(&self) -> usize {
        let names = [self.run_id(), self.once()];
        let names = names.into_iter().flatten().map(str::len);
        names.fold(FIXED.saturating_add(self.json.len()), usize::saturating_add)
    }

    pub(crate) fn at(&self) -> Timestamp {
        self.at
    }

    pub(crate) fn kind(&self) -> &'static str {
        self.kind
    }

    pub(crate) fn run_id(&self) -> Option<&str> {
        self.run_id.as_deref()
    }

    pub(crate) fn agent(&self) -> Option<&str> {
        self.agent.as_ref().map(AgentId::as_str)
    }

    pub(crate) fn session_key(&self) -> Option<&str> {
        self.session_key.as_ref().map(SessionKey::as_str)
    }

    pub(crate) fn profile(&self) -> Option<&str> {
        self.profile.as_ref().map(ProfileId::as_str)
    }

    pub(crate) fn once(&self) -> Option<&str> {
        self.once.as_deref()
    }

    /// The record, in UTF-8.
    pub(crate) fn json(&self) -> &[u8] {
        &self.json
    }
}

/// The JSON of a record in as many bytes as it has: written where the last one was, then copied once.
fn json(record: &Record) -> serde_json::Result<Box<[u8]>> {
    thread_local! {
        static SCRATCH: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    }
    /// A larger record does not stay this large for ever.
    const STAYS: usize = 16 << 10;
    SCRATCH.with_borrow_mut(|scratch| {
        scratch.clear();
        record.write(scratch)?;
        let text = scratch.as_slice().into();
        scratch.shrink_to(STAYS);
        Ok(text)
    })
}

impl Record {
    /// The run it belongs to.
    pub(super) fn run_id(&self) -> Option<&str> {
        match self {
            Self::Broken(note) => Some(&note.run_id),
            Self::Event(event) => Some(match &**event {
                RunEvent::Candidate(decision) => &decision.run_id,
                RunEvent::Rotation(rotation) => &rotation.run_id,
            }),
            Self::Recording(_, recording) => Some(&recording.run_id),
            Self::Run(note) => Some(&note.run_id),
            Self::Window(note) => note.run_id.as_deref(),
        }
    }

    /// What makes it the same as another entry: two tasks, or two processes, may see one window change.
    pub(super) fn once(&self) -> Option<String> {
        match self {
            Self::Window(note) => {
                let (name, lane) = match &note.rested {
                    CooldownTarget::Profile { profile, lane } => (profile.as_str(), lane.to_string()),
                    CooldownTarget::Endpoint { endpoint } => (endpoint.as_str(), "endpoint".to_owned()),
                };
                let (agent, change) = (&note.agent, note.change);
                let (opened, until) = (note.opened_at.as_millisecond(), note.until.as_millisecond());
                Some(format!("{agent}\n{name}\n{lane}\n{change:?}\n{opened}\n{until}"))
            }
            Self::Broken(_) | Self::Event(_) | Self::Recording(..) | Self::Run(_) => None,
        }
    }
}
