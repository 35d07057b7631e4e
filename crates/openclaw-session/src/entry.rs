//! One session's stored state and what its fields mean together (S-1).

mod failover_state;
mod last_answer;
pub(crate) mod lenient_serde;
mod notice_state;
mod run_trace;
mod selection;

use jiff::Timestamp;
use openclaw_chain::StoredOverride;
use openclaw_ids::{ModelRef, ProviderId, SessionId};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use failover_state::FailoverState;
pub use last_answer::{LastAnswer, record_answer};
pub use notice_state::{Notice, NoticeKind, NoticeState};
pub use run_trace::{RunTrace, StepOutcome, TraceStep, record_trace};
pub use selection::{ModelOverride, OverrideSource, PinSource, ProfilePin, SelectionSnapshot, StoredPin};

/// What is stored for one session key. The JSON names are those of S-1.1; members this crate does not know
/// are kept and written back.
///
/// Reading is forgiving, because other programs write such entries too: a blank text is absent, and so is a known
/// member of the wrong type. Only `sessionId` is required. An absent field is not written, never as `null` (S-1.2b).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionEntry {
    /// The current transcript.
    pub session_id: SessionId,
    /// The last activity.
    #[serde(default = "epoch", deserialize_with = "lenient_serde::instant")]
    #[serde(serialize_with = "lenient_serde::serialize_instant")]
    pub updated_at: Timestamp,
    /// The override unit of the selection group.
    #[serde(flatten)]
    pub model_override: ModelOverride,
    /// The pin unit of the selection group.
    #[serde(flatten)]
    pub pin: StoredPin,
    /// The runtime chosen together with the model.
    #[serde(
        default,
        deserialize_with = "lenient_serde::text",
        skip_serializing_if = "Option::is_none"
    )]
    pub agent_runtime_override: Option<String>,
    /// The thinking level; travels with a selection change (S-12.4).
    #[serde(
        default,
        deserialize_with = "lenient_serde::text",
        skip_serializing_if = "Option::is_none"
    )]
    pub thinking_level: Option<String>,
    /// A person changed the selection and the active run has not honoured it yet (S-12).
    #[serde(
        default,
        deserialize_with = "lenient_serde::flag",
        skip_serializing_if = "lenient_serde::is_unset"
    )]
    pub live_model_switch_pending: bool,
    /// Completed compactions; absent is zero.
    #[serde(default, deserialize_with = "lenient_serde::count_or_zero")]
    #[serde(skip_serializing_if = "lenient_serde::is_zero")]
    pub compaction_count: u64,
    /// The model of the last answer, and what was derived from it.
    #[serde(flatten)]
    pub last_answer: LastAnswer,
    /// The fallback state that was last announced.
    #[serde(flatten)]
    pub notice: NoticeState,
    /// What failover remembers beyond the fields that other programs know.
    #[serde(
        default,
        deserialize_with = "lenient_serde::or_default",
        skip_serializing_if = "FailoverState::is_empty"
    )]
    pub failover: FailoverState,
    #[serde(flatten)]
    unknown: Map<String, Value>,
}

fn epoch() -> Timestamp {
    Timestamp::UNIX_EPOCH
}

impl SessionEntry {
    /// A session without any selection, last active `now`.
    pub fn new(session_id: SessionId, now: Timestamp) -> Self {
        Self {
            session_id,
            updated_at: lenient_serde::whole_millis(now),
            model_override: ModelOverride::default(),
            pin: StoredPin::default(),
            agent_runtime_override: None,
            thinking_level: None,
            live_model_switch_pending: false,
            compaction_count: 0,
            last_answer: LastAnswer::default(),
            notice: NoticeState::default(),
            failover: FailoverState::default(),
            unknown: Map::new(),
        }
    }

    /// A JSON member that this crate does not know and keeps.
    pub fn unknown_member(&self, name: &str) -> Option<&Value> {
        self.unknown.get(name)
    }

    pub(crate) fn unknown_members(&self) -> &Map<String, Value> {
        &self.unknown
    }

    pub(crate) fn unknown_members_mut(&mut self) -> &mut Map<String, Value> {
        &mut self.unknown
    }

    /// The selection group, to compare or restore later.
    pub fn selection(&self) -> SelectionSnapshot {
        SelectionSnapshot {
            model_override: self.model_override.clone(),
            pin: self.pin.clone(),
        }
    }

    /// Restores a parked pin, unless a person pinned another profile meanwhile (R5).
    pub(crate) fn unpark_pin(&mut self) {
        let parked = self.failover.parked_pin.take();
        if !self.is_pinned_by_user() {
            self.pin = parked.unwrap_or_else(|| self.pin.clone());
        }
    }

    /// Forgets when the fallback began, once none is active.
    pub(crate) fn forget_ended_fallback(&mut self) {
        if !self.is_active_fallback() {
            self.failover.fallback_since = None;
        }
    }

