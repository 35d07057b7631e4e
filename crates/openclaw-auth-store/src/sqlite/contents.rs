//! Everything the file says at one moment, as a snapshot, and what has to be written so that it says another one.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use jiff::Timestamp;
use openclaw_cooldown::{UsageStats, adopt_foreign, adopt_secret, mirror};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde_json::Value;

use super::cache::Apart;
use super::fault::Fault;
use super::rows::{self, RowEdits, Rows, known_stats};
use crate::credential::is_ambient_id;
use crate::payload::{Profiles, StateDocument, StoreDocument};
use crate::{AuthSnapshot, Credential, Eligibility, Legacy, UnreadableRow, credential_eligibility};

const STORE_TABLE: &str = "auth_profile_store";
const STATE_TABLE: &str = "auth_profile_state";
const PRIMARY: &str = "primary";

/// The three tables, read in one transaction.
pub(super) struct Contents {
    store: Document<StoreDocument>,
    state: Document<StateDocument>,
    rows: Rows,
    /// The typed view.
    pub(super) snapshot: AuthSnapshot,
}

/// A row's document as it should be written, beside what is there.
struct Document<T> {
    stored: Option<T>,
    current: T,
}

impl Contents {
    /// Reads the file.
    ///
    /// # Errors
    /// The first row that cannot be read, or what SQLite says.
    pub(super) fn read(connection: &Connection, path: &Path, apart: &Apart) -> Result<Self, Fault> {
        let unreadable = |table: &'static str, key: &str, problem: String| UnreadableRow {
            path: path.to_owned(),
            table,
            key: key.to_owned(),
            problem,
        };
        let sql = "SELECT store_json, updated_at FROM auth_profile_store WHERE store_key = ?1";
        let stored = match primary(connection, sql)? {
            Some((text, _)) => {
                let parsed = text.and_then(|text| StoreDocument::parse(&text));
                Some(parsed.map_err(|problem| unreadable(STORE_TABLE, PRIMARY, problem))?)
            }
            None => None,
        };
        let mut store = stored.clone().unwrap_or_else(StoreDocument::empty);

        let sql = "SELECT state_json, updated_at FROM auth_profile_state WHERE state_key = ?1";
        let (stored_state, changed_at) = match primary(connection, sql)? {
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
        let snapshot = view(store.profiles(), &state, &rows, apart, changed_at);
        Ok(Self {
            store: Document {
                stored,
                current: store,
            },
            state: Document {
                stored: stored_state,
                current: state,
            },
            rows,
            snapshot,
        })
    }

    /// Adds what older files hold and the store does not (G26 to G28).
    pub(super) fn import(&mut self, legacy: &Legacy, apart: &Apart, now: Timestamp) {
        for (id, credential) in &legacy.profiles {
            let blank = || legacy.fills_blanks && holds_none(self.snapshot.profiles.get(id), now);
            if !self.store.current.holds(id) || (blank() && !holds_none(Some(credential), now)) {
                self.store.current.put(id, credential);
            }
        }
        self.state.current.fill_from(&legacy.state);
        let profiles = self.store.current.profiles();
        self.snapshot = view(profiles, &self.state.current, &self.rows, apart, now);
    }

    /// Whether no profile was ever stored (G2).
    pub(super) fn is_new(&self) -> bool {
        self.store.stored.is_none()
    }

    /// Writes what is different in `after`, the secrets row first, then the state row and our own rows; false when
    /// there was nothing to write.
    pub(super) fn write(
        mut self,
        connection: &Connection,
        after: &AuthSnapshot,
        now: Timestamp,
    ) -> rusqlite::Result<bool> {
        let mut edits = RowEdits::default();
        self.edit_profiles(after, &mut edits);
        self.edit_state(after);
        self.edit_usage(after, now, &mut edits);
        self.edit_shared(after, &mut edits);

        let now = now.as_millisecond();
        let nothing = StoreDocument::empty();
        let store = self.store.to_write(&nothing);
        if let Some(store) = store {
            connection.execute(
                "INSERT INTO auth_profile_store (store_key, store_json, updated_at) VALUES (?1, ?2, ?3)
                 ON CONFLICT (store_key) DO UPDATE SET store_json = excluded.store_json, updated_at = excluded.updated_at",
                params![PRIMARY, store.to_json(), now],
            )?;
        }
        let nothing = StateDocument::default();
        let state = self.state.to_write(&nothing);
        match state {
            Some(state) if state.is_empty() => {
                connection.execute("DELETE FROM auth_profile_state WHERE state_key = ?1", [PRIMARY])?;
            }
            Some(state) => {
                connection.execute(
                    "INSERT INTO auth_profile_state (state_key, state_json, updated_at) VALUES (?1, ?2, ?3)
                     ON CONFLICT (state_key) DO UPDATE SET state_json = excluded.state_json, updated_at = excluded.updated_at",
                    params![PRIMARY, state.to_json(), now],
                )?;
            }
            None => {}
        }
        for (key, text) in &edits.0 {
            match text {
                Some(text) => connection.execute(
                    "INSERT INTO failover_state (key, value_json, updated_at) VALUES (?1, ?2, ?3)
                     ON CONFLICT (key) DO UPDATE SET value_json = excluded.value_json, updated_at = excluded.updated_at",
                    params![key, text, now],
                )?,
                None => connection.execute("DELETE FROM failover_state WHERE key = ?1", [key])?,
            };
        }
        Ok(store.is_some() || state.is_some() || !edits.0.is_empty())
    }

