//! What a profile pin means for a run (R5, S-5, R-9.1a).

use std::sync::Arc;

use jiff::Timestamp;
use openclaw_auth_store::{AuthSnapshot, Credential, MemoryAuthStore, UsageChange};
use openclaw_chain::{Requested, Resolver, RunKind};
use openclaw_classify::Reason;
use openclaw_cooldown::{FailureEvent, MarkScope};
use openclaw_ids::{AgentId, SessionKey};
use openclaw_runner::{CandidateOutcome, RunError, RunPolicy, RunRequest, Runner, Turn, TurnSession, plan};
use openclaw_session::{MemorySessionStore, PinSource, ProfilePin, SessionAge, SessionEntry, TurnKind};
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
