//! The state of failover in an entry, beyond the fields that other programs know.

use std::collections::BTreeMap;

use openclaw_ids::{ProfileId, ProviderId};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::lenient_serde;
use super::{Notice, RunTrace, StoredPin};

/// The member `failover` of an entry: state of this crate alone, which other programs keep without reading it.
///
/// A member that cannot be read starts empty and costs the others nothing; members of a newer version are kept.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct FailoverState {
    /// When the primary was last probed, by its display form, in Unix milliseconds (S6).
    #[serde(deserialize_with = "lenient_serde::or_default")]
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) probes: BTreeMap<String, i64>,
    /// What the last runs tried (BL-81).
    #[serde(deserialize_with = "lenient_serde::readable_elements")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) recent_runs: Vec<RunTrace>,
    /// A person's profile pin that waits until the fallback that displaced it is over (R5).
    #[serde(deserialize_with = "lenient_serde::or_default")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) parked_pin: Option<StoredPin>,
    /// Which profile served the session last, by provider, where it is not the pin (F-2).
    #[serde(deserialize_with = "lenient_serde::or_default")]
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) sticky_profiles: BTreeMap<ProviderId, ProfileId>,
    /// When the fallback began that the entry names, in Unix milliseconds; means nothing while there is none.
    #[serde(deserialize_with = "lenient_serde::or_default")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) fallback_since: Option<i64>,
    /// How many fallback notices this session key had; makes their ids stable (S4).
    #[serde(deserialize_with = "lenient_serde::count_or_zero")]
    #[serde(skip_serializing_if = "lenient_serde::is_zero")]
    pub(crate) notices: u64,
    /// The notice that is stored and not yet known to be handed over (S4).
    #[serde(deserialize_with = "lenient_serde::or_default")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) pending_notice: Option<Notice>,
    #[serde(flatten)]
    pub(crate) unknown: Map<String, Value>,
}

impl FailoverState {
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
