//! `config check`: says what the configuration means, and what is wrong with it.

use std::io::{self, Write};

use clap::Args;
use openclaw_chain::{DropCause, Dropped, ModelSetting, Origin, Resolver, RunKind, SelectionFacts};
use openclaw_ids::{AgentId, ModelRef};
use serde::Serialize;

use super::{CommandError, Outcome, Places};
use crate::config::Config;
use crate::environment::Environment;
use crate::providers::{Endpoints, ambient};

/// Arguments of `config check`.
#[derive(Debug, Args)]
pub(super) struct CheckArgs {
    /// Write JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    places: Places,
}

/// What was found.
#[derive(Debug, Serialize)]
struct Report {
    path: String,
    exists: bool,
    agents: Vec<AgentReport>,
    findings: Vec<Finding>,
}

#[derive(Debug, Serialize)]
struct AgentReport {
    id: AgentId,
    chain: Vec<CandidateReport>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct CandidateReport {
    model: ModelRef,
    base_url: Option<String>,
    /// The profiles that need no login, such as `openai:env`.
    ambient_profiles: Vec<String>,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
struct Finding {
    key: String,
    problem: String,
}

/// Checks and reports. Nothing is written, no provider is called.
pub(super) fn run(
    environment: &Environment,
    arguments: &CheckArgs,
    output: &mut dyn Write,
) -> Result<Outcome, CommandError> {
    let config = arguments.places.load(environment)?;
    let endpoints = Endpoints::try_new(&config.chain.models, environment)?;
    let report = report(&config, &endpoints, environment);
    if arguments.json {
        serde_json::to_writer_pretty(&mut *output, &report)?;
        writeln!(output)?;
    } else {
        write_text(&report, output)?;
    }
    Ok(if report.findings.is_empty() {
        Outcome::Fine
    } else {
        Outcome::Findings
    })
}

fn report(config: &Config, endpoints: &Endpoints, environment: &Environment) -> Report {
    let resolver = Resolver::new(&config.chain);
    let profiles = ambient::profiles(&config.chain.models, endpoints, environment);
    let mut findings = unknown_keys(config);
    findings.extend(foreign_formats(config));
    let mut agents = Vec::new();
    for agent in config.chain.agent_ids() {
        let selection = resolver.select(&SelectionFacts::new(&agent, RunKind::Turn));
        let explanation = resolver.explain_chain(&selection.requested, selection.fallbacks.as_deref());
        findings.extend(
            explanation
                .dropped
                .iter()
                .filter_map(|dropped| dropped_finding(&agent, dropped)),
        );
        let mut chain = Vec::new();
        for candidate in explanation.candidates {
            let endpoint = endpoints.get(candidate.model.provider());
            if endpoint.is_none() {
                findings.push(no_endpoint(&agent, &candidate.model));
            }
            let own = profiles
                .iter()
                .filter(|profile| profile.credential.provider() == candidate.model.provider());
            chain.push(CandidateReport {
                base_url: endpoint.map(|endpoint| endpoint.base_url().to_owned()),
                ambient_profiles: own.map(|profile| profile.id.to_string()).collect(),
                model: candidate.model,
            });
        }
        agents.push(AgentReport { id: agent, chain });
    }
    Report {
        path: config.path.display().to_string(),
        exists: config.exists,
        agents,
        findings,
    }
}

fn unknown_keys(config: &Config) -> Vec<Finding> {
    let agents = &config.chain.agents;
    let defaults = ("agents.defaults.model".to_owned(), &agents.defaults.model);
    let listed = agents
        .list
        .iter()
        .map(|agent| (format!("agents.list[{}].model", agent.agent_id()), &agent.model));
    let unknown = |(key, setting): (String, &ModelSetting)| {
        let names = setting.unknown_keys().to_vec();
        names.into_iter().map(move |name| Finding {
            key: format!("{key}.{name}"),
            problem: "means nothing here; the keys are `primary` and `fallbacks`".to_owned(),
        })
    };
    std::iter::once(defaults)
        .chain(listed)
        .flat_map(unknown)
        .collect()
}

/// Wire formats whose provider offers chat completions as well.
const CALLABLE: &[&str] = &[
    "anthropic-messages",
    "google-generative-ai",
    "ollama",
    "openai-completions",
    "openai-responses",
];

fn foreign_formats(config: &Config) -> impl Iterator<Item = Finding> {
    let rows = config.chain.models.providers.iter();
    rows.filter_map(|(id, row)| {
        let api = row.api.as_deref().filter(|api| !CALLABLE.contains(api))?;
        Some(Finding {
            key: format!("models.providers.{id}.api"),
            problem: format!(
                "`{api}` is no format this gateway speaks; it asks for chat completions below the base URL all the same"
            ),
        })
    })
}

/// Only what somebody wrote is a finding: that the primary is not appended twice is as it should be.
fn dropped_finding(agent: &AgentId, dropped: &Dropped) -> Option<Finding> {
    let Origin::Fallback(text) = &dropped.origin else {
        return None;
    };
    let problem = match &dropped.cause {
        DropCause::Duplicate(model) => {
            format!("fallback `{text}` is `{model}`, which stands earlier in the chain; remove it")
        }
        DropCause::Unreadable => {
            format!("fallback `{text}` is no model reference; write it as `provider/model`")
        }
    };
    Some(Finding {
        key: format!("chain of {agent}"),
        problem,
    })
}

fn no_endpoint(agent: &AgentId, model: &ModelRef) -> Finding {
    let provider = model.provider();
    Finding {
        key: format!("chain of {agent}"),
        problem: format!(
            "`{model}` cannot be called; set models.providers.{provider}.baseUrl, or correct its name"
        ),
    }
}

fn write_text(report: &Report, output: &mut dyn Write) -> io::Result<()> {
    let state = if report.exists {
        ""
    } else {
        " (does not exist; defaults apply)"
    };
    writeln!(output, "Configuration: {}{state}", report.path)?;
    for agent in &report.agents {
        writeln!(output, "\nopenclaw/{}", agent.id)?;
        for (position, candidate) in agent.chain.iter().enumerate() {
            let url = candidate.base_url.as_deref().unwrap_or("no endpoint");
            let keys = match candidate.ambient_profiles.as_slice() {
                [] => "stored profiles only".to_owned(),
                profiles => profiles.join(", "),
            };
            writeln!(
                output,
                "  {}. {:<36} {url}  ({keys})",
                position + 1,
                candidate.model.key()
            )?;
        }
    }
    match report.findings.as_slice() {
        [] => writeln!(output, "\nNo findings."),
        findings => {
            writeln!(output, "\nFindings:")?;
            findings
                .iter()
                .try_for_each(|finding| writeln!(output, "  {}: {}", finding.key, finding.problem))
        }
    }
}

#[cfg(test)]
mod tests;
