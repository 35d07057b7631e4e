//! A model and a credential as a person names them, in a command or in the admin surface (S-5.5a, S-8).

use openclaw_auth_store::UsageStore;
use openclaw_ids::{AgentId, ModelRef, ProfileId, ProviderId};
use openclaw_session::ModelArgument;

use super::RequestContext;
use super::selection::AskError;
use crate::agents::Agent;

/// What was named, and is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Choice {
    pub(crate) model: ModelRef,
    pub(crate) profile: Option<ProfileId>,
}

/// Something was named that is not there.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ChoiceError {
    /// The model.
    #[error(transparent)]
    Model(#[from] AskError),
    /// The credential beside it.
    #[error("there is no profile `{profile}` of provider `{provider}`; {}", listed(.known, .provider))]
    Profile {
        profile: ProfileId,
        provider: ProviderId,
        /// The credentials of the provider.
        known: Vec<ProfileId>,
    },
}

fn listed(ids: &[ProfileId], provider: &ProviderId) -> String {
    if ids.is_empty() {
        return format!("it has none; add one with `openclaw-gateway auth add {provider}`");
    }
    let ids: Vec<String> = ids.iter().map(|id| format!("`{id}`")).collect();
    format!("it has {}", ids.join(", "))
}

impl Choice {
    /// Finds what was typed. A credential may be named by what follows its provider's name.
    pub(crate) fn find(
        context: &RequestContext,
        id: &AgentId,
        agent: &Agent,
        typed: &ModelArgument,
    ) -> Result<Self, ChoiceError> {
        let model = context.catalogue().select(id, &typed.reference)?;
        let Some(named) = &typed.profile else {
            return Ok(Self { model, profile: None });
        };
        let snapshot = agent.usage.snapshot();
        let aliases = &context.generation.policy.aliases;
        let stored = snapshot.profiles.iter().chain(&snapshot.ambient);
        let own = stored
            .filter(|(_, credential)| aliases.share_credentials(credential.provider(), model.provider()))
            .map(|(id, _)| id);
        let own: Vec<ProfileId> = own.cloned().collect();
        let whole = ProfileId::compose(model.provider().as_str(), named.as_str()).ok();
        let found = own.iter().find(|id| *id == named || Some(*id) == whole.as_ref());
        match found.cloned() {
            Some(profile) => Ok(Self {
                model,
                profile: Some(profile),
            }),
            None => Err(ChoiceError::Profile {
                profile: named.clone(),
                provider: model.provider().clone(),
                known: own,
            }),
        }
    }
}
