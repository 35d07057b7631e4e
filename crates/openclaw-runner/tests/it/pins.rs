//! What a profile pin means for a run (R5, S-5, R-9.1a).

use std::sync::Arc;

use jiff::Timestamp;
use openclaw_auth_store::{AuthSnapshot, Credential, MemoryAuthStore, UsageChange, UsageStore as _};
use openclaw_chain::{Requested, Resolver, RunKind};
use openclaw_classify::Reason;
use openclaw_cooldown::{FailureEvent, MarkScope};
use openclaw_ids::{AgentId, SessionKey};
use openclaw_runner::{
    CandidateOutcome, Clock as _, RunError, RunPolicy, RunRequest, Runner, Turn, TurnSession, plan,
};
use openclaw_session::{
    MemorySessionStore, PinSource, ProfilePin, Revision, SessionAge, SessionEntry, SessionStore as _,
    TurnKind,
};
use serde_json::{Value, json};

use crate::clock::PausedClock;
use crate::scenario::START;
use crate::script::Script;

fn start() -> Timestamp {
    Timestamp::from_second(START).unwrap()
}

fn snapshot(ids: &[&str]) -> AuthSnapshot {
    let mut snapshot = AuthSnapshot::default();
    for id in ids {
        let provider = id.split(':').next().unwrap();
        let entry = json!({ "type": "api_key", "provider": provider, "key": format!("sk-{id}") });
        snapshot
            .profiles
            .insert(id.parse().unwrap(), Credential::from_json(&entry).unwrap());
    }
    snapshot
}

/// Rests `id` for `model`, or for all models.
fn rest(snapshot: &mut AuthSnapshot, id: &str, model: Option<&str>, reason: Reason) {
    let event = FailureEvent {
        provider: "openai".parse().unwrap(),
        reason,
        scope: model.map_or(MarkScope::Profile, |_| MarkScope::Model),
        model: model.map(|model| model.parse().unwrap()),
        hint: None,
        started_at: None,
    };
    let profile = id.parse().unwrap();
    snapshot.apply(
        &UsageChange::Failure { profile, event },
        start(),
        &RunPolicy::default().auth.cooldowns,
    );
}

fn pinned_request(id: &str) -> RunRequest {
    RunRequest {
        run_id: "run-1".to_owned(),
        session: None,
        lane: None,
        requested: Requested::default(),
        chain: vec!["openai/gpt".parse().unwrap()],
        pin: Some(ProfilePin {
            profile: id.parse().unwrap(),
            source: PinSource::User,
        }),
    }
}

async fn run(snapshot: AuthSnapshot, request: RunRequest, outcomes: Vec<Value>) -> RunError {
    let policy = Arc::new(RunPolicy::default());
    let usage = Arc::new(MemoryAuthStore::new(snapshot, policy.auth.cooldowns.clone()));
    let clock = Arc::new(PausedClock::new(start()));
    let runner = Runner::new(clock, usage, Arc::new(MemorySessionStore::default()), policy);
    let script = Script::new([("openai/gpt".to_owned(), outcomes)].into());
    runner.run(request, &*script).await.unwrap_err()
}

#[test]
fn d15_a_rest_for_another_model_does_not_displace_an_automatic_pin() {
    let config = json!({ "agents": { "defaults": { "model": { "primary": "openai/gpt" } } } });
    let resolver = Resolver::new(&serde_json::from_value(config).unwrap());
    let key: SessionKey = "agent:main:main".parse().unwrap();
    let mut entry = serde_json::to_value(SessionEntry::new("s".parse().unwrap(), start())).unwrap();
    entry["authProfileOverride"] = json!("openai:b");
    entry["authProfileOverrideSource"] = json!("auto");
    entry["authProfileOverrideCompactionCount"] = json!(0);
    let entry: SessionEntry = serde_json::from_value(entry).unwrap();
    for (model, expected) in [("mini", "openai:b"), ("gpt", "openai:a")] {
        let mut snapshot = snapshot(&["openai:a", "openai:b"]);
        rest(&mut snapshot, "openai:b", Some(model), Reason::Overloaded);
        let turn = Turn {
            run_id: "run-1".to_owned(),
            agent: &AgentId::main(),
            run: RunKind::Turn,
            kind: TurnKind::Normal,
            session: Some(TurnSession {
                key: &key,
                entry: &entry,
                age: SessionAge::Continuing,
            }),
            lane: None,
        };
        let planned = plan(&resolver, &RunPolicy::default(), &snapshot, turn, start());
        let pin = planned.request.pin.unwrap();
        assert_eq!(pin.profile.as_str(), expected, "resting for {model}");
    }
}

