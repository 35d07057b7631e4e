//! One session's stored state and what its fields mean together (S-1).

use std::collections::BTreeMap;

use jiff::Timestamp;
use openclaw_chain::StoredOverride;
use openclaw_ids::{ModelId, ModelRef, ProviderId, SessionId};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::lenient;
use crate::notice::Notice;
use crate::selection::{OverrideSource, PinSource, ProfilePin, Route, SelectionSnapshot, StoredPin};
use crate::trace::RunTrace;

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
    #[serde(default = "epoch", deserialize_with = "lenient::instant")]
    #[serde(serialize_with = "lenient::write_instant")]
    pub updated_at: Timestamp,
    /// The route unit of the selection group.
    #[serde(flatten)]
    pub route: Route,
    /// The pin unit of the selection group.
    #[serde(flatten)]
    pub pin: StoredPin,
    /// The runtime chosen together with the model.
    #[serde(
        default,
        deserialize_with = "lenient::text",
        skip_serializing_if = "Option::is_none"
    )]
    pub agent_runtime_override: Option<String>,
    /// The thinking level; travels with a selection change (S-12.4).
    #[serde(
        default,
        deserialize_with = "lenient::text",
        skip_serializing_if = "Option::is_none"
    )]
    pub thinking_level: Option<String>,
    /// A person changed the selection and the active run has not honoured it yet (S-12).
    #[serde(
        default,
        deserialize_with = "lenient::flag",
        skip_serializing_if = "lenient::is_unset"
    )]
    pub live_model_switch_pending: bool,
    /// Completed compactions; absent is zero.
    #[serde(default, deserialize_with = "lenient::count_or_zero")]
    #[serde(skip_serializing_if = "lenient::is_zero")]
    pub compaction_count: u64,
    /// What the last answer came from.
    #[serde(flatten)]
    pub runtime: Runtime,
    /// The fallback state that a person was last told about.
    #[serde(flatten)]
    pub notice: NoticeState,
    /// What failover remembers beyond the fields that other programs know.
    #[serde(
        default,
        deserialize_with = "lenient::or_default",
        skip_serializing_if = "Failover::is_empty"
    )]
    pub failover: Failover,
    #[serde(flatten)]
    other: Map<String, Value>,
}

/// What answered last and what was derived from it; never a selection (S-1.1).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Runtime {
    /// The provider that answered last.
    #[serde(
        default,
        deserialize_with = "lenient::parsed",
        skip_serializing_if = "Option::is_none"
    )]
    pub model_provider: Option<ProviderId>,
    /// The model that answered last.
    #[serde(
        default,
        deserialize_with = "lenient::parsed",
        skip_serializing_if = "Option::is_none"
    )]
    pub model: Option<ModelId>,
    /// The context window of that model, as the host wrote it.
    #[serde(
        default,
        deserialize_with = "lenient::value",
        skip_serializing_if = "Option::is_none"
    )]
    pub context_tokens: Option<Value>,
    /// The host's context budget for that model.
    #[serde(
        default,
        deserialize_with = "lenient::value",
        skip_serializing_if = "Option::is_none"
    )]
    pub context_budget_status: Option<Value>,
}

impl Runtime {
    /// Whether nothing is known about the last answer's model.
    pub(crate) fn names_no_model(&self) -> bool {
        self.model_provider.is_none() && self.model.is_none()
    }

    /// The model that answered last, when both halves are known.
    pub fn model_ref(&self) -> Option<ModelRef> {
        Some(ModelRef::new(self.model_provider.clone()?, self.model.clone()?))
    }
}

/// The notice group: the fallback state that was last announced (S-1.2, S-10.3).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoticeState {
    /// Display form of the selected model.
    #[serde(
        rename = "fallbackNoticeSelectedModel",
        default,
        deserialize_with = "lenient::text"
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selected: Option<String>,
    /// Display form of the model that answered instead.
    #[serde(
        rename = "fallbackNoticeActiveModel",
        default,
        deserialize_with = "lenient::text"
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub active: Option<String>,
    /// Why.
    #[serde(rename = "fallbackNoticeReason", default, deserialize_with = "lenient::text")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Our own part of an entry, one member that other programs carry along unread.
