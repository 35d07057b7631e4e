//! Points official client packages at a gateway in front of failing upstreams; needs package registries.

mod kit;
mod servers;

use crate::cli::{Accepts, Args, CannotRun, Flag, Outcome, Task};
use crate::workspace::{self, Workspace};

use kit::{KITS, Kit};
use servers::Servers;

pub(crate) const TASK: Task = Task {
    name: "clients",
    summary: "Runs official client packages against a gateway whose upstreams fail",
    usage: "[--may-lack]",
    help: "\
Builds the gateway and the upstream that fails on request, starts both on free ports, installs the official packages below
target/clients, and asks through each of them: plain answers and streams after a failure, a stream that is cut, a chain that
fails. Packages: openai and anthropic for Python (needs python3 with venv), openai for Node (needs node and npm). It is not
part of `cargo xtask test`, since it needs package registries.

Examples:
  cargo xtask clients
  cargo xtask clients --may-lack    a package that cannot be installed here is told and left out",
    accepts: Accepts::Flags(&[Flag {
        name: MAY_LACK,
        value: None,
        help: "go on without what cannot be installed",
    }]),
    run,
};

const MAY_LACK: &str = "--may-lack";

fn run(args: &Args) -> Result<Outcome, CannotRun> {
    let workspace = Workspace::find()?;
    println!("building the gateway and the failing upstream");
    let mut build = workspace.cargo();
    build.args([
        "build",
        "--quiet",
        "--package",
        "openclaw-cli",
        "--package",
        "xtask-faultwall",
    ]);
    if !workspace::succeeds(&mut build)? {
        return Err(CannotRun(
            "the programs do not build; the reason stands above".to_owned(),
        ));
    }
    let place = workspace.root().join("target/clients");
    let servers = Servers::start(&workspace, &place)?;
    let mut outcome = Outcome::Clean;
    let mut lacking = Vec::new();
    for kit in KITS {
        println!("\n{}: installing into {}", kit.name, place.display());
        let mut client = match kit.install(&workspace, &place) {
            Ok(client) => client,
            Err(error) if args.has(MAY_LACK) => {
                lacking.push((kit, error));
                continue;
            }
            Err(error) => return Err(error),
        };
        println!("{}: asking", kit.name);
        client.arg(servers.gateway_url()).env("NO_PROXY", "127.0.0.1");
        if !workspace::succeeds(&mut client)? {
            println!("{}: FAILED", kit.name);
            outcome = Outcome::Findings;
        }
    }
    for (Kit { name, .. }, error) in &lacking {
        println!("\nWARNING: {name} WAS NOT RUN, because it cannot be installed here: {error}");
    }
    Ok(outcome)
}
