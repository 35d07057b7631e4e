//! What a configuration means and what is wrong with it: the report of `config check` and of the lint.

mod facts;
mod findings;

use std::fmt;
use std::path::Path;

use openclaw_chain::{Finding, Resolver, RunKind, SelectionFacts, lint};
use openclaw_ids::{AgentId, ModelRef};
use serde::Serialize;

use crate::providers::SecretSources;
use crate::providers::{Endpoints, ambient};
use facts::CheckedAgent;
pub use facts::StoredError;
pub use findings::RULES;
use openclaw_config::{Config, Environment, permission_audit};
use openclaw_history::history_path;

/// What a check of the configuration found.
#[derive(Debug, Serialize)]
pub struct ConfigReport {
    /// The path of the configuration file.
    pub path: String,
    /// Whether that file exists; defaults apply where it does not.
    pub exists: bool,
    /// What this machine was found to have, when nothing is configured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found: Option<String>,
    /// Every agent with its chain of models.
    pub agents: Vec<CheckedChain>,
    /// What is wrong, notes included.
    pub findings: Vec<Finding>,
}

/// The chain of one agent.
#[derive(Debug, Serialize)]
pub struct CheckedChain {
    id: AgentId,
    chain: Vec<CheckedCandidate>,
}

/// One model of a chain.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct CheckedCandidate {
    model: ModelRef,
    base_url: Option<String>,
    /// The profiles that can serve it, stored ones first, in stored order.
    profiles: Vec<String>,
}

/// Checks a configuration; reads the agents' files, and may take its time.
pub fn check(
    config: &Config,
    endpoints: &Endpoints,
    environment: &Environment,
    state_dir: &Path,
) -> Result<ConfigReport, StoredError> {
    let resolver = Resolver::new(&config.chain);
    let sources = SecretSources::without_commands(&config.secrets, environment);
    let ambient = ambient::profiles(&config.chain.models, endpoints, &sources, environment);
    let checked = look(config, environment, state_dir)?;
    // They explain what is said of credentials that are missing.
    let mut findings = left_by_older_versions(&checked);
    findings.extend(lint(&config.chain, Some(&facts::credentials(&checked, &ambient))));
    findings.extend(findings::caps_below_first_wait(&config.auth.cooldowns));
    findings.extend(config.includes.iter().map(findings::include));
    findings.extend(config.misspelt.iter().map(findings::misspelt));
    findings.extend(findings::foreign_formats(&config.chain.models));
    findings.extend(findings::foreign_auth(&config.chain.models));
    findings.extend(endpoints.unusable().iter().map(findings::unusable_secret));
    findings.extend(dangling_among(&checked, &sources));
    findings.extend(
        permission_audit(config, environment, state_dir, &history_path(state_dir))
            .iter()
            .map(findings::exposed),
    );
    let mut agents = Vec::new();
    for agent in &checked {
        let selection = resolver.select(&SelectionFacts::new(&agent.id, RunKind::Turn));
        let mut chain = Vec::new();
        for model in resolver.selected_chain(&selection.requested, &selection) {
            let endpoint = endpoints.get(model.provider());
            if endpoint.is_none() && !findings::is_told(&findings, &model) {
                findings.push(findings::no_endpoint(&agent.id, &model));
            }
            if agent.has_logins_alone(endpoints, model.provider(), &ambient) {
                findings.push(findings::logins_alone(&agent.id, &model));
            }
            chain.push(CheckedCandidate {
                base_url: endpoint.map(|endpoint| endpoint.base_url().to_owned()),
                profiles: agent.profiles(model.provider(), &ambient),
                model,
            });
        }
        agents.push(CheckedChain {
            id: agent.id.clone(),
            chain,
        });
    }
    Ok(ConfigReport {
        path: config.path.display().to_string(),
        exists: config.exists,
        found: None,
        agents,
        findings,
    })
}

fn look(
    config: &Config,
    environment: &Environment,
    state_dir: &Path,
) -> Result<Vec<CheckedAgent>, StoredError> {
    let agents = config.chain.agent_ids().into_iter();
    agents
        .map(|agent| CheckedAgent::look(agent, config, environment, state_dir))
        .collect()
}

/// The stored credentials whose secret is not where they point, each told with the agent that keeps it.
fn dangling_among(checked: &[CheckedAgent], sources: &SecretSources) -> Vec<Finding> {
    let found = checked.iter().flat_map(|agent| agent.dangling(sources));
    each_place_once(found.map(|(owner, id, problem)| findings::dangling(&owner, id, &problem)))
}

/// What older versions left for any agent, each once.
fn left_by_older_versions(checked: &[CheckedAgent]) -> Vec<Finding> {
    each_place_once(checked.iter().flat_map(|agent| &agent.older).map(findings::older))
}

/// `found` without what is told of its place already.
fn each_place_once(found: impl Iterator<Item = Finding>) -> Vec<Finding> {
    let mut findings: Vec<Finding> = Vec::new();
    for finding in found {
        if !findings.iter().any(|told| told.place == finding.place) {
            findings.push(finding);
        }
    }
    findings
}

/// The same alone, for the start of a gateway.
pub fn dangling_credentials(
    config: &Config,
    environment: &Environment,
    state_dir: &Path,
) -> Result<Vec<Finding>, StoredError> {
    let environment = &config.environment(environment);
    let sources = SecretSources::without_commands(&config.secrets, environment);
    Ok(dangling_among(&look(config, environment, state_dir)?, &sources))
}

/// As people read it.
impl fmt::Display for ConfigReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = if self.exists {
            ""
        } else {
            " (does not exist; defaults apply)"
        };
        writeln!(f, "Configuration: {}{state}", self.path)?;
        if let Some(found) = &self.found {
            writeln!(
                f,
                "\nNothing is configured, so this machine was searched.\n{found}"
            )?;
        }
        for agent in &self.agents {
            writeln!(f, "\nopenclaw/{}", agent.id)?;
            for (position, candidate) in agent.chain.iter().enumerate() {
                let url = candidate.base_url.as_deref().unwrap_or("no endpoint");
                let keys = match candidate.profiles.as_slice() {
                    [] => "no credential".to_owned(),
                    profiles => profiles.join(", "),
                };
                writeln!(
                    f,
                    "  {}. {:<36} {url}  ({keys})",
                    position + 1,
                    candidate.model.key()
                )?;
            }
        }
        match self.findings.as_slice() {
            [] => writeln!(f, "\nNo findings."),
            findings => {
                writeln!(f, "\nFindings:")?;
                findings.iter().try_for_each(|finding| {
                    let text = finding.to_string().replace('\n', "\n  ");
                    writeln!(f, "  {text}")
                })
            }
        }
    }
}
