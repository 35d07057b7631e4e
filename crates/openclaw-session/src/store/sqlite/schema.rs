//! The table, its versions, and the import that belongs to the first of them (S7).

use std::path::Path;

use openclaw_sqlite::rusqlite::{self, Connection, Transaction};
use openclaw_sqlite::{Ownership, Schema, SchemaError, SchemaState, read_if_exists};

use super::connect::{OpenError, open_error};
use super::table;
use crate::store::sessions_json::{ImportedSessions, parse_sessions_json};

const SCHEMA: Schema = Schema {
    ownership: Ownership::Object("sessions"),
    steps: &["
    CREATE TABLE sessions (
        session_key TEXT PRIMARY KEY NOT NULL,
        revision INTEGER NOT NULL,
        updated_at INTEGER NOT NULL,
        entry_json TEXT NOT NULL
    ) STRICT;
"],
};

/// The file of the other program, in the same folder.
const IMPORT_FILE: &str = "sessions.json";

/// How much of the schema the file has; refuses a file that is not for sessions, and one of a newer version.
pub(super) fn state(connection: &Connection, path: &Path) -> Result<SchemaState, OpenError> {
    SCHEMA
        .state(connection)
        .map_err(|error| schema_error(path, error))
}

/// Brings the file to the newest schema; a new file imports the sessions beside it in the same transaction, so that an
/// import either happened or will be tried again.
///
/// `imported` are those sessions, if they were read before there was a file.
pub(super) fn migrate(
    connection: &mut Connection,
    path: &Path,
    imported: Option<ImportedSessions>,
) -> Result<(), OpenError> {
    let migrated = SCHEMA.migrate(connection, |transaction, found| {
        if found > 0 {
            return Ok(());
        }
        let imported = match imported {
            Some(imported) => imported,
            None => read_import(path).map_err(MigrationError::Import)?,
        };
        import(transaction, &imported).map_err(|error| MigrationError::Schema(error.into()))
    });
    migrated.map_err(|error| match error {
        MigrationError::Import(error) => error,
        MigrationError::Schema(error) => schema_error(path, error),
    })
}

/// Why a migration failed, while the path is not part of the error yet.
enum MigrationError {
    Import(OpenError),
    Schema(SchemaError),
}

impl From<SchemaError> for MigrationError {
    fn from(error: SchemaError) -> Self {
        Self::Schema(error)
    }
}

fn import(transaction: &Transaction<'_>, imported: &ImportedSessions) -> rusqlite::Result<()> {
    for (key, entry) in &imported.entries {
        table::insert(transaction, key, entry)?;
    }
    for key in &imported.rejected {
        tracing::warn!(session = %key, "not imported from sessions.json: it is not a session entry, or another one has its key");
    }
    Ok(())
}

fn schema_error(path: &Path, error: SchemaError) -> OpenError {
    let owned = path.to_owned();
    match error {
        SchemaError::Foreign => OpenError::Foreign { path: owned },
        SchemaError::Newer { found, known } => OpenError::Newer {
            path: owned,
            found,
            known,
        },
        SchemaError::Sqlite(source) => open_error(path, source),
        error => open_error(path, rusqlite::Error::ToSqlConversionFailure(error.into())),
    }
}

/// The sessions of the `sessions.json` in the same folder.
pub(super) fn read_import(beside: &Path) -> Result<ImportedSessions, OpenError> {
    let path = beside.with_file_name(IMPORT_FILE);
    let bytes = match read_if_exists(&path) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return Ok(ImportedSessions::default()),
        Err(source) => {
            return Err(OpenError::ImportRead { path, source });
        }
    };
    // The other program reads broken characters as replacements, too, and works with them.
    parse_sessions_json(&String::from_utf8_lossy(&bytes))
        .map_err(|source| OpenError::ImportParse { path, source })
}
