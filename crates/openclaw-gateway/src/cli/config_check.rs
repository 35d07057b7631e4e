//! `config check`: says what the configuration means, and what is wrong with it.

mod facts;
mod findings;

use std::fmt;
use std::io::Write;
use std::path::Path;

use clap::Args;
use openclaw_chain::{Finding, Resolver, RunKind, SelectionFacts, Severity, lint};
use openclaw_ids::{AgentId, ModelRef};
use serde::Serialize;

use super::files::Files;
use super::{CommandError, Outcome, Places};
use crate::config::Config;
use crate::environment::Environment;
use crate::exposed::exposed;
use crate::providers::{Endpoints, ambient};
use crate::secrets::SecretSources;
use crate::visible::visible_lines;
use facts::{CheckedAgent, StoredError};
pub(super) use findings::RULES;

/// Arguments of `config check`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct CheckArgs {
    /// Write JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    places: Places,
}

const EXAMPLES: &str = "\
Examples:
  openclaw-gateway config check
  openclaw-gateway config check --config ./openclaw.json     Before it is put in place
  openclaw-gateway config check --json | jq -r '.findings[] | .place + \": \" + .detail'

Exit status: 0 nothing but notes, 1 there are findings, 2 the file cannot be used.";

/// What was found.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    path: String,
    exists: bool,
    /// What this machine was found to have, when nothing is configured.
    #[serde(skip_serializing_if = "Option::is_none")]
    found: Option<String>,
    agents: Vec<AgentReport>,
    findings: Vec<Finding>,
}

#[derive(Debug, Serialize)]
pub(crate) struct AgentReport {
    id: AgentId,
    chain: Vec<CandidateReport>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CandidateReport {
    model: ModelRef,
    base_url: Option<String>,
    /// The profiles that can serve it, stored ones first, in stored order.
    profiles: Vec<String>,
}

/// Checks and reports. Nothing is written, no provider is called but an Ollama on this machine when nothing is
/// configured, as `serve` does. Notes alone are no reason to fail.
pub(super) fn run(
    environment: &Environment,
    arguments: &CheckArgs,
    output: &mut dyn Write,
) -> Result<Outcome, CommandError> {
    let report = examine(&arguments.places, environment)?;
    if arguments.json {
        serde_json::to_writer_pretty(&mut *output, &report)?;
        writeln!(output)?;
    } else {
        write!(output, "{}", visible_lines(&report.to_string()))?;
    }
    Ok(outcome(&report.findings))
}

/// Whether anything among the findings is more than a note.
pub(super) fn outcome(findings: &[Finding]) -> Outcome {
    let matters = |finding: &Finding| finding.rule.severity > Severity::Note;
    if findings.iter().any(matters) {
        Outcome::Findings
    } else {
        Outcome::Fine
    }
}

/// What the lint and the rest of the check find, without the chains.
pub(super) fn findings(places: &Places, environment: &Environment) -> Result<Vec<Finding>, CommandError> {
    Ok(examine(places, environment)?.findings)
}

fn examine(places: &Places, environment: &Environment) -> Result<Report, CommandError> {
    let files = Files::open(places, environment)?;
    Ok(Report {
        found: files.found.as_ref().map(ToString::to_string),
        ..report(
            &files.config,
            &files.endpoints,
            &files.environment,
            &files.state_dir,
        )?
    })
}

/// Checks a configuration; reads the agents' files, and may take its time.
pub(crate) fn report(
    config: &Config,
    endpoints: &Endpoints,
    environment: &Environment,
    state_dir: &Path,
) -> Result<Report, StoredError> {
    let resolver = Resolver::new(&config.chain);
    let sources = SecretSources::at_rest(&config.secrets, environment);
    let ambient = ambient::profiles(&config.chain.models, endpoints, &sources, environment);
    let checked = look(config, environment, state_dir)?;
    // They explain what is said of credentials that are missing.
    let mut findings = left_by_older_versions(&checked);
    findings.extend(lint(&config.chain, Some(&facts::credentials(&checked, &ambient))));
    findings.extend(config.includes.iter().map(findings::include));
    findings.extend(config.misspelt.iter().map(findings::misspelt));
    findings.extend(findings::foreign_formats(&config.chain.models));
    findings.extend(findings::foreign_auth(&config.chain.models));
    findings.extend(endpoints.unusable().iter().map(findings::unusable_secret));
    findings.extend(dangling_among(&checked, &sources));
    findings.extend(
        exposed(config, environment, state_dir)
            .iter()
            .map(findings::exposed),
    );
    let mut agents = Vec::new();
    for agent in &checked {
        let selection = resolver.select(&SelectionFacts::new(&agent.id, RunKind::Turn));
        let mut chain = Vec::new();
        for model in resolver.chain(&selection.requested, selection.fallbacks.as_deref()) {
            let endpoint = endpoints.get(model.provider());
            if endpoint.is_none() && !findings::is_told(&findings, &model) {
                findings.push(findings::no_endpoint(&agent.id, &model));
            }
            if agent.has_logins_alone(endpoints, model.provider(), &ambient) {
                findings.push(findings::logins_alone(&agent.id, &model));
            }
            chain.push(CandidateReport {
                base_url: endpoint.map(|endpoint| endpoint.base_url().to_owned()),
                profiles: agent.profiles(model.provider(), &ambient),
                model,
            });
        }
        agents.push(AgentReport {
            id: agent.id.clone(),
            chain,
        });
    }
    Ok(Report {
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
pub(super) fn dangling(
    config: &Config,
    environment: &Environment,
    state_dir: &Path,
) -> Result<Vec<Finding>, StoredError> {
    let environment = &environment.with_those_of(config);
    let sources = SecretSources::at_rest(&config.secrets, environment);
    Ok(dangling_among(&look(config, environment, state_dir)?, &sources))
}

/// As people read it.
impl fmt::Display for Report {
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

#[cfg(test)]
mod tests;
