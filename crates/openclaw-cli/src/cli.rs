//! The command line.

mod auth;
mod chain;
mod completions;
mod config_check;
mod config_show;
mod cooldown;
mod doctor;
mod explain;
mod lint;
mod serve;
mod session;
mod simulate;
mod status;

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};
use openclaw_classify::error_chain;
use openclaw_config::Environment;
use openclaw_gateway::telemetry::terminal_escape::visible_lines;

use crate::outcome::{CommandError, Outcome};
use crate::terminal::Screen;

/// One OpenAI-compatible address in front of all your models.
///
/// When a model is rate-limited, out of credit, overloaded or gone, the request goes on to the next key or the next
/// model of your chain, and the answer's headers say who answered.
#[derive(Debug, Parser)]
#[command(name = "openclaw-gateway", version, after_help = EXAMPLES, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
}

const EXAMPLES: &str = "\
Examples:
  openclaw-gateway serve --demo            See failover at work: no key, no network
  openclaw-gateway serve                   Use your configuration, else the keys found here
  openclaw-gateway auth add openai         Store a key; it asks for it
  openclaw-gateway config check            Say what your configuration means, and what is wrong
  openclaw-gateway status                  What would be asked now, what rests, what needs you
  openclaw-gateway explain                 Why the last troubled request went to a fallback
  openclaw-gateway chain --cron nightly    Which models a scheduled job would use
  openclaw-gateway cooldown clear openai   Let a credential that rests be used at once

Files and variables:
  ~/.openclaw/openclaw.json            Configuration (OPENCLAW_CONFIG_PATH); it is only read
  ~/.openclaw                          State (OPENCLAW_STATE_DIR)
  OPENAI_API_KEY, ANTHROPIC_API_KEY …  Keys of providers that need no further setting
  OPENCLAW_GATEWAY_TOKEN               The token of clients, needed to listen beyond this machine

Exit status: 0 fine, 1 there are findings, 2 it cannot run.";

#[derive(Debug, Subcommand)]
enum Command {
    /// Answer requests until interrupted
    Serve(serve::ServeArgs),
    /// Show what every agent would use now, what rests until when, and what needs attention
    Status(status::StatusArgs),
    /// Tell what happened to a request, or what a failure means
    Explain(explain::ExplainArgs),
    /// Show which models a run would ask, in which order, and why
    Chain(chain::ChainArgs),
    /// Show, store, remove, order and test the credentials of an agent
    Auth {
        #[command(subcommand)]
        command: auth::AuthCommand,
    },
    /// Show, end and set the times during which credentials rest
    Cooldown {
        #[command(subcommand)]
        command: cooldown::CooldownCommand,
    },
    /// Show and change which models conversations are on
    Session {
        #[command(subcommand)]
        command: session::SessionCommand,
    },
    /// Look at the configuration
    Config {
        #[command(subcommand)]
        command: ConfigCommand,
    },
    /// Play the last requests again under another configuration
    Simulate(simulate::SimulateArgs),
    /// Say what in the configuration will not do what its author meant
    Lint(lint::LintArgs),
    /// Find what older versions left behind and what is damaged, and repair it
    Doctor(doctor::DoctorArgs),
    /// Write the completions of a shell
    Completions(completions::CompletionsArgs),
}

#[derive(Debug, Subcommand)]
enum ConfigCommand {
    /// Say what the configuration means and what is wrong with it
    Check(config_check::CheckArgs),
    /// Show what holds: files, chains, addresses and settings, with their defaults
    Show(config_show::ShowArgs),
}

const FINDINGS: u8 = 1;
const CANNOT_RUN: u8 = 2;

/// Runs the command that `arguments` name, on the standard streams of this process.
pub fn run(environment: &Environment, arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version go to standard output, mistakes to standard error. A closed stream is no error.
            let _ = error.print();
            return if error.use_stderr() {
                ExitCode::from(CANNOT_RUN)
            } else {
                ExitCode::SUCCESS
            };
        }
    };
    let mut output = io::stdout();
    let mut screen = Screen::of(environment, &mut output);
    let outcome = match cli.command {
        None => Cli::command()
            .print_help()
            .map(|()| Outcome::Fine)
            .map_err(CommandError::from),
        Some(Command::Serve(arguments)) => serve::run(environment, arguments, screen.writer()),
        Some(Command::Status(arguments)) => status::run(environment, &arguments, &mut screen),
        Some(Command::Explain(arguments)) => explain::run(environment, &arguments, &mut screen),
        Some(Command::Chain(arguments)) => chain::run(environment, &arguments, &mut screen),
        Some(Command::Auth { command }) => auth::run(environment, &command, &mut screen),
        Some(Command::Cooldown { command }) => cooldown::run(environment, &command, &mut screen),
        Some(Command::Session { command }) => session::run(environment, &command, &mut screen),
        Some(Command::Completions(arguments)) => completions::run(&arguments, &mut screen),
        Some(Command::Config {
            command: ConfigCommand::Check(arguments),
        }) => config_check::run(environment, &arguments, &mut screen),
        Some(Command::Config {
            command: ConfigCommand::Show(arguments),
        }) => config_show::run(environment, &arguments, &mut screen),
        Some(Command::Simulate(arguments)) => simulate::run(environment, &arguments, &mut screen),
        Some(Command::Lint(arguments)) => lint::run(environment, &arguments, &mut screen),
        Some(Command::Doctor(arguments)) => doctor::run(environment, &arguments, &mut screen),
    };
    match outcome {
        Ok(Outcome::Fine) => ExitCode::SUCCESS,
        Ok(Outcome::Findings) => ExitCode::from(FINDINGS),
        Err(error) => {
            if is_closed(&*error) {
                return ExitCode::SUCCESS;
            }
            let line = error_chain::line(&*error);
            let _ = writeln!(io::stderr(), "openclaw-gateway: {}", visible_lines(&line));
            ExitCode::from(CANNOT_RUN)
        }
    }
}

/// Whether the reader of the output closed it, as `head` does, which is no error.
fn is_closed(error: &(dyn std::error::Error + 'static)) -> bool {
    let is_pipe = |cause: &(dyn std::error::Error + 'static)| {
        let io = cause.downcast_ref::<io::Error>().map(io::Error::kind);
        let json = cause.downcast_ref::<serde_json::Error>();
        let kind = io.or_else(|| json?.io_error_kind());
        kind == Some(io::ErrorKind::BrokenPipe)
    };
    error_chain::each(error).any(is_pipe)
}

#[cfg(test)]
mod tests;
