//! The usage state of one profile: its windows, counts and times, and which windows block it now.

pub(crate) mod lane;
pub(crate) mod window;

use std::collections::BTreeMap;

use jiff::Timestamp;
use openclaw_classify::Reason;
use openclaw_ids::ModelId;
use serde::{Deserialize, Serialize};

use crate::millis;

pub use lane::{Lane, ParseLaneError};
pub use window::{BlockedOrigin, BlockedSource, Window};

/// Our own state of one profile (X-5); as JSON it is an object with times in Unix milliseconds.
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

impl ProfileUsage {
    /// Whether anything is remembered that a clear would end: a window, or failures that make the next one longer.
    pub fn has_failed(&self) -> bool {
        !self.windows.is_empty() || !self.failure_counts.is_empty()
    }

    /// Whether nothing blocks `model` (or any model) at `now`.
    pub fn is_usable(&self, model: Option<&ModelId>, now: Timestamp) -> bool {
        self.blocking(model, now).next().is_none()
    }

    /// The windows that block `model` (or any model) at `now`.
    pub fn blocking<'a>(
        &'a self,
        model: Option<&'a ModelId>,
        now: Timestamp,
    ) -> impl Iterator<Item = (&'a Lane, &'a Window)> + 'a {
        self.windows
            .iter()
            .filter(move |(lane, window)| lane.concerns(model) && window.is_active(now))
    }

    /// Opens the blocked window from `now` to an end that was stated for the whole account, in place of an earlier one
    /// (D7); it has no ladder and so no steps (D5).
    pub(crate) fn block_account(&mut self, until: Timestamp, origin: BlockedOrigin, now: Timestamp) {
        let old = self.windows.remove(&Lane::Blocked);
        let window = Window {
            steps: 0,
            stated: Some(until),
            origin: Some(origin),
            unknown: old.map(|window| window.unknown).unwrap_or_default(),
            ..Window::new(now, until, Reason::RateLimit)
        };
        self.windows.insert(Lane::Blocked, window);
    }

    /// Forgets the counts of reasons that no window has, as after windows were taken away.
    pub(crate) fn forget_counts_without_window(&mut self) {
        let windows = &self.windows;
        self.failure_counts
            .retain(|reason, _| windows.values().any(|window| window.reason == *reason));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{DAY, MINUTE, failure};

    #[test]
    fn x_5_the_stored_form() {
        let mut usage = ProfileUsage::default()
            .failed(0, &failure(Reason::RateLimit).account_wide().hinting(DAY))
            .failed(0, &failure(Reason::ServerError))
            .succeeded(MINUTE)
            .failed(
                2 * MINUTE,
                &failure(Reason::RateLimit).account_wide().hinting(DAY),
            )
            .failed(2 * MINUTE, &failure(Reason::ModelNotFound).of("a/b"));
        usage.fingerprint = Some("0011223344556677".to_owned());
        insta::assert_snapshot!("stored_form", serde_json::to_string_pretty(&usage).unwrap());
    }

    #[test]
    fn x_5_a_profile_never_used_is_an_empty_object() {
        assert_eq!(serde_json::to_string(&ProfileUsage::default()).unwrap(), "{}");
        assert_eq!(
            serde_json::from_str::<ProfileUsage>("{}").unwrap(),
            ProfileUsage::default()
        );
    }

    #[test]
    fn d13_what_cannot_be_understood_is_an_error() {
        for text in [
            r#"{"lastUsed": "yesterday"}"#,
            r#"{"failureCounts": {"auth": -1}}"#,
            r#"{"failureCounts": {"bad_mood": 1}}"#,
            r#"{"windows": {"cooldown": {"openedAt": 1, "until": 2, "reason": "auth", "steps": 1, "lastFailureAt": 1}}}"#,
            r#"{"windows": {"profile": {"until": 2}}}"#,
        ] {
            assert!(serde_json::from_str::<ProfileUsage>(text).is_err(), "{text}");
        }
    }
}
