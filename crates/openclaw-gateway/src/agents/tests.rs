//! Stores that agents share, and keys that change under them.

use openclaw_auth_store::{Credential, ProfileStore, Secret, UsageChange};
use openclaw_classify::Reason;
use openclaw_config::{Environment, SecretsConfig};
use openclaw_cooldown::{FailureEvent, MarkScope};
use openclaw_ids::{ProfileId, ProviderId};
use openclaw_providers::AuthAliases;
use serde_json::json;
use tempfile::TempDir;

use super::*;

fn agents(state: &TempDir, variables: &[(&str, &str)]) -> Agents {
    let environment = Environment::of(variables.iter().copied(), state.path());
    let shared = AgentContext {
        state_dir: state.path().to_owned(),
        legacy: LegacyLogins::of(&environment, state.path()),
        telemetry: Arc::new(Telemetry::idle()),
    };
    Agents::new(shared, settings(&SecretsConfig::default(), &environment))
}

fn settings(secrets: &SecretsConfig, environment: &Environment) -> AgentSettings {
    let policy = RunPolicy {
        auth: openclaw_auth_store::AuthConfig::default(),
        aliases: AuthAliases::default(),
        endpoints: openclaw_runner::EndpointKeys::default(),
        settings: openclaw_runner::RunSettings::default(),
    };
    AgentSettings {
        agent_dirs: HashMap::new(),
        ambient: Vec::new(),
        policy: Arc::new(policy),
        sources: SecretSources::new(secrets, environment),
    }
}

fn profile(id: &str) -> ProfileId {
    ProfileId::try_new(id).unwrap()
}

fn unpaid(id: &str) -> UsageChange {
    let event = FailureEvent {
        provider: ProviderId::try_new("openai").unwrap(),
        reason: Reason::Billing,
        scope: MarkScope::Profile,
        model: None,
        hint: None,
        started_at: None,
    };
    UsageChange::Failure {
        profile: profile(id),
        event,
    }
}

/// Also L13: what is inherited is always the main agent's.
#[tokio::test]
async fn d14_an_agent_shares_the_main_agents_profiles_and_their_state() {
    let state = tempfile::tempdir().unwrap();
    let agents = agents(&state, &[]);
    let main = agents.get(&AgentId::main()).await.unwrap();
    let ops = agents.get(&AgentId::new("ops")).await.unwrap();
    let now = SystemClock.now();
    let key = |text| Credential::api_key(ProviderId::try_new("openai").unwrap(), Secret::new(text));
    main.usage
        .upsert(profile("shared"), key("one"), now)
        .await
        .unwrap();
    ops.usage.upsert(profile("own"), key("two"), now).await.unwrap();
    ops.usage.commit(unpaid("shared"), now).await.unwrap();
    let usable = |agent: &Agent, id: &str| agent.usage.snapshot().usage(&profile(id)).is_usable(None, now);
    assert!(
        !usable(&main, "shared") && !usable(&ops, "shared"),
        "both know of it"
    );
    assert!(usable(&ops, "own"));
    assert!(main.usage.snapshot().credential(&profile("own")).is_none());
    assert!(main.usage.main().is_none(), "the main agent inherits nothing");
}

#[tokio::test]
async fn bl34_a_variable_that_was_set_to_another_key_is_free_after_a_restart() {
    let state = tempfile::tempdir().unwrap();
    let pointer = json!({"type": "api_key", "provider": "openai", "keyRef": "$KEY"});
    let now = SystemClock.now();
    let first = agents(&state, &[("KEY", "one")])
        .get(&AgentId::main())
        .await
        .unwrap();
    let pointer = Credential::from_json(&pointer).unwrap();
    first.usage.upsert(profile("p"), pointer, now).await.unwrap();
    drop(first);
    for (key, marked, usable) in [("one", true, false), ("one", false, false), ("two", false, true)] {
        let agent = agents(&state, &[("KEY", key)])
            .get(&AgentId::main())
            .await
            .unwrap();
        if marked {
            agent.usage.commit(unpaid("p"), now).await.unwrap();
        }
        assert_eq!(
            agent.usage.snapshot().usage(&profile("p")).is_usable(None, now),
            usable,
            "{key}"
        );
    }
}

/// A command that tells when it runs, by one pipe, and waits for a word from another one.
#[cfg(unix)]
fn waiting_command(folder: &Path) -> SecretsConfig {
    for pipe in ["runs", "goes_on"] {
        let made = std::process::Command::new("mkfifo")
            .arg(folder.join(pipe))
            .status();
        assert!(made.unwrap().success());
    }
    let (command, folder) = (folder.join("command"), folder.display());
    let script = format!("#!/bin/sh\necho > {folder}/runs\nread word < {folder}/goes_on\necho key\n");
    std::fs::write(&command, script).unwrap();
    std::fs::set_permissions(&command, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    let text = format!(
        "{{ providers: {{ slow: {{ source: 'exec', command: '{}', jsonOnly: false }} }} }}",
        command.display()
    );
    json5::from_str(&text).unwrap()
}

#[cfg(unix)]
#[tokio::test]
async fn no_request_waits_for_the_commands_that_other_settings_lead_to() {
    let state = tempfile::tempdir().unwrap();
    let agents = Arc::new(agents(&state, &[]));
    let main = AgentId::main();
    let agent = agents.get(&main).await.unwrap();
    let pointer = json!({"type": "api_key", "provider": "openai",
        "keyRef": {"source": "exec", "provider": "slow", "id": "value"}});
    let pointer = Credential::from_json(&pointer).unwrap();
    agent
        .usage
        .upsert(profile("p"), pointer, SystemClock.now())
        .await
        .unwrap();
    let other = settings(&waiting_command(state.path()), &Environment::of([], state.path()));
    let mut applying = tokio::spawn({
        let agents = Arc::clone(&agents);
        async move { agents.apply(other).await }
    });
    let runs = state.path().join("runs");
    tokio::task::spawn_blocking(move || std::fs::read(runs))
        .await
        .unwrap()
        .unwrap();
    tokio::select! {
        biased;
        _ = &mut applying => panic!("the agent was there only once the command had ended"),
        found = agents.get(&main) => assert!(found.is_ok()),
    }
    let goes_on = state.path().join("goes_on");
    tokio::task::spawn_blocking(move || std::fs::write(goes_on, "word\n"))
        .await
        .unwrap()
        .unwrap();
    applying.await.unwrap();
    assert_eq!(
        agent.usage.snapshot().resolved.len(),
        1,
        "the pointer was followed"
    );
}
