//! The SQL statements on the table of entries.

use std::fmt::Write as _;

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, ToSql};

use super::row::Row;

/// An entry as stored, its record not yet parsed.
pub(crate) struct StoredEntry {
    pub(crate) id: i64,
    /// Unix milliseconds.
    pub(crate) at: i64,
    pub(crate) kind: String,
    pub(crate) json: String,
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
pub(crate) fn insert(connection: &Connection, rows: &[Box<Row>]) -> rusqlite::Result<u64> {
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
pub(crate) struct EntryFilter<'a> {
    pub(crate) kind: Option<&'a str>,
    pub(crate) run_id: Option<&'a str>,
    pub(crate) agent: Option<&'a str>,
    pub(crate) session_key: Option<&'a str>,
    pub(crate) profile: Option<&'a str>,
    /// The earliest, in Unix milliseconds.
    pub(crate) since: Option<i64>,
    /// How many of the latest; all when absent.
    pub(crate) latest: Option<usize>,
}

/// The wanted entries, the oldest first.
pub(crate) fn select(
    connection: &Connection,
    wanted: &EntryFilter<'_>,
) -> rusqlite::Result<Vec<StoredEntry>> {
    let (sql, values) = statement(wanted);
    let mut statement = connection.prepare(&sql)?;
    let mut found: Vec<StoredEntry> = statement
        .query_map(&*values, StoredEntry::read)?
        .collect::<rusqlite::Result<_>>()?;
    found.reverse();
    Ok(found)
}

/// The statement that reads the wanted entries, the latest first, and its values. What names a run, a conversation or a
/// credential is found by an index; anything else goes from the latest entry back until there are enough.
fn statement<'w>(wanted: &'w EntryFilter<'_>) -> (String, Vec<&'w dyn ToSql>) {
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
    sql.push_str(" ORDER BY id DESC");
    if let Some(latest) = wanted.latest {
        // A string takes any text.
        let _ = write!(sql, " LIMIT {}", i64::try_from(latest).unwrap_or(i64::MAX));
    }
    (sql, values)
}

#[cfg(test)]
mod tests {
    use openclaw_sqlite::SchemaError;

    use super::super::schema::SCHEMA;
    use super::*;
    use crate::entry::{RUN, WINDOW};

    /// How SQLite finds what is wanted.
    fn plan(wanted: &EntryFilter<'_>) -> String {
        let mut connection = Connection::open_in_memory().unwrap();
        SCHEMA
            .migrate::<SchemaError>(&mut connection, |_, _| Ok(()))
            .unwrap();
        let (sql, values) = statement(wanted);
        let mut explained = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
        let steps = explained
            .query_map(&*values, |row| row.get::<_, String>("detail"))
            .unwrap();
        steps.map(Result::unwrap).collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn what_names_something_is_found_by_an_index_and_nothing_is_sorted() {
        let none = EntryFilter::default;
        for (wanted, expected) in [
            (
                EntryFilter {
                    run_id: Some("r"),
                    ..none()
                },
                "SEARCH entries USING INDEX entries_of_run (run_id=?)",
            ),
            (
                EntryFilter {
                    kind: Some(RUN),
                    agent: Some("main"),
                    session_key: Some("chat"),
                    latest: Some(9),
                    ..none()
                },
                "SEARCH entries USING INDEX entries_of_session (session_key=?)",
            ),
            (
                EntryFilter {
                    kind: Some(WINDOW),
                    profile: Some("a:x"),
                    since: Some(1),
                    latest: Some(9),
                    ..none()
                },
                "SEARCH entries USING INDEX entries_of_windows (profile=?)",
            ),
            (
                EntryFilter {
                    kind: Some(RUN),
                    agent: Some("main"),
                    latest: Some(9),
                    ..none()
                },
                "SCAN entries",
            ),
        ] {
            assert_eq!(plan(&wanted), expected, "{}", statement(&wanted).0);
        }
    }
}
