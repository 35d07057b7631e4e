//! `config check`: says what the configuration means, and what is wrong with it.

use std::io;

use clap::Args;
use openclaw_chain::{Finding, Severity};
use openclaw_config::Environment;
use openclaw_gateway::report::{ConfigReport, check};
use openclaw_gateway::telemetry::terminal_escape::visible_lines;
use serde::Serialize;

use crate::files::{CommonArgs, Files, PathArgs};
use crate::outcome::{CommandError, Outcome};
use crate::terminal::{Render, Screen};

/// Arguments of `config check`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct CheckArgs {
    #[command(flatten)]
    common: CommonArgs,
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
    screen: &mut Screen<'_>,
) -> Result<Outcome, CommandError> {
    let report = examine(&arguments.common.places, environment)?;
    screen.render(&report, arguments.common.output)?;
    Ok(outcome(&report.findings))
}

impl Render for ConfigReport {
    fn text(&self, screen: &mut Screen<'_>) -> io::Result<()> {
        write!(screen.writer(), "{}", visible_lines(&self.to_string()))
    }

    fn json(&self) -> impl Serialize {
        self
    }
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

/// What the lint and the other checks find, without the chains.
pub(super) fn findings(places: &PathArgs, environment: &Environment) -> Result<Vec<Finding>, CommandError> {
    Ok(examine(places, environment)?.findings)
}

fn examine(places: &PathArgs, environment: &Environment) -> Result<ConfigReport, CommandError> {
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
