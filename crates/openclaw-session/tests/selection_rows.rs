//! From a stored entry to the models a run may use: what the session says and what the chain makes of it (S-2).
#![expect(clippy::unwrap_used, reason = "functions that tests share")]

use openclaw_chain::{ChainConfig, Resolver, RunKind, SelectionFacts};
use openclaw_session::SessionEntry;
use serde_json::{Value, json};

const USER: &str = r#", "providerOverride": "o", "modelOverride": "o", "modelOverrideSource": "user""#;
const LEGACY: &str = r#", "providerOverride": "o", "modelOverride": "o""#;
const AUTO: &str = r#", "providerOverride": "o", "modelOverride": "o", "modelOverrideSource": "auto",
    "modelOverrideFallbackOriginProvider": "p", "modelOverrideFallbackOriginModel": "p""#;
const LEGACY_AUTO: &str = r#", "providerOverride": "o", "modelOverride": "o", "modelOverrideSource": "auto""#;

/// The chain of a session with these members, where the agent has this model setting; the defaults are the primary
/// `p/p` and the fallback `d/d`.
fn chain(members: &str, agent_model: Option<Value>) -> String {
    let mut agent = json!({ "id": "main" });
    if let Some(model) = agent_model {
        agent["model"] = model;
    }
    let config: ChainConfig = serde_json::from_value(json!({ "agents": {
        "defaults": { "model": { "primary": "p/p", "fallbacks": ["d/d"] } },
        "list": [agent],
    } }))
    .unwrap();
    let entry: SessionEntry = serde_json::from_str(&format!(r#"{{"sessionId": "s1"{members}}}"#)).unwrap();
    let resolver = Resolver::new(&config);
    let agent = config.default_agent();
    let stored = entry.stored_override(&"home".parse().unwrap());
    let selection = resolver.select(&SelectionFacts::new(&agent, RunKind::Turn).with_stored(stored));
    let chain = resolver.chain(&selection.requested, selection.fallbacks.as_deref());
    chain
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(" ")
}

#[test]
fn s_2_1_and_s_2_2_what_a_stored_override_leaves_of_the_chain() {
    let plain = || Some(json!("q/q"));
    let listed = || Some(json!({ "primary": "q/q", "fallbacks": ["e/e"] }));
    #[rustfmt::skip]
    let rows = [
        ("row A: nothing chosen",                            "",          None,     "p/p d/d"),
        ("row B, S-2.1a, S-2.1b: the agent's own, strict",   "",          plain(),  "q/q"),
        ("row C: the agent's own list",                      "",          listed(), "q/q e/e"),
        ("row D, S-2.2a, S-2.2b: automatic, chain goes on",  AUTO,        None,     "o/o d/d"),
        ("row D, S-2.2c: a strict agent stays strict",       AUTO,        plain(),  "o/o"),
        ("row D: the agent's list",                          AUTO,        listed(), "o/o e/e"),
        ("row E, S-2.1a: a person's, strict",                USER,        None,     "o/o"),
        ("row E: whatever the agent lists",                  USER,        listed(), "o/o"),
        ("row F: an old one is a person's",                  LEGACY,      listed(), "o/o"),
        ("S-2.2d: automatic without an origin is ignored",   LEGACY_AUTO, listed(), "q/q e/e"),
    ];
    for (name, members, agent_model, expected) in rows {
        assert_eq!(chain(members, agent_model), expected, "{name}");
    }
}
