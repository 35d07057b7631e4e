//! Logins: refreshed before they end, used where they are good, and asked about their limits.

mod elsewhere;
mod formats;
mod limits;

use std::path::Path;
use std::sync::Arc;

use faultwall::scripted::{Script, Upstream};
use openclaw_auth_store::{Credential, ProfileStore, SqliteAuthStore, UsageStore};
use openclaw_cooldown::CooldownConfig;
use openclaw_ids::{AgentId, ProfileId};
use openclaw_runner::{Clock, SystemClock};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::world::{Received, World, hello, refusal};

const RESPONSE: &str = r#"{"id":"r","object":"response","status":"completed","model":"m","output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Hello"}]}]}"#;
const MESSAGE: &str = r#"{"id":"m","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"Hello"}],"stop_reason":"end_turn"}"#;

fn profile(id: &str) -> ProfileId {
    ProfileId::try_new(id).unwrap()
}

/// The main agent's store as another process would open it.
fn store(state: &Path) -> SqliteAuthStore {
    let folder = state.join("agents/main/agent");
    let now = SystemClock.now();
    SqliteAuthStore::open(
        &folder,
        &AgentId::main(),
        Vec::new(),
        CooldownConfig::default(),
        now,
    )
    .unwrap()
}

/// Milliseconds from now.
fn later(seconds: i64) -> i64 {
    SystemClock.now().as_millisecond() + seconds * 1_000
}

fn login(provider: &str, expires: i64) -> Value {
    json!({"type": "oauth", "provider": provider, "access": "access-old", "refresh": "refresh-old",
        "expires": expires, "accountId": "acc-1"})
}

/// A state in which these profiles are stored.
async fn state_with(entries: &[(&str, Value)]) -> TempDir {
    let state = tempfile::tempdir().unwrap();
    let store = store(state.path());
    for (id, entry) in entries {
        let credential = Credential::from_json(entry).unwrap();
        store
            .upsert(profile(id), credential, SystemClock.now())
            .await
            .unwrap();
    }
    state
}

fn renewed() -> Script {
    let body = json!({"access_token": "access-new", "refresh_token": "refresh-new", "expires_in": 3_600});
    Script::json(200, &body.to_string())
}

/// A gateway with one login, `<provider>:me`, that ends in so many seconds, in front of one stub for the API, one for
/// tokens and one for limits.
async fn world(provider: &str, ends_in: i64, [api, tokens, usage]: [Script; 3]) -> World {
    worlds(provider, ends_in, [vec![api], vec![tokens], vec![usage]]).await
}

async fn worlds(provider: &str, ends_in: i64, scripts: [Vec<Script>; 3]) -> World {
    let id = format!("{provider}:me");
    let state = state_with(&[(&*id, login(provider, later(ends_in)))]).await;
    let mut upstreams = Vec::new();
    for scripts in scripts {
        upstreams.push(Upstream::start(scripts).await);
    }
    let [api, tokens, usage] = [0, 1, 2].map(|at: usize| upstreams[at].base_url());
    let failover = format!(
        "{{ logins: {{ {provider}: {{ baseUrl: '{api}', tokenUrl: '{tokens}/token', usageUrl: '{usage}/usage',
             clientId: 'client-1' }} }} }}"
    );
    let text = format!("{{ agents: {{ defaults: {{ model: '{provider}/m' }} }} }}");
    World::open_in(state, &failover, upstreams, &text, &[]).await
}

fn answer() -> Script {
    Script::json(200, RESPONSE)
}

async fn respond(world: &World) -> Received {
    world
        .post_to(
            "/v1/responses",
            json!({"model": "openclaw", "input": "Hi"}).to_string(),
            &[],
        )
        .await
}

fn sent(world: &World, at: usize) -> Vec<String> {
    keys(&world.upstreams[at])
}

fn keys(upstream: &Upstream) -> Vec<String> {
    let seen = upstream.seen();
    seen.iter()
        .filter_map(|seen| seen.header("authorization").map(str::to_owned))
        .collect()
}

