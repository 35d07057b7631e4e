//! `completions`: what a shell needs to complete commands and options.

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use super::Cli;
use crate::outcome::{CommandError, Outcome};
use crate::terminal::screen::Screen;

/// Arguments of `completions`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

const EXAMPLES: &str = "\
Examples:
  openclaw-gateway completions bash > ~/.local/share/bash-completion/completions/openclaw-gateway
  openclaw-gateway completions zsh > \"${fpath[1]}/_openclaw-gateway\"
  openclaw-gateway completions fish > ~/.config/fish/completions/openclaw-gateway.fish";

/// Writes the script.
pub(super) fn run(arguments: &CompletionsArgs, screen: &mut Screen<'_>) -> Result<Outcome, CommandError> {
    let mut script = Vec::new();
    let mut command = Cli::command();
    clap_complete::generate(arguments.shell, &mut command, NAME, &mut script);
    screen.writer().write_all(&script)?;
    Ok(Outcome::Fine)
}

/// The name of the program.
const NAME: &str = "openclaw-gateway";
