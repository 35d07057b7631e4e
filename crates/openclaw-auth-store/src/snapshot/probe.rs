//! The lease that lets one process at a time probe a provider (G4).

use std::time::Duration;

use jiff::Timestamp;
use openclaw_ids::ProviderId;
use serde::{Deserialize, Serialize};

use super::change::done;
use crate::{AuthSnapshot, ChangeOutcome};

/// When a provider was probed, and whether it is being probed (G4).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProbeState {
    /// When the latest probe started.
    #[serde(with = "jiff::fmt::serde::timestamp::millisecond::required")]
    pub last_probe_at: Timestamp,
    /// How many leases were granted; the newest lease has this number.
    pub generation: u64,
    /// The probe in flight, unless its holder died.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease: Option<ProbeLease>,
}

/// The lease for the one probe of a provider in flight.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProbeLease {
    /// The holder; unique per run.
    pub holder: String,
    /// Grows with every new lease of the provider.
    pub generation: u64,
    /// The first instant at which another holder may take it.
    #[serde(with = "jiff::fmt::serde::timestamp::millisecond::required")]
    pub expires: Timestamp,
}

/// How long a lease lasts without being renewed (G4).
const LEASE: Duration = Duration::from_mins(1);
/// The least time between two probes of a provider; it catches decisions that were made on an older snapshot.
const PROBE_SPACING: Duration = Duration::from_secs(30);

/// How far the clock of the process that granted a lease may be ahead.
const SKEW: Duration = Duration::from_secs(20);

impl ProbeLease {
    /// Whether no other holder may take it at `now`. A lease that ends later than any valid one, with clocks that
    /// differ by 20 s at most, was granted by a clock that has been set back since, and does not count.
    pub fn is_held(&self, now: Timestamp) -> bool {
        is_lease_held(self.expires, now)
    }
}

impl AuthSnapshot {
    pub(crate) fn start_probe(
        &mut self,
        provider: &ProviderId,
        holder: &str,
        now: Timestamp,
    ) -> ChangeOutcome {
        let known = self.probes.get(provider);
        if let Some(state) = known {
            match &state.lease {
                Some(lease) if lease.is_held(now) && lease.holder == holder => {
                    return self.renew_probe(provider, holder, now);
                }
                Some(lease) if lease.is_held(now) => return ChangeOutcome::HeldElsewhere,
                Some(_) | None => {}
            }
            // In both directions: the clocks of two threads may have been read in the other order.
            if now.duration_since(state.last_probe_at).unsigned_abs() < PROBE_SPACING {
                return ChangeOutcome::HeldElsewhere;
            }
        }
        let generation = known.map_or(0, |state| state.generation).saturating_add(1);
        let lease = ProbeLease {
            holder: holder.to_owned(),
            generation,
            expires: lease_end(now),
        };
        let state = ProbeState {
            last_probe_at: now,
            generation,
            lease: Some(lease),
        };
        self.probes.insert(provider.clone(), state);
        ChangeOutcome::Done
    }

    /// An expired lease that no other holder has taken is extended.
    pub(crate) fn renew_probe(
        &mut self,
        provider: &ProviderId,
        holder: &str,
        now: Timestamp,
    ) -> ChangeOutcome {
        match self.lease_of(provider, holder) {
            Some(lease) => {
                lease.expires = lease_end(now);
                ChangeOutcome::Done
            }
            None => ChangeOutcome::HeldElsewhere,
        }
    }

    pub(crate) fn end_probe(&mut self, provider: &ProviderId, holder: &str) -> ChangeOutcome {
        let held = self.lease_of(provider, holder).is_some();
        if held && let Some(state) = self.probes.get_mut(provider) {
            state.lease = None;
        }
        done(held)
    }

    fn lease_of(&mut self, provider: &ProviderId, holder: &str) -> Option<&mut ProbeLease> {
        let lease = self.probes.get_mut(provider)?.lease.as_mut();
        lease.filter(|lease| lease.holder == holder)
    }
}

pub(crate) fn is_lease_held(expires: Timestamp, now: Timestamp) -> bool {
    let latest = lease_end(now).saturating_add(SKEW).unwrap_or(Timestamp::MAX);
    now < expires && expires <= latest
}

pub(crate) fn lease_end(now: Timestamp) -> Timestamp {
    now.saturating_add(LEASE).unwrap_or(Timestamp::MAX)
}
