//! The sessions of an agent: which model each stands for, which one answers, and since when.

use jiff::Timestamp;
use openclaw_ids::{AgentId, ModelRef, ProfileId, SessionId, SessionKey};
use openclaw_session::{OverrideSource, PinSource, RunTrace, SessionEntry};
use serde::Serialize;

use super::unix_millis::{maybe_millis, millis};
use super::{AgentState, Installation};

/// All sessions of an agent, the last active first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionsReport {
    /// The agent.
    pub agent: AgentId,
    /// Its sessions.
    pub sessions: Vec<SessionReport>,
}

/// One session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionReport {
    /// Its key.
    pub key: SessionKey,
    /// Its current transcript.
    pub session_id: SessionId,
    /// The last activity.
    #[serde(serialize_with = "millis")]
    pub updated_at: Timestamp,
    /// The model it stands for: what a person chose, what a fallback stands in for, else what is configured.
    pub selected: ModelRef,
    /// Who chose that.
    pub chosen_by: ChosenBy,
    /// The model that answers instead; none when the selected one does.
    pub fallback: Option<FallbackReport>,
    /// The credential that is kept, and who chose it.
    pub pin: Option<PinReport>,
    /// The model that answered last.
    pub last_answered: Option<ModelRef>,
    /// Whether a person chose another model while a run was going on, which has not followed yet.
    pub switch_pending: bool,
    /// The last runs in which something failed or was skipped, the oldest first.
    pub recent_runs: Vec<RunTrace>,
}

/// Who chose the model that a session stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ChosenBy {
    /// No client or operator; the configuration applies.
    Configuration,
    /// A fallback that no origin leads back from.
    Fallback,
    /// A person.
    User,
}

impl ChosenBy {
    /// The name in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Configuration => "configuration",
            Self::Fallback => "fallback",
            Self::User => "user",
        }
    }
}

/// A model that stands in for the selected one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FallbackReport {
    /// The model that answers.
    pub model: ModelRef,
    /// Why, as it was last told.
    pub reason: Option<String>,
    /// When it began; none when another program wrote it.
    #[serde(serialize_with = "maybe_millis")]
    pub since: Option<Timestamp>,
}

/// A credential that a session keeps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PinReport {
    /// The credential.
    pub profile: ProfileId,
    /// `auto` or `user`.
    pub source: PinSource,
}

impl SessionsReport {
    /// Reports the sessions of an agent.
    pub fn of(installation: &Installation<'_>, state: &AgentState<'_>) -> Self {
        let configured = installation.resolver.agent_primary(state.agent);
        let sessions = state.sessions.iter();
        Self {
            agent: state.agent.clone(),
            sessions: sessions
                .map(|(key, entry)| SessionReport::of(key, entry, &configured))
                .collect(),
        }
    }
}

impl SessionReport {
    /// Reports one session; `configured` is the model of its agent.
    pub fn of(key: &SessionKey, entry: &SessionEntry, configured: &ModelRef) -> Self {
        let fallback = entry.active_fallback();
        let origin = fallback.as_ref().and_then(|_| entry.origin());
        let chosen = entry.override_ref(configured.provider());
        let chosen_by = match (&chosen, entry.model_override.source) {
            (None, _) => ChosenBy::Configuration,
            (Some(_), _) if origin.is_some() => ChosenBy::Configuration,
            (Some(_), Some(OverrideSource::Auto)) => ChosenBy::Fallback,
            (Some(_), Some(OverrideSource::User) | None) => ChosenBy::User,
        };
        Self {
            key: key.clone(),
            session_id: entry.session_id.clone(),
            updated_at: entry.updated_at,
            selected: origin.or(chosen).unwrap_or_else(|| configured.clone()),
            chosen_by,
            fallback: fallback.map(|model| FallbackReport {
                reason: told_reason(entry, &model),
                since: entry.fallback_since(),
                model,
            }),
            pin: entry.profile_pin().map(|pin| PinReport {
                profile: pin.profile,
                source: pin.source,
            }),
            last_answered: entry.last_answer.model_ref(),
            switch_pending: entry.live_model_switch_pending,
            recent_runs: entry.recent_runs().to_vec(),
        }
    }
}

/// The reason that was told for this very fallback.
fn told_reason(entry: &SessionEntry, model: &ModelRef) -> Option<String> {
    let is_told = entry.notice.active.as_deref() == Some(&model.key());
    entry.notice.reason.clone().filter(|_| is_told)
}
