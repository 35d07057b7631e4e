//! `cooldown history`: what cooled down, and when.

use std::io;

use clap::Args;
use jiff::{SignedDuration, Timestamp};
use openclaw_config::Environment;
use openclaw_gateway::report::rested;
use openclaw_gateway::report::{ago, left};
use openclaw_history::{HistoryReader, StoredWindow, WindowChange, WindowFilter};
use openclaw_ids::ProfileId;
use serde::Serialize;
use serde_json::json;

use crate::files::{AgentArg, CommonArgs, Files, history::window_word};
use crate::outcome::{CommandError, Outcome};
use crate::terminal::duration_arg;
use crate::terminal::screen::{Screen, now};
use crate::terminal::{Cell, Render, Style, Table};

/// Arguments of `cooldown history`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(in crate::cli) struct HistoryArgs {
    /// One credential [default: all]
    #[arg(value_name = "PROFILE")]
    profile: Option<String>,
    /// Not longer ago than this, such as 2h or 3d
    #[arg(long, value_name = "TIME", value_parser = duration_arg::span)]
    since: Option<SignedDuration>,
    /// The latest so many
    #[arg(long, value_name = "NUMBER", default_value_t = 50)]
    latest: usize,
    #[command(flatten)]
    agent: AgentArg,
    #[command(flatten)]
    common: CommonArgs,
}

const EXAMPLES: &str = "\
Examples:
  openclaw-gateway cooldown history
  openclaw-gateway cooldown history openai:work --since 3d
  openclaw-gateway cooldown history --json --latest 1000

Then: openclaw-gateway explain <request id>";

/// Shows what happened to windows.
pub(in crate::cli) fn run(
    environment: &Environment,
    arguments: &HistoryArgs,
    screen: &mut Screen<'_>,
) -> Result<Outcome, CommandError> {
    let files = Files::open(&arguments.common.places, environment)?;
    let now = now();
    let since = arguments.since.map(|span| duration_arg::before(now, span));
    let filter = WindowFilter {
        agent: arguments.agent.named(&files)?,
        profile: arguments.profile.as_deref().map(ProfileId::try_new).transpose()?,
        since,
        latest: Some(arguments.latest),
    };
    let history = HistoryReader::open(&files.state_dir)?;
    let windows = match history {
        Some(history) => history.windows(&filter)?,
        None => Vec::new(),
    };
    screen.render(&WindowHistory { windows, now }, arguments.common.output)?;
    Ok(Outcome::Fine)
}

/// What happened to windows.
struct WindowHistory {
    windows: Vec<StoredWindow>,
    now: Timestamp,
}

impl Render for WindowHistory {
    fn text(&self, screen: &mut Screen<'_>) -> io::Result<()> {
        show(&self.windows, self.now, screen)
    }

    fn json(&self) -> impl Serialize {
        json!({"windows": self.windows})
    }
}

fn show(windows: &[StoredWindow], now: Timestamp, screen: &mut Screen<'_>) -> io::Result<()> {
    if windows.is_empty() {
        return screen.line("The history knows of no such window.");
    }
    let mut table = Table::new(&[
        "WHEN", "AGENT", "WHAT", "WINDOW", "WHY", "UNTIL", "TIMES", "REQUEST",
    ]);
    for StoredWindow { at, note } in windows {
        let until = if note.until > now {
            format!("in {}", left(note.until, now))
        } else {
            ago(note.until, now)
        };
        let tone = match note.change {
            WindowChange::Cleared => Style::Good,
            WindowChange::Extended | WindowChange::Opened | WindowChange::Shortened => Style::Warn,
        };
        table.row([
            ago(*at, now).into(),
            note.agent.as_str().into(),
            rested(note).into(),
            Cell::new(tone, window_word(note.change)),
            note.reason.as_str().into(),
            until.into(),
            note.steps.max(1).into(),
            note.run_id.clone().unwrap_or_else(|| "by hand".to_owned()).into(),
        ]);
    }
    screen.table(&table)
}
