//! Stores that agents share, and keys that change under them.

use openclaw_auth_store::{Credential, ProfileStore, Secret, UsageChange};
use openclaw_classify::Reason;
use openclaw_cooldown::{FailureEvent, MarkScope};
use openclaw_ids::{AuthAliases, ProfileId, ProviderId};
use serde_json::json;
use tempfile::TempDir;

use super::*;
use crate::config::SecretsConfig;
use crate::environment::Environment;

fn agents(state: &TempDir, variables: &[(&str, &str)]) -> Agents {
    let policy = RunPolicy {
        auth: openclaw_auth_store::AuthConfig::default(),
        aliases: AuthAliases::default(),
        endpoints: openclaw_runner::EndpointKeys::default(),
        settings: openclaw_runner::RunSettings::default(),
    };
    let environment = Environment::of(variables.iter().copied(), state.path());
    let shared = Shared {
        state_dir: state.path().to_owned(),
        legacy: LegacyLogins::of(&environment, state.path()),
        telemetry: Arc::new(Telemetry::idle()),
    };
    let settings = AgentSettings {
        agent_dirs: HashMap::new(),
        ambient: Vec::new(),
        policy: Arc::new(policy),
        sources: SecretSources::new(&SecretsConfig::default(), &environment),
    };
    Agents::new(shared, settings)
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
