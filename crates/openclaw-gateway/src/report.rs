//! What is known about agents, credentials, chains and sessions at one moment, as values that the command line and the
//! admin surface show alike. Nothing here prints, waits or tells a secret.

mod agents;
mod chains;
mod config_check;
mod cooldown_causes;
mod cooldowns;
pub mod disk;
mod dry_run;
pub mod legacy_credentials;
mod probes;
mod problems;
mod profiles;
mod relative_time;
mod release_time;
mod sessions;
#[cfg(test)]
mod tests;
mod unix_millis;
mod usable_profiles;

use std::path::Path;

use openclaw_auth_store::AuthSnapshot;
use openclaw_chain::Resolver;
use openclaw_config::Config;
use openclaw_ids::{AgentId, SessionKey};
use openclaw_providers::AuthAliases;
use openclaw_session::SessionEntry;

use crate::providers::Endpoints;
use crate::providers::SecretSources;

pub use agents::{AgentReport, StatusReport, UnreadAgent, met_trouble};
pub use chains::{CandidateReport, CandidateState, ChainQuery, ChainReport};
pub use config_check::{ConfigReport, RULES as LINT_RULES, StoredError, check, dangling_credentials};
pub use cooldown_causes::{
    CAUSES_HEADING, CauseSearch, CauseWindow, CooldownCause, cause_lines, profile_hash, rested, run_story,
};
pub use cooldowns::CooldownsReport;
pub use dry_run::DryRun;
pub use problems::{Level, Problem, needs_a_person};
pub use profiles::{OrderOfProvider, ProfileReport, ProfilesReport, WindowReport};
pub use relative_time::{ago, left};
pub use release_time::free_and_tried;
pub use sessions::{ChosenBy, SessionReport, SessionsReport};
pub use usable_profiles::UsableProfiles;

/// What holds for every agent of an installation.
#[derive(Clone, Copy)]
pub struct Installation<'a> {
    /// What was configured.
    pub config: &'a Config,
    /// The same, prepared for questions about models.
    pub resolver: &'a Resolver,
    /// Where providers are called.
    pub endpoints: &'a Endpoints,
    /// Providers that share credentials.
    pub aliases: &'a AuthAliases,
    /// Where pointers to secrets lead.
    pub sources: &'a SecretSources,
}

/// The state of one agent as it was read at one moment.
#[derive(Clone, Copy)]
pub struct AgentState<'a> {
    /// The agent.
    pub agent: &'a AgentId,
    /// The folder of its credentials.
    pub folder: &'a Path,
    /// What it works with: its own credentials and, beneath them, the main agent's.
    pub seen: &'a AuthSnapshot,
    /// What its own store holds.
    pub own: &'a AuthSnapshot,
    /// What the main agent's store holds, unless this is the main agent.
    pub main: Option<&'a AuthSnapshot>,
    /// Its sessions, the last active first.
    pub sessions: &'a [(SessionKey, SessionEntry)],
}
