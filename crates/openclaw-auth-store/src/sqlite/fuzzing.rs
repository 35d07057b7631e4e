//! The tables in memory, filled with arbitrary texts, for the fuzz targets.

use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;
use openclaw_cooldown::CooldownConfig;
use openclaw_ids::AgentId;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, params};

use super::cache::UnstoredState;
use super::contents::{Contents, Extent};
use super::{fault::Fault, schema};
use crate::{AuthSnapshot, LegacyProfiles, UsageChange};

/// The tables.
pub struct Tables(Connection);

/// All rows, by table and key.
pub type Texts = Vec<(String, String)>;

impl Tables {
    /// Empty tables.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn empty() -> rusqlite::Result<Self> {
        let connection = Connection::open_in_memory()?;
        schema::complete(&connection, &AgentId::main(), Timestamp::UNIX_EPOCH)?;
        Ok(Self(connection))
    }

    /// Replaces all rows by these texts.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn fill(
        &self,
        store: Option<&[u8]>,
        state: Option<&[u8]>,
        rows: &[(&str, &[u8])],
    ) -> rusqlite::Result<()> {
        let text = |bytes| ToSqlOutput::Borrowed(ValueRef::Text(bytes));
        self.0.execute_batch(
            "DELETE FROM auth_profile_store; DELETE FROM auth_profile_state; DELETE FROM failover_state",
        )?;
        if let Some(store) = store {
            let sql = "INSERT INTO auth_profile_store VALUES ('primary', ?1, 1000)";
            self.0.prepare_cached(sql)?.execute(params![text(store)])?;
        }
        if let Some(state) = state {
            let sql = "INSERT INTO auth_profile_state VALUES ('primary', ?1, 1000)";
            self.0.prepare_cached(sql)?.execute(params![text(state)])?;
        }
        for (key, value) in rows {
            let sql = "INSERT OR REPLACE INTO failover_state VALUES (?1, ?2, 1000)";
            self.0.prepare_cached(sql)?.execute(params![key, text(value)])?;
        }
        Ok(())
    }

    /// Reads them as the engine does.
    ///
    /// # Errors
    /// In words, what cannot be read.
    pub fn read(&self) -> Result<AuthSnapshot, String> {
        self.contents().map(|contents| contents.snapshot)
    }

    /// Applies `changes` and writes what they touched, as the engine does; the snapshot in memory afterwards.
    ///
    /// # Errors
    /// In words, what cannot be read or written.
    pub fn mark(&self, changes: &[UsageChange], now: Timestamp) -> Result<AuthSnapshot, String> {
        let mut contents = self.contents()?;
        let config = CooldownConfig::default();
        for change in changes {
            contents.snapshot.apply(change, now, &config);
        }
        let extent = Extent::usage(changes.iter(), std::iter::empty());
        let written = contents.write(&self.0, &extent, now);
        written.map_err(|error| error.to_string())?;
        Ok(contents.snapshot)
    }

    /// Imports older files as the engine does when it opens a file; the snapshot in memory afterwards.
    ///
    /// # Errors
    /// In words, what cannot be read or written.
    pub fn import(&self, legacy: &LegacyProfiles, now: Timestamp) -> Result<AuthSnapshot, String> {
        let mut contents = self.contents()?;
        contents.import(legacy, now);
        let before = contents.snapshot.clone();
        let written = contents.write(&self.0, &Extent::Everything(&before), now);
        written.map_err(|error| error.to_string())?;
        Ok(contents.snapshot)
    }

    /// Every row.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn texts(&self) -> rusqlite::Result<Texts> {
        let sql = "SELECT 'store ' || store_key, store_json FROM auth_profile_store
                   UNION ALL SELECT 'state ' || state_key, state_json FROM auth_profile_state
                   UNION ALL SELECT key, value_json FROM failover_state ORDER BY 1";
        let mut statement = self.0.prepare_cached(sql)?;
        let found = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        found.collect()
    }

    fn contents(&self) -> Result<Contents, String> {
        let unstored = Arc::new(UnstoredState::default());
        Contents::read(&self.0, Path::new("memory"), &unstored).map_err(|fault| match fault {
            Fault::Engine(error) => error.to_string(),
            Fault::Refused(error) => error.to_string(),
            Fault::Gone => "no file".to_owned(),
            Fault::Row(row) => row.to_string(),
        })
    }
}
