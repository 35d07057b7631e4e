//! Runs the wall alone: `cargo xtask faultwall --help`.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command line tool talks to its terminal"
)]

use std::net::SocketAddr;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser};
use faultwall::Wall;
use tokio::net::TcpListener;

/// An upstream that fails on request, to try failover against.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask faultwall", disable_version_flag = true)]
struct Arguments {
    /// Where to listen.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:4100")]
    bind: SocketAddr,
    /// Print a configuration for `openclaw-gateway serve` and end.
    #[arg(long)]
    config: bool,
}

#[tokio::main]
async fn main() -> ExitCode {
    let matches = Arguments::command().after_help(faultwall::help()).get_matches();
    let arguments = match Arguments::from_arg_matches(&matches) {
        Ok(arguments) => arguments,
        Err(error) => error.exit(),
    };
    if arguments.config {
        print!("{}", faultwall::config(arguments.bind));
        return ExitCode::SUCCESS;
    }
    let listener = match TcpListener::bind(arguments.bind).await {
        Ok(listener) => listener,
        Err(error) => {
            eprintln!(
                "error: cannot listen on {}: {error}; choose another address with --bind",
                arguments.bind
            );
            return ExitCode::from(2);
        }
    };
    let wall = match Wall::on(listener) {
        Ok(wall) => wall,
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::from(2);
        }
    };
    println!(
        "Failing on request at http://{}/<name>/v1; Ctrl-C ends it.",
        wall.address()
    );
    println!(
        "What happens is the name of the model: try `status-503`, `cut-after-2`, `silence`; --help lists all."
    );
    println!("What was seen: http://{}/seen", wall.address());
    // Without signals it runs until it is killed.
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
    ExitCode::SUCCESS
}
