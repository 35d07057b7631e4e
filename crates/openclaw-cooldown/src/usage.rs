//! What is known about the use of one profile.

use std::collections::BTreeMap;

use jiff::Timestamp;
use openclaw_classify::Reason;
use serde::{Deserialize, Serialize};

use crate::{Lane, Window, millis};

/// Our own state of one profile; as JSON it is an object with times in Unix milliseconds.
///
/// Expiry needs no writer: a window is over when `now` reaches its end (BL-25).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProfileUsage {
    /// The last use; the round-robin key.
    #[serde(with = "millis::option", default, skip_serializing_if = "Option::is_none")]
    pub last_used: Option<Timestamp>,
    /// The last failure in any lane; success and clear keep it.
    #[serde(with = "millis::option", default, skip_serializing_if = "Option::is_none")]
    pub last_failure_at: Option<Timestamp>,
    /// Failures per reason since the last reset; for display only (D15).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub failure_counts: BTreeMap<Reason, u64>,
    /// Which secret this state is about (D9).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
    /// The windows, active and past.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub windows: BTreeMap<Lane, Window>,
    /// Members of a newer version; they survive every save (D13).
    #[serde(flatten)]
    pub unknown: serde_json::Map<String, serde_json::Value>,
}
