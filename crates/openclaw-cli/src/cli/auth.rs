//! `auth`: the credentials of an agent and the order in which they are tried.

mod add;
mod list;
mod order;
mod remove;
mod test;

use clap::Subcommand;
use openclaw_config::Environment;
use openclaw_ids::{IdError, ProfileId, ProviderId};

use crate::outcome::{CommandError, Outcome};
use crate::terminal::screen::Screen;

pub(super) use remove::NotStored;

/// The commands.
#[derive(Debug, Subcommand)]
pub(super) enum AuthCommand {
    /// Show the credentials, whose they are, and whether they can be used
    List(list::ListArgs),
    /// Store a key or token, or replace one
    Add(add::AddArgs),
    /// Remove a stored credential with everything that is known about its use
    Remove(remove::RemoveArgs),
    /// Show or set the order in which the credentials of a provider are tried
    Order {
        #[command(subcommand)]
        command: order::OrderCommand,
    },
    /// Make one small request with a credential and say what came of it
    Test(test::TestArgs),
}

/// Runs one of them.
pub(super) fn run(
    environment: &Environment,
    command: &AuthCommand,
    screen: &mut Screen<'_>,
) -> Result<Outcome, CommandError> {
    match command {
        AuthCommand::List(arguments) => list::run(environment, arguments, screen),
        AuthCommand::Add(arguments) => add::run(environment, arguments, screen),
        AuthCommand::Remove(arguments) => remove::run(environment, arguments, screen),
        AuthCommand::Order { command } => order::run(environment, command, screen),
        AuthCommand::Test(arguments) => test::run(environment, arguments, screen),
    }
}

/// The provider and the id that a person means by `openai` or `openai:work`.
fn named(text: &str) -> Result<(ProviderId, ProfileId), IdError> {
    if let Some((provider, _)) = text.split_once(':') {
        return Ok((ProviderId::try_new(provider)?, ProfileId::try_new(text)?));
    }
    let provider = ProviderId::try_new(text)?;
    let id = ProfileId::compose(provider.as_str(), DEFAULT_NAME)?;
    Ok((provider, id))
}

/// The name of a credential that was given none.
const DEFAULT_NAME: &str = "default";
