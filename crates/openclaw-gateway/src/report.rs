//! What is known about agents, credentials, chains and sessions at one moment, as values that the command line and the
//! admin surface show alike. Nothing here prints, waits or tells a secret.

mod agents;
mod chains;
mod cooldowns;
mod held;
mod moment;
mod probes;
mod profiles;
mod proofs;
mod rehearsal;
mod sessions;
#[cfg(test)]
mod tests;
mod troubles;

use std::path::Path;

use openclaw_auth_store::AuthSnapshot;
use openclaw_chain::Resolver;
use openclaw_ids::{AgentId, AuthAliases, SessionKey};
use openclaw_session::SessionEntry;

use crate::config::Config;
use crate::providers::Endpoints;
use crate::secrets::SecretSources;

pub(crate) use agents::{AgentReport, StatusReport, UnreadAgent, met_trouble};
pub(crate) use chains::{Asking, CandidateReport, CandidateState, ChainReport};
pub(crate) use cooldowns::CooldownsReport;
pub(crate) use held::{Held, Opened, Search, profile_hash, run_story};
pub(crate) use profiles::{OrderOfProvider, ProfileReport, ProfilesReport, WindowReport};
pub(crate) use proofs::Proofs;
pub(crate) use rehearsal::Rehearsal;
pub(crate) use sessions::{ChosenBy, SessionReport, SessionsReport};
pub(crate) use troubles::{Level, Trouble, needs_a_person};

/// What holds for every agent of an installation.
#[derive(Clone, Copy)]
pub(crate) struct Installation<'a> {
    /// What was configured.
    pub(crate) config: &'a Config,
    /// The same, prepared for questions about models.
    pub(crate) resolver: &'a Resolver,
    /// Where providers are called.
    pub(crate) endpoints: &'a Endpoints,
    /// Providers that share credentials.
    pub(crate) aliases: &'a AuthAliases,
    /// Where pointers to secrets lead.
    pub(crate) sources: &'a SecretSources,
}

/// The state of one agent as it was read at one moment.
#[derive(Clone, Copy)]
pub(crate) struct AgentState<'a> {
    /// The agent.
    pub(crate) agent: &'a AgentId,
    /// The folder of its credentials.
    pub(crate) folder: &'a Path,
    /// What it works with: its own credentials and, beneath them, the main agent's.
    pub(crate) seen: &'a AuthSnapshot,
    /// What its own store holds.
    pub(crate) own: &'a AuthSnapshot,
    /// What the main agent's store holds, unless this is the main agent.
    pub(crate) main: Option<&'a AuthSnapshot>,
    /// Its sessions, the last active first.
    pub(crate) sessions: &'a [(SessionKey, SessionEntry)],
}
