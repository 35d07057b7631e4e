//! The gateway beside a proxy that only forwards, both as processes of their own, in turns.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::Failure;
use crate::arguments::Arguments;
use crate::programs::load::{self, Outcome, RequestKind, Target as Requests, micros};
use crate::programs::process::Process;
use crate::table::{Results, Target};

const PATH: &str = "/v1/chat/completions";

/// What is asked of both: of the gateway by agent, of the proxy by path.
struct Case {
    name: &'static str,
    agent: &'static str,
    floor: &'static str,
}

const CASES: &[Case] = &[
    Case {
        name: "plain",
        agent: "plain",
        floor: "/one/v1/chat/completions",
    },
    Case {
        name: "429 then ok",
        agent: "failover",
        floor: "/two/v1/chat/completions",
    },
];

pub(crate) async fn measure(arguments: &Arguments, results: &mut Results) -> Result<(), Failure> {
    let program = program(arguments.gateway.as_deref())?;
    let upstream = Process::role("upstream", &[])?;
    let [good, bad] = ["ok", "429"].map(|mode| format!("http://{}/{mode}", upstream.address));
    let floor = Process::role("floor", &[good, bad])?;
    let home = tempfile::tempdir()?;
    write_config(home.path(), &upstream.address, 0)?;
    start_up(arguments, &program, results).await?;
    let gateway = started(&program, home.path()).await?;
    results.figure(
        "memory, idle".to_owned(),
        "MiB",
        &[gateway.memory()?],
        Some(Target::AtMost(20.0)),
    );
    for case in CASES {
        for connections in [1, 16, 64] {
            ratios(arguments, &gateway, &floor, case, connections, results).await?;
        }
    }
    results.figure(
        "memory, 64 clients".to_owned(),
        "MiB",
        &[gateway.memory()?],
        Some(Target::AtMost(30.0)),
    );
    cooled(arguments, &gateway, results).await?;
    streams(arguments, &gateway, &floor, results).await?;
    slow_upstream(arguments, &gateway, results).await
}

/// Latency, throughput and processor time of both, in turns.
async fn ratios(
    arguments: &Arguments,
    gateway: &Process,
    floor: &Process,
    case: &Case,
    connections: usize,
    results: &mut Results,
) -> Result<(), Failure> {
    eprintln!("{}, {connections} at once", case.name);
    let mut rounds = Vec::new();
    for _ in 0..arguments.rounds {
        let ours = loaded(gateway, &to(gateway, case.agent), connections, arguments.millis).await?;
        let theirs = loaded(
            floor,
            &Requests {
                path: case.floor,
                ..to(floor, case.agent)
            },
            connections,
            arguments.millis,
        )
        .await?;
        rounds.push((ours, theirs));
    }
    let pairs = |of: fn(&LoadResult) -> f64| -> Vec<(f64, f64)> {
        rounds
            .iter()
            .map(|(ours, theirs)| (of(ours), of(theirs)))
            .collect()
    };
    let name = |what: &str| format!("{what}, {}, {connections} at once", case.name);
    results.compare(
        name("p50"),
        "µs",
        &pairs(|loaded| loaded.outcome.latency(0.5)),
        Target::RatioAtMost(1.15),
    );
    if connections == 64 {
        results.compare(
            name("p99"),
            "µs",
            &pairs(|loaded| loaded.outcome.latency(0.99)),
            Target::RatioAtMost(1.0),
        );
        results.compare(
            name("throughput"),
            "1/s",
            &pairs(|loaded| loaded.outcome.per_second()),
            Target::RatioAtLeast(0.85),
        );
        results.compare(
            name("CPU of a request"),
            "µs",
            &pairs(|loaded| loaded.cpu),
            Target::RatioAtMost(1.2),
        );
    }
    Ok(())
}

pub(crate) struct LoadResult {
    pub(crate) outcome: Outcome,
    /// Microseconds of processor time for each request.
    cpu: f64,
}

pub(crate) async fn loaded(
    process: &Process,
    requests: &Requests,
    connections: usize,
    millis: u64,
) -> Result<LoadResult, Failure> {
    // The first requests pay for connections.
    load::run(requests, connections, millis / 5).await?;
    let before = process.cpu()?;
    let outcome = load::run(requests, connections, millis).await?;
    let cpu = (process.cpu()? - before) / outcome.count();
    Ok(LoadResult { outcome, cpu })
}

/// What a first candidate that rests adds to a request.
async fn cooled(arguments: &Arguments, gateway: &Process, results: &mut Results) -> Result<(), Failure> {
    let mut added = Vec::new();
    for _ in 0..arguments.rounds {
        let resting = load::run(&to(gateway, "cooled"), 1, arguments.millis).await?;
        let plain = load::run(&to(gateway, "plain"), 1, arguments.millis).await?;
        added.push(resting.latency(0.5) - plain.latency(0.5));
    }
    results.figure(
        "added by a first candidate that rests".to_owned(),
        "µs",
        &added,
        Some(Target::AtMost(50.0)),
    );
    Ok(())
}

