//! `serve`: answers requests until interrupted.

use std::convert::Infallible;
use std::io::{self, Write};
use std::net::SocketAddr;

use clap::Args;
use openclaw_config::{Config, Environment};
use openclaw_gateway::report::dangling_credentials;
use openclaw_gateway::report::disk;
use openclaw_gateway::server::{Drained, Server};
use openclaw_gateway::state::{TOKEN_VARIABLE, client_token};
use openclaw_gateway::telemetry;
use openclaw_gateway::telemetry::terminal_escape::visible_lines;
use openclaw_gateway::{Gateway, Setup};
use openclaw_upstream::WorkerRuntimes;
use secrecy::ExposeSecret;
use tokio::net::TcpListener;
use tokio::sync::Mutex;

use crate::demo::Demo;
use crate::file_limit;
use crate::files::{Files, PathArgs};
use crate::outcome::{CommandError, Outcome};
use crate::signals::{HangupSignals, StopSignals};

/// Arguments of `serve`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ServeArgs {
    /// Where to listen
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:18789", value_parser = address)]
    bind: SocketAddr,
    /// Show failover with simulated providers: no key, no configuration, no network
    #[arg(long, conflicts_with_all = ["config", "state_dir"])]
    demo: bool,
    #[command(flatten)]
    places: PathArgs,
}

const EXAMPLES: &str = "\
Examples:
  openclaw-gateway serve --demo
  OPENROUTER_API_KEY=… openclaw-gateway serve
  openclaw-gateway serve --config ./openclaw.json --state-dir ./state
  OPENCLAW_GATEWAY_TOKEN=… openclaw-gateway serve --bind 0.0.0.0:18789

Then, from any OpenAI client with base URL http://127.0.0.1:18789/v1 and model `openclaw`:
  curl http://127.0.0.1:18789/v1/chat/completions -H 'content-type: application/json' \\
    -d '{\"model\": \"openclaw\", \"messages\": [{\"role\": \"user\", \"content\": \"Hello\"}]}'";

/// Characters of a client token below which anybody may find it by trying.
const SHORTEST_TOKEN: usize = 16;
const SHORT_TOKEN: &str = "the token of clients is so short that it can be guessed; use one of 16 characters or more, such \
                           as `openssl rand -hex 32` prints";

/// An address to listen on; names are not looked up, because one may mean several.
fn address(text: &str) -> Result<SocketAddr, &'static str> {
    text.parse()
        .map_err(|_| "write an IP address and a port, such as 127.0.0.1:18789 or [::1]:18789")
}

/// Why the gateway does not listen.
#[derive(Debug, thiserror::Error)]
enum ListenError {
    /// Beyond this machine without a token.
    #[error(
        "refusing to listen on {0}, which other machines can reach, without a token; set {TOKEN_VARIABLE} or \
         `gateway.auth.token`, or listen on 127.0.0.1"
    )]
    Open(SocketAddr),
    /// Another process listens there.
    #[error(
        "{0} is in use, perhaps by another gateway; stop it, or choose another address with --bind, such as \
         --bind 127.0.0.1:18790"
    )]
    InUse(SocketAddr),
    /// Another reason of the system's.
    #[error("cannot listen on {address}; choose another address with --bind")]
    Refused {
        /// The address.
        address: SocketAddr,
        /// What the system said.
        #[source]
        source: io::Error,
    },
}

/// Runs until a signal.
pub(super) fn run(
    environment: &Environment,
    arguments: ServeArgs,
    output: &mut dyn Write,
) -> Result<Outcome, CommandError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let filter = if arguments.demo { Demo::LOG_FILTER } else { "info" };
    let entered = runtime.enter();
    let traces = telemetry::install(environment, filter)?;
    drop(entered);
    let ended = runtime.block_on(async {
        let ended = Box::pin(serve(environment, arguments, output)).await;
        // It blocks, and what it waits for is sent by this thread.
        let _ = tokio::task::spawn_blocking(|| traces.shut_down()).await;
        ended
    });
    // What still runs now was given its time.
    runtime.shutdown_background();
    ended
}

