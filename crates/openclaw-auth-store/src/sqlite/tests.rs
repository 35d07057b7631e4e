//! The engine over real files, alone, shared and in trouble.

mod buffered_logins;
mod disk_faults;
mod fixture;
mod opening;
mod processes;
mod replaced_file;
mod rows;
mod rules;
mod secret_leaks;
mod secrets;
mod sharing;
mod write_coordinator;

use std::path::Path;

use rusqlite::Connection;
use serde_json::Value;
use tempfile::TempDir;

use super::*;
use crate::store::conformance::{at, failure, key, profile, success};
use crate::{AuthSnapshot, Credential, ProfileStore};

/// Threads that act fast, so that no test waits.
fn fast() -> Timing {
    Timing {
        watch: Duration::from_millis(1),
        use_delay: Duration::from_millis(1),
        ..Timing::default()
    }
}

fn open(folder: &Path) -> Result<SqliteAuthStore, OpenError> {
    SqliteAuthStore::open_with(
        folder,
        &AgentId::main(),
        Vec::new(),
        CooldownConfig::default(),
        at(0),
        fast(),
    )
}

/// A new store with the profiles `a` and `b`.
async fn with_profiles() -> (TempDir, SqliteAuthStore) {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).unwrap();
    for id in ["a", "b"] {
        store.upsert(profile(id), key(id), at(0)).await.unwrap();
    }
    (folder, store)
}

/// Opens the file as another program would.
fn outside(folder: &Path) -> Connection {
    let connection = Connection::open(folder.join("openclaw-agent.sqlite")).unwrap();
    connection.busy_timeout(Duration::from_secs(30)).unwrap();
    connection
}

fn text(connection: &Connection, sql: &str) -> String {
    connection.query_row(sql, [], |row| row.get(0)).unwrap()
}

const STATE: &str = "SELECT state_json FROM auth_profile_state";
const STORE: &str = "SELECT store_json FROM auth_profile_store";

/// The state row; null when there is none.
fn state(file: &Connection) -> Value {
    let text: Option<String> = file.query_row(STATE, [], |row| row.get(0)).unwrap_or_default();
    text.map_or(Value::Null, |text| serde_json::from_str(&text).unwrap())
}

/// Gives other threads the processor until `done`; gives up after many turns.
pub(super) fn eventually(what: &str, mut done: impl FnMut() -> bool) {
    const TURNS: u32 = 20_000_000;
    for _ in 0..TURNS {
        if done() {
            return;
        }
        thread::yield_now();
    }
    panic!("{what} did not happen");
}

#[tokio::test]
async fn the_sqlite_engine_conforms() {
    let folder = tempfile::tempdir().unwrap();
    let config = CooldownConfig::default();
    let store = SqliteAuthStore::open(folder.path(), &AgentId::main(), Vec::new(), config, at(0)).unwrap();
    crate::store::conformance::check(&store).await;
}
