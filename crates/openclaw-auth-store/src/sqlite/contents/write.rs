//! Writes the difference between the snapshot and the file, and nothing else.

use std::collections::HashSet;

use jiff::Timestamp;
use openclaw_cooldown::{UsageStats, to_usage_stats};
use openclaw_ids::{ProfileId, ProviderId};
use rusqlite::{Connection, params};
use serde_json::Value;

use super::{Contents, NEVER_MIRRORED, PRIMARY};
use crate::credential::is_ambient_id;
use crate::snapshot::SHIPPED_ALIASES;
use crate::sqlite::rows::{RowEdits, known_members};
use crate::{AuthSnapshot, EndpointKey, UsageChange};

/// What may differ from the file.
pub(in crate::sqlite) enum Extent<'a> {
    /// Anything; the snapshot as it was before.
    Everything(&'a AuthSnapshot),
    /// The usage of these profiles alone.
    Usage {
        profiles: HashSet<&'a ProfileId>,
        endpoints: HashSet<&'a EndpointKey>,
        probes: HashSet<&'a ProviderId>,
    },
}

impl<'a> Extent<'a> {
    /// The extent of usage changes and of uses.
    pub(in crate::sqlite) fn usage(
        changes: impl Iterator<Item = &'a UsageChange>,
        used: impl Iterator<Item = &'a ProfileId>,
    ) -> Self {
        let mut profiles: HashSet<_> = used.collect();
        let mut endpoints = HashSet::new();
        let mut probes = HashSet::new();
        for change in changes {
            match change {
                UsageChange::Clear { profile }
                | UsageChange::ClearLane { profile, .. }
                | UsageChange::StatedEnd { profile, .. }
                | UsageChange::Failure { profile, .. }
                | UsageChange::CoolDown { profile, .. }
                | UsageChange::Success { profile, .. }
                | UsageChange::Used { profile } => {
                    profiles.insert(profile);
                }
                UsageChange::EndpointFailure { endpoint, .. } | UsageChange::EndpointSuccess { endpoint } => {
                    endpoints.insert(endpoint);
                }
                UsageChange::ProbeEnd { provider, .. }
                | UsageChange::ProbeRenew { provider, .. }
                | UsageChange::ProbeStart { provider, .. } => {
                    probes.insert(provider);
                }
            }
        }
        Self::Usage {
            profiles,
            endpoints,
            probes,
        }
    }
}

impl Contents {
    /// Writes what is different in the snapshot, the secrets row first, then the state row and our own rows.
    ///
    /// # Errors
    /// What SQLite says; the value must be dropped then.
    pub(in crate::sqlite) fn write(
        &mut self,
        connection: &Connection,
        extent: &Extent<'_>,
        now: Timestamp,
    ) -> rusqlite::Result<()> {
        let mut edits = RowEdits::default();
        match extent {
            Extent::Everything(before) => {
                self.edit_profiles(before, &mut edits);
                self.edit_state(before);
                self.edit_usage(None, now, &mut edits);
                self.edit_shared(&mut edits);
            }
            Extent::Usage {
                profiles,
                endpoints,
                probes,
            } => {
                self.edit_good(profiles);
                self.edit_usage(Some(profiles), now, &mut edits);
                for endpoint in endpoints {
                    self.edit_endpoint(endpoint, &mut edits);
                }
                for provider in probes {
                    self.edit_probe(provider, &mut edits);
                }
            }
        }
        self.write_documents(connection, now)?;
        write_rows(connection, &edits, now)
    }

    fn write_documents(&mut self, connection: &Connection, now: Timestamp) -> rusqlite::Result<()> {
        let now = now.as_millisecond();
        if self.store.is_changed {
            connection
                .prepare_cached(
                    "INSERT INTO auth_profile_store (store_key, store_json, updated_at) VALUES (?1, ?2, ?3)
                     ON CONFLICT (store_key) DO UPDATE SET store_json = excluded.store_json, updated_at = excluded.updated_at",
                )?
                .execute(params![PRIMARY, self.store.current.to_json(), now])?;
            (self.store.is_stored, self.store.is_changed) = (true, false);
        }
        if self.state.is_changed && self.state.current.is_empty() {
            connection
                .prepare_cached("DELETE FROM auth_profile_state WHERE state_key = ?1")?
                .execute([PRIMARY])?;
            (self.state.is_stored, self.state.is_changed) = (false, false);
        } else if self.state.is_changed {
            connection
                .prepare_cached(
                    "INSERT INTO auth_profile_state (state_key, state_json, updated_at) VALUES (?1, ?2, ?3)
                     ON CONFLICT (state_key) DO UPDATE SET state_json = excluded.state_json, updated_at = excluded.updated_at",
                )?
                .execute(params![PRIMARY, self.state.current.to_json(), now])?;
            (self.state.is_stored, self.state.is_changed) = (true, false);
        }
        Ok(())
    }

    fn edit_profiles(&mut self, before: &AuthSnapshot, edits: &mut RowEdits) {
        let (before, after) = (&before.profiles, &self.snapshot.profiles);
        for (id, credential) in after {
            if before.get(id) != Some(credential) {
                self.store.current.put(id, credential);
                self.store.is_changed = true;
            }
        }
        for id in before.keys().filter(|id| !after.contains_key(*id)) {
            self.store.current.remove(id);
            self.store.is_changed = true;
            self.state.current.set_usage(id, None);
            self.state.is_changed = true;
            self.stats.remove(id);
            self.rows.remove_usage(edits, id);
        }
    }

