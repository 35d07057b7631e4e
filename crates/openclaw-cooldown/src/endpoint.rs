//! The window of an endpoint that could not be reached; it belongs to no profile (D4).

use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::millis;
use crate::usage_state::window::started_before;

/// How long an unreachable endpoint cools down; there is no ladder (D4).
const ENDPOINT_COOLDOWN: Duration = Duration::from_secs(30);

/// The cooldown of one endpoint: a provider at a base URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EndpointWindow {
    /// When the latest episode began.
    #[serde(with = "millis")]
    pub opened_at: Timestamp,
    /// The first instant that is free again.
    #[serde(with = "millis")]
    pub until: Timestamp,
}

impl EndpointWindow {
    /// Whether it blocks at `now`; at its end it doesn't.
    pub fn is_active(&self, now: Timestamp) -> bool {
        now < self.until
    }
}

/// Records an endpoint fault at `now`: 30 s from now, unless the attempt started before the known window opened
/// and so belongs to its episode (D2, D4).
pub fn record_endpoint_failure(
    window: Option<EndpointWindow>,
    started_at: Option<Timestamp>,
    now: Timestamp,
) -> EndpointWindow {
    let now = millis::floor(now);
    let fresh = EndpointWindow {
        opened_at: now,
        until: millis::after(now, ENDPOINT_COOLDOWN),
    };
    let Some(known) = window else {
        return fresh;
    };
    if started_before(started_at, known.opened_at, known.is_active(now)) {
        return known;
    }
    EndpointWindow {
        until: fresh.until.max(known.until),
        ..fresh
    }
}

#[cfg(test)]
mod tests;
