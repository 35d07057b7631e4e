//! `lint`: what in the configuration will not do what its author meant.

use std::io;

use clap::Args;
use openclaw_chain::{Finding, LINT_RULES, Severity};
use openclaw_config::Environment;
use serde_json::json;

use super::config_check;
use crate::files::Places;
use crate::outcome::{CommandError, Outcome};
use crate::terminal::{Cell, Style, Table, screen::Screen};

/// Arguments of `lint`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct LintArgs {
    /// Show what is looked for instead
    #[arg(long)]
    rules: bool,
    /// Write JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    places: Places,
}

const EXAMPLES: &str = "\
Examples:
  openclaw-gateway lint
  openclaw-gateway lint --config ./openclaw.json    Before it is put in place
  openclaw-gateway lint --rules                     What is looked for, and what to do about it

Exit status: 0 nothing but notes, 1 there are findings, 2 the file cannot be used.";

/// Shows the findings.
pub(super) fn run(
    environment: &Environment,
    arguments: &LintArgs,
    screen: &mut Screen<'_>,
) -> Result<Outcome, CommandError> {
    if arguments.rules {
        rules(arguments.json, screen)?;
        return Ok(Outcome::Fine);
    }
    let findings = config_check::findings(&arguments.places, environment)?;
    if arguments.json {
        screen.json(&json!({"findings": findings}))?;
    } else {
        show(&findings, screen)?;
    }
    Ok(config_check::outcome(&findings))
}

fn show(findings: &[Finding], screen: &mut Screen<'_>) -> io::Result<()> {
    if findings.is_empty() {
        return screen.line("No findings.");
    }
    for finding in findings {
        let severity = finding.rule.severity;
        let word = screen.palette.paint(tone(severity), severity);
        let head = format!(
            "{word}: {}: {} [{}]",
            finding.place, finding.detail, finding.rule.code
        );
        screen.line(head)?;
        screen.toned(Style::Dim, format!("  {}", finding.rule.remedy))?;
    }
    Ok(())
}

fn rules(json: bool, screen: &mut Screen<'_>) -> io::Result<()> {
    let all = LINT_RULES
        .iter()
        .chain(openclaw_gateway::report::LINT_RULES)
        .copied();
    if json {
        let rules: Vec<_> = all
            .map(|rule| {
                json!({"code": rule.code, "severity": rule.severity.to_string(), "remedy": rule.remedy})
            })
            .collect();
        return screen.json(&json!({"rules": rules}));
    }
    let mut table = Table::new(&["CODE", "SEVERITY", "REMEDY"]);
    for rule in all {
        let severity = Cell::new(tone(rule.severity), rule.severity.to_string());
        table.row([rule.code.into(), severity, rule.remedy.into()]);
    }
    screen.table(&table)
}

fn tone(severity: Severity) -> Style {
    match severity {
        Severity::Error => Style::Bad,
        Severity::Warning => Style::Warn,
        Severity::Note => Style::Dim,
    }
}
