//! Points official client packages at the demo gateway; by hand, since it needs a package registry.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::cli::{Args, CannotRun, Outcome, Takes, Task};
use crate::workspace::{self, Workspace};

pub(crate) const TASK: Task = Task {
    name: "clients",
    summary: "Runs official client packages against the demo gateway",
    usage: "",
    help: "\
Builds the gateway, starts `serve --demo` on a free port, installs the official `openai` package into a virtual
environment under target/clients, and asks: a plain answer, a streamed one, the list of models, a chain that fails.
Needs python3 with venv and a package registry; it is not part of `cargo xtask test`.

Examples:
  cargo xtask clients",
    takes: Takes::Flags(&[]),
    run,
};

/// The gateway, ended with this value.
struct Gateway(Child);

impl Drop for Gateway {
    fn drop(&mut self) {
        // Both fail only when it has ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn run(_: &Args) -> Result<Outcome, CannotRun> {
    let workspace = Workspace::find()?;
    println!("building the gateway");
    let mut build = workspace.cargo();
    build.args(["build", "--quiet", "--package", "openclaw-gateway"]);
    if !workspace::succeeds(&mut build)? {
        return Err(CannotRun(
            "the gateway does not build; the reason stands above".to_owned(),
        ));
    }
    let python = environment(&workspace.root().join("target/clients"))?;
    let address = free_address()?;
    let mut start = workspace.cargo();
    start.args([
        "run",
        "--quiet",
        "--package",
        "openclaw-gateway",
        "--",
        "serve",
        "--demo",
        "--bind",
        &address,
    ]);
    let _gateway = started(&mut start, &address)?;
    let mut client = Command::new(python);
    client
        .arg(workspace.root().join("xtask/clients/openai_python.py"))
        .arg(format!("http://{address}/v1"));
    println!("asking through the official Python package");
    Ok(if workspace::succeeds(&mut client)? {
        Outcome::Clean
    } else {
        Outcome::Findings
    })
}

/// A Python with the package installed.
fn environment(place: &Path) -> Result<std::path::PathBuf, CannotRun> {
    let python = place.join("bin/python");
    println!("installing the official packages into {}", place.display());
    if !python.exists() {
        workspace::output(Command::new("python3").args(["-m", "venv"]).arg(place))?;
    }
    workspace::output(Command::new(&python).args(["-m", "pip", "install", "--quiet", "openai"]))?;
    Ok(python)
}

fn free_address() -> Result<String, CannotRun> {
    let address = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    address
        .map(|address| address.to_string())
        .map_err(|error| CannotRun(format!("no free port on loopback: {error}")))
}

/// Starts the gateway and waits for the line that names its address.
fn started(command: &mut Command, address: &str) -> Result<Gateway, CannotRun> {
    command.stdout(Stdio::piped());
    let mut child = command
        .spawn()
        .map_err(|error| workspace::cannot_start(command, &error))?;
    let stdout = child.stdout.take();
    let gateway = Gateway(child);
    let mut lines =
        BufReader::new(stdout.ok_or_else(|| CannotRun("the gateway has no output".to_owned()))?).lines();
    if !lines
        .by_ref()
        .map_while(Result::ok)
        .any(|line| line.contains(address))
    {
        return Err(CannotRun(
            "the gateway ended before it said its address".to_owned(),
        ));
    }
    // What it prints from here on is read, so that it never waits for us.
    std::thread::spawn(move || lines.for_each(drop));
    Ok(gateway)
}
