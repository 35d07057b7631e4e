//! The windows that are active, counted when metrics are collected.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use openclaw_auth_store::AuthSnapshot;
use openclaw_cooldown::Lane;

/// Takes a snapshot of one agent's store; none once the store is no longer used.
type SnapshotSource = Box<dyn Fn() -> Option<Arc<AuthSnapshot>> + Send + Sync>;

/// The stores of all agents that are open.
#[derive(Default)]
pub(super) struct Stores(Mutex<Vec<SnapshotSource>>);

impl Stores {
    pub(super) fn add(&self, ask: SnapshotSource) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(ask);
    }

    /// How many windows are active at `now`, by provider and lane. A window of the main agent that others inherit is
    /// one window.
    pub(super) fn active(&self, now: Timestamp) -> BTreeMap<(String, &'static str), u64> {
        let mut snapshots: Vec<Arc<AuthSnapshot>> = Vec::new();
        let mut stores = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        stores.retain(|ask| {
            let snapshot = ask();
            let is_used = snapshot.is_some();
            snapshots.extend(snapshot);
            is_used
        });
        drop(stores);
        let mut seen = HashSet::new();
        let mut active = BTreeMap::new();
        let mut count = |provider: &str, lane| {
            *active.entry((provider.to_owned(), lane)).or_insert(0_u64) += 1;
        };
        for snapshot in &snapshots {
            for (profile, usage) in snapshot.usage.windowed() {
                let provider = snapshot
                    .credential(profile)
                    .map(openclaw_auth_store::Credential::provider);
                let provider = provider.map_or("unknown", openclaw_ids::ProviderId::as_str);
                for (lane, window) in usage.windows.iter().filter(|(_, window)| window.is_active(now)) {
                    if seen.insert((profile.as_str(), lane.to_string(), window.opened_at)) {
                        count(provider, lane_name(lane));
                    }
                }
            }
            for (endpoint, window) in snapshot
                .endpoints
                .iter()
                .filter(|(_, window)| window.is_active(now))
            {
                if seen.insert((endpoint.base_url.as_str(), ENDPOINT.to_owned(), window.opened_at)) {
                    count(endpoint.provider.as_str(), ENDPOINT);
                }
            }
        }
        active
    }
}

/// The lane of an endpoint's window.
pub(super) const ENDPOINT: &str = "endpoint";

/// A lane without its model, which clients name.
pub(super) fn lane_name(lane: &Lane) -> &'static str {
    match lane {
        Lane::AuthPermanent => "auth_permanent",
        Lane::Billing => "billing",
        Lane::Blocked => "blocked",
        Lane::Model(_) => "model",
        Lane::Profile => "profile",
    }
}
