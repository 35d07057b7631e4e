//! `session show`: one session.

use std::io;

use clap::Args;
use jiff::Timestamp;
use openclaw_config::Environment;
use openclaw_gateway::report::ago;
use openclaw_gateway::report::{ChosenBy, SessionReport};
use openclaw_session::{PinSource, StepOutcome};
use serde::Serialize;

use crate::cli::chain::session;
use crate::files::{AgentArg, CommonArgs, Files, ReadAgent};
use crate::outcome::{CommandError, Outcome};
use crate::terminal::screen::{Screen, now};
use crate::terminal::{Cell, Render, Style, Table};

/// Arguments of `session show`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(in crate::cli) struct ShowArgs {
    /// The session
    #[arg(value_name = "KEY")]
    key: String,
    #[command(flatten)]
    agent: AgentArg,
    #[command(flatten)]
    common: CommonArgs,
}

const EXAMPLES: &str = "\
Examples:
  openclaw-gateway session show agent:main:telegram:42
  openclaw-gateway session show agent:main:telegram:42 --json | jq .recentRuns

Then: openclaw-gateway chain --session agent:main:telegram:42";

/// Shows the session.
pub(in crate::cli) fn run(
    environment: &Environment,
    arguments: &ShowArgs,
    screen: &mut Screen<'_>,
) -> Result<Outcome, CommandError> {
    let files = Files::open(&arguments.common.places, environment)?;
    let agent = ReadAgent::open_with_sessions(&files, &arguments.agent.id(&files)?)?;
    let (key, entry) = session(&agent, &arguments.key)?;
    let report = SessionReport::of(key, entry, &files.resolver.agent_primary(&agent.id));
    screen.render(&report, arguments.common.output)?;
    Ok(Outcome::Fine)
}

impl Render for SessionReport {
    fn text(&self, screen: &mut Screen<'_>) -> io::Result<()> {
        let now = now();
        show_choice(self, now, screen)?;
        screen.section("Last runs in which something went wrong", &run_table(self, now))
    }

    fn json(&self) -> impl Serialize {
        self
    }
}

fn show_choice(report: &SessionReport, now: Timestamp, screen: &mut Screen<'_>) -> io::Result<()> {
    screen.toned(Style::Strong, format!("Session {}", report.key))?;
    let chosen = match report.chosen_by {
        ChosenBy::User => "chosen by a person",
        ChosenBy::Fallback => "left by an old fallback",
        ChosenBy::Configuration => "as configured",
    };
    screen.line(format!("  Model        {} ({chosen})", report.selected.key()))?;
    if let Some(fallback) = &report.fallback {
        let since = fallback
            .since
            .map(|at| format!(", since {}", ago(at, now)))
            .unwrap_or_default();
        let why = fallback
            .reason
            .as_ref()
            .map(|why| format!(": {why}"))
            .unwrap_or_default();
        let line = format!("  Answered by  {}{since}{why}", fallback.model.key());
        screen.toned(Style::Warn, line)?;
    } else if let Some(last) = &report.last_answered {
        screen.line(format!("  Answered by  {}", last.key()))?;
    }
    if let Some(pin) = &report.pin {
        let by = match pin.source {
            PinSource::Auto => "kept from its last turn",
            PinSource::User => "chosen by a person, and no other is used",
        };
        screen.line(format!("  Credential   {} ({by})", pin.profile))?;
    }
    if report.switch_pending {
        screen.line(
            "  Switch       a run that is busy, if there is one, follows to the chosen model when it can",
        )?;
    }
    screen.line(format!("  Transcript   {}", report.session_id))?;
    screen.line(format!("  Last active  {}", ago(report.updated_at, now)))
}

fn run_table(report: &SessionReport, now: Timestamp) -> Table {
    let mut table = Table::new(&["RUN", "WHEN", "MODEL", "OUTCOME", "REASON", "STATUS"]);
    for run in &report.recent_runs {
        for step in &run.steps {
            let (tone, outcome) = match step.outcome {
                StepOutcome::Failed => (Style::Bad, "failed"),
                StepOutcome::Skipped => (Style::Warn, "skipped"),
                StepOutcome::Succeeded => (Style::Good, "answered"),
            };
            table.row([
                run.run_id.as_str().into(),
                ago(run.at, now).into(),
                step.model.key().into(),
                Cell::new(tone, outcome),
                step.reason.clone().unwrap_or_default().into(),
                step.status
                    .map(|status| status.to_string())
                    .unwrap_or_default()
                    .into(),
            ]);
        }
    }
    table
}
