//! The contents of the file at one moment, as a snapshot that can be changed and written back.

mod write;

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;
use openclaw_cooldown::{UsageStats, adopt_secret, adopt_usage_stats};
use openclaw_ids::ProfileId;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, Row};

use super::cache::UnstoredState;
use super::fault::Fault;
use super::rows::{self, Rows, known_stats};
use crate::snapshot::payload::{Profiles, StateDocument, StoreDocument};
use crate::{
    AuthSnapshot, Credential, Eligibility, LegacyProfiles, UnreadableRow, UsageMap, credential_eligibility,
};

const STORE_TABLE: &str = "auth_profile_store";
const STATE_TABLE: &str = "auth_profile_state";
const PRIMARY: &str = "primary";

/// It is not known what was mirrored for OpenClaw, so that all of it is compared at the next write.
const NEVER_MIRRORED: Timestamp = Timestamp::MIN;

pub(super) use write::Extent;

/// The three tables, read in one transaction, raw and typed.
///
/// A caller that changes the snapshot writes it next, or drops the whole value.
pub(super) struct Contents {
    unstored: Arc<UnstoredState>,
    store: Document<StoreDocument>,
    state: Document<StateDocument>,
    /// OpenClaw's usage entries, typed.
    stats: HashMap<ProfileId, UsageStats>,
    rows: Rows,
    /// When the first mirrored window ends; the mirror is made anew then.
    mirrored_until: Timestamp,
    /// The typed view.
    pub(super) snapshot: AuthSnapshot,
}

/// A row's document.
struct Document<T> {
    current: T,
    is_stored: bool,
    /// Whether it differs from the stored row.
    is_changed: bool,
}

impl Contents {
    /// Reads the file.
    ///
    /// # Errors
    /// The first row that cannot be read, or what SQLite says.
    pub(super) fn read(
        connection: &Connection,
        path: &Path,
        unstored: &Arc<UnstoredState>,
    ) -> Result<Self, Fault> {
        let unreadable = |table: &'static str, key: &str, problem: String| UnreadableRow {
            path: path.to_owned(),
            table,
            key: key.to_owned(),
            problem,
        };
        let stored = match primary(connection, &STORE_ROW)? {
            Some((text, _)) => {
                let parsed = text.and_then(|text| StoreDocument::parse(&text));
                Some(parsed.map_err(|problem| unreadable(STORE_TABLE, PRIMARY, problem))?)
            }
            None => None,
        };
        let mut store = stored.clone().unwrap_or_else(StoreDocument::empty);

        let (stored_state, changed_at) = match primary(connection, &STATE_ROW)? {
            Some((text, updated_at)) => {
                let parsed = text.and_then(|text| StateDocument::parse(&text));
                let parsed = parsed.map_err(|problem| unreadable(STATE_TABLE, PRIMARY, problem))?;
                (Some(parsed), updated_at)
            }
            None => (None, 0),
        };
        let mut state = stored_state.clone().unwrap_or_default();
        state.add_beneath(&store.take_embedded_state());

        let mut rows = Rows::default();
        let mut statement = connection.prepare_cached("SELECT key, value_json FROM failover_state")?;
        let mut cursor = statement.query([])?;
        while let Some(row) = cursor.next()? {
            let key = text(row, 0)?.map_err(|problem| unreadable(rows::TABLE, "", problem))?;
            let value = text(row, 1)?.and_then(|text| rows.add(key.clone(), text));
            value.map_err(|problem| unreadable(rows::TABLE, &key, problem))?;
        }

        let changed_at = Timestamp::from_millisecond(changed_at).unwrap_or(Timestamp::UNIX_EPOCH);
        let store = Document {
            is_stored: stored.is_some(),
            is_changed: stored.is_some_and(|stored| stored != store),
            current: store,
        };
        let state = Document {
            is_stored: stored_state.is_some(),
            is_changed: stored_state.unwrap_or_default() != state,
            current: state,
        };
        let stats = state.current.usage_stats();
        Ok(Self {
            snapshot: view(
                store.current.profiles(),
                &state.current,
                &stats,
                &rows,
                unstored,
                changed_at,
            ),
            unstored: Arc::clone(unstored),
            store,
            state,
            stats,
            rows,
            mirrored_until: NEVER_MIRRORED,
        })
    }

    /// The unstored state that the view was made with.
    pub(super) fn unstored(&self) -> &Arc<UnstoredState> {
        &self.unstored
    }

    /// Adds what older files hold and the store does not (G26 to G28).
    pub(super) fn import(&mut self, legacy: &LegacyProfiles, now: Timestamp) {
        for (id, credential) in &legacy.profiles {
            let blank = || legacy.fills_blanks && holds_none(self.snapshot.profiles.get(id), now);
            if !self.store.current.holds(id) || (blank() && !holds_none(Some(credential), now)) {
                self.store.current.put(id, credential);
                self.store.is_changed = true;
            }
        }
        self.state.current.fill_from(&legacy.state);
        self.state.is_changed = true;
        self.stats = self.state.current.usage_stats();
        let profiles = self.store.current.profiles();
        self.snapshot = view(
            profiles,
            &self.state.current,
            &self.stats,
            &self.rows,
            &self.unstored,
            now,
        );
        self.mirrored_until = NEVER_MIRRORED;
    }

    /// Whether no profile was ever stored (G2).
    pub(super) fn is_new(&self) -> bool {
        !self.store.is_stored
    }
}

