//! The `openclaw-gateway` binary.

use std::process::ExitCode;

use openclaw_gateway::cli;
use openclaw_gateway::environment::Environment;

fn main() -> ExitCode {
    cli::run(&Environment::of_this_process(), std::env::args_os())
}
