//! The record of what follows a failed attempt inside a candidate.

use std::time::Duration;

use jiff::Timestamp;
use openclaw_classify::Reason;
use openclaw_ids::ModelRef;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::record::decision::{entry, named, unknown};
use crate::record::error_fields::ErrorFields;
use crate::record::millis;

/// What follows a failed attempt inside one candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RotationKind {
    /// The candidate is left for the next model.
    FallbackModel,
    /// The same credential is tried once more after a short stated wait (R2).
    InlineWait,
    /// A person chose another model meanwhile, and the run goes there (A6).
    Redirect,
    /// The same credential is tried once more with a repaired request (R4).
    RetryRepaired,
    /// Another credential is tried.
    RotateProfile,
    /// No model follows, so the failure goes to the caller: alone, or in the summary.
    SurfaceError,
    /// The only candidate is waited for until its cooldown is over (BL-91); ours, beyond.
    WaitForReset,
}

impl RotationKind {
    /// All kinds.
    pub const ALL: [Self; 7] = [
        Self::FallbackModel,
        Self::InlineWait,
        Self::Redirect,
        Self::RetryRepaired,
        Self::RotateProfile,
        Self::SurfaceError,
        Self::WaitForReset,
    ];

    /// The wire name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::FallbackModel => "fallback_model",
            Self::InlineWait => "inline_wait",
            Self::Redirect => "redirect",
            Self::RetryRepaired => "retry_repaired",
            Self::RotateProfile => "rotate_profile",
            Self::SurfaceError => "surface_error",
            Self::WaitForReset => "wait_for_reset",
        }
    }
}

impl Serialize for RotationKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for RotationKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        let known = Self::ALL.into_iter().find(|kind| kind.as_str() == name);
        known.ok_or_else(|| unknown("decision inside a candidate", &name))
    }
}

/// One decision inside a candidate, after one failed attempt. Serialises to the flat record of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RotationDecision {
    /// The run.
    pub run_id: String,
    /// What follows.
    pub kind: RotationKind,
    /// Why the attempt failed.
    pub reason: Reason,
    /// The candidate.
    pub candidate: ModelRef,
    /// Hash of the credential that failed; `-` without one (Z3).
    pub profile_hash: String,
    /// Its kind: `api_key`, `oauth` or `token`; ours, beyond.
    pub auth_mode: Option<&'static str>,
    /// HTTP status of the failure.
    pub status: Option<u16>,
    /// What may be shown of the error.
    pub error: ErrorFields,
    /// When what was marked for the failure is over; ours, beyond.
    pub rests_until: Option<Timestamp>,
    /// How long the run had been going on; ours, beyond.
    pub elapsed: Duration,
    /// The model that a person chose, on a redirect; ours, beyond.
    pub redirected_to: Option<ModelRef>,
}

impl RotationDecision {
    /// The value of `event` in every rotation record.
    pub const EVENT: &str = "embedded_run_failover_decision";
}

impl Serialize for RotationDecision {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("event", Self::EVENT)?;
        map.serialize_entry("decision", self.kind.as_str())?;
        entry(&mut map, "runId", named(&self.run_id))?;
        map.serialize_entry("failoverReason", &self.reason)?;
        map.serialize_entry("provider", self.candidate.provider())?;
        map.serialize_entry("model", self.candidate.model())?;
        map.serialize_entry("profileId", &self.profile_hash)?;
        entry(&mut map, "authMode", self.auth_mode)?;
        entry(&mut map, "status", self.status.as_ref())?;
        entry(&mut map, "rawErrorPreview", self.error.error_preview.as_ref())?;
        entry(&mut map, "rawErrorHash", self.error.error_hash.as_ref())?;
        entry(
            &mut map,
            "rawErrorFingerprint",
            self.error.error_fingerprint.as_ref(),
        )?;
        entry(
            &mut map,
            "restsUntil",
            self.rests_until.map(Timestamp::as_millisecond),
        )?;
        map.serialize_entry("elapsedMs", &millis::whole(self.elapsed))?;
        entry(&mut map, "redirectedTo", self.redirected_to.as_ref())?;
        map.end()
    }
}