async fn streams(
    arguments: &Arguments,
    gateway: &Process,
    floor: &Process,
    results: &mut Results,
) -> Result<(), Failure> {
    eprintln!("streams, 64 at once");
    let (mut firsts, mut throughput) = (Vec::new(), Vec::new());
    for _ in 0..arguments.rounds {
        let streamed = Requests {
            asks: RequestKind::Streamed,
            ..to(gateway, "plain")
        };
        let ours = load::run(&streamed, 64, arguments.millis).await?;
        let streamed = Requests {
            path: "/one/v1/chat/completions",
            asks: RequestKind::Streamed,
            ..to(floor, "plain")
        };
        let theirs = load::run(&streamed, 64, arguments.millis).await?;
        firsts.push((ours.first(0.5), theirs.first(0.5)));
        throughput.push((ours.per_second(), theirs.per_second()));
    }
    results.compare(
        "first chunk, 64 streams".to_owned(),
        "µs",
        &firsts,
        Target::RatioAtMost(1.5),
    );
    results.compare(
        "streams, 64 at once".to_owned(),
        "1/s",
        &throughput,
        Target::RatioAtLeast(0.85),
    );
    Ok(())
}

async fn slow_upstream(
    arguments: &Arguments,
    gateway: &Process,
    results: &mut Results,
) -> Result<(), Failure> {
    eprintln!("an upstream of 200 ms, 256 at once");
    let mut tails = Vec::new();
    for _ in 0..arguments.rounds {
        let outcome = load::run(&to(gateway, "slow"), 256, arguments.millis.max(1_000)).await?;
        tails.push(outcome.latency(0.99) / 1e3);
    }
    results.figure(
        "p99, 256 at once, upstream 200 ms".to_owned(),
        "ms",
        &tails,
        Some(Target::AtMost(210.0)),
    );
    results.figure(
        "memory, 256 at once".to_owned(),
        "MiB",
        &[gateway.memory()?],
        Some(Target::AtMost(50.0)),
    );
    Ok(())
}

/// From the start of the process to its first answer, with a hundred models and a hundred profiles.
async fn start_up(arguments: &Arguments, program: &Path, results: &mut Results) -> Result<(), Failure> {
    let upstream = Process::role("upstream", &[])?;
    let mut starts = Vec::new();
    for _ in 0..arguments.rounds {
        let home = tempfile::tempdir()?;
        write_config(home.path(), &upstream.address, 100)?;
        let begun = Instant::now();
        let _gateway = started(program, home.path()).await?;
        starts.push(micros(begun.elapsed()) / 1e3);
    }
    results.figure(
        "start to first answer, 100 models".to_owned(),
        "ms",
        &starts,
        Some(Target::AtMost(50.0)),
    );
    Ok(())
}

/// A gateway that answers every client.
pub(crate) async fn started(program: &Path, home: &Path) -> Result<Process, Failure> {
    started_for(program, home, None).await
}

/// A gateway that answers clients with the token.
pub(crate) async fn started_for(
    program: &Path,
    home: &Path,
    token: Option<&'static str>,
) -> Result<Process, Failure> {
    let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    let gateway = Process::gateway(program, home, port)?;
    let requests = Requests {
        token,
        ..to(&gateway, "plain")
    };
    let begun = Instant::now();
    loop {
        match load::once(&requests).await {
            Ok(()) => return Ok(gateway),
            Err(failure) if begun.elapsed() > Duration::from_secs(10) => {
                return Err(format!("the gateway does not answer: {failure}").into());
            }
            Err(_) => tokio::time::sleep(Duration::from_millis(1)).await,
        }
    }
}

/// Whole answers of an agent.
pub(crate) fn to(process: &Process, agent: &'static str) -> Requests {
    Requests {
        address: process.address.clone(),
        path: PATH,
        agent,
        asks: RequestKind::Whole,
        token: None,
    }
}

/// Agents for each case; `openrouter` is exempt from resting, so that its refusal is met by every request.
pub(crate) fn write_config(home: &Path, upstream: &str, more_models: usize) -> Result<(), Failure> {
    let provider = |mode: &str, models: usize| {
        let models: Vec<_> = (0..=models)
            .map(|number| serde_json::json!({ "id": format!("m{number}"), "name": "m" }))
            .collect();
        serde_json::json!({ "baseUrl": format!("http://{upstream}/{mode}/v1"), "apiKey": "bench", "api": "openai-completions", "models": models })
    };
    let config = serde_json::json!({
        "models": { "providers": {
            "bench": provider("ok", more_models),
            "limited": provider("429", 0),
            "openrouter": provider("429", 0),
            "slow": provider("delay200", 0),
        } },
        "agents": {
            "defaults": { "model": { "primary": "bench/m0" } },
            "list": [
                { "id": "plain", "model": { "primary": "bench/m0" } },
                { "id": "failover", "model": { "primary": "openrouter/m0", "fallbacks": ["bench/m0"] } },
                { "id": "cooled", "model": { "primary": "limited/m0", "fallbacks": ["bench/m0"] } },
                { "id": "slow", "model": { "primary": "slow/m0" } },
            ],
        },
    });
    std::fs::write(home.join("openclaw.json"), serde_json::to_string_pretty(&config)?)?;
    Ok(())
}

/// The gateway's program: named, or beside this one.
pub(crate) fn program(named: Option<&str>) -> Result<PathBuf, Failure> {
    let path = match named {
        Some(path) => PathBuf::from(path),
        None => std::env::current_exe()?.with_file_name("openclaw-gateway"),
    };
    if path.is_file() {
        Ok(path)
    } else {
        Err(format!(
            "{} is missing; build it with `cargo build --release -p openclaw-cli`",
            path.display()
        )
        .into())
    }
}
