//! `cooldown`: the windows during which credentials are not used.

mod clear;
mod history;
mod list;
mod set;

use clap::Subcommand;
use openclaw_config::Environment;

use crate::outcome::{CommandError, Outcome};
use crate::terminal::Screen;

/// The commands.
#[derive(Debug, Subcommand)]
pub(super) enum CooldownCommand {
    /// Show what rests now, why, until when, and when it is tried before that
    List(list::ListArgs),
    /// Show what rested, when, and which request was the cause
    History(history::HistoryArgs),
    /// Set credentials free at once
    Clear(clear::ClearArgs),
    /// Let a credential rest for a while
    Set(set::SetArgs),
}

/// Runs one of them.
pub(super) fn run(
    environment: &Environment,
    command: &CooldownCommand,
    screen: &mut Screen<'_>,
) -> Result<Outcome, CommandError> {
    match command {
        CooldownCommand::List(arguments) => list::run(environment, arguments, screen),
        CooldownCommand::History(arguments) => history::run(environment, arguments, screen),
        CooldownCommand::Clear(arguments) => clear::run(environment, arguments, screen),
        CooldownCommand::Set(arguments) => set::run(environment, arguments, screen),
    }
}