#[tokio::test]
async fn o1_a_login_is_refreshed_before_it_ends_and_the_rotated_token_is_kept() {
    let world = world("openai", 200, [answer(), renewed(), hello()]).await;
    for _ in 0..2 {
        let received = respond(&world).await;
        assert_eq!(received.status, 200, "{}", received.body);
    }
    assert_eq!(world.calls(), [2, 1, 0]);
    assert_eq!(sent(&world, 0), ["Bearer access-new", "Bearer access-new"]);
    let token = &world.upstreams[1].seen()[0];
    assert_eq!(
        token.header("content-type"),
        Some("application/x-www-form-urlencoded")
    );
    assert_eq!(
        token.body,
        "grant_type=refresh_token&refresh_token=refresh-old&client_id=client-1"
    );
    let call = &world.upstreams[0].seen()[0];
    assert!(call.head.starts_with("POST /v1/responses "), "{}", call.head);
    assert_eq!(call.header("chatgpt-account-id"), Some("acc-1"));
    assert_eq!(call.header("originator"), Some("openclaw"));
    let stored = store(world.state.path()).snapshot();
    let Some(Credential::Oauth(login)) = stored.credential(&profile("openai:me")) else {
        panic!("the login is gone");
    };
    assert_eq!(login.refresh.as_ref().unwrap().expose(), "refresh-new");
}

#[tokio::test]
async fn a_token_that_was_refused_is_replaced_once() {
    let refused = || refusal(401, "token_expired", "Provided authentication token is expired");
    let api = vec![refused(), answer()];
    let world = worlds("openai", 3_600, [api, vec![renewed()], vec![hello()]]).await;
    assert_eq!(respond(&world).await.status, 200);
    assert_eq!(sent(&world, 0), ["Bearer access-old", "Bearer access-new"]);

    let world = self::world("openai", 3_600, [refused(), renewed(), hello()]).await;
    let received = respond(&world).await;
    assert_eq!(received.header("x-openclaw-first-failure-reason"), Some("auth"));
    assert_eq!(world.calls(), [2, 1, 0]);
}