#[tokio::test(start_paused = true)]
async fn r5_a_strict_pin_is_not_promised_back_when_another_profile_is() {
    let mut snapshot = snapshot(&["openai:a", "openai:b"]);
    rest(&mut snapshot, "openai:a", None, Reason::Billing);
    rest(&mut snapshot, "openai:b", Some("gpt"), Reason::Overloaded);
    let pinned = snapshot
        .usage(&"openai:a".parse().unwrap())
        .block(None, start())
        .unwrap();
    let error = run(snapshot, pinned_request("openai:a"), vec![]).await;
    assert_eq!(error.report().soonest_cooldown_expiry, Some(pinned.until));
}

/// the list of a pinned candidate is its pin.
#[tokio::test(start_paused = true)]
async fn r_9_1a_a_pin_that_cannot_be_used_is_no_answer_of_the_provider() {
    let error = run(snapshot(&["openai:a"]), pinned_request("openai:gone"), vec![]).await;
    assert_eq!(
        error.to_string(),
        "openai/gpt: Auth profile \"openai:gone\" is not configured for openai. (auth)"
    );
    let record = &error.report().attempts[0];
    assert_eq!(
        (record.status, record.outcome, error.report().calls),
        (None, CandidateOutcome::Skipped, 0)
    );
}

/// A provider may answer a wrong key by quoting it, in any member of its error.
#[tokio::test(start_paused = true)]
async fn m2_no_view_of_an_error_shows_a_key() {
    const KEY: &str = "sk-ant-api03-AbCdEfGhIjKlMnOpQrStUvWxYz0123456789";
    let outcome = json!({
        "status": 401,
        "code": format!("invalid_key {KEY}"),
        "type": format!("authentication_error {KEY}"),
        "message": format!("the key {KEY} is wrong"),
        "body": format!("{{\"error\":{{\"message\":\"the key {KEY} is wrong\"}}}}"),
        "headers": { "x-echo": KEY },
    });
    let error = run(snapshot(&["openai:a"]), pinned_request("openai:a"), vec![outcome]).await;
    let records: Vec<_> = error
        .report()
        .decisions()
        .map(|decision| serde_json::to_string(decision).unwrap())
        .collect();
    for shown in [
        format!("{error:?}"),
        error.to_string(),
        error.user_text(start()),
        records.join("\n"),
        serde_json::to_string(&error.report().attempts).unwrap(),
    ] {
        assert!(!shown.contains("EfGhIjKlMnOpQrStUvWx"), "{shown}");
    }
}

/// A session of a chain of two providers with two keys each, turn after turn.
struct Conversation {
    resolver: Resolver,
    policy: Arc<RunPolicy>,
    usage: Arc<MemoryAuthStore>,
    sessions: Arc<MemorySessionStore>,
    clock: Arc<PausedClock>,
}

const KEY: &str = "agent:main:main";

impl Conversation {
    async fn start(order: Value) -> Self {
        let config = json!({ "agents": { "defaults": {
            "model": { "primary": "alpha/m", "fallbacks": ["beta/m"] } } } });
        let policy = Arc::new(RunPolicy {
            auth: serde_json::from_value(json!({ "order": order })).unwrap(),
            ..RunPolicy::default()
        });
        let profiles = snapshot(&["alpha:a", "alpha:b", "beta:a", "beta:b"]);
        let sessions = Arc::new(MemorySessionStore::default());
        let entry = SessionEntry::new("s".parse().unwrap(), start());
        let key = KEY.parse().unwrap();
        sessions
            .compare_and_set(&key, Revision::NONE, entry)
            .await
            .unwrap();
        Self {
            resolver: Resolver::new(&serde_json::from_value(config).unwrap()),
            usage: Arc::new(MemoryAuthStore::new(profiles, policy.auth.cooldowns.clone())),
            policy,
            sessions,
            clock: Arc::new(PausedClock::new(start())),
        }
    }

