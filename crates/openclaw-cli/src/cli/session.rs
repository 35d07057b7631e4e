//! `session`: the conversations of an agent and the models they are on.

mod export;
mod list;
mod reset;
mod set;
mod show;

use clap::Subcommand;
use openclaw_config::Environment;

use crate::outcome::{CommandError, Outcome};
use crate::terminal::screen::Screen;

/// The commands.
#[derive(Debug, Subcommand)]
pub(super) enum SessionCommand {
    /// Show the sessions, the last active first
    List(list::ListArgs),
    /// Show one session: its model, its fallback, its pinned credential, and what its last runs met
    Show(show::ShowArgs),
    /// Choose a model, a credential, or both for a session, as `/model` does in a chat
    Set(set::SetArgs),
    /// Start a session over, as `/new` does in a chat
    Reset(reset::ResetArgs),
    /// Write all sessions in the form of the other program's sessions.json
    Export(export::ExportArgs),
}

/// Runs one of them.
pub(super) fn run(
    environment: &Environment,
    command: &SessionCommand,
    screen: &mut Screen<'_>,
) -> Result<Outcome, CommandError> {
    match command {
        SessionCommand::List(arguments) => list::run(environment, arguments, screen),
        SessionCommand::Show(arguments) => show::run(environment, arguments, screen),
        SessionCommand::Set(arguments) => set::run(environment, arguments, screen),
        SessionCommand::Reset(arguments) => reset::run(environment, arguments, screen),
        SessionCommand::Export(arguments) => export::run(environment, arguments, screen),
    }
}