    /// The pin that is there once a fallback is over: the person's, when a fallback displaced it (R5).
    pub fn pin_after_fallback(&self) -> Option<ProfilePin> {
        let mut settled = self.clone();
        settled.unpark_pin();
        settled.profile_pin()
    }

    /// Whether a person pinned the auth profile.
    pub(crate) fn is_pinned_by_user(&self) -> bool {
        self.profile_pin()
            .is_some_and(|pin| pin.source == PinSource::User)
    }

    /// Records activity; never moves backwards (S-1.1).
    pub fn touch(&mut self, now: Timestamp) {
        self.updated_at = self.updated_at.max(lenient_serde::whole_millis(now));
    }

    /// Whether any half of an override is there (S-1.3).
    pub fn has_override(&self) -> bool {
        self.model_override.provider.is_some() || self.model_override.model.is_some()
    }

    /// Whether there is an override with a complete origin (S-1.3).
    pub fn has_auto_provenance(&self) -> bool {
        self.has_override() && self.origin().is_some()
    }

    /// Whether fallback, not a person, chose the override (S-1.3).
    pub fn is_auto(&self) -> bool {
        match self.model_override.source {
            Some(OverrideSource::Auto) => true,
            Some(OverrideSource::User) => false,
            None => self.has_auto_provenance(),
        }
    }

    /// Whether the override is an automatic one without a complete origin, which nothing can lead back from (S-1.3).
    pub(crate) fn is_legacy_auto(&self) -> bool {
        self.model_override.source == Some(OverrideSource::Auto) && self.origin().is_none()
    }

    /// Whether the session runs on another model than the one its override replaces. An override that equals its own origin
    /// does not (S-1.3, S-1.3a).
    pub fn is_active_fallback(&self) -> bool {
        self.active_fallback().is_some()
    }

    /// The model that replaces the origin while a fallback is active; a missing half of the override
    /// is the origin's (S-1.3).
    pub fn active_fallback(&self) -> Option<ModelRef> {
        if !self.has_auto_provenance() || self.model_override.source == Some(OverrideSource::User) {
            return None;
        }
        let provider = self
            .model_override
            .provider
            .clone()
            .or_else(|| self.model_override.origin_provider.clone());
        let model = self
            .model_override
            .model
            .clone()
            .or_else(|| self.model_override.origin_model.clone());
        let active = ModelRef::new(provider?, model?);
        (active != self.origin()?).then_some(active)
    }

    /// When the active fallback began, walks along the chain and failed probes of the primary included; `None` without
    /// one, and for one that another program wrote.
    pub fn fallback_since(&self) -> Option<Timestamp> {
        let since = self
            .failover
            .fallback_since
            .filter(|_| self.is_active_fallback())?;
        Timestamp::from_millisecond(since).ok()
    }

    /// Whether a person chose the model. An override without a source that fallback cannot have written is theirs
    /// (S-1.3, BL-69).
    pub fn is_user_pin(&self) -> bool {
        self.model_override.model.is_some()
            && match self.model_override.source {
                Some(OverrideSource::User) => true,
                Some(OverrideSource::Auto) => false,
                None => !self.has_auto_provenance(),
            }
    }

    /// The model that an automatic override replaces, when both halves are stored.
    pub fn origin(&self) -> Option<ModelRef> {
        Some(ModelRef::new(
            self.model_override.origin_provider.clone()?,
            self.model_override.origin_model.clone()?,
        ))
    }

    /// The overriding model (S-1.4): a repeated provider prefix is dropped, a model without a provider is parsed as
    /// a reference and else belongs to `default_provider`, a provider without a model is no override.
    pub fn override_ref(&self, default_provider: &ProviderId) -> Option<ModelRef> {
        let model = self.model_override.model.clone()?;
        match self.model_override.provider.clone() {
            Some(provider) => Some(ModelRef::new(provider, model)),
            None => ModelRef::parse_with_default(model.as_str(), default_provider).ok(),
        }
    }

    /// What the override means for the choice of a chain (S-2.1 rows D to F, S-2.2d).
    pub fn stored_override(&self, default_provider: &ProviderId) -> StoredOverride {
        if self.is_legacy_auto() {
            return StoredOverride::LegacyAuto;
        }
        let Some(model) = self.override_ref(default_provider) else {
            return StoredOverride::None;
        };
        match self.model_override.source {
            _ if self.is_auto() => StoredOverride::Auto(model),
            Some(_) => StoredOverride::User(model),
            None => StoredOverride::Legacy(model),
        }
    }

    /// The pinned auth profile with its source made explicit (S-1.3).
    pub fn profile_pin(&self) -> Option<ProfilePin> {
        self.pin.pin()
    }
}

#[cfg(test)]
mod tests;