    /// One turn, a minute after the last one; returns the calls.
    async fn turn(&self, outcomes: &[(&str, &str)]) -> Vec<String> {
        tokio::time::advance(std::time::Duration::from_mins(1)).await;
        let key: SessionKey = KEY.parse().unwrap();
        let entry = self.sessions.load(&key).await.unwrap().unwrap().entry;
        let now = self.clock.now();
        let turn = Turn {
            run_id: "run".to_owned(),
            agent: &AgentId::main(),
            run: RunKind::Turn,
            kind: TurnKind::Normal,
            session: Some(TurnSession {
                key: &key,
                entry: &entry,
                age: SessionAge::Continuing,
            }),
            lane: None,
        };
        let planned = plan(&self.resolver, &self.policy, &self.usage.snapshot(), turn, now);
        if let Some(pin) = &planned.pin_to_store {
            let stored = openclaw_session::update(&*self.sessions, &key, |entry| {
                let mut next = entry.unwrap().clone();
                next.pin = pin.clone();
                (Some(next), ())
            });
            stored.await.unwrap();
        }
        let outcomes = outcomes
            .iter()
            .map(|(call, outcome)| ((*call).to_owned(), vec![json!(outcome)]));
        let script = Script::new(outcomes.collect());
        let runner = Runner::new(
            Arc::clone(&self.clock),
            Arc::clone(&self.usage),
            Arc::clone(&self.sessions),
            Arc::clone(&self.policy),
        );
        let done = runner.run(planned.request, &*script).await.unwrap();
        done.run.finished().await;
        let calls = script.calls().into_iter();
        calls
            .map(|call| call.split(" ->").next().unwrap().replace(" final", ""))
            .collect()
    }
}

#[tokio::test(start_paused = true)]
async fn f_2_a_session_keeps_the_profile_of_a_fallback_and_that_of_its_primary() {
    let talk = Conversation::start(json!({})).await;
    let home = talk.turn(&[]).await;
    assert_eq!(home, ["alpha/m @alpha:a"]);
    // Both keys of the primary run out of credit.
    let unpaid = "402 insufficient credit";
    let away = talk
        .turn(&[("alpha/m@alpha:a", unpaid), ("alpha/m@alpha:b", unpaid)])
        .await;
    let served = away.last().unwrap().clone();
    for turn in 0..5 {
        assert_eq!(talk.turn(&[]).await, std::slice::from_ref(&served), "turn {turn}");
    }
    // The profile is left when it rests, and the session stays on the other one as long as that can be used.
    let kept = served.split('@').nth(1).unwrap();
    let moved = talk
        .turn(&[(&format!("beta/m@{kept}"), "401 invalid api key")])
        .await;
    assert_eq!(moved.len(), 2, "{moved:?}");
    for turn in 0..3 {
        assert_eq!(talk.turn(&[]).await, moved[1..], "turn {turn}");
    }
    // The primary is well again: the session is back on the key that it had.
    for id in ["alpha:a", "alpha:b"] {
        let profile = id.parse().unwrap();
        talk.usage
            .commit(UsageChange::Clear { profile }, talk.clock.now())
            .await
            .unwrap();
    }
    assert_eq!(talk.turn(&[]).await, home);
    assert_eq!(talk.turn(&[]).await, home);
}

#[tokio::test(start_paused = true)]
async fn f_2_the_profile_that_stands_in_for_a_resting_pin_stays_too_but_never_outranks_an_explicit_order() {
    let talk = Conversation::start(json!({})).await;
    talk.turn(&[]).await;
    let rotated = talk.turn(&[("alpha/m@alpha:a", "402 insufficient credit")]).await;
    assert_eq!(rotated, ["alpha/m @alpha:a", "alpha/m @alpha:b"]);
    for _ in 0..3 {
        assert_eq!(talk.turn(&[]).await, ["alpha/m @alpha:b"]);
    }
    let ordered = Conversation::start(json!({ "beta": ["beta:b", "beta:a"] })).await;
    let unpaid = "402 insufficient credit";
    ordered
        .turn(&[
            ("alpha/m@alpha:a", unpaid),
            ("alpha/m@alpha:b", unpaid),
            ("beta/m@beta:b", "503 busy"),
        ])
        .await;
    tokio::time::advance(std::time::Duration::from_mins(10)).await;
    assert_eq!(ordered.turn(&[]).await, ["beta/m @beta:b"]);
}
