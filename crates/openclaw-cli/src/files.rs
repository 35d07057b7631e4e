//! What commands work on: the configuration and the files of the state directory, with or without a gateway that runs on
//! them. Reading makes nothing and changes nothing.

mod agent;
mod common_args;
pub(crate) mod history;
pub(crate) mod private_file;
mod write;

use std::path::{Path, PathBuf};

use clap::Args;
use openclaw_auth_store::AmbientProfile;
use openclaw_chain::Resolver;
use openclaw_config::{Config, ConfigFiles, Environment, FileError};
use openclaw_gateway::USER_AGENT;
use openclaw_gateway::agents::run_settings;
use openclaw_gateway::providers::SecretSources;
use openclaw_gateway::providers::discovery::Discovery;
use openclaw_gateway::providers::{Endpoints, ambient};
use openclaw_gateway::report::Installation;
use openclaw_gateway::report::legacy_credentials::{self, LegacyCredentials, LegacyLocations};
use openclaw_gateway::state::{configured_endpoints, discover_providers};
use openclaw_ids::AgentId;
use openclaw_providers::AuthAliases;
use openclaw_runner::RunPolicy;
use openclaw_upstream::Upstream;

use crate::outcome::{CommandError, Outcome};
use crate::terminal::{Render, Screen};

pub(crate) use agent::{ReadAgent, SessionsJsonError, read_sessions, read_sessions_json};
pub(crate) use common_args::CommonArgs;

/// Where the files are, when not in their usual places.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Files")]
pub(crate) struct PathArgs {
    /// The configuration file [default: openclaw.json in the state directory]
    #[arg(long, value_name = "PATH")]
    pub(crate) config: Option<PathBuf>,
    /// The state directory [default: ~/.openclaw]
    #[arg(long, value_name = "PATH")]
    pub(crate) state_dir: Option<PathBuf>,
}

impl PathArgs {
    pub(crate) fn state_dir(&self, environment: &Environment) -> PathBuf {
        let named = self.state_dir.as_deref().map(|path| absolute(path, environment));
        named.unwrap_or_else(|| environment.state_dir())
    }

    /// Where the configuration is read from.
    pub(crate) fn config_files(&self, environment: &Environment) -> ConfigFiles {
        let named = self.config.as_deref().map(|path| absolute(path, environment));
        ConfigFiles::find(environment, named, &self.state_dir(environment))
    }

    pub(crate) fn load(&self, environment: &Environment) -> Result<Config, FileError> {
        self.config_files(environment).load()
    }
}

/// What a command takes that shows something of one agent.
#[derive(Debug, Args)]
pub(crate) struct ShownArgs {
    #[command(flatten)]
    agent: AgentArg,
    #[command(flatten)]
    common: CommonArgs,
}

/// Reads an agent, makes a report of it, and shows that.
pub(crate) fn show_agent<R: Render>(
    environment: &Environment,
    arguments: &ShownArgs,
    screen: &mut Screen<'_>,
    report: impl FnOnce(&Files, &ReadAgent) -> R,
) -> Result<Outcome, CommandError> {
    let files = Files::open(&arguments.common.places, environment)?;
    let agent = ReadAgent::open(&files, &arguments.agent.id(&files)?)?;
    screen.render(&report(&files, &agent), arguments.common.output)?;
    Ok(Outcome::Fine)
}

/// A path argument as the environment's paths are: from its working directory, with `~` for home.
pub(crate) fn absolute(path: &Path, environment: &Environment) -> PathBuf {
    path.to_str()
        .map_or_else(|| path.to_owned(), |text| environment.path(text))
}

/// Which agent a command is about.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct AgentArg {
    /// The agent [default: the configured default agent, else `main`]
    #[arg(long, short, value_name = "ID")]
    agent: Option<String>,
}

impl AgentArg {
    /// The agent that is meant.
    ///
    /// # Errors
    /// When no agent of that name is configured.
    pub(crate) fn id(&self, files: &Files) -> Result<AgentId, UnknownAgent> {
        let Some(text) = &self.agent else {
            return Ok(files.config.chain.default_agent());
        };
        let agent = AgentId::new(text);
        let known = files.agents();
        if known.contains(&agent) {
            return Ok(agent);
        }
        let known: Vec<&str> = known.iter().map(AgentId::as_str).collect();
        Err(UnknownAgent {
            typed: text.clone(),
            known: known.join(", "),
        })
    }

    /// The agent that was named; `None` when none was.
    ///
    /// # Errors
    /// As [`id`](Self::id).
    pub(crate) fn named(&self, files: &Files) -> Result<Option<AgentId>, UnknownAgent> {
        self.agent.is_some().then(|| self.id(files)).transpose()
    }

    /// The agents that are meant; all of them when none was named.
    ///
    /// # Errors
    /// As [`id`](Self::id).
    pub(crate) fn ids(&self, files: &Files) -> Result<Vec<AgentId>, UnknownAgent> {
        match self.agent {
            Some(_) => Ok(vec![self.id(files)?]),
            None => Ok(files.agents()),
        }
    }
}

