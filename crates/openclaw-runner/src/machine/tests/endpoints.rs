//! Logins that are used at another endpoint than the keys of their provider (D4).

use std::collections::HashMap;
use std::sync::Arc;

use openclaw_auth_store::{Credential, EndpointKey};
use openclaw_classify::{Failure, Transport};
use openclaw_ids::ProviderId;
use openclaw_session::{PinSource, ProfilePin};
use serde_json::json;

use super::super::*;
use super::rules::{limited_for, model, play, status};
use super::world::{Ending, Trace, World};
use crate::request::endpoints::{EndpointKeys, LoginEndpoint, LoginUse};

const CHAIN: [&str; 2] = ["openai/gpt", "groq/llama"];

/// Two logins and a key of one provider; logins come first.
fn world() -> World {
    let mut world = World::new(&HashMap::from([("groq", 1)]));
    for (id, entry) in [
        (
            "openai:one",
            json!({"type": "oauth", "provider": "openai", "access": "a", "refresh": "b"}),
        ),
        (
            "openai:two",
            json!({"type": "oauth", "provider": "openai", "access": "c", "refresh": "d"}),
        ),
        (
            "openai:key",
            json!({"type": "api_key", "provider": "openai", "key": "sk-1"}),
        ),
    ] {
        let credential = Credential::from_json(&entry).unwrap();
        world.snapshot.profiles.insert(id.parse().unwrap(), credential);
    }
    let openai: ProviderId = "openai".parse().unwrap();
    let endpoint = |base_url: &str| EndpointKey {
        provider: openai.clone(),
        base_url: base_url.to_owned(),
    };
    let keys = [(openai.clone(), endpoint("https://keys.test/v1"))]
        .into_iter()
        .collect::<EndpointKeys>();
    let logins = LoginEndpoint {
        key: endpoint("https://logins.test/v1"),
        used_by: LoginUse::Oauth,
    };
    world.policy = Arc::new(RunPolicy {
        endpoints: keys.with_logins(openai.clone(), logins),
        ..RunPolicy::default()
    });
    world
}

fn refused() -> Failure {
    Failure {
        transport: Some(Transport::Refused),
        ..Failure::default()
    }
}

/// Who was called, in order.
fn called(trace: &Trace) -> Vec<String> {
    let names = trace.calls.iter().map(|(_, profile)| profile.as_ref().unwrap());
    names.map(ToString::to_string).collect()
}

#[test]
fn d4_a_fault_on_the_way_to_the_logins_rests_no_key_and_the_key_answers() {
    let mut world = world();
    let trace = play(&mut world, &CHAIN, vec![refused()]);
    assert_eq!(
        called(&trace),
        ["openai:one", "openai:key"],
        "the other login would meet it again"
    );
    assert_eq!(trace.marks, 0, "no credential bears it");
    world.pass(1_000);
    assert_eq!(called(&play(&mut world, &CHAIN, vec![])), ["openai:key"]);
    world.pass(29_000);
    let first = &called(&play(&mut world, &CHAIN, vec![]))[0];
    assert_ne!(first, "openai:key", "their endpoint is asked again");
    assert!(
        world.snapshot.endpoints.is_empty(),
        "an answer ends the rest of its endpoint"
    );
}

#[test]
fn d4_a_fault_on_the_way_to_the_keys_rests_no_login() {
    let mut world = world();
    let trace = play(&mut world, &CHAIN, vec![limited_for(60), refused()]);
    assert_eq!(called(&trace), ["openai:one", "openai:two", "openai:key"]);
    let mut world = self::world();
    let order = ["openai:key", "openai:one"].map(|id| id.parse().unwrap());
    let openai: ProviderId = "openai".parse().unwrap();
    world.snapshot.order.insert(openai, order.to_vec());
    let trace = play(&mut world, &CHAIN, vec![refused()]);
    assert_eq!(called(&trace), ["openai:key", "openai:one"]);
    world.pass(1_000);
    assert_eq!(called(&play(&mut world, &CHAIN, vec![])), ["openai:one"]);
}

#[test]
fn d4_when_no_endpoint_of_a_provider_is_reached_the_next_model_answers() {
    let mut world = world();
    let trace = play(&mut world, &CHAIN, vec![refused(), refused()]);
    assert_eq!(called(&trace), ["openai:one", "openai:key", "groq:0"]);
    world.pass(1_000);
    let trace = play(&mut world, &CHAIN, vec![]);
    assert_eq!(called(&trace), ["groq:0"]);
    let Outcome::Completed(_, report) = &trace.outcome else {
        panic!("{:?}", trace.outcome)
    };
    let skipped = report.decisions().next().unwrap();
    let rest = skipped.rests_until.unwrap().duration_since(world.now);
    assert!((25..=30).contains(&rest.as_secs()), "{rest:?}");
}

#[test]
fn d4_a_key_that_rests_itself_does_not_answer_for_logins_out_of_reach() {
    let mut world = world();
    play(&mut world, &["openai/gpt"], vec![refused(), status(402)]);
    world.pass(1_000);
    let trace = play(&mut world, &CHAIN, vec![]);
    assert_eq!(called(&trace), ["groq:0"]);
}

#[test]
fn r5_a_pinned_login_out_of_reach_is_not_exchanged_for_a_key() {
    let mut world = world();
    let chain = CHAIN.map(model);
    let mut request = World::request(&chain[..1]);
    request.pin = Some(ProfilePin {
        profile: "openai:one".parse().unwrap(),
        source: PinSource::User,
    });
    let trace = world.play(request, &mut [Ending::from(refused())].into_iter());
    assert_eq!(called(&trace), ["openai:one"]);
}
