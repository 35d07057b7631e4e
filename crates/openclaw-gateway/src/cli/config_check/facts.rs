//! What is known about credentials beside the configuration: stored profiles, key variables, servers without a key.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use openclaw_auth_store::{AmbientProfile, AuthSnapshot, Credential, OpenError, SqliteAuthStore};
use openclaw_chain::Credentials;
use openclaw_ids::{AgentId, ProfileId, ProviderId};

use crate::config::Config;
use crate::environment::Environment;
use crate::providers::{Endpoints, KNOWN};
use crate::upstream::Wire;

/// An agent and the profiles in its store.
pub(super) struct CheckedAgent {
    pub(super) id: AgentId,
    stored: Vec<(ProfileId, Credential)>,
}

/// An agent's credentials cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("cannot read the credentials of agent `{agent}`")]
pub(crate) struct StoredError {
    agent: AgentId,
    #[source]
    source: OpenError,
}

impl CheckedAgent {
    /// Looks at the agent's store, which need not exist.
    pub(super) fn look(
        id: AgentId,
        config: &Config,
        environment: &Environment,
        state_dir: &Path,
    ) -> Result<Self, StoredError> {
        let folder = config.chain.agent_dir(&id).map_or_else(
            || default_folder(state_dir, &id),
            |written| environment.path(written),
        );
        let found = SqliteAuthStore::look(&folder, &id);
        let found = found.map_err(|source| StoredError {
            agent: id.clone(),
            source,
        })?;
        let stored = found.map(|AuthSnapshot { profiles, .. }| profiles.into_iter().collect());
        Ok(Self {
            id,
            stored: stored.unwrap_or_default(),
        })
    }

    /// The providers of the stored profiles.
    pub(super) fn providers(&self) -> BTreeSet<ProviderId> {
        let profiles = self.stored.iter();
        profiles
            .map(|(_, credential)| credential.provider().clone())
            .collect()
    }

    /// Whether a provider has credentials, and none that is good for chat completions.
    pub(super) fn has_logins_alone(
        &self,
        endpoints: &Endpoints,
        provider: &ProviderId,
        ambient: &[AmbientProfile],
    ) -> bool {
        let stored = self.stored.iter().map(|(_, credential)| credential);
        let ambient = ambient.iter().map(|profile| &profile.credential);
        let mut own = stored
            .chain(ambient)
            .filter(|credential| credential.provider() == provider)
            .peekable();
        own.peek().is_some()
            && !own.any(|credential| endpoints.serves(provider, credential, Wire::ChatCompletions))
    }

    /// The ids of the profiles for a provider, stored ones first.
    pub(super) fn profiles(&self, provider: &ProviderId, ambient: &[AmbientProfile]) -> Vec<String> {
        let stored = self.stored.iter().map(|(id, credential)| (id, credential));
        let ambient = ambient.iter().map(|profile| (&profile.id, &profile.credential));
        let mut ids = BTreeSet::new();
        stored
            .chain(ambient)
            .filter(|(id, credential)| credential.provider() == provider && ids.insert(*id))
            .map(|(id, _)| id.to_string())
            .collect()
    }
}

fn default_folder(state_dir: &Path, agent: &AgentId) -> PathBuf {
    state_dir.join("agents").join(agent.as_str()).join("agent")
}

/// All credentials and the shipped addresses as facts for the lint, which itself counts the keys under
/// `models.providers`.
pub(super) fn credentials(agents: &[CheckedAgent], ambient: &[AmbientProfile]) -> Credentials {
    let stored = agents.iter().flat_map(|agent| &agent.stored);
    let stored = stored.map(|(id, credential)| (id, credential));
    let ambient = ambient
        .iter()
        .filter(|profile| !profile.id.as_str().ends_with(":config"));
    let ambient = ambient.map(|profile| (&profile.id, &profile.credential));
    let known = KNOWN.iter().filter_map(|row| ProviderId::try_new(row.id).ok());
    let addresses = known.fold(Credentials::default(), |facts, provider| {
        facts.with_address(&provider)
    });
    stored.chain(ambient).fold(addresses, |facts, (id, credential)| {
        let account = credential.fingerprint().unwrap_or_else(|| id.to_string());
        facts.with(credential.provider(), &account)
    })
}
