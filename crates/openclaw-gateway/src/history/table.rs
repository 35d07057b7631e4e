//! The statements on the table, each on whatever transaction the caller holds.

use openclaw_ids::AgentId;
use rusqlite::{Connection, Row, ToSql};

use super::entry::{Entry, Record, Rested};

/// An entry as stored, its record not yet parsed.
pub(super) struct StoredEntry {
    pub(super) id: i64,
    /// Unix milliseconds.
    pub(super) at: i64,
    pub(super) kind: String,
    pub(super) json: String,
}

impl StoredEntry {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            id: row.get("id")?,
            at: row.get("at")?,
            kind: row.get("kind")?,
            json: row.get("record_json")?,
        })
    }
}

/// Adds an entry, unless it is there already. Returns the bytes of its record.
pub(super) fn insert(connection: &Connection, entry: &Entry) -> rusqlite::Result<u64> {
    let record = &entry.record;
    let json = record
        .json()
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))?;
    let (agent, session_key, profile) = match record {
        Record::Broken(_) | Record::Event(_) => (None, None, None),
        Record::Recording(agent, _) => (Some(agent), None, None),
        Record::Run(note) => {
            let session = note.session_key.as_ref().map(openclaw_ids::SessionKey::as_str);
            (Some(&note.agent), session, None)
        }
        Record::Window(note) => {
            let profile = match &note.rested {
                Rested::Profile { profile, .. } => Some(profile.as_str()),
                Rested::Endpoint { .. } => None,
            };
            (Some(&note.agent), None, profile)
        }
    };
    connection
        .prepare_cached(
            "INSERT OR IGNORE INTO entries (at, kind, run_id, agent, session_key, profile, once, record_json)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        )?
        .execute((
            entry.at.as_millisecond(),
            record.kind(),
            record.run_id(),
            agent.map(AgentId::as_str),
            session_key,
            profile,
            record.once(),
            &json,
        ))?;
    Ok(u64::try_from(json.len()).unwrap_or(u64::MAX))
}

/// Which entries to read; a blank field excludes nothing.
#[derive(Default)]
pub(super) struct Wanted<'a> {
    pub(super) kind: Option<&'a str>,
    pub(super) run_id: Option<&'a str>,
    pub(super) agent: Option<&'a str>,
    pub(super) session_key: Option<&'a str>,
    pub(super) profile: Option<&'a str>,
    /// The earliest, in Unix milliseconds.
    pub(super) since: Option<i64>,
    /// How many of the latest; all when absent.
    pub(super) latest: Option<usize>,
}

/// The wanted entries, the oldest first.
pub(super) fn select(connection: &Connection, wanted: &Wanted<'_>) -> rusqlite::Result<Vec<StoredEntry>> {
    let mut sql = "SELECT id, at, kind, record_json FROM entries WHERE 1".to_owned();
    let mut values: Vec<&dyn ToSql> = Vec::new();
    for (condition, value) in [
        (" AND kind = ?", &wanted.kind),
        (" AND run_id = ?", &wanted.run_id),
        (" AND agent = ?", &wanted.agent),
        (" AND session_key = ?", &wanted.session_key),
        (" AND profile = ?", &wanted.profile),
    ] {
        if let Some(value) = value {
            sql.push_str(condition);
            values.push(value);
        }
    }
    if let Some(since) = &wanted.since {
        sql.push_str(" AND at >= ?");
        values.push(since);
    }
    sql.push_str(" ORDER BY id DESC LIMIT ?");
    let latest = wanted
        .latest
        .map_or(-1, |latest| i64::try_from(latest).unwrap_or(i64::MAX));
    values.push(&latest);
    let mut statement = connection.prepare(&sql)?;
    let mut found: Vec<StoredEntry> = statement
        .query_map(&*values, StoredEntry::read)?
        .collect::<rusqlite::Result<_>>()?;
    found.reverse();
    Ok(found)
}
