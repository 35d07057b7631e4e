//! `auth`.

use faultwall::scripted::{Script, Upstream};

use super::Desk;
use crate::world::refusal;

/// The first words of a streamed answer.
const CONTENT: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"OK\"}}]}\n\n";

#[test]
fn keys_are_stored_listed_ordered_and_removed() {
    let desk = Desk::new().with_variable("GROQ_API_KEY", "gsk-0123456789");
    let mut told = String::new();
    for (arguments, input) in [
        (&["auth", "list"] as &[&str], ""),
        (&["auth", "add", "openai"], "sk-default-0123456789\n"),
        (&["auth", "add", "openai"], "sk-other-0123456789\n"),
        (
            &["auth", "add", "openai:work", "--email", "a@example.com"],
            "sk-work-0123456789",
        ),
        (
            &[
                "auth",
                "add",
                "anthropic:ci",
                "--kind",
                "token",
                "--expires",
                "2001-01-01T00:00:00Z",
            ],
            "tok",
        ),
        (&["auth", "add", "groq:copy", "--from-env", "GROQ_API_KEY"], ""),
        (&["auth", "add", "groq:pointer", "--ref", "env:GROQ_API_KEY"], ""),
        (&["auth", "add", "nowhere"], "k-0123456789"),
        (&["auth", "list"], ""),
        (&["auth", "order", "get", "openai"], ""),
        (&["auth", "order", "set", "openai", "openai:work"], ""),
        (&["auth", "add", "openai:new"], "sk-new-0123456789"),
        (&["auth", "add", "openai:best", "--first"], "sk-best-0123456789"),
        (&["auth", "order", "get"], ""),
        (&["auth", "order", "clear", "openai"], ""),
        (&["auth", "remove", "openai:new"], ""),
        (&["auth", "list", "--agent", "ops"], ""),
    ] {
        let done = desk.run_with(arguments, input);
        told += &done.shown(arguments);
    }
    assert!(!told.contains("0123456789"), "no secret is shown: {told}");
    insta::assert_snapshot!("auth", told);
}

#[test]
fn two_lines_are_not_joined_to_a_secret() {
    let desk = Desk::new();
    let done = desk.run_with(
        &["auth", "add", "openai"],
        "sk-one-0123456789\nsk-two-0123456789\n",
    );
    assert_eq!(done.status, 2, "{done:?}");
    assert!(done.error.contains("more than one line"), "{done:?}");
    assert!(!done.error.contains("0123456789"), "no secret is shown: {done:?}");
    let listed = desk.fine(&["auth", "list"]).output;
    assert!(!listed.contains("openai:default"), "nothing is stored: {listed}");
}

#[test]
fn bl_78_a_key_is_stored_in_the_agent_that_was_named() {
    let desk = Desk::new();
    let done = desk.run_with(&["auth", "add", "groq", "--agent", "ops", "--json"], "gsk-1");
    assert_eq!(done.json()["agent"], "ops");
    assert!(desk.path("agents/ops/agent/openclaw-agent.sqlite").exists());
    let main = desk.fine(&["auth", "list", "--json"]).json();
    assert!(!main.to_string().contains("groq:default"));
}

#[cfg(unix)]
#[test]
fn what_is_stored_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let desk = Desk::new().with_keys();
    let mode = |name: &str| desk.path(name).metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode("agents/main/agent/openclaw-agent.sqlite"), 0o600);
    assert_eq!(mode("agents/main/agent"), 0o700);
}

#[tokio::test]
async fn a_test_says_what_the_provider_thinks_of_each_key() {
    let scripts = vec![
        Script::stream(&[CONTENT, "data: [DONE]\n\n"]),
        refusal(
            401,
            "invalid_api_key",
            "Incorrect API key provided: sk-two-0123456789abcdefghijkl",
        ),
        refusal(402, "insufficient_quota", "You exceeded your current quota"),
        refusal(429, "rate_limit_exceeded", "Rate limit reached, try again in 7s"),
        Script::json(500, "{}"),
        refusal(404, "model_not_found", "The model `m` does not exist"),
    ];
    let upstream = Upstream::start(scripts).await;
    let desk = Desk::with(&format!(
        "{{ agents: {{ defaults: {{ model: 'relay/m' }} }},
            models: {{ providers: {{ relay: {{ baseUrl: '{}', models: [] }} }} }} }}",
        upstream.base_url()
    ));
    let told = tokio::task::spawn_blocking(move || {
        let mut told = String::new();
        for name in ["one", "two", "three", "four", "five", "six"] {
            let profile = format!("relay:{name}");
            desk.run_with(
                &["auth", "add", &profile],
                &format!("sk-{name}-0123456789abcdefghijkl"),
            );
            let arguments = ["auth", "test", &profile];
            told += &desk.run(&arguments).shown(&arguments);
        }
        let listed = desk.fine(&["cooldown", "list"]);
        told + &listed.output
    });
    let told = told.await.unwrap();
    assert!(!told.contains("0123456789abcdefghijkl"), "{told}");
    insta::assert_snapshot!("auth_test", told);
    let seen = upstream.seen();
    let keys: Vec<_> = seen.iter().map(|seen| seen.header("authorization")).collect();
    assert_eq!(keys.len(), 6);
    assert_eq!(keys[1], Some("Bearer sk-two-0123456789abcdefghijkl"));
}

#[test]
fn a_secret_that_is_typed_as_an_argument_is_refused_and_not_repeated() {
    for typed in [
        &["openai", "sk-typed-0123456789"] as &[&str],
        &["sk-typed-0123456789"],
        &["openai:sk-typed-0123456789"],
    ] {
        let told = Desk::new().refused(&[&["auth", "add"], typed].concat());
        assert!(!told.contains("sk-typed"), "{told}");
        assert!(told.contains("a secret is no argument"), "{told}");
    }
}

#[test]
fn a_provider_without_an_address_is_a_failure_and_each_credential_is_asked_with_once() {
    let desk = Desk::with("{ agents: { defaults: { model: 'nowhere/m' } } }");
    desk.run_with(&["auth", "add", "nowhere"], "k-0123456789");
    let done = desk.run(&["auth", "test", "nowhere", "nowhere:default", "--json"]);
    assert_eq!(done.status, 1, "{done:?}");
    let tested = done.json()["tested"].as_array().unwrap().clone();
    assert_eq!(tested.len(), 1, "{tested:?}");
    assert_eq!(tested[0]["outcome"], "failed");
    let detail = tested[0]["detail"].as_str().unwrap();
    assert!(
        detail.contains("set models.providers.nowhere.baseUrl"),
        "{detail}"
    );
}
