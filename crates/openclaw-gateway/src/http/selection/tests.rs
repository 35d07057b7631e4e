//! What a request asks for, by body and headers.

use std::path::Path;

use openclaw_config::{Config, Environment};

use super::*;
use crate::providers::SecretSources;

const CONFIG: &str = "{
  agents: { defaults: { model: { primary: 'openai/gpt-5.5', fallbacks: ['groq/llama'] },
                        models: { 'openai/gpt-5.5': {}, 'groq/llama': { alias: 'fast' }, 'mistral/large': {} } },
            list: [{ id: 'main' }, { id: 'Ops Team' }] } }";

fn ask_with(config: &str, model: &str, headers: &[(&'static str, &str)]) -> Result<Asked, AskError> {
    let config = Config::parse(Path::new("/c"), config).unwrap();
    let sources = SecretSources::new(&config.secrets, &Environment::of([], Path::new("/")));
    let endpoints = Endpoints::try_new(&config.chain.models, &sources).unwrap();
    let resolver = Resolver::new(&config.chain);
    let catalogue = Catalogue {
        chain: &config.chain,
        resolver: &resolver,
        endpoints: &endpoints,
        policy: BodyModelPolicy::Auto,
    };
    let headers = headers
        .iter()
        .map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()));
    catalogue.read(WireFormat::ChatCompletions, model, None, &headers.collect())
}

