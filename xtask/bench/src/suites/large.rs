//! Very many credentials and sessions beside few of them: the start, and what a request costs.

use std::path::Path;
use std::time::Instant;

use serde_json::{Map, Value, json};
use tempfile::TempDir;

use crate::Failure;
use crate::arguments::Arguments;
use crate::programs::load::micros;
use crate::programs::process::Process;
use crate::suites::gateway::{loaded, program, started, to};
use crate::table::{Results, Target};

/// How many providers the credentials are for; those that are asked have [`ASKED`] of them.
const PROVIDERS: usize = 100;
const ASKED: usize = 3;
/// What a request may cost more: noise, and nothing that grows.
const UNCHANGED: Target = Target::RatioAtMost(1.1);

pub(crate) async fn measure(arguments: &Arguments, results: &mut Results) -> Result<(), Failure> {
    let program = program(arguments.gateway.as_deref())?;
    let upstream = Process::role("upstream", &[])?;
    eprintln!("a state of 10 000 credentials and 100 000 sessions is made");
    let few = state(&program, &upstream, 100, 100).await?;
    let many = state(&program, &upstream, 10_000, 100_000).await?;
    let mut starts = Vec::new();
    for _ in 0..arguments.rounds {
        let begun = Instant::now();
        let _gateway = started(&program, many.path()).await?;
        starts.push(micros(begun.elapsed()) / 1e3);
    }
    results.figure(
        "start to first answer, 10 000 credentials, 100 000 sessions".to_owned(),
        "ms",
        &starts,
        Some(Target::AtMost(500.0)),
    );
    let (few, many) = (
        started(&program, few.path()).await?,
        started(&program, many.path()).await?,
    );
    for (name, agent) in [
        ("plain", "plain"),
        ("of an agent that inherits, failover", "failover"),
    ] {
        for connections in [1, 16] {
            eprintln!("{name}, {connections} at once");
            let mut pairs = Vec::new();
            for _ in 0..arguments.rounds {
                let of_many = loaded(&many, &to(&many, agent), connections, arguments.millis).await?;
                let of_few = loaded(&few, &to(&few, agent), connections, arguments.millis).await?;
                pairs.push((of_many.outcome.latency(0.5), of_few.outcome.latency(0.5)));
            }
            let name = format!("p50 with 10 000 beside 100, {name}, {connections} at once");
            results.compare(name, "µs", &pairs, UNCHANGED);
        }
    }
    results.figure(
        "memory with 10 000 credentials and 100 000 sessions".to_owned(),
        "MiB",
        &[many.memory()?],
        None,
    );
    Ok(())
}

/// The folder of a gateway that has taken over so much from older files.
async fn state(
    program: &Path,
    upstream: &Process,
    credentials: usize,
    sessions: usize,
) -> Result<TempDir, Failure> {
    let home = tempfile::tempdir()?;
    let agent = home.path().join("state/agents/plain");
    std::fs::create_dir_all(agent.join("sessions"))?;
    let mut providers = Map::new();
    let mut profiles = Map::new();
    for number in 0..PROVIDERS {
        let (name, mode) = match number {
            0 => ("bench".to_owned(), "ok"),
            1 => ("openrouter".to_owned(), "429"),
            number => (format!("provider-{number}"), "ok"),
        };
        let base_url = format!("http://{}/{mode}/v1", upstream.address);
        let models = json!([{ "id": "m0", "name": "m" }]);
        let provider = json!({ "baseUrl": base_url, "api": "openai-completions", "models": models });
        let keys = if number < 2 {
            ASKED
        } else {
            credentials / PROVIDERS
        };
        for key in 0..keys {
            let profile =
                json!({ "type": "api_key", "provider": name, "key": format!("key-{number}-{key}") });
            profiles.insert(format!("{name}:{key}"), profile);
        }
        providers.insert(name, provider);
    }
    let entries: Map<String, Value> = (0..sessions)
        .map(|number| {
            let entry = json!({ "sessionId": format!("s{number}"), "updatedAt": 1_764_400_000_000_u64 });
            (format!("agent:plain:{number}"), entry)
        })
        .collect();
    std::fs::write(
        agent.join("sessions/sessions.json"),
        Value::Object(entries).to_string(),
    )?;
    let config = json!({
        "models": { "providers": providers },
        "agents": {
            "defaults": { "model": { "primary": "bench/m0" } },
            "list": [
                { "id": "plain" },
                { "id": "failover", "model": { "primary": "openrouter/m0", "fallbacks": ["bench/m0"] } },
            ],
        },
    });
    std::fs::write(home.path().join("openclaw.json"), config.to_string())?;
    Process::store(program, home.path(), &profiles)?;
    // The sessions are taken over at the first start.
    started(program, home.path()).await?;
    Ok(home)
}