    fn edit_state(&mut self, before: &AuthSnapshot) {
        let (state, after) = (&mut self.state, &self.snapshot);
        for provider in union(before.order.keys(), after.order.keys()) {
            let ids = after.order.get(provider);
            if before.order.get(provider) != ids {
                state.current.set_order(provider, ids.map(Vec::as_slice));
                state.is_changed = true;
            }
        }
        for provider in union(before.last_good.keys(), after.last_good.keys()) {
            let id = after.last_good.get(provider);
            if before.last_good.get(provider) != id {
                state.current.set_last_good(provider, id);
                state.is_changed = true;
            }
        }
    }

    /// A success can have made its profile the last good one.
    fn edit_good(&mut self, marked: &HashSet<&ProfileId>) {
        for id in marked {
            let Some(credential) = self.snapshot.profiles.get(*id) else {
                continue;
            };
            let provider = SHIPPED_ALIASES.auth_id(credential.provider());
            if self.snapshot.last_good.get(&provider) == Some(*id)
                && !self.state.current.is_last_good(&provider, id)
            {
                self.state.current.set_last_good(&provider, Some(*id));
                self.state.is_changed = true;
            }
        }
    }

    /// Writes the usage of the `marked` profiles, or of all, and for stored ones its mirror for OpenClaw.
    ///
    /// The mirror changes when a window ends, since it shows another one then.
    fn edit_usage(&mut self, marked: Option<&HashSet<&ProfileId>>, now: Timestamp, edits: &mut RowEdits) {
        let has_ended = self.mirrored_until <= now;
        let all = marked.is_none() || self.mirrored_until == NEVER_MIRRORED;
        if all || has_ended {
            self.mirrored_until = Timestamp::MAX;
        }
        let mut ids: HashSet<ProfileId> = marked.into_iter().flatten().map(|id| (*id).clone()).collect();
        if all {
            ids.extend(self.snapshot.usage.keys().cloned());
        } else if has_ended {
            ids.extend(self.snapshot.usage.windowed().map(|(id, _)| id.clone()));
        }
        for id in &ids {
            self.edit_usage_of(id, now, edits);
        }
    }

    fn edit_usage_of(&mut self, id: &ProfileId, now: Timestamp, edits: &mut RowEdits) {
        let Some(usage) = self.snapshot.usage.get(id) else {
            return;
        };
        let ends = usage.windows.values().map(|window| window.until);
        let first = ends.filter(|end| *end > now).min();
        self.mirrored_until = self.mirrored_until.min(first.unwrap_or(Timestamp::MAX));
        if self.snapshot.profiles.contains_key(id) {
            let nothing = UsageStats::default();
            let previous = self.stats.get(id);
            let stats = to_usage_stats(usage, now, previous);
            let value = serde_json::to_value(&stats).unwrap_or(Value::Null);
            if previous.unwrap_or(&nothing) != &stats {
                let entry = Some(value.clone()).filter(|_| !stats.is_empty());
                self.state.current.set_usage(id, entry);
                self.state.is_changed = true;
                self.stats.insert(id.clone(), stats);
            }
            self.rows.set_usage(edits, id, usage, Some(known_members(value)));
        } else if self.snapshot.ambient.contains_key(id) || is_ambient_id(id) || self.store.current.holds(id)
        {
            self.rows.set_usage(edits, id, usage, None);
        } else {
            self.rows.remove_usage(edits, id);
        }
    }

    fn edit_shared(&mut self, edits: &mut RowEdits) {
        let endpoints: Vec<_> = union(self.rows.endpoints.keys(), self.snapshot.endpoints.keys())
            .into_iter()
            .cloned()
            .collect();
        for endpoint in &endpoints {
            self.edit_endpoint(endpoint, edits);
        }
        let ids: Vec<_> = union(self.rows.refreshes.keys(), self.snapshot.refreshes.keys())
            .into_iter()
            .cloned()
            .collect();
        for id in &ids {
            self.rows.set_refresh(edits, id, self.snapshot.refreshes.get(id));
        }
        let providers: Vec<_> = self.snapshot.probes.keys().cloned().collect();
        for provider in &providers {
            self.edit_probe(provider, edits);
        }
    }

    fn edit_endpoint(&mut self, endpoint: &EndpointKey, edits: &mut RowEdits) {
        let window = self.snapshot.endpoints.get(endpoint);
        if self.rows.endpoints.get(endpoint) != window {
            self.rows.set_endpoint(edits, endpoint, window);
        }
    }

    fn edit_probe(&mut self, provider: &ProviderId, edits: &mut RowEdits) {
        if let Some(state) = self.snapshot.probes.get(provider)
            && self.rows.probes.get(provider) != Some(state)
        {
            self.rows.set_probe(edits, provider, state);
        }
    }
}

fn write_rows(connection: &Connection, edits: &RowEdits, now: Timestamp) -> rusqlite::Result<()> {
    for (key, text) in &edits.0 {
        match text {
            Some(text) => connection
                .prepare_cached(
                    "INSERT INTO failover_state (key, value_json, updated_at) VALUES (?1, ?2, ?3)
                     ON CONFLICT (key) DO UPDATE SET value_json = excluded.value_json, updated_at = excluded.updated_at",
                )?
                .execute(params![key, text, now.as_millisecond()])?,
            None => connection
                .prepare_cached("DELETE FROM failover_state WHERE key = ?1")?
                .execute([key])?,
        };
    }
    Ok(())
}

fn union<'k, K: std::hash::Hash + Eq>(
    before: impl Iterator<Item = &'k K>,
    after: impl Iterator<Item = &'k K>,
) -> HashSet<&'k K> {
    before.chain(after).collect()
}