fn ask(model: &str, headers: &[(&'static str, &str)]) -> Result<Asked, AskError> {
    ask_with(CONFIG, model, headers)
}

fn one_off(model: &str, policy: OneOffPolicy) -> RunKind {
    RunKind::OneOff {
        model: model.parse().unwrap(),
        policy,
    }
}

#[test]
fn a9_who_and_what_is_meant() {
    use OneOffPolicy::{Chain, ChainWhenConfigured, Strict};
    let (model, policy, agent) = (request::MODEL, request::POLICY, request::AGENT_ID);
    for (body, headers, id, run) in [
        ("openclaw", &[] as &[_], "main", RunKind::Turn),
        (" openclaw ", &[], "main", RunKind::Turn),
        ("openclaw/ops-team", &[], "ops-team", RunKind::Turn),
        ("openclaw/Ops Team", &[], "ops-team", RunKind::Turn),
        ("openclaw", &[(agent, "ops-team")], "ops-team", RunKind::Turn),
        ("openclaw/main", &[(agent, "main")], "main", RunKind::Turn),
        ("openclaw", &[(agent, " ")], "main", RunKind::Turn),
        (
            "groq/llama",
            &[],
            "main",
            one_off("groq/llama", ChainWhenConfigured),
        ),
        (
            "mistral/large",
            &[],
            "main",
            one_off("mistral/large", ChainWhenConfigured),
        ),
        (
            "groq/llama",
            &[(policy, "strict")],
            "main",
            one_off("groq/llama", Strict),
        ),
        (
            "groq/llama",
            &[(policy, "chain")],
            "main",
            one_off("groq/llama", Chain),
        ),
        ("fast", &[], "main", one_off("groq/llama", ChainWhenConfigured)),
        (
            "gpt-5.5",
            &[],
            "main",
            one_off("openai/gpt-5.5", ChainWhenConfigured),
        ),
        (
            "openclaw",
            &[(model, "mistral/large")],
            "main",
            one_off("mistral/large", Strict),
        ),
        (
            "groq/llama",
            &[(model, "fast"), (policy, "chain")],
            "main",
            one_off("groq/llama", Strict),
        ),
    ] {
        let asked = ask(body, headers).unwrap();
        assert_eq!(
            (asked.agent.as_str(), &asked.run),
            (id, &run),
            "{body} {headers:?}"
        );
        let kind = if run == RunKind::Turn {
            TurnKind::Normal
        } else {
            TurnKind::OneOff
        };
        assert_eq!(asked.turn_kind(), kind);
    }
}

#[test]
fn what_does_not_exist_and_how_to_name_what_does() {
    for (body, headers, error) in [
        (
            "gpt-4o",
            &[] as &[_],
            "there is no model `gpt-4o`; ask for `openclaw` (the configured chain), ",
        ),
        ("nowhere/x", &[], "there is no model `nowhere/x`; "),
        ("openai/", &[], "there is no model `openai/`; "),
        (
            "openclaw",
            &[(request::MODEL, "nowhere/x")],
            "there is no model `nowhere/x`; ",
        ),
        (
            "openclaw/nobody",
            &[],
            "there is no agent `nobody`; the agents are main, ops-team",
        ),
        ("openclaw/No Body", &[], "there is no agent `No Body`; "),
        (
            "openclaw",
            &[(request::AGENT_ID, "nobody")],
            "there is no agent `nobody`; ",
        ),
        (
            "xai/grok-4",
            &[],
            "model `xai/grok-4` is not in agents.defaults.models, ",
        ),
        (
            "openclaw/main",
            &[(request::AGENT_ID, "ops-team")],
            "the model names agent `main` and x-openclaw-agent-id names agent `ops-team`; name one of them",
        ),
        (
            "groq/llama",
            &[(request::POLICY, "loose")],
            "the header x-openclaw-policy must be `strict` or `chain`",
        ),
    ] {
        let message = ask(body, headers).unwrap_err().to_string();
        assert!(message.starts_with(error), "{body} {headers:?}: {message}");
    }
}

#[test]
fn without_an_allowlist_every_model_of_a_known_provider_can_be_asked_for() {
    let asked = ask_with("{}", "xai/grok-4", &[]).unwrap();
    assert_eq!(
        asked.run,
        one_off("xai/grok-4", OneOffPolicy::ChainWhenConfigured)
    );
}

#[test]
fn a_session_is_named_by_a_header() {
    let asked = ask("openclaw", &[(request::SESSION_KEY, " agent:main:chat ")]).unwrap();
    assert_eq!(asked.session.unwrap().as_str(), "agent:main:chat");
    assert_eq!(
        ask("openclaw", &[(request::SESSION_KEY, " ")]).unwrap().session,
        None
    );
}

#[test]
fn what_is_longer_than_a_name_can_be_is_refused_without_repeating_it() {
    let (model, key, id) = (
        "openai/".to_owned() + &"m".repeat(393),
        "k".repeat(400),
        "a".repeat(200),
    );
    assert!(ask_with("{}", &model, &[(request::SESSION_KEY, &key)]).is_ok());
    let agent = ask("openclaw", &[(request::AGENT_ID, &id)]).unwrap_err();
    assert!(matches!(agent, AskError::UnknownAgent { .. }), "{agent}");

    let (model, key, id) = (model + "m", key + "k", id + "a");
    let own = format!("openclaw/{id}");
    for (body, headers, what) in [
        (
            model.as_str(),
            &[] as &[(&'static str, &str)],
            "the name of the model is longer than 400",
        ),
        (
            "openclaw",
            &[(request::MODEL, model.as_str())],
            "the name of the model is longer than 400",
        ),
        (
            "openclaw",
            &[(request::SESSION_KEY, key.as_str())],
            "the session key is longer than 400",
        ),
        (
            "openclaw",
            &[(request::AGENT_ID, id.as_str())],
            "the id of the agent is longer than 200",
        ),
        (own.as_str(), &[], "the id of the agent is longer than 200"),
    ] {
        let message = ask(body, headers).unwrap_err().to_string();
        assert_eq!(message, format!("{what} characters, the most this gateway takes"));
    }
}

#[test]
fn a_header_that_counts_once_is_an_error_twice() {
    let headers = [(request::SESSION_KEY, "one"), (request::SESSION_KEY, "one")];
    assert_eq!(
        ask("openclaw", &headers).unwrap_err().to_string(),
        "the header x-openclaw-session-key was sent more than once; send it once"
    );
}