async fn serve(
    environment: &Environment,
    arguments: ServeArgs,
    output: &mut dyn Write,
) -> Result<Outcome, CommandError> {
    let ServeArgs { bind, demo, places } = arguments;
    let files = places.config_files(environment);
    let config = (!demo).then(|| files.load()).transpose()?;
    let token = client_token(config.as_ref().unwrap_or(&Config::default()), environment)?;
    if !bind.ip().is_loopback() && token.is_none() {
        return Err(ListenError::Open(bind).into());
    }
    let mut warnings = Vec::new();
    if token
        .as_ref()
        .is_some_and(|token| token.expose_secret().chars().count() < SHORTEST_TOKEN)
    {
        warnings.push(SHORT_TOKEN.to_owned());
    }
    // Before anything is opened: a second gateway must not touch the first one's state.
    let listener = listen(bind).await?;
    let address = listener.local_addr()?;
    let hangups = HangupSignals::listen()?;
    // In this order: the state of the demo is removed with it, and must outlive the gateway that writes to it.
    let (demo, gateway) = if let Some(config) = config {
        let state_dir = places.state_dir(environment);
        // Opening a store reports what cannot be read in it.
        let dangling = dangling_credentials(&config, environment, &state_dir).unwrap_or_default();
        warnings.extend(
            dangling
                .iter()
                .map(|finding| format!("{}: {}", finding.place, finding.detail)),
        );
        warnings.extend(left_by_older_versions(&places, environment));
        warnings.extend(disk::problem(&state_dir).map(|trouble| trouble.to_string()));
        let setup = Setup {
            environment: environment.clone(),
            config,
            files: Some(files),
            state_dir,
            observer: None,
        };
        (None, Gateway::open(setup).await?)
    } else {
        let demo = Demo::start().await?;
        let setup = demo.setup(environment);
        (Some(demo), Gateway::open(setup).await?)
    };
    // A process that reads that the gateway listens may stop it at once.
    let stops = Mutex::new(StopSignals::listen()?);
    let stop_asked = async || stops.lock().await.next().await;
    match &demo {
        Some(demo) => demo.introduce(address, output)?,
        None => introduce(&gateway, &warnings, address, output)?,
    }
    let stop = async {
        stop_asked().await;
        gateway.stopping();
        tracing::info!("stopping; answers in flight may finish, a second signal ends them");
    };
    let workers = WorkerRuntimes::all()?;
    let open_files = file_limit::raise();
    let most = || gateway.most_connections(open_files);
    let served =
        Server::default().serve_until(&workers, listener, most, gateway.service(), stop, stop_asked());
    let drained = tokio::select! {
        drained = served => drained,
        never = reload_at_each(hangups, &gateway) => match never {},
    };
    gateway.close().await;
    if drained == Drained::Partly {
        tracing::warn!("some answers were cut short");
    }
    Ok(Outcome::Fine)
}

async fn reload_at_each(mut hangups: HangupSignals, gateway: &Gateway) -> Infallible {
    loop {
        hangups.next().await;
        // What became of it is in the log.
        let _ = gateway.reload().await;
    }
}

async fn listen(address: SocketAddr) -> Result<TcpListener, ListenError> {
    TcpListener::bind(address)
        .await
        .map_err(|source| match source.kind() {
            io::ErrorKind::AddrInUse => ListenError::InUse(address),
            _ => ListenError::Refused { address, source },
        })
}

/// What a gateway does with the credentials that are in files of older versions alone.
fn left_by_older_versions(places: &PathArgs, environment: &Environment) -> Vec<String> {
    let files = Files::open_as_configured(places, environment);
    let older = files.map(|files| files.left_for_all());
    older
        .unwrap_or_default()
        .iter()
        .map(ToString::to_string)
        .collect()
}

fn introduce(
    gateway: &Gateway,
    warnings: &[String],
    address: SocketAddr,
    output: &mut dyn Write,
) -> io::Result<()> {
    let found = gateway
        .found()
        .map(|found| format!("Nothing is configured, so this machine was searched.\n{found}\n"));
    let mut lines: Vec<String> = found.into_iter().collect();
    let all = gateway.warnings().into_iter().chain(warnings.iter().cloned());
    lines.extend(all.map(|warning| format!("Warning: {warning}")));
    let chains = gateway.chains().into_iter();
    lines.extend(chains.map(|(agent, chain)| format!("openclaw/{agent}: {}", chain.join(" → "))));
    lines.push(format!("Listening on http://{address}/v1"));
    // Names and texts of others stand in it.
    writeln!(output, "{}", visible_lines(&lines.join("\n")))?;
    output.flush()
}
