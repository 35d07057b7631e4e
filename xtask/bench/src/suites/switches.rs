//! Everything on beside as little as there can be: a token, stored credentials, the history and its log.

use std::path::Path;

use serde_json::json;

use crate::Failure;
use crate::arguments::Arguments;
use crate::programs::load::Target as Requests;
use crate::programs::process::Process;
use crate::suites::gateway::{loaded, program, started, started_for, to, write_config};
use crate::table::{Results, Target};

const TOKEN: &str = "a-token-of-the-bench";

pub(crate) async fn measure(arguments: &Arguments, results: &mut Results) -> Result<(), Failure> {
    let program = program(arguments.gateway.as_deref())?;
    let upstream = Process::role("upstream", &[])?;
    let (all, none) = (tempfile::tempdir()?, tempfile::tempdir()?);
    write_config(none.path(), &upstream.address, 0)?;
    std::fs::write(
        none.path().join("failover.json5"),
        "{ history: { enabled: false } }",
    )?;
    write_all_on(&program, all.path(), &upstream.address)?;
    let none = started(&program, none.path()).await?;
    let all = started_for(&program, all.path(), Some(TOKEN)).await?;
    for (name, agent) in [("plain", "plain"), ("429 then ok", "failover")] {
        eprintln!("everything on and off, {name}");
        let mut pairs = Vec::new();
        for _ in 0..arguments.rounds {
            let with = Requests {
                token: Some(TOKEN),
                ..to(&all, agent)
            };
            let with = loaded(&all, &with, 64, arguments.millis).await?;
            let without = loaded(&none, &to(&none, agent), 64, arguments.millis).await?;
            pairs.push((with.outcome.per_second(), without.outcome.per_second()));
        }
        results.compare(
            format!("throughput with everything on beside off, {name}, 64 at once"),
            "1/s",
            &pairs,
            Target::RatioAtLeast(0.8),
        );
    }
    Ok(())
}

/// The same configuration with a token, and with keys in the store in place of keys in the configuration.
fn write_all_on(program: &Path, home: &Path, upstream: &str) -> Result<(), Failure> {
    write_config(home, upstream, 0)?;
    let path = home.join("openclaw.json");
    let mut config: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&path)?)?;
    config["gateway"] = json!({ "auth": { "mode": "token", "token": TOKEN } });
    let mut profiles = serde_json::Map::new();
    let providers = config["models"]["providers"].as_object_mut();
    for (name, provider) in providers.into_iter().flatten() {
        if let Some(members) = provider.as_object_mut() {
            members.remove("apiKey");
        }
        for number in 0..3 {
            let key = format!("key-{number}");
            profiles.insert(
                format!("{name}:{number}"),
                json!({ "type": "api_key", "provider": name, "key": key }),
            );
        }
    }
    std::fs::write(&path, config.to_string())?;
    Process::store(program, home, &profiles)
}
