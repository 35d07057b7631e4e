//! What is known about credentials beside the configuration: stored profiles, key variables, servers without a key.

use std::collections::BTreeSet;
use std::path::Path;

use openclaw_auth_store::{AmbientProfile, AuthSnapshot, Credential, OpenError, SqliteAuthStore, inherit};
use openclaw_chain::Credentials;
use openclaw_config::{Config, Environment, credentials_folder, inherited_credentials_folder};
use openclaw_ids::{AgentId, ProfileId, ProviderId};
use openclaw_wire::WireFormat;

use crate::providers::ambient::is_from_config;
use crate::providers::{DanglingPointer, SecretSources};
use crate::providers::{Endpoints, shipped};
use crate::report::AgentState;
use crate::report::legacy_credentials::{self, LegacyCredentials, LegacyLocations};

/// An agent and the profiles in its store and, beneath them, the main agent's.
pub(super) struct CheckedAgent {
    pub(super) id: AgentId,
    /// The ids in its own store; the others are the main agent's.
    own: BTreeSet<ProfileId>,
    stored: Vec<(ProfileId, Credential)>,
    /// What older versions left for it.
    pub(super) older: Vec<LegacyCredentials>,
}

/// An agent's credentials cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("cannot read the credentials of agent `{agent}`")]
pub struct StoredError {
    agent: AgentId,
    #[source]
    source: OpenError,
}

impl CheckedAgent {
    /// Looks at the stores, which need not exist.
    pub(super) fn look(
        id: AgentId,
        config: &Config,
        environment: &Environment,
        state_dir: &Path,
    ) -> Result<Self, StoredError> {
        let folder = credentials_folder(&config.chain, environment, state_dir, &id);
        let main_folder = inherited_credentials_folder(state_dir);
        let own = stored(&folder, &id)?;
        let main = if folder == main_folder {
            None
        } else {
            Some(stored(&main_folder, &AgentId::main())?)
        };
        let seen = match &main {
            Some(main) => inherit(main, &own),
            None => own.clone(),
        };
        let state = AgentState {
            agent: &id,
            folder: &folder,
            seen: &seen,
            own: &own,
            main: main.as_ref(),
            sessions: &[],
        };
        let older = legacy_credentials::of_agent(&state, &LegacyLocations::of(environment, state_dir));
        Ok(Self {
            id,
            own: own.profiles.keys().cloned().collect(),
            stored: seen.profiles.into_iter().collect(),
            older,
        })
    }

    /// The credentials whose secret is not where they point, with the agent in whose store each is.
    pub(super) fn dangling(&self, sources: &SecretSources) -> Vec<(AgentId, &ProfileId, DanglingPointer)> {
        let stored = self.stored.iter();
        stored
            .filter_map(|(id, credential)| {
                let owner = if self.own.contains(id) {
                    self.id.clone()
                } else {
                    AgentId::main()
                };
                Some((owner, id, sources.dangling(id, credential)?))
            })
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
            && !own.any(|credential| endpoints.serves(provider, credential, WireFormat::ChatCompletions))
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

fn stored(folder: &Path, agent: &AgentId) -> Result<AuthSnapshot, StoredError> {
    let found = SqliteAuthStore::read_owned_snapshot(folder, agent).map_err(|source| StoredError {
        agent: agent.clone(),
        source,
    })?;
    Ok(found.unwrap_or_default())
}

/// All credentials and the shipped addresses as facts for the lint, which itself counts the keys under
/// `models.providers`.
pub(super) fn credentials(agents: &[CheckedAgent], ambient: &[AmbientProfile]) -> Credentials {
    let stored = agents.iter().flat_map(|agent| &agent.stored);
    let stored = stored.map(|(id, credential)| (id, credential));
    let ambient = ambient.iter().filter(|profile| !is_from_config(&profile.id));
    let ambient = ambient.map(|profile| (&profile.id, &profile.credential));
    let addresses = shipped().fold(Credentials::default(), |facts, provider| {
        facts.with_address(&provider)
    });
    stored.chain(ambient).fold(addresses, |facts, (id, credential)| {
        let account = credential.fingerprint().unwrap_or_else(|| id.to_string());
        facts.with(credential.provider(), &account)
    })
}