    fn edit_profiles(&mut self, after: &AuthSnapshot, edits: &mut RowEdits) {
        let before = &self.snapshot.profiles;
        for (id, credential) in &after.profiles {
            if before.get(id) != Some(credential) {
                self.store.current.put(id, credential);
            }
        }
        for id in before.keys().filter(|id| !after.profiles.contains_key(*id)) {
            self.store.current.remove(id);
            self.state.current.set_usage(id, None);
            self.rows.remove_usage(edits, id);
        }
    }

    fn edit_state(&mut self, after: &AuthSnapshot) {
        let state = &mut self.state.current;
        let before = &self.snapshot;
        for provider in union(before.order.keys(), after.order.keys()) {
            let ids = after.order.get(provider);
            if before.order.get(provider) != ids {
                state.set_order(provider, ids.map(Vec::as_slice));
            }
        }
        for provider in union(before.last_good.keys(), after.last_good.keys()) {
            let id = after.last_good.get(provider);
            if before.last_good.get(provider) != id {
                state.set_last_good(provider, id);
            }
        }
    }

    /// Writes each profile's state and, for stored ones, what the other program is to see of it.
    fn edit_usage(&mut self, after: &AuthSnapshot, now: Timestamp, edits: &mut RowEdits) {
        for (id, usage) in &after.usage {
            if after.profiles.contains_key(id) {
                let previous = self.state.current.usage(id);
                let stats = mirror(usage, now, previous.as_ref());
                if previous.as_ref().unwrap_or(&UsageStats::default()) != &stats {
                    let value = serde_json::to_value(&stats).unwrap_or(Value::Null);
                    self.state
                        .current
                        .set_usage(id, Some(value).filter(|_| !stats.is_empty()));
                }
                self.rows.set_usage(edits, id, usage, Some(known_stats(&stats)));
            } else if after.ambient.contains_key(id) || is_ambient_id(id) || self.store.current.holds(id) {
                self.rows.set_usage(edits, id, usage, None);
            } else {
                self.rows.remove_usage(edits, id);
            }
        }
    }

    fn edit_shared(&self, after: &AuthSnapshot, edits: &mut RowEdits) {
        for endpoint in union(self.rows.endpoints.keys(), after.endpoints.keys()) {
            let window = after.endpoints.get(endpoint);
            if self.rows.endpoints.get(endpoint) != window {
                self.rows.set_endpoint(edits, endpoint, window);
            }
        }
        for id in union(self.rows.refreshes.keys(), after.refreshes.keys()) {
            self.rows.set_refresh(edits, id, after.refreshes.get(id));
        }
        for (provider, state) in &after.probes {
            if self.rows.probes.get(provider) != Some(state) {
                self.rows.set_probe(edits, provider, state);
            }
        }
    }
}

impl<T: PartialEq> Document<T> {
    /// The document where it differs from what is stored; a missing row counts as `nothing`.
    fn to_write(&self, nothing: &T) -> Option<&T> {
        let stored = self.stored.as_ref().unwrap_or(nothing);
        (*stored != self.current).then_some(&self.current)
    }
}

/// The typed view: our state, plus what somebody else changed since we wrote the mirror, for the secrets of today.
fn view(
    profiles: Profiles,
    state: &StateDocument,
    rows: &Rows,
    apart: &Apart,
    changed_at: Timestamp,
) -> AuthSnapshot {
    let mut snapshot = AuthSnapshot {
        profiles: profiles.credentials,
        order: state.order(),
        last_good: state.last_good(),
        endpoints: rows.endpoints.clone(),
        probes: rows.probes.clone(),
        refreshes: rows.refreshes.clone(),
        rejected: profiles.rejected,
        ..AuthSnapshot::default()
    };
    apart.clone().add_to(&mut snapshot);
    let known = rows.usage.iter().map(|(id, row)| (id.clone(), row.usage.clone()));
    let mut usage: HashMap<_, _> = known.collect();
    for id in snapshot.profiles.keys() {
        let row = rows.usage.get(id);
        let known = row.map(|row| row.usage.clone()).unwrap_or_default();
        let fingerprint = snapshot.fingerprint(id);
        let known = adopt_secret(known, fingerprint.as_deref());
        let stats = state.usage(id).unwrap_or_default();
        let current = match row.and_then(|row| row.mirrored.as_ref()) {
            Some(mirrored) if *mirrored == known_stats(&stats) => known,
            None if stats.is_empty() => known,
            Some(_) | None => adopt_foreign(known, &stats, changed_at),
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
type Primary = (Result<String, String>, i64);

fn primary(connection: &Connection, sql: &str) -> rusqlite::Result<Option<Primary>> {
    let mut statement = connection.prepare_cached(sql)?;
    statement
        .query_row([PRIMARY], |row| Ok((text(row, 0)?, row.get(1).unwrap_or(0))))
        .optional()
}

fn text(row: &Row<'_>, column: usize) -> rusqlite::Result<Result<String, String>> {
    Ok(match row.get_ref(column)? {
        ValueRef::Text(bytes) => String::from_utf8(bytes.to_vec()).map_err(|_| "not UTF-8".to_owned()),
        ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) | ValueRef::Blob(_) => {
            Err("not a text".to_owned())
        }
    })
}

fn union<'k, K: std::hash::Hash + Eq>(
    before: impl Iterator<Item = &'k K>,
    after: impl Iterator<Item = &'k K>,
) -> HashSet<&'k K> {
    before.chain(after).collect()
}
