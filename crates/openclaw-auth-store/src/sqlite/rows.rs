//! The rows of `failover_state`: our own knowledge, one row per profile, endpoint, probed provider and refreshed login.

use std::collections::{BTreeMap, HashMap};

use jiff::Timestamp;
use openclaw_cooldown::{EndpointWindow, ProfileUsage, UsageStats};
use openclaw_ids::{ProfileId, ProviderId};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::error::Category;
use serde_json::{Map, Value};

use crate::{EndpointKey, ProbeLease, ProbeState, RefreshLease};

/// The table.
pub(super) const TABLE: &str = "failover_state";

const USAGE: &str = "usage:";
const ENDPOINT: &str = "endpoint:";
const PROBE: &str = "probe:";
const REFRESH: &str = "refresh:";

/// The state of one profile and its mirror for OpenClaw.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct UsageRow {
    /// Our state.
    pub(super) usage: ProfileUsage,
    /// The mirror as it was last written; another entry in `usageStats` is a change of OpenClaw's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) mirrored: Option<Value>,
    #[serde(flatten)]
    unknown: Map<String, Value>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct EndpointRow {
    provider: ProviderId,
    base_url: String,
    window: EndpointWindow,
    #[serde(flatten)]
    unknown: Map<String, Value>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ProbeRow {
    provider: ProviderId,
    #[serde(with = "jiff::fmt::serde::timestamp::millisecond::required")]
    last_probe_at: Timestamp,
    generation: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    lease: Option<ProbeLease>,
    #[serde(flatten)]
    unknown: Map<String, Value>,
}

/// All rows, typed, beside their texts.
#[derive(Debug, Default)]
pub(super) struct Rows {
    texts: HashMap<String, String>,
    pub(super) usage: HashMap<ProfileId, UsageRow>,
    pub(super) endpoints: HashMap<EndpointKey, EndpointWindow>,
    pub(super) probes: HashMap<ProviderId, ProbeState>,
    pub(super) refreshes: HashMap<ProfileId, RefreshLease>,
}

/// The rows to write or, with `None`, to delete.
#[derive(Debug, Default, PartialEq)]
pub(super) struct RowEdits(pub(super) BTreeMap<String, Option<String>>);

impl Rows {
    /// Reads one row; rows of kinds that a newer version added are left alone.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(super) fn add(&mut self, key: String, text: String) -> Result<(), String> {
        if let Some(id) = key.strip_prefix(USAGE) {
            let id = ProfileId::try_new(id).map_err(|error| error.to_string())?;
            self.usage.insert(id, parse(&text)?);
        } else if key.starts_with(ENDPOINT) {
            let row: EndpointRow = parse(&text)?;
            let endpoint = EndpointKey {
                provider: row.provider,
                base_url: row.base_url,
            };
            is_under(&key, &endpoint_key(&endpoint))?;
            self.endpoints.insert(endpoint, row.window);
        } else if key.starts_with(PROBE) {
            let row: ProbeRow = parse(&text)?;
            is_under(&key, &probe_key(&row.provider))?;
            let state = ProbeState {
                last_probe_at: row.last_probe_at,
                generation: row.generation,
                lease: row.lease,
            };
            self.probes.insert(row.provider, state);
        } else if let Some(id) = key.strip_prefix(REFRESH) {
            let id = ProfileId::try_new(id).map_err(|error| error.to_string())?;
            self.refreshes.insert(id, parse(&text)?);
        } else {
            return Ok(());
        }
        self.texts.insert(key, text);
        Ok(())
    }

    /// The usage row of a profile as it should be now; nothing when there is nothing to remember.
    pub(super) fn set_usage(
        &mut self,
        edits: &mut RowEdits,
        id: &ProfileId,
        usage: &ProfileUsage,
        mirrored: Option<Value>,
    ) {
        let known = self.usage.remove(id);
        if known.is_none() && is_blank(usage) {
            return;
        }
        let row = UsageRow {
            usage: usage.clone(),
            mirrored,
            unknown: known.map(|row| row.unknown).unwrap_or_default(),
        };
        self.set(edits, usage_key(id), Some(to_text(&row)));
        self.usage.insert(id.clone(), row);
    }

    /// Forgets a profile.
    pub(super) fn remove_usage(&mut self, edits: &mut RowEdits, id: &ProfileId) {
        self.usage.remove(id);
        self.set(edits, usage_key(id), None);
    }

    /// The row of an endpoint as it should be now.
    pub(super) fn set_endpoint(
        &mut self,
        edits: &mut RowEdits,
        endpoint: &EndpointKey,
        window: Option<&EndpointWindow>,
    ) {
        let key = endpoint_key(endpoint);
        let text = window.map(|window| {
            to_text(&EndpointRow {
                provider: endpoint.provider.clone(),
                base_url: endpoint.base_url.clone(),
                window: *window,
                unknown: self.unknown::<EndpointRow>(&key, |row| row.unknown),
            })
        });
        match window {
            Some(window) => self.endpoints.insert(endpoint.clone(), *window),
            None => self.endpoints.remove(endpoint),
        };
        self.set(edits, key, text);
    }

    /// The row of a probed provider as it should be now.
    pub(super) fn set_probe(&mut self, edits: &mut RowEdits, provider: &ProviderId, state: &ProbeState) {
        let key = probe_key(provider);
        let row = ProbeRow {
            provider: provider.clone(),
            last_probe_at: state.last_probe_at,
            generation: state.generation,
            lease: state.lease.clone(),
            unknown: self.unknown::<ProbeRow>(&key, |row| row.unknown),
        };
        let text = to_text(&row);
        self.probes.insert(provider.clone(), state.clone());
        self.set(edits, key, Some(text));
    }

    /// The row of a login that is refreshed; nothing when it is not any more.
    pub(super) fn set_refresh(&mut self, edits: &mut RowEdits, id: &ProfileId, lease: Option<&RefreshLease>) {
        match lease {
            Some(lease) => self.refreshes.insert(id.clone(), lease.clone()),
            None => self.refreshes.remove(id),
        };
        let text = lease.map(to_text);
        self.set(edits, format!("{REFRESH}{id}"), text);
    }

    fn unknown<T: DeserializeOwned>(&self, key: &str, of: fn(T) -> Map<String, Value>) -> Map<String, Value> {
        let row = self
            .texts
            .get(key)
            .and_then(|text| serde_json::from_str(text).ok());
        row.map(of).unwrap_or_default()
    }

    fn set(&mut self, edits: &mut RowEdits, key: String, text: Option<String>) {
        if self.texts.get(&key) == text.as_ref() {
            return;
        }
        match &text {
            Some(text) => self.texts.insert(key.clone(), text.clone()),
            None => self.texts.remove(&key),
        };
        edits.0.insert(key, text);
    }
}

