//! The statements on the table, each on whatever transaction the caller holds.

use openclaw_ids::SessionKey;
use openclaw_sqlite::rusqlite::{self, Connection, OptionalExtension, Row};

use crate::entry::SessionEntry;
use crate::store::{Revision, VersionedEntry};

/// A row as stored, its entry not yet parsed.
pub(super) struct StoredRow {
    key: String,
    revision: i64,
    json: String,
}

impl StoredRow {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            key: row.get("session_key")?,
            revision: row.get("revision")?,
            json: row.get("entry_json")?,
        })
    }

    pub(super) fn key(&self) -> &str {
        &self.key
    }

    pub(super) fn revision(&self) -> Revision {
        Revision::from_number(self.revision)
    }

    pub(super) fn parse(&self) -> Result<VersionedEntry, serde_json::Error> {
        Ok(VersionedEntry {
            entry: serde_json::from_str(&self.json)?,
            revision: self.revision(),
        })
    }
}

pub(super) fn row(connection: &Connection, key: &SessionKey) -> rusqlite::Result<Option<StoredRow>> {
    let mut statement = connection
        .prepare_cached("SELECT session_key, revision, entry_json FROM sessions WHERE session_key = ?1")?;
    statement.query_row([key.as_str()], StoredRow::read).optional()
}

/// All rows, the last active first.
pub(super) fn rows(connection: &Connection) -> rusqlite::Result<Vec<StoredRow>> {
    let mut statement = connection.prepare_cached(
        "SELECT session_key, revision, entry_json FROM sessions ORDER BY updated_at DESC, session_key",
    )?;
    statement.query_map([], StoredRow::read)?.collect()
}

/// Writes an entry whatever is there, at its next revision.
pub(super) fn put(
    connection: &Connection,
    key: &SessionKey,
    revision: Revision,
    entry: &SessionEntry,
) -> rusqlite::Result<()> {
    let json = serde_json::to_string(entry)
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
    let mut statement = connection.prepare_cached(
        "INSERT INTO sessions (session_key, revision, updated_at, entry_json) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (session_key) DO UPDATE SET
             revision = excluded.revision, updated_at = excluded.updated_at, entry_json = excluded.entry_json",
    )?;
    let updated_at = entry.updated_at.as_millisecond();
    statement.execute((key.as_str(), revision.number(), updated_at, json))?;
    Ok(())
}

/// Writes an imported entry.
pub(super) fn insert(
    connection: &Connection,
    key: &SessionKey,
    entry: &SessionEntry,
) -> rusqlite::Result<()> {
    put(connection, key, Revision::NONE.next(), entry)
}
