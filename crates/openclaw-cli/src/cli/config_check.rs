//! `config check`: says what the configuration means, and what is wrong with it.

use std::io::Write;

use clap::Args;
use openclaw_chain::{Finding, Severity};
use openclaw_config::Environment;
use openclaw_gateway::report::{ConfigReport, check};
use openclaw_gateway::telemetry::terminal_escape::visible_lines;

use crate::files::{Files, Places};
use crate::outcome::{CommandError, Outcome};

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

fn examine(places: &Places, environment: &Environment) -> Result<ConfigReport, CommandError> {
    let files = Files::open(places, environment)?;
    Ok(ConfigReport {
        found: files.found.as_ref().map(ToString::to_string),
        ..check(
            &files.config,
            &files.endpoints,
            &files.environment,
            &files.state_dir,
        )?
    })
}

#[cfg(test)]
mod tests;
