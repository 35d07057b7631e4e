//! The statements on the table, each on whatever transaction the caller holds.

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, ToSql};

use super::row::Row;

/// An entry as stored, its record not yet parsed.
pub(super) struct StoredEntry {
    pub(super) id: i64,
    /// Unix milliseconds.
    pub(super) at: i64,
    pub(super) kind: String,
    pub(super) json: String,
}

impl StoredEntry {
    fn read(row: &rusqlite::Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            id: row.get("id")?,
            at: row.get("at")?,
            kind: row.get("kind")?,
            json: row.get("record_json")?,
        })
    }
}

/// Adds entries, unless they are there already. Returns the bytes of their records.
pub(super) fn insert(connection: &Connection, rows: &[Box<Row>]) -> rusqlite::Result<u64> {
    let mut statement = connection.prepare_cached(
        "INSERT OR IGNORE INTO entries (at, kind, run_id, agent, session_key, profile, once, record_json)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    )?;
    let mut bytes = 0_usize;
    for row in rows {
        statement.execute((
            row.at().as_millisecond(),
            row.kind(),
            row.run_id(),
            row.agent(),
            row.session_key(),
            row.profile(),
            row.once(),
            ToSqlOutput::Borrowed(ValueRef::Text(row.json())),
        ))?;
        bytes = bytes.saturating_add(row.json().len());
    }
    Ok(u64::try_from(bytes).unwrap_or(u64::MAX))
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
