//! `session list`: the sessions of an agent.

use std::io;

use clap::Args;
use jiff::Timestamp;
use openclaw_config::Environment;
use openclaw_gateway::report::SessionsReport;
use openclaw_gateway::report::ago;

use crate::files::{AgentArg, Files, Places, ReadAgent};
use crate::outcome::{CommandError, Outcome};
use crate::terminal::screen::{Screen, now};
use crate::terminal::{Cell, Style, Table};

/// Arguments of `session list`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(in crate::cli) struct ListArgs {
    /// Only those on which another model answers than the selected one
    #[arg(long)]
    on_fallback: bool,
    #[command(flatten)]
    agent: AgentArg,
    /// Write JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    places: Places,
}

const EXAMPLES: &str = "\
Examples:
  openclaw-gateway session list
  openclaw-gateway session list --on-fallback --agent ops";

/// Shows the sessions.
pub(in crate::cli) fn run(
    environment: &Environment,
    arguments: &ListArgs,
    screen: &mut Screen<'_>,
) -> Result<Outcome, CommandError> {
    let files = Files::open(&arguments.places, environment)?;
    let agent = ReadAgent::open_with_sessions(&files, &arguments.agent.id(&files)?)?;
    let mut report = SessionsReport::of(&files.installation(), &agent.state());
    if arguments.on_fallback {
        report.sessions.retain(|session| session.fallback.is_some());
    }
    if arguments.json {
        screen.json(&report)?;
    } else {
        show(&report, arguments.on_fallback, now(), screen)?;
    }
    Ok(Outcome::Fine)
}

fn show(
    report: &SessionsReport,
    only_on_fallback: bool,
    now: Timestamp,
    screen: &mut Screen<'_>,
) -> io::Result<()> {
    let mut table = Table::new(&[
        "SESSION",
        "LAST ACTIVE",
        "SELECTED",
        "CHOSEN BY",
        "ANSWERED BY",
        "CREDENTIAL",
    ]);
    for session in &report.sessions {
        let answered = match &session.fallback {
            Some(fallback) => Cell::new(Style::Warn, fallback.model.key()),
            None => Cell::from(
                session
                    .last_answered
                    .as_ref()
                    .map(openclaw_ids::ModelRef::key)
                    .unwrap_or_default(),
            ),
        };
        table.row([
            session.key.as_str().into(),
            ago(session.updated_at, now).into(),
            session.selected.key().into(),
            session.chosen_by.as_str().into(),
            answered,
            session
                .pin
                .as_ref()
                .map(|pin| pin.profile.to_string())
                .unwrap_or_default()
                .into(),
        ]);
    }
    if table.is_empty() {
        let such = if only_on_fallback { " on a fallback" } else { "" };
        return screen.line(format!("Agent {} has no session{such}.", report.agent));
    }
    screen.table(&table)
}
