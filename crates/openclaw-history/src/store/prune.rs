//! Deletes entries that are too old or too many, a batch at a time.

use std::time::Duration;

use jiff::Timestamp;
use rusqlite::Connection;

/// How many entries one statement deletes at most, so that no other process waits for long.
const CHUNK: i64 = 2_000;

/// How long entries are kept, and how much.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    /// How old entries may become.
    pub age: Duration,
    /// How large all of them together may become; the oldest make room.
    pub bytes: u64,
}

/// Deletes what is older than the limit at `now`, then the oldest until what is left fits.
pub(crate) fn prune(connection: &Connection, retention: Retention, now: Timestamp) -> rusqlite::Result<()> {
    let earliest = now.checked_sub(retention.age).unwrap_or(Timestamp::MIN);
    // What a clock made that was ahead stays among the oldest, so a piece may be short and not the last.
    while delete_before(connection, earliest.as_millisecond())? > 0 {}
    while used(connection)? > retention.bytes {
        let Some(last) = end_of_oldest_tenth(connection)? else {
            break;
        };
        while delete_up_to(connection, last)? > 0 {}
    }
    // Stepped to its end, for it gives back one page per step.
    let mut vacuum = connection.prepare("PRAGMA incremental_vacuum")?;
    let mut rows = vacuum.query([])?;
    while rows.next()?.is_some() {}
    Ok(())
}

/// Forgets what is too old of the first entries: they are numbered as they come, so the oldest are the first.
fn delete_before(connection: &Connection, at: i64) -> rusqlite::Result<usize> {
    connection.execute(
        "DELETE FROM entries WHERE id IN (SELECT id FROM entries ORDER BY id LIMIT ?1) AND at < ?2",
        [CHUNK, at],
    )
}

/// The number up to which entries belong to the oldest tenth; none when there are no entries.
fn end_of_oldest_tenth(connection: &Connection) -> rusqlite::Result<Option<i64>> {
    // Each end is looked up by itself: asked for together, all entries would be gone through.
    let end = "SELECT first + (last - first) / 10
               FROM (SELECT (SELECT min(id) FROM entries) AS first, (SELECT max(id) FROM entries) AS last)";
    connection.query_row(end, [], |row| row.get(0))
}

fn delete_up_to(connection: &Connection, last: i64) -> rusqlite::Result<usize> {
    connection.execute(
        "DELETE FROM entries WHERE id IN (SELECT id FROM entries ORDER BY id LIMIT ?1) AND id <= ?2",
        [CHUNK, last],
    )
}

/// The bytes that entries take, without what is free in the file.
fn used(connection: &Connection) -> rusqlite::Result<u64> {
    let number = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let pages = number("page_count")?.saturating_sub(number("freelist_count")?);
    Ok(u64::try_from(pages.saturating_mul(number("page_size")?)).unwrap_or(0))
}
