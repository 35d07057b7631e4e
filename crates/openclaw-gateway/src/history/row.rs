//! An entry as it waits: the texts of its row, without what they were made from.

use std::cell::RefCell;

use jiff::Timestamp;
use openclaw_ids::{AgentId, ProfileId, SessionKey};

use super::entry::{Entry, Record, Rested};

/// What a row takes beside its texts, with what the allocator keeps of each.
const FIXED: usize = 256;

/// The row of an entry. It shares nothing with the run, so its size is known and what the run knew is free at once.
#[derive(Debug)]
pub(super) struct Row {
    at: Timestamp,
    kind: &'static str,
    run_id: Option<Box<str>>,
    agent: Option<AgentId>,
    session_key: Option<SessionKey>,
    profile: Option<ProfileId>,
    once: Option<Box<str>>,
    /// Text as it is written, which nobody reads before.
    json: Box<[u8]>,
}

impl Row {
    /// The row of `entry`.
    ///
    /// # Errors
    /// When its record cannot be JSON.
    pub(super) fn of(entry: &Entry) -> serde_json::Result<Self> {
        let record = &entry.record;
        let (agent, session_key, profile) = match record {
            Record::Broken(_) | Record::Event(_) => (None, None, None),
            Record::Recording(agent, _) => (Some(agent), None, None),
            Record::Run(note) => (Some(&note.agent), note.session_key.as_ref(), None),
            Record::Window(note) => {
                let profile = match &note.rested {
                    Rested::Profile { profile, .. } => Some(profile),
                    Rested::Endpoint { .. } => None,
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
    pub(super) fn bytes(&self) -> usize {
        let names = [self.run_id(), self.once()];
        let names = names.into_iter().flatten().map(str::len);
        names.fold(FIXED.saturating_add(self.json.len()), usize::saturating_add)
    }

    pub(super) fn at(&self) -> Timestamp {
        self.at
    }

    pub(super) fn kind(&self) -> &'static str {
        self.kind
    }

    pub(super) fn run_id(&self) -> Option<&str> {
        self.run_id.as_deref()
    }

    pub(super) fn agent(&self) -> Option<&str> {
        self.agent.as_ref().map(AgentId::as_str)
    }

    pub(super) fn session_key(&self) -> Option<&str> {
        self.session_key.as_ref().map(SessionKey::as_str)
    }

    pub(super) fn profile(&self) -> Option<&str> {
        self.profile.as_ref().map(ProfileId::as_str)
    }

    pub(super) fn once(&self) -> Option<&str> {
        self.once.as_deref()
    }

    /// The record, in UTF-8.
    pub(super) fn json(&self) -> &[u8] {
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