///
/// A member that cannot be read starts empty and costs the others nothing; members of a newer version are kept.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Failover {
    /// When the primary was last probed, by its display form, in Unix milliseconds (S6).
    #[serde(deserialize_with = "lenient::or_default")]
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) probes: BTreeMap<String, i64>,
    /// What the last runs tried (BL-81).
    #[serde(deserialize_with = "lenient::readable_ones")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) recent_runs: Vec<RunTrace>,
    /// A person's profile pin that waits until the fallback that displaced it is over (R5).
    #[serde(deserialize_with = "lenient::or_default")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) parked_pin: Option<StoredPin>,
    /// When the fallback began that the entry names, in Unix milliseconds; means nothing while there is none.
    #[serde(deserialize_with = "lenient::or_default")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) fallback_since: Option<i64>,
    /// How many fallback notices this session key had; makes their ids stable (S4).
    #[serde(deserialize_with = "lenient::count_or_zero")]
    #[serde(skip_serializing_if = "lenient::is_zero")]
    pub(crate) notices: u64,
    /// The notice that is stored and not yet known to be handed over (S4).
    #[serde(deserialize_with = "lenient::or_default")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) pending_notice: Option<Notice>,
    #[serde(flatten)]
    pub(crate) other: Map<String, Value>,
}

impl Failover {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

fn epoch() -> Timestamp {
    Timestamp::UNIX_EPOCH
}

impl SessionEntry {
    /// A session without any selection, last active `now`.
    pub fn new(session_id: SessionId, now: Timestamp) -> Self {
        Self {
            session_id,
            updated_at: lenient::whole_millis(now),
            route: Route::default(),
            pin: StoredPin::default(),
            agent_runtime_override: None,
            thinking_level: None,
            live_model_switch_pending: false,
            compaction_count: 0,
            runtime: Runtime::default(),
            notice: NoticeState::default(),
            failover: Failover::default(),
            other: Map::new(),
        }
    }

    /// A member that this crate carries along without knowing it.
    pub fn other(&self, name: &str) -> Option<&Value> {
        self.other.get(name)
    }

    pub(crate) fn others(&self) -> &Map<String, Value> {
        &self.other
    }

    pub(crate) fn others_mut(&mut self) -> &mut Map<String, Value> {
        &mut self.other
    }

    /// The selection group, to compare or restore later.
    pub fn selection(&self) -> SelectionSnapshot {
        SelectionSnapshot {
            route: self.route.clone(),
            pin: self.pin.clone(),
        }
    }

    /// Gives a parked pin its place back, unless a person pinned another profile meanwhile (R5).
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
    pub fn standing_pin(&self) -> Option<ProfilePin> {
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
        self.updated_at = self.updated_at.max(lenient::whole_millis(now));
    }

    /// Whether any half of an override is there (S-1.3).
    pub fn has_override(&self) -> bool {
        self.route.provider.is_some() || self.route.model.is_some()
    }

    /// Whether there is an override with a complete origin (S-1.3).
    pub fn has_auto_provenance(&self) -> bool {
        self.has_override() && self.origin().is_some()
    }

    /// Whether fallback, not a person, chose the override (S-1.3).
    pub fn is_auto(&self) -> bool {
        match self.route.source {
            Some(OverrideSource::Auto) => true,
            Some(OverrideSource::User) => false,
            None => self.has_auto_provenance(),
        }
    }

    /// Whether the override is an automatic one without a complete origin, which nothing can lead back from (S-1.3).
    pub(crate) fn is_legacy_auto(&self) -> bool {
        self.route.source == Some(OverrideSource::Auto) && self.origin().is_none()
    }

    /// Whether the session runs on another model than it stands for. An override that equals its own origin
    /// does not (S-1.3, S-1.3a).
    pub fn is_active_fallback(&self) -> bool {
        self.active_fallback().is_some()
    }

    /// The model that stands in for the origin while a fallback is active; a missing half of the override
    /// is the origin's (S-1.3).
    pub fn active_fallback(&self) -> Option<ModelRef> {
        if !self.has_auto_provenance() || self.route.source == Some(OverrideSource::User) {
            return None;
        }
        let provider = self
            .route
            .provider
            .clone()
            .or_else(|| self.route.origin_provider.clone());
        let model = self
            .route
            .model
            .clone()
            .or_else(|| self.route.origin_model.clone());
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
        self.route.model.is_some()
            && match self.route.source {
                Some(OverrideSource::User) => true,
                Some(OverrideSource::Auto) => false,
                None => !self.has_auto_provenance(),
            }
    }

    /// The model that an automatic override stands in for, when both halves are stored.
    pub fn origin(&self) -> Option<ModelRef> {
        Some(ModelRef::new(
            self.route.origin_provider.clone()?,
            self.route.origin_model.clone()?,
        ))
    }

    /// The overriding model (S-1.4): a repeated provider prefix is dropped, a model without a provider is parsed as
    /// a reference and else belongs to `default_provider`, a provider without a model is no override.
    pub fn override_ref(&self, default_provider: &ProviderId) -> Option<ModelRef> {
        let model = self.route.model.clone()?;
        match self.route.provider.clone() {
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
        match self.route.source {
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
