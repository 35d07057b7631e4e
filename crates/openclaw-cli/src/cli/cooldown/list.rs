//! `cooldown list`: what cools down now.

use std::io;

use clap::Args;
use jiff::Timestamp;
use openclaw_config::Environment;
use openclaw_gateway::report::CooldownsReport;
use openclaw_gateway::report::free_and_tried;
use openclaw_gateway::report::{ago, left};
use serde::Serialize;

use crate::files::{Files, ReadAgent, ShownArgs, show_agent};
use crate::outcome::{CommandError, Outcome};
use crate::terminal::screen::{Screen, now};
use crate::terminal::{Cell, Render, Style, Table};

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
    let list = |files: &Files, agent: &ReadAgent| CooldownList {
        report: CooldownsReport::of(&files.installation(), &agent.state(), now),
        now,
    };
    show_agent(environment, &arguments.shown, screen, list)
}

/// The windows of an agent.
struct CooldownList {
    report: CooldownsReport,
    now: Timestamp,
}

impl Render for CooldownList {
    fn text(&self, screen: &mut Screen<'_>) -> io::Result<()> {
        let Self { report, now } = self;
        if report.is_empty() {
            return screen.line(format!("Nothing of agent {} rests.", report.agent));
        }
        let profiles = profile_table(report, *now);
        if !profiles.is_empty() {
            screen.table(&profiles)?;
        }
        let endpoints = endpoint_table(report, *now);
        screen.section("Addresses that could not be reached", &endpoints)
    }

    fn json(&self) -> impl Serialize {
        &self.report
    }
}

fn profile_table(report: &CooldownsReport, now: Timestamp) -> Table {
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
    table
}

fn endpoint_table(report: &CooldownsReport, now: Timestamp) -> Table {
    let mut table = Table::new(&["PROVIDER", "ADDRESS", "SINCE", "FREE IN"]);
    for endpoint in &report.endpoints {
        table.row([
            endpoint.provider.as_str().into(),
            endpoint.base_url.as_str().into(),
            ago(endpoint.since, now).into(),
            left(endpoint.until, now).into(),
        ]);
    }
    table
}
