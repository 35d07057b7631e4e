//! Transactions: one immediate write, one consistent read, and the counter of other connections' commits.

use rusqlite::Connection;

use crate::error::is_busy;

/// How often a commit is tried while other connections are in the way.
const COMMIT_ATTEMPTS: u32 = 8;

/// Runs `body` in one `BEGIN IMMEDIATE` transaction, which is committed when it succeeds and rolled back when it fails.
///
/// A commit that finds the file busy is tried again a few times.
///
/// # Errors
/// The error of `body`, or what SQLite says about beginning, committing or rolling back.
pub fn immediate<T, E: From<rusqlite::Error>>(
    connection: &Connection,
    body: impl FnOnce(&Connection) -> Result<T, E>,
) -> Result<T, E> {
    execute_cached(connection, "BEGIN IMMEDIATE")?;
    let result = body(connection).and_then(|value| {
        commit(connection)?;
        Ok(value)
    });
    if result.is_err() && !connection.is_autocommit() {
        connection.execute_batch("ROLLBACK")?;
    }
    result
}

/// Runs `body` on one consistent view of the file, and writes nothing.
///
/// # Errors
/// The error of `body`, or what SQLite says.
pub fn consistent_read<T, E: From<rusqlite::Error>>(
    connection: &Connection,
    body: impl FnOnce(&Connection) -> Result<T, E>,
) -> Result<T, E> {
    connection.execute_batch("BEGIN")?;
    let result = body(connection);
    // Some failures have ended the transaction already, and theirs is the error to report.
    if !connection.is_autocommit() {
        connection.execute_batch("ROLLBACK")?;
    }
    result
}

/// Executes a statement without parameters that is executed often; the connection keeps it prepared.
///
/// # Errors
/// What SQLite says.
pub fn execute_cached(connection: &Connection, sql: &str) -> rusqlite::Result<()> {
    connection.prepare_cached(sql)?.execute([]).map(drop)
}

/// A number that changes whenever another connection has committed, and not with commits of this one.
///
/// # Errors
/// What SQLite says.
pub fn data_version(connection: &Connection) -> rusqlite::Result<i64> {
    let mut statement = connection.prepare_cached("PRAGMA data_version")?;
    statement.query_row([], |row| row.get(0))
}

fn commit(connection: &Connection) -> rusqlite::Result<()> {
    let mut result = execute_cached(connection, "COMMIT");
    for _ in 1..COMMIT_ATTEMPTS {
        match &result {
            Err(error) if is_busy(error) => result = execute_cached(connection, "COMMIT"),
            Ok(()) | Err(_) => break,
        }
    }
    result
}

#[cfg(test)]
mod tests;
