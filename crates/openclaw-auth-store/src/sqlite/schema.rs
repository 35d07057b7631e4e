//! The tables of the file, its owner and its version (auth-store.md 2.1 to 2.3, X-5).

use std::path::Path;

use jiff::Timestamp;
use openclaw_ids::AgentId;
use rusqlite::{Connection, OptionalExtension, params};

use super::fault::Fault;
use crate::OpenError;
use crate::secret::mask::hex;

/// The schema version that is written, and the newest that is supported (D6).
const VERSION: i64 = 1;
/// The role of an agent's file in `schema_meta` (D20).
const ROLE: &str = "agent";

/// The tables that a file needs; OpenClaw adds its own when it opens the file.
const TABLES: &[(&str, &str)] = &[
    (
        "schema_meta",
        "CREATE TABLE schema_meta (
  meta_key TEXT NOT NULL PRIMARY KEY,
  role TEXT NOT NULL,
  schema_version INTEGER NOT NULL,
  agent_id TEXT,
  app_version TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
)",
    ),
    (
        "auth_profile_store",
        "CREATE TABLE auth_profile_store (
  store_key TEXT NOT NULL PRIMARY KEY,
  store_json TEXT NOT NULL,
  updated_at INTEGER NOT NULL
)",
    ),
    (
        "auth_profile_state",
        "CREATE TABLE auth_profile_state (
  state_key TEXT NOT NULL PRIMARY KEY,
  state_json TEXT NOT NULL,
  updated_at INTEGER NOT NULL
)",
    ),
    (
        "failover_state",
        "CREATE TABLE failover_state (
  key TEXT PRIMARY KEY,
  value_json TEXT NOT NULL,
  updated_at INTEGER NOT NULL
)",
    ),
];

/// Further tables of OpenClaw in the same file (auth-store.md 2.4).
const TABLES_OF_OTHERS: &[&str] = &[
    "cache_entries",
    "memory_embedding_cache",
    "memory_index_chunks",
    "memory_index_meta",
    "memory_index_sources",
    "memory_index_state",
];

fn has_table(connection: &Connection, table: &str) -> rusqlite::Result<bool> {
    let sql = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?1";
    let found = connection.query_row(sql, [table], |_| Ok(())).optional()?;
    Ok(found.is_some())
}

/// Refuses a file that is newer (D6) or not this agent's (D21); writes nothing.
pub(super) fn check(connection: &Connection, path: &Path, agent: &AgentId) -> Result<(), Fault> {
    let found: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    if found > VERSION {
        let newer = OpenError::Newer {
            path: path.to_owned(),
            found,
            supported: VERSION,
        };
        return Err(newer.into());
    }
    if is_foreign(connection)? {
        let path = path.to_owned();
        return Err(OpenError::ForeignFile { path }.into());
    }
    let Some((role, owner)) = owner(connection)? else {
        return Ok(());
    };
    if role != ROLE {
        let foreign = OpenError::ForeignRole {
            path: path.to_owned(),
            role,
        };
        return Err(foreign.into());
    }
    // An empty name would normalise to that of the main agent, which would be wrong.
    let is_known = |owner: &AgentId| owner == agent || *owner == owner_of(path);
    if owner.trim().is_empty() || !is_known(&AgentId::new(&owner)) {
        let foreign = OpenError::ForeignAgent {
            path: path.to_owned(),
            found: owner,
            wanted: agent.clone(),
        };
        return Err(foreign.into());
    }
    Ok(())
}

/// The owner of a file by its path (D22): OpenClaw names the owner of a custom folder by a hash.
fn owner_of(path: &Path) -> AgentId {
    let folder = path.parent().unwrap_or(path);
    let above = folder.parent().and_then(Path::file_name);
    match (folder.file_name(), above) {
        (Some(name), Some(above)) if name == "agent" => AgentId::new(&above.to_string_lossy()),
        _ => AgentId::new(&format!("custom-{}", hex(&[&folder.to_string_lossy()], 12))),
    }
}

/// Whether another program made the file: it has an application id (D5), or tables of which none is an agent's.
fn is_foreign(connection: &Connection) -> rusqlite::Result<bool> {
    let application: i64 = connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
    if application != 0 {
        return Ok(true);
    }
    let mut names = connection.prepare("SELECT name FROM sqlite_master WHERE type = 'table'")?;
    let names: Vec<String> = names.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    let known = |name: &String| {
        TABLES.iter().any(|(table, _)| table == name) || TABLES_OF_OTHERS.contains(&name.as_str())
    };
    Ok(!names.is_empty() && !names.iter().any(known))
}

fn owner(connection: &Connection) -> rusqlite::Result<Option<(String, String)>> {
    if !has_table(connection, "schema_meta")? {
        return Ok(None);
    }
    let sql = "SELECT role, coalesce(agent_id, '') FROM schema_meta WHERE meta_key = 'primary'";
    connection
        .query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()
}

/// Creates missing tables and records the opening (D7, D20); existing tables stay as they are.
pub(super) fn complete(connection: &Connection, agent: &AgentId, now: Timestamp) -> rusqlite::Result<()> {
    for sql in missing(connection)? {
        connection.execute_batch(sql)?;
    }
    connection.pragma_update(None, "user_version", VERSION)?;
    connection.execute(
        "INSERT INTO schema_meta (meta_key, role, schema_version, agent_id, app_version, created_at, updated_at)
         VALUES ('primary', ?1, ?2, ?3, NULL, ?4, ?4)
         ON CONFLICT (meta_key) DO UPDATE SET
           schema_version = excluded.schema_version, agent_id = coalesce(agent_id, excluded.agent_id),
           updated_at = excluded.updated_at",
        params![ROLE, VERSION, agent.as_str(), now.as_millisecond()],
    )?;
    Ok(())
}

/// Creates missing tables as temporary ones on a connection that cannot write.
pub(super) fn add_missing_as_temporary(connection: &Connection) -> rusqlite::Result<()> {
    for sql in missing(connection)? {
        connection.execute_batch(&sql.replacen("CREATE TABLE", "CREATE TEMP TABLE", 1))?;
    }
    Ok(())
}

/// Whether every table is there.
pub(super) fn is_complete(connection: &Connection) -> rusqlite::Result<bool> {
    missing(connection).map(|missing| missing.is_empty())
}

fn missing(connection: &Connection) -> rusqlite::Result<Vec<&'static str>> {
    let mut missing = Vec::new();
    for (table, sql) in TABLES {
        if !has_table(connection, table)? {
            missing.push(*sql);
        }
    }
    Ok(missing)
}