/// No such agent.
#[derive(Debug, thiserror::Error)]
#[error("there is no agent `{typed}`; the agents are {known}")]
pub(crate) struct UnknownAgent {
    typed: String,
    known: String,
}

/// The configuration and the places of everything else.
pub(crate) struct Files {
    pub(crate) environment: Environment,
    /// What was configured, with the chain that was found when nothing was.
    pub(crate) config: Config,
    pub(crate) state_dir: PathBuf,
    /// Where pointers of secrets lead, but for commands, which are only run when a secret is to be used.
    pub(crate) sources: SecretSources,
    pub(crate) endpoints: Endpoints,
    pub(crate) ambient: Vec<AmbientProfile>,
    pub(crate) resolver: Resolver,
    pub(crate) aliases: AuthAliases,
    /// What this machine was found to have, when nothing is configured.
    pub(crate) found: Option<Discovery>,
}

impl Files {
    /// Reads the configuration. When it names no model, this machine is searched for some, as `serve` does.
    ///
    /// # Errors
    /// When the configuration cannot be used.
    pub(crate) fn open(places: &PathArgs, environment: &Environment) -> Result<Self, CommandError> {
        let mut files = Self::open_as_configured(places, environment)?;
        if files.config.names_no_model() {
            let found = files.search()?;
            files.config = files.config.with_default_chain(found.chain());
            files.resolver = Resolver::new(&files.config.chain);
            files.found = Some(found);
        }
        Ok(files)
    }

    /// Reads the configuration alone.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub(crate) fn open_as_configured(
        places: &PathArgs,
        environment: &Environment,
    ) -> Result<Self, CommandError> {
        let config = places.load(environment)?;
        let environment = &config.environment(environment);
        let sources = SecretSources::without_commands(&config.secrets, environment);
        let endpoints = configured_endpoints(&config, &sources)?;
        let ambient = ambient::profiles(&config.chain.models, &endpoints, &sources, environment);
        Ok(Self {
            environment: environment.clone(),
            state_dir: places.state_dir(environment),
            resolver: Resolver::new(&config.chain),
            sources,
            endpoints,
            ambient,
            aliases: AuthAliases::default(),
            found: None,
            config,
        })
    }

    /// What `serve` would find on this machine without any configured model.
    fn search(&self) -> Result<Discovery, CommandError> {
        let stored = agent::stored_providers(self, &self.config.chain.default_agent())?;
        let upstream = Upstream::new(USER_AGENT);
        let search = discover_providers(&self.environment, &stored, &upstream, &self.endpoints);
        Ok(runtime()?.block_on(search))
    }

    /// The agents that are configured.
    pub(crate) fn agents(&self) -> Vec<AgentId> {
        self.config.chain.agent_ids()
    }

    /// What decides how runs go.
    pub(crate) fn run_policy(&self) -> RunPolicy {
        RunPolicy {
            auth: self.config.auth.clone(),
            aliases: self.aliases.clone(),
            endpoints: self.endpoints.keys(),
            settings: run_settings(&self.config.failover, &self.environment),
        }
    }

    /// What reports need of it.
    pub(crate) fn installation(&self) -> Installation<'_> {
        Installation {
            config: &self.config,
            resolver: &self.resolver,
            endpoints: &self.endpoints,
            aliases: &self.aliases,
            sources: &self.sources,
        }
    }

    /// The folder of an agent's credentials (L11).
    pub(crate) fn credentials_folder(&self, agent: &AgentId) -> PathBuf {
        openclaw_config::credentials_folder(&self.config.chain, &self.environment, &self.state_dir, agent)
    }

    /// The folder of the credentials that all agents inherit; no setting moves it (L13).
    pub(crate) fn main_folder(&self) -> PathBuf {
        openclaw_config::inherited_credentials_folder(&self.state_dir)
    }

    /// What older versions left for an agent and, beneath it, for the main agent.
    pub(crate) fn left_for(&self, agent: &ReadAgent) -> Vec<LegacyCredentials> {
        legacy_credentials::of_agent(
            &agent.state(),
            &LegacyLocations::of(&self.environment, &self.state_dir),
        )
    }

    /// What older versions left for any agent, each once.
    pub(crate) fn left_for_all(&self) -> Vec<LegacyCredentials> {
        let mut found: Vec<LegacyCredentials> = Vec::new();
        for id in self.agents() {
            // What cannot be read is reported where it is opened.
            let Ok(agent) = ReadAgent::open_without_sessions(self, &id) else {
                continue;
            };
            for older in self.left_for(&agent) {
                if !found.iter().any(|known| known.paths == older.paths) {
                    found.push(older);
                }
            }
        }
        found
    }

    /// The folder of an agent's sessions.
    pub(crate) fn sessions_folder(&self, agent: &AgentId) -> PathBuf {
        openclaw_config::sessions_folder(&self.state_dir, agent)
    }
}

/// Runs the few things of a command that wait.
pub(crate) fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()
}