/// The members of an entry that OpenClaw knows, to tell its changes from ours.
pub(super) fn known_stats(stats: &UsageStats) -> Value {
    known_members(serde_json::to_value(stats).unwrap_or_default())
}

/// The same for an entry that is JSON already.
pub(super) fn known_members(mut stats: Value) -> Value {
    if let Value::Object(members) = &mut stats {
        members.retain(|name, _| UsageStats::MEMBERS.contains(&name.as_str()));
    }
    stats
}

fn usage_key(id: &ProfileId) -> String {
    format!("{USAGE}{id}")
}

fn endpoint_key(endpoint: &EndpointKey) -> String {
    format!("{ENDPOINT}{} {}", endpoint.provider, endpoint.base_url)
}

fn probe_key(provider: &ProviderId) -> String {
    format!("{PROBE}{provider}")
}

/// Refuses a row whose content does not match its key: writing the one would delete the other.
fn is_under(key: &str, expected: &str) -> Result<(), String> {
    if key == expected {
        Ok(())
    } else {
        Err("about something else than its key".to_owned())
    }
}

/// Whether a state has nothing but its fingerprint.
pub(super) fn is_blank(usage: &ProfileUsage) -> bool {
    let anonymous = ProfileUsage {
        fingerprint: None,
        ..usage.clone()
    };
    anonymous == ProfileUsage::default()
}

fn parse<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    serde_json::from_str(text).map_err(|error| {
        // The error itself quotes what it found.
        let what = match error.classify() {
            Category::Data => "not the expected members",
            Category::Eof | Category::Io | Category::Syntax => "not JSON",
        };
        format!("{what} at column {}", error.column())
    })
}

fn to_text(row: &impl Serialize) -> String {
    #[expect(clippy::expect_used, reason = "the rows are maps with text keys")]
    serde_json::to_string(row).expect("a row is JSON")
}
