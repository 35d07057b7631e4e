//! `lint`: what in the configuration will not do what its author meant.

use std::io;

use clap::Args;
use openclaw_chain::{Finding, LINT_RULES, LintRule, Severity};
use openclaw_config::Environment;
use serde::Serialize;
use serde_json::json;

use super::config_check;
use crate::files::CommonArgs;
use crate::outcome::{CommandError, Outcome};
use crate::terminal::{Cell, Render, Screen, Style, Table};

/// Arguments of `lint`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct LintArgs {
    /// Show what is looked for instead
    #[arg(long)]
    rules: bool,
    #[command(flatten)]
    common: CommonArgs,
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
        screen.render(&LintRules, arguments.common.output)?;
        return Ok(Outcome::Fine);
    }
    let findings = config_check::findings(&arguments.common.places, environment)?;
    screen.render(&LintReport(&findings), arguments.common.output)?;
    Ok(config_check::outcome(&findings))
}

/// What the configuration was found to have.
struct LintReport<'f>(&'f [Finding]);

impl Render for LintReport<'_> {
    fn text(&self, screen: &mut Screen<'_>) -> io::Result<()> {
        if self.0.is_empty() {
            return screen.line("No findings.");
        }
        self.0.iter().try_for_each(|finding| show(finding, screen))
    }

    fn json(&self) -> impl Serialize {
        json!({"findings": self.0})
    }
}

fn show(finding: &Finding, screen: &mut Screen<'_>) -> io::Result<()> {
    let severity = finding.rule.severity;
    let word = screen.palette.paint(tone(severity), severity);
    let head = format!(
        "{word}: {}: {} [{}]",
        finding.place, finding.detail, finding.rule.code
    );
    screen.line(head)?;
    screen.toned(Style::Dim, format!("  {}", finding.rule.remedy))
}

/// The rules that configurations are checked by.
struct LintRules;

impl LintRules {
    fn all() -> impl Iterator<Item = &'static LintRule> {
        let own = openclaw_gateway::report::LINT_RULES;
        LINT_RULES.iter().chain(own).copied()
    }
}

impl Render for LintRules {
    fn text(&self, screen: &mut Screen<'_>) -> io::Result<()> {
        let mut table = Table::new(&["CODE", "SEVERITY", "REMEDY"]);
        for rule in Self::all() {
            let severity = Cell::new(tone(rule.severity), rule.severity.to_string());
            table.row([rule.code.into(), severity, rule.remedy.into()]);
        }
        screen.table(&table)
    }

    fn json(&self) -> impl Serialize {
        let rules = Self::all().map(
            |rule| json!({"code": rule.code, "severity": rule.severity.to_string(), "remedy": rule.remedy}),
        );
        json!({"rules": rules.collect::<Vec<_>>()})
    }
}

fn tone(severity: Severity) -> Style {
    match severity {
        Severity::Error => Style::Bad,
        Severity::Warning => Style::Warn,
        Severity::Note => Style::Dim,
    }
}
