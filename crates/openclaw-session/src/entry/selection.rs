//! The selection group: the fields that fallback owns, as the two units a rollback works on (S-1.2, S-4.6).

use openclaw_ids::{ModelId, ModelRef, ProfileId, ProviderId};
use serde::{Deserialize, Serialize};

use super::lenient_serde;

/// Who wrote the model override.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OverrideSource {
    /// Fallback, or a spawn that chose for its child.
    Auto,
    /// A person.
    User,
}

/// Who pinned the auth profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PinSource {
    /// The turn's own choice; moves when the profile cools down or the session is compacted.
    Auto,
    /// A person; strict until the session ends (R5).
    User,
}

/// A pinned auth profile and who pinned it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProfilePin {
    /// The profile.
    pub profile: ProfileId,
    /// Who pinned it.
    pub source: PinSource,
}

/// The override unit: which model replaces the configured one, who chose it, and which model it replaces. Field names in JSON are those of S-1.1.
///
/// The fields are as stored: an old entry may lack any of them. [`SessionEntry`](crate::SessionEntry) answers
/// what they mean together.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelOverride {
    /// The provider half of the override.
    #[serde(
        rename = "providerOverride",
        default,
        deserialize_with = "lenient_serde::parsed"
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<ProviderId>,
    /// The model half of the override.
    #[serde(rename = "modelOverride", default, deserialize_with = "lenient_serde::parsed")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelId>,
    /// Who wrote the override; absent on entries older than the marker.
    #[serde(
        rename = "modelOverrideSource",
        default,
        deserialize_with = "lenient_serde::word"
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<OverrideSource>,
    /// The provider that an automatic override replaces.
    #[serde(rename = "modelOverrideFallbackOriginProvider", default)]
    #[serde(
        deserialize_with = "lenient_serde::parsed",
        skip_serializing_if = "Option::is_none"
    )]
    pub origin_provider: Option<ProviderId>,
    /// The model that an automatic override replaces.
    #[serde(rename = "modelOverrideFallbackOriginModel", default)]
    #[serde(
        deserialize_with = "lenient_serde::parsed",
        skip_serializing_if = "Option::is_none"
    )]
    pub origin_model: Option<ModelId>,
}

impl ModelOverride {
    /// The override of an automatic fallback to `candidate` from `origin` (S-3.4).
    pub(crate) fn fallback(candidate: &ModelRef, origin: &ModelRef) -> Self {
        Self {
            provider: Some(candidate.provider().clone()),
            model: Some(candidate.model().clone()),
            source: Some(OverrideSource::Auto),
            origin_provider: Some(origin.provider().clone()),
            origin_model: Some(origin.model().clone()),
        }
    }

    /// The override of a person's choice.
    pub(crate) fn user(model: &ModelRef) -> Self {
        Self {
            provider: Some(model.provider().clone()),
            model: Some(model.model().clone()),
            source: Some(OverrideSource::User),
            origin_provider: None,
            origin_model: None,
        }
    }
}

/// The pin unit: which auth profile, and since which compaction. Field names in JSON are those of S-1.1.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredPin {
    /// The pinned profile.
    #[serde(
        rename = "authProfileOverride",
        default,
        deserialize_with = "lenient_serde::parsed"
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<ProfileId>,
    /// Who pinned it; absent on entries older than the marker.
    #[serde(
        rename = "authProfileOverrideSource",
        default,
        deserialize_with = "lenient_serde::word"
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<PinSource>,
    /// The session's compaction count when an automatic pin was taken.
    #[serde(rename = "authProfileOverrideCompactionCount", default)]
    #[serde(
        deserialize_with = "lenient_serde::count",
        skip_serializing_if = "Option::is_none"
    )]
    pub compaction_count: Option<u64>,
}

impl StoredPin {
    /// The pin with its source made explicit: a missing one is automatic when a compaction count is there,
    /// else a person's (S-1.3).
    pub fn pin(&self) -> Option<ProfilePin> {
        Some(ProfilePin {
            profile: self.profile.clone()?,
            source: self.effective_source(),
        })
    }

    /// Who set the pin, whatever profile it names.
    pub(crate) fn effective_source(&self) -> PinSource {
        match (self.source, self.compaction_count) {
            (Some(source), _) => source,
            (None, Some(_)) => PinSource::Auto,
            (None, None) => PinSource::User,
        }
    }
}

impl From<Option<ProfilePin>> for StoredPin {
    fn from(pin: Option<ProfilePin>) -> Self {
        let (profile, source) = pin.map(|pin| (pin.profile, pin.source)).unzip();
        Self {
            profile,
            source,
            compaction_count: None,
        }
    }
}

/// The selection group of one entry at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SelectionSnapshot {
    /// The override unit.
    pub model_override: ModelOverride,
    /// The pin unit.
    pub pin: StoredPin,
}