/// The typed view: our state, plus what OpenClaw changed since the mirror was written, for the current secrets.
fn view(
    profiles: Profiles,
    state: &StateDocument,
    stats: &HashMap<ProfileId, UsageStats>,
    rows: &Rows,
    unstored: &UnstoredState,
    changed_at: Timestamp,
) -> AuthSnapshot {
    let mut snapshot = AuthSnapshot {
        profiles: profiles.credentials.into(),
        order: state.order(),
        last_good: state.last_good(),
        endpoints: rows.endpoints.clone(),
        probes: rows.probes.clone(),
        refreshes: rows.refreshes.clone(),
        rejected: profiles.rejected,
        ..AuthSnapshot::default()
    };
    unstored.add_to(&mut snapshot);
    let known = rows.usage.iter().map(|(id, row)| (id.clone(), row.usage.clone()));
    let mut usage: UsageMap = known.collect();
    let nothing = UsageStats::default();
    for id in snapshot.profiles.keys() {
        let row = rows.usage.get(id);
        let known = row.map(|row| row.usage.clone()).unwrap_or_default();
        let fingerprint = snapshot.fingerprint(id);
        let known = adopt_secret(known, fingerprint.as_deref());
        let stats = stats.get(id).unwrap_or(&nothing);
        let current = match row.and_then(|row| row.mirrored.as_ref()) {
            Some(mirrored) if *mirrored == known_stats(stats) => known,
            None if stats.is_empty() => known,
            Some(_) | None => adopt_usage_stats(known, stats, changed_at),
        };
        if row.is_some() || !rows::is_blank(&current) {
            usage.insert(id.clone(), current);
        }
    }
    snapshot.usage = usage;
    let profiles = &snapshot.profiles;
    snapshot.last_good.retain(|_, id| profiles.contains_key(id));
    snapshot.with_current_secrets()
}

/// Whether a stored credential has neither a secret nor a pointer to one (G25).
fn holds_none(stored: Option<&Credential>, now: Timestamp) -> bool {
    stored.is_some_and(|stored| credential_eligibility(stored, now) == Eligibility::MissingCredential)
}

/// The row `primary` of one of the shared tables: its text, or what is wrong with it, and when it was written.
type RowText = (Result<String, String>, i64);

/// The query of such a row, and the query that finds a row which the index lacks.
struct PrimaryRow {
    found: &'static str,
    unindexed: &'static str,
}

const STORE_ROW: PrimaryRow = PrimaryRow {
    found: "SELECT store_json, updated_at FROM auth_profile_store WHERE store_key = ?1",
    unindexed: "SELECT 1 FROM auth_profile_store NOT INDEXED WHERE store_key = ?1",
};
const STATE_ROW: PrimaryRow = PrimaryRow {
    found: "SELECT state_json, updated_at FROM auth_profile_state WHERE state_key = ?1",
    unindexed: "SELECT 1 FROM auth_profile_state NOT INDEXED WHERE state_key = ?1",
};

fn primary(connection: &Connection, row: &PrimaryRow) -> rusqlite::Result<Option<RowText>> {
    let mut statement = connection.prepare_cached(row.found)?;
    let found = statement
        .query_row([PRIMARY], |row| Ok((text(row, 0)?, row.get(1).unwrap_or(0))))
        .optional()?;
    // SQLite reads only the index, and a file that lost a part of its log may have the row without its index entry: it
    // would look like an empty store, and be overwritten as one.
    if found.is_none() && connection.prepare_cached(row.unindexed)?.exists([PRIMARY])? {
        let damaged = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CORRUPT);
        let message = "a row is missing in the index of its table".to_owned();
        return Err(rusqlite::Error::SqliteFailure(damaged, Some(message)));
    }
    Ok(found)
}

fn text(row: &Row<'_>, column: usize) -> rusqlite::Result<Result<String, String>> {
    Ok(match row.get_ref(column)? {
        ValueRef::Text(bytes) => String::from_utf8(bytes.to_vec()).map_err(|_| "not UTF-8".to_owned()),
        ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) | ValueRef::Blob(_) => {
            Err("not a text".to_owned())
        }
    })
}
