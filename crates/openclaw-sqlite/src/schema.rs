//! Schema versions of a file that one program owns: whose it is, how old it is, and the steps that bring it up to date.

use rusqlite::{Connection, Transaction, TransactionBehavior};

/// The schema of a file as a list of steps. The file keeps in `user_version` how many of them it has seen.
///
/// A file of another program, and one that a newer version has written, are refused before anything is changed.
#[derive(Debug, Clone, Copy)]
pub struct Schema {
    /// How a file of ours is told from one of another program.
    pub ownership: Ownership,
    /// The SQL of each version, the first version first. A step never changes once it was released.
    pub steps: &'static [&'static str],
}

/// How a file of ours is told from one of another program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ownership {
    /// Its header has this `application_id`.
    ApplicationId(i32),
    /// It has an object, such as a table, of this name, and any `application_id`.
    Object(&'static str),
}

/// How much of the schema a file has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SchemaState {
    /// The file is empty; no program has used it.
    Empty,
    /// It has this many steps, which are not all.
    Older(u32),
    /// It has all steps.
    Current,
}

/// Why a file cannot be used with a schema. Nothing was changed in it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaError {
    /// Another program has made the file.
    #[error("the file is a database of another program")]
    Foreign,
    /// A newer version has written the file.
    #[error("the file has schema {found}, and {known} is the newest known one")]
    Newer {
        /// The version of the file; `u32::MAX` for a negative one.
        found: u32,
        /// The newest known version.
        known: u32,
    },
    /// SQLite failed.
    #[error(transparent)]
    Sqlite(#[from] rusqlite::Error),
}

impl Schema {
    /// The newest version.
    #[must_use]
    pub fn version(&self) -> u32 {
        u32::try_from(self.steps.len()).unwrap_or(u32::MAX)
    }

    /// How much of the schema the file has. Writes nothing, and reads owner, version and objects of one moment: between
    /// two reads another process may initialise the file.
    ///
    /// # Errors
    /// [`SchemaError`] when the file is of another program, is newer, or cannot be read.
    pub fn state(&self, connection: &Connection) -> Result<SchemaState, SchemaError> {
        let view = connection.unchecked_transaction()?;
        self.state_in(&view)
    }

    /// Brings the file to the newest version, in one immediate transaction that checks the file once more, because another
    /// process may have been faster. `after_steps` runs in the same transaction, before it is committed, when there was
    /// something to do; its argument is how many steps the file had, 0 for a new one.
    ///
    /// # Errors
    /// As [`state`](Self::state), and what SQLite or `after_steps` says; nothing is changed then.
    pub fn migrate<E: From<SchemaError>>(
        &self,
        connection: &mut Connection,
        after_steps: impl FnOnce(&Transaction<'_>, u32) -> Result<(), E>,
    ) -> Result<(), E> {
        let sqlite = |error| E::from(SchemaError::Sqlite(error));
        let transaction = connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(sqlite)?;
        let found = match self.state_in(&transaction)? {
            SchemaState::Current => return Ok(()),
            SchemaState::Empty => 0,
            SchemaState::Older(found) => found,
        };
        for step in self
            .steps
            .iter()
            .skip(usize::try_from(found).unwrap_or(usize::MAX))
        {
            transaction.execute_batch(step).map_err(sqlite)?;
        }
        after_steps(&transaction, found)?;
        if let Ownership::ApplicationId(id) = self.ownership {
            transaction
                .pragma_update(None, "application_id", id)
                .map_err(sqlite)?;
        }
        transaction
            .pragma_update(None, "user_version", self.version())
            .map_err(sqlite)?;
        transaction.commit().map_err(sqlite)
    }

    fn state_in(&self, view: &Transaction<'_>) -> Result<SchemaState, SchemaError> {
        let version: i32 = view.pragma_query_value(None, "user_version", |row| row.get(0))?;
        // Versions count from 0; a file with a negative number is newer than anything known here.
        let found = u32::try_from(version).unwrap_or(u32::MAX);
        let known = self.version();
        match self.ownership {
            Ownership::ApplicationId(id) => {
                let owner: i32 = view.pragma_query_value(None, "application_id", |row| row.get(0))?;
                if (owner, found) == (0, 0) && !has_objects(view)? {
                    return Ok(SchemaState::Empty);
                }
                if owner != id {
                    return Err(SchemaError::Foreign);
                }
                if found > known {
                    return Err(SchemaError::Newer { found, known });
                }
            }
            Ownership::Object(name) => {
                if found == 0 && has_objects(view)? {
                    return Err(SchemaError::Foreign);
                }
                if found == 0 {
                    return Ok(SchemaState::Empty);
                }
                if found > known {
                    return Err(SchemaError::Newer { found, known });
                }
                // Other programs number their schemas, too.
                if !has_object(view, name)? {
                    return Err(SchemaError::Foreign);
                }
            }
        }
        Ok(if found == known {
            SchemaState::Current
        } else {
            SchemaState::Older(found)
        })
    }
}

/// Reads the whole file and looks for damage; expensive, for the rare moments before pages are taken for new tables.
///
/// # Errors
/// An SQLite error of the kind "corrupt" that says what was found, or what SQLite says.
pub fn quick_check(connection: &Connection) -> rusqlite::Result<()> {
    let verdict: String = connection.pragma_query_value(None, "quick_check", |row| row.get(0))?;
    if verdict == "ok" {
        return Ok(());
    }
    let corrupt = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CORRUPT);
    Err(rusqlite::Error::SqliteFailure(corrupt, Some(verdict)))
}

/// Asks the file, not what the connection remembers of it: another process may have changed it since.
fn has_objects(view: &Connection) -> rusqlite::Result<bool> {
    view.query_row("SELECT count(*) > 0 FROM sqlite_schema", [], |row| row.get(0))
}

fn has_object(view: &Connection, name: &str) -> rusqlite::Result<bool> {
    let sql = "SELECT count(*) > 0 FROM sqlite_schema WHERE name = ?1 COLLATE NOCASE";
    view.query_row(sql, [name], |row| row.get(0))
}

#[cfg(test)]
mod tests;