#[tokio::test]
async fn a_refused_token_whose_login_is_lost_says_so() {
    let refused = refusal(401, "token_expired", "Provided authentication token is expired");
    let lost = Script::json(400, r#"{"error":"invalid_grant"}"#);
    let world = world("openai", 3_600, [refused, lost, hello()]).await;
    let received = respond(&world).await;
    assert_eq!(
        received.header("x-openclaw-first-failure-reason"),
        Some("auth_permanent")
    );
    assert_eq!(world.calls(), [1, 1, 0]);
}

#[tokio::test]
async fn logins_of_any_provider_are_refreshed_where_the_settings_say() {
    let (api, tokens) = (
        Upstream::start([hello()]).await,
        Upstream::start([renewed()]).await,
    );
    let failover = format!(
        "{{ logins: {{ relay: {{ tokenUrl: '{}/token', clientId: 'client-1', clientSecret: '$SECRET', scope: 'all' }} }} }}",
        tokens.base_url()
    );
    let text = format!(
        "{{ agents: {{ defaults: {{ model: 'relay/m' }} }}, models: {{ providers: {{ relay: {{ baseUrl: '{}' }} }} }} }}",
        api.base_url()
    );
    let state = state_with(&[("relay:me", login("relay", later(-1)))]).await;
    let world = World::open_in(
        state,
        &failover,
        vec![api, tokens],
        &text,
        &[("SECRET", "client-secret")],
    )
    .await;
    assert_eq!(world.ask_plain().await.status, 200);
    assert_eq!(sent(&world, 0), ["Bearer access-new"]);
    assert_eq!(
        world.upstreams[1].seen()[0].body,
        "grant_type=refresh_token&refresh_token=refresh-old&client_id=client-1&client_secret=client-secret&scope=all"
    );

    // Its token endpoint is unknown: it is used until it ends, and then the failure says what to set.
    let (api, text) = (Upstream::start([hello()]).await, text);
    let text = text.replace(&world.upstreams[0].base_url(), &api.base_url());
    for (ends_in, status) in [(100, 200), (-1, 502)] {
        let state = state_with(&[("relay:me", login("relay", later(ends_in)))]).await;
        let world = World::open_in(state, "{}", Vec::new(), &text, &[]).await;
        let received = world.ask_plain().await;
        assert_eq!(received.status, status, "{}", received.body);
        assert!(
            status == 200 || received.body.contains("logins.relay.tokenUrl"),
            "{}",
            received.body
        );
    }
    assert_eq!(keys(&api), ["Bearer access-old"]);
}

#[tokio::test]
async fn refreshes_that_fail_rest_the_login_as_long_as_they_mean() {
    let lost = r#"{"error":"invalid_grant","error_description":"Refresh token refresh-old was revoked"}"#;
    for (answer, reason, told) in [
        (
            Script::json(400, lost),
            "auth_permanent",
            "HTTP 400: invalid_grant",
        ),
        (
            Script::json(503, r#"{"error":"temporarily_unavailable"}"#),
            "auth",
            "HTTP 503: temporarily_unavailable",
        ),
        (Script::reset(), "auth", "no answer"),
        (Script::json(200, "{}"), "auth", "without an access token"),
    ] {
        let world = world("openai", -1, [self::answer(), answer, hello()]).await;
        let received = respond(&world).await;
        assert_eq!(
            received.header("x-openclaw-first-failure-reason"),
            Some(reason),
            "{told}"
        );
        assert!(received.body.contains(told), "{told} {}", received.body);
        assert!(!received.body.contains("refresh-old"), "{}", received.body);
        assert_eq!(world.calls(), [0, 1, 0], "{told}");
        let usage = store(world.state.path()).snapshot();
        assert!(
            !usage
                .usage(&profile("openai:me"))
                .is_usable(None, SystemClock.now()),
            "{told}"
        );
    }
}

#[tokio::test]
async fn a_token_that_has_not_ended_is_used_while_its_refresh_fails() {
    let world = world("openai", 100, [answer(), Script::json(503, "{}"), hello()]).await;
    assert_eq!(respond(&world).await.status, 200);
    assert_eq!(sent(&world, 0), ["Bearer access-old"]);
}

#[tokio::test]
async fn bl72_two_gateways_on_one_state_make_one_call() {
    let world = world("openai", -1, [answer(), renewed(), hello()]).await;
    let other = world.beside().await;
    let asked = futures_util::future::join_all(
        (0..8).map(|turn| respond(if turn % 2 == 0 { &world } else { &other })),
    );
    for received in asked.await {
        assert_eq!(received.status, 200, "{}", received.body);
    }
    assert_eq!(world.calls(), [8, 1, 0]);
}

/// How many requests the gateway is answering.
async fn in_flight(world: &World) -> u64 {
    let status = world.get("/admin/v1/status", &[]).await;
    status.json()["inFlight"].as_u64().unwrap()
}

#[tokio::test]
async fn o4_forty_requests_share_one_refresh_that_fails() {
    let lost = Script::json(400, r#"{"error":"invalid_grant"}"#).after_a_while();
    let world = Arc::new(world("openai", -1, [answer(), lost, hello()]).await);
    let asking: Vec<_> = (0..40)
        .map(|_| {
            let world = Arc::clone(&world);
            tokio::spawn(async move { respond(&world).await.status })
        })
        .collect();
    world.upstreams[1].asked().await;
    while in_flight(&world).await < 40 {
        tokio::task::yield_now().await;
    }
    world.upstreams[1].go_on();
    for asked in asking {
        assert_ne!(asked.await.unwrap(), 200);
    }
    assert_eq!(world.calls(), [0, 1, 0]);
    let stored = store(world.state.path()).snapshot();
    let usage = stored.usage(&profile("openai:me"));
    let steps: Vec<_> = usage.windows.values().map(|window| window.steps).collect();
    assert_eq!(steps, [1], "one failure, one step");
}

#[tokio::test]
async fn o4_a_refresh_that_began_is_finished_when_its_request_is_gone() {
    let slow = renewed().after_a_while();
    let world = Arc::new(world("openai", -1, [answer(), slow, hello()]).await);
    let asking = tokio::spawn({
        let world = Arc::clone(&world);
        async move { respond(&world).await.status }
    });
    world.upstreams[1].asked().await;
    asking.abort();
    world.upstreams[1].go_on();
    assert_eq!(respond(&world).await.status, 200);
    assert_eq!(world.calls(), [1, 1, 0]);
}

/// Also L6 and L7: where the file is, and that a variable keeps it out of the store.
#[tokio::test]
async fn g1_the_logins_of_the_first_versions_are_brought_over_once() {
    let text = "{ agents: { defaults: { model: 'openai/m' } } }";
    let old =
        json!({" openai ": {"access": "access-old", "refresh": "r", "expires": later(3_600)}, "x": null});
    for (variables, stored) in [
        (&[][..], true),
        (&[("OPENCLAW_AUTH_STORE_READONLY", "1")][..], false),
    ] {
        let api = Upstream::start([answer()]).await;
        let failover = format!("{{ logins: {{ openai: {{ baseUrl: '{}' }} }} }}", api.base_url());
        let state = tempfile::tempdir().unwrap();
        let folder = state.path().join("credentials");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("oauth.json"), old.to_string()).unwrap();
        let world = World::open_in(state, &failover, vec![api], text, variables).await;
        assert_eq!(respond(&world).await.status, 200);
        assert_eq!(sent(&world, 0), ["Bearer access-old"]);
        let snapshot = store(world.state.path()).snapshot();
        assert_eq!(snapshot.profiles.contains_key(&profile("openai:default")), stored);
        assert!(folder.join("oauth.json").exists());
    }
}
