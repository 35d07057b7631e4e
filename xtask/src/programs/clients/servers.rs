//! The gateway and the failing upstream, as child processes on free ports.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::cli::CannotRun;
use crate::workspace::{self, Workspace};

/// Both programs, ended with this value.
pub(super) struct Servers {
    _wall: Program,
    _gateway: Program,
    address: String,
}

/// A child process, ended with this value.
struct Program(Child);

impl Drop for Program {
    fn drop(&mut self) {
        // Both fail only when it has ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Servers {
    /// Starts both, with all they write below `place`.
    pub(super) fn start(workspace: &Workspace, place: &Path) -> Result<Self, CannotRun> {
        let state = place.join("state");
        std::fs::create_dir_all(&state).map_err(|error| workspace::cannot_use(&state, &error))?;
        let (wall_address, address) = (free_address()?, free_address()?);
        let config = state.join("openclaw.json");
        std::fs::write(&config, configuration(&wall_address))
            .map_err(|error| workspace::cannot_use(&config, &error))?;
        let failover = state.join("failover.json5");
        // Each client meets the same failures, so nothing rests.
        let settings = "{
  cooldownBypass: ['bad', 'bad-messages', 'bad-responses'],
  stream: { rescue: 'splice' },
}
";
        std::fs::write(&failover, settings).map_err(|error| workspace::cannot_use(&failover, &error))?;
        let run = |package: &str, arguments: &[&str]| {
            let mut command = workspace.cargo();
            command
                .args(["run", "--quiet", "--package", package, "--"])
                .args(arguments);
            command
        };
        let wall = started(
            &mut run("xtask-faultwall", &["--bind", &wall_address]),
            &wall_address,
        )?;
        let mut serve = run("openclaw-cli", &["serve", "--bind", &address, "--state-dir"]);
        serve.arg(&state).env("RUST_LOG", "error");
        for variable in [
            "OPENCLAW_CONFIG_PATH",
            "OPENCLAW_FAILOVER_CONFIG",
            "OPENCLAW_GATEWAY_TOKEN",
        ] {
            serve.env_remove(variable);
        }
        let gateway = started(&mut serve, &address)?;
        Ok(Self {
            _wall: wall,
            _gateway: gateway,
            address,
        })
    }

    /// Where clients ask.
    pub(super) fn gateway_url(&self) -> String {
        format!("http://{}", self.address)
    }
}

/// Agents by what their clients are to meet, in every format.
fn configuration(wall: &str) -> String {
    // A chain of one ends with its failure, a longer one goes on.
    let agents = [
        ("main", "", "status-503", true),
        ("cut", "", "cut-after-2", false),
        ("limited", "", "status-429-after-30", false),
        ("spliced", "", "cut-after-2", true),
        ("messages", "-messages", "status-503", true),
        ("messages-cut", "-messages", "cut-after-2", false),
        ("messages-limited", "-messages", "status-429-after-30", false),
        ("messages-spliced", "-messages", "cut-after-2", true),
        ("responses", "-responses", "status-503", true),
        ("responses-cut", "-responses", "cut-after-2", false),
        ("responses-spliced", "-responses", "cut-after-2", true),
    ];
    let agents = agents.map(|(id, format, fault, goes_on)| {
        let fallbacks = if goes_on {
            format!("'good{format}/ok'")
        } else {
            String::new()
        };
        format!(
            "    {{ id: '{id}', model: {{ primary: 'bad{format}/{fault}', fallbacks: [{fallbacks}] }} }},\n"
        )
    });
    let providers = [
        ("", "openai-completions"),
        ("-messages", "anthropic-messages"),
        ("-responses", "openai-responses"),
    ];
    let providers = providers.map(|(format, api)| {
        ["bad", "good"]
            .map(|name| {
                let url = format!("http://{wall}/{name}{format}/v1");
                format!("    '{name}{format}': {{ baseUrl: '{url}', apiKey: 'any', api: '{api}' }},\n")
            })
            .concat()
    });
    format!(
        "{{\n  agents: {{ list: [\n{}  ] }},\n  models: {{ providers: {{\n{}  }} }},\n}}\n",
        agents.concat(),
        providers.concat()
    )
}

fn free_address() -> Result<String, CannotRun> {
    let address = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    address
        .map(|address| address.to_string())
        .map_err(|error| CannotRun(format!("no free port on loopback: {error}")))
}

/// Starts a program and waits for the line that names its address.
fn started(command: &mut Command, address: &str) -> Result<Program, CannotRun> {
    command.stdout(Stdio::piped());
    let mut child = command
        .spawn()
        .map_err(|error| workspace::cannot_start(command, &error))?;
    let stdout = child.stdout.take();
    let program = Program(child);
    let no_output = || CannotRun(format!("{} has no output", workspace::spelled(command)));
    let mut lines = BufReader::new(stdout.ok_or_else(no_output)?).lines();
    let said = lines
        .by_ref()
        .map_while(Result::ok)
        .any(|line| line.contains(address));
    if !said {
        let spelled = workspace::spelled(command);
        return Err(CannotRun(format!("{spelled} ended before it said its address")));
    }
    // What it prints from here on is read, so that it never waits for us.
    std::thread::spawn(move || lines.for_each(drop));
    Ok(program)
}
