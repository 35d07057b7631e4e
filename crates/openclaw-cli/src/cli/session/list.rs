//! `session list`: the sessions of an agent.

use std::io;

use clap::Args;
use jiff::Timestamp;
use openclaw_config::Environment;
use openclaw_gateway::report::SessionsReport;
use openclaw_gateway::report::ago;
use serde::Serialize;

use crate::files::{AgentArg, CommonArgs, Files, ReadAgent};
use crate::outcome::{CommandError, Outcome};
use crate::terminal::screen::{Screen, now};
use crate::terminal::{Cell, Render, Style, Table};

/// Arguments of `session list`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(in crate::cli) struct ListArgs {
    /// Only those on which another model answers than the selected one
    #[arg(long)]
    on_fallback: bool,
    #[command(flatten)]
    agent: AgentArg,
    #[command(flatten)]
    common: CommonArgs,
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
    let files = Files::open(&arguments.common.places, environment)?;
    let agent = ReadAgent::open_with_sessions(&files, &arguments.agent.id(&files)?)?;
    let mut report = SessionsReport::of(&files.installation(), &agent.state());
    if arguments.on_fallback {
        report.sessions.retain(|session| session.fallback.is_some());
    }
    let list = SessionList {
        report,
        only_on_fallback: arguments.on_fallback,
    };
    screen.render(&list, arguments.common.output)?;
    Ok(Outcome::Fine)
}

/// The sessions of an agent.
struct SessionList {
    report: SessionsReport,
    /// Whether those that are on no fallback are left out.
    only_on_fallback: bool,
}

impl Render for SessionList {
    fn text(&self, screen: &mut Screen<'_>) -> io::Result<()> {
        let table = table(&self.report, now());
        if table.is_empty() {
            let such = if self.only_on_fallback {
                " on a fallback"
            } else {
                ""
            };
            return screen.line(format!("Agent {} has no session{such}.", self.report.agent));
        }
        screen.table(&table)
    }

    fn json(&self) -> impl Serialize {
        &self.report
    }
}

fn table(report: &SessionsReport, now: Timestamp) -> Table {
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
    table
}
