//! What a client is told when no model answers (M3, R-14).

use faultwall::scripted::Script;

use crate::world::{World, refusal};

fn limited(seconds: &str) -> Script {
    let body = r#"{"error":{"message":"Rate limit reached","type":"rate_limit_error","code":"rate_limit_exceeded"}}"#;
    Script::reply(
        429,
        &[("content-type", "application/json"), ("retry-after", seconds)],
        body,
    )
}

/// A request that this model cannot serve, though another one might.
fn incapable(key: &str) -> Script {
    let message = format!("This model does not support tools (key {key})");
    let body = serde_json::json!({"error": {"message": message}});
    Script::json(400, &body.to_string())
}

#[tokio::test]
async fn statuses_follow_the_reasons() {
    let billing = || refusal(402, "insufficient_credits", "Insufficient credits");
    let auth = || {
        refusal(
            401,
            "invalid_api_key",
            "Incorrect API key provided: sk-proj-abcdefghijklmnopqrstuvwx",
        )
    };
    let busy = || refusal(529, "overloaded_error", "Overloaded");
    let overflow = || {
        refusal(
            400,
            "context_length_exceeded",
            "This model's maximum context length is 8192 tokens",
        )
    };
    let format = || {
        refusal(
            400,
            "invalid_request_error",
            "messages: roles must alternate between user and assistant",
        )
    };
    for (name, status, first, second) in [
        ("all_limited", 429, limited("20"), limited("45")),
        ("all_billing", 402, billing(), billing()),
        ("all_auth", 502, auth(), auth()),
        ("mixed", 503, limited("20"), busy()),
        (
            "all_refused",
            400,
            incapable("sk-proj-abcdefghijklmnopqrstuvwx"),
            incapable("key-b"),
        ),
        ("refused_and_busy", 503, incapable("none"), busy()),
        ("overflow", 400, overflow(), busy()),
        ("format", 400, format(), busy()),
    ] {
        let world = World::start(vec![vec![first], vec![second]]).await;
        let received = world.ask_plain().await;
        assert_eq!(received.status, status, "{name}");
        assert!(
            !received.body.contains("abcdefghijklmnop"),
            "{name}: {}",
            received.body
        );
        insta::assert_snapshot!(name, received.show());
    }
}

/// R-14.1: told to the client, whose own retries would otherwise sleep.
#[tokio::test]
async fn a_wait_over_the_cap_is_not_left_to_the_sdk() {
    for (seconds, variables, should_retry) in [
        ("40", &[] as &[_], None),
        ("3000", &[], Some("false")),
        ("3000", &[("OPENCLAW_SDK_RETRY_MAX_WAIT_SECONDS", "off")], None),
        (
            "40",
            &[("OPENCLAW_SDK_RETRY_MAX_WAIT_SECONDS", "30")],
            Some("false"),
        ),
    ] {
        let world = World::start_with(vec![vec![limited(seconds)]], "", variables).await;
        let received = world.ask_plain().await;
        assert_eq!(received.status, 429);
        assert_eq!(
            received.header("x-should-retry"),
            should_retry,
            "{seconds} {variables:?}"
        );
    }
}

#[tokio::test]
async fn a_single_model_is_judged_like_a_chain_of_one() {
    let bare = Script::json(400, r#"{"error":{"message":"unknown parameter: frobnicate"}}"#);
    let missing = refusal(404, "model_not_found", "The model `m` does not exist");
    let auth = refusal(401, "invalid_api_key", "Incorrect API key provided");
    for (name, script, status, should_retry) in [
        ("single_format", bare, 400, Some("false")),
        ("single_limited", limited("20"), 429, None),
        ("single_missing", missing, 503, Some("false")),
        ("single_auth", auth, 502, Some("false")),
    ] {
        let world = World::start(vec![vec![script]]).await;
        let received = world.ask_plain().await;
        assert_eq!(received.status, status, "{name}");
        assert_eq!(received.header("x-should-retry"), should_retry, "{name}");
        assert_eq!(received.header("retry-after").is_some(), status == 429, "{name}");
        let expiry = received.json()["error"]["soonestCooldownExpiry"].is_u64();
        assert!(expiry || status != 429, "{name}");
    }
}

#[tokio::test]
async fn without_any_credential_the_error_says_how_to_give_one() {
    let world = World::start(vec![vec![Script::reset()]]).await;
    let received = world.ask("openai/gpt-5.5", serde_json::json!({}), &[]).await;
    insta::assert_snapshot!("no_credential", received.show());
}

#[tokio::test]
async fn a_key_that_waits_in_an_older_file_is_named_with_what_brings_it_into_the_store() {
    let state = tempfile::tempdir().unwrap();
    let folder = state.path().join("agents/main/agent");
    std::fs::create_dir_all(&folder).unwrap();
    let older = r#"{"version": 1, "profiles": {"openai:work": {"type": "api_key", "provider": "openai", "key": "sk-old"}}}"#;
    std::fs::write(folder.join("auth-profiles.json"), older).unwrap();
    let text = "{ agents: { defaults: { model: { primary: 'openai/gpt', fallbacks: ['groq/llama'] } } } }";
    let world = World::open_in(state, "{}", Vec::new(), text, &[]).await;
    let answer = world.ask_plain().await.json();
    let attempts = &answer["error"]["attempts"];
    let told = |at: usize| attempts[at]["error"].as_str().unwrap().to_owned();
    assert!(told(0).contains("`openclaw-gateway doctor --fix`"), "{answer}");
    assert!(told(1).contains("`openclaw-gateway auth add groq`"), "{answer}");
    let status = world.get("/admin/v1/status", &[]).await.json();
    assert_eq!(
        status["agents"][0]["troubles"][0]["kind"], "olderCredentials",
        "{status}"
    );
}

#[tokio::test]
async fn d4_unreachable_endpoints_say_when_to_come_back() {
    for count in [1, 2] {
        let mut world = World::start(vec![vec![Script::reset()]; count]).await;
        for upstream in std::mem::take(&mut world.upstreams) {
            upstream.stop().await;
        }
        // The second request finds every endpoint resting.
        for _ in 0..2 {
            let received = world.ask_plain().await;
            assert_eq!(received.status, 503, "{count}");
            let wait: u64 = received.header("retry-after").unwrap().parse().unwrap();
            assert!((1..=30).contains(&wait), "{count}: {wait}");
            let expiry = received.json()["error"]["soonestCooldownExpiry"].clone();
            assert!(expiry.is_u64(), "{count}: {expiry}");
        }
    }
}

#[tokio::test]
async fn a_key_that_leads_nowhere_is_named_by_its_variable() {
    let text = "{ agents: { defaults: { model: 'relay/m' } },
                  models: { providers: { relay: { baseUrl: 'http://127.0.0.1:9/v1', apiKey: '${NOPE}' } } } }";
    let world = World::open(Vec::new(), text, &[]).await;
    let received = world.ask_plain().await;
    assert_eq!(received.status, 502);
    let message = received.json()["error"]["message"].as_str().unwrap().to_owned();
    assert!(
        message.contains("`NOPE` is not set") && message.contains("models.providers.relay.apiKey"),
        "{message}"
    );
}
