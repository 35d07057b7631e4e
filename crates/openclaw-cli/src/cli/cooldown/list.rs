//! `cooldown list`: what rests now.

use std::io;

use clap::Args;
use jiff::Timestamp;
use openclaw_config::Environment;
use openclaw_gateway::report::CooldownsReport;
use openclaw_gateway::report::free_and_tried;
use openclaw_gateway::report::{ago, left};

use crate::files::{Files, ReadAgent, ShownArgs, show_agent};
use crate::outcome::{CommandError, Outcome};
use crate::terminal::screen::{Screen, now};
use crate::terminal::{Cell, Style, Table};

/// Arguments of `cooldown list`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(in crate::cli) struct ListArgs {
    #[command(flatten)]
    shown: ShownArgs,
}

const EXAMPLES: &str = "\
Examples:
  openclaw-gateway cooldown list
  openclaw-gateway cooldown list --agent ops --json

Then: openclaw-gateway cooldown clear openai:work";

/// Shows the windows.
pub(in crate::cli) fn run(
    environment: &Environment,
    arguments: &ListArgs,
    screen: &mut Screen<'_>,
) -> Result<Outcome, CommandError> {
    let now = now();
    let report =
        |files: &Files, agent: &ReadAgent| CooldownsReport::of(&files.installation(), &agent.state(), now);
    show_agent(environment, &arguments.shown, screen, report, |report, screen| {
        show(report, now, screen)
    })
}

fn show(report: &CooldownsReport, now: Timestamp, screen: &mut Screen<'_>) -> io::Result<()> {
    if report.is_empty() {
        return screen.line(format!("Nothing of agent {} rests.", report.agent));
    }
    let mut table = Table::new(&[
        "PROFILE", "WINDOW", "WHY", "SINCE", "FREE IN", "TRIED IN", "TIMES",
    ]);
    for profile in &report.profiles {
        for window in profile.telling_windows() {
            let (free, tried) =
                free_and_tried(Some(window.reason), Some(window.until), window.next_probe, now);
            table.row([
                profile.profile.as_str().into(),
                window.lane.to_string().into(),
                Cell::new(Style::Warn, window.reason.as_str()),
                ago(window.since, now).into(),
                free.into(),
                tried.into(),
                window.steps.max(1).into(),
            ]);
        }
    }
    if !table.is_empty() {
        screen.table(&table)?;
    }
    let mut table = Table::new(&["PROVIDER", "ADDRESS", "SINCE", "FREE IN"]);
    for endpoint in &report.endpoints {
        table.row([
            endpoint.provider.as_str().into(),
            endpoint.base_url.as_str().into(),
            ago(endpoint.since, now).into(),
            left(endpoint.until, now).into(),
        ]);
    }
    screen.section("Addresses that could not be reached", &table)
}
