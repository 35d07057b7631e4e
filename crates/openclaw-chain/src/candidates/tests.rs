//! The worked examples of chain.md 8.2 and the properties of 13.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::testing::{config, defaults, owned, pairs, requested, resolver};

const P: &str = "anthropic/claude-opus-4-6";

/// One worked example: the defaults, what is requested, the list passed, the chain.
type Example = (
    serde_json::Value,
    &'static str,
    Option<&'static [&'static str]>,
    &'static str,
);

fn check(examples: Vec<Example>) {
    for (defaults, text, list, expected) in examples {
        let resolver = resolver(json!({ "agents": { "defaults": defaults } }));
        let list = list.map(owned);
        let chain = resolver.chain(&requested(text), list.as_deref());
        assert_eq!(pairs(&chain), expected, "{text} {list:?} in {defaults}");
    }
}

#[test]
#[rustfmt::skip]
fn order_and_lists_of_8_2() {
    let with = |fallbacks: &[&str]| json!({ "model": { "primary": P, "fallbacks": fallbacks } });
    check(vec![
        // C1, C4, C6
        (json!({ "model": P }), P, None, "anthropic+claude-opus-4-6"),
        (with(&["openai/gpt-5.5", "openrouter/moonshotai/kimi-k2"]), P, None,
            "anthropic+claude-opus-4-6; openai+gpt-5.5; openrouter+moonshotai/kimi-k2"),
        // C9: fallbacks before the primary, also across providers
        (with(&["openai/gpt-5.5", "google/gemini-3-pro"]), "groq/llama-3", None,
            "groq+llama-3; openai+gpt-5.5; google+gemini-3.1-pro-preview; anthropic+claude-opus-4-6"),
        // C8: earlier fallbacks stay, behind the requested one
        (with(&["openai/gpt-5.5", "google/gemini-2.5-pro"]), "google/gemini-2.5-pro", None,
            "google+gemini-2.5-pro; openai+gpt-5.5; anthropic+claude-opus-4-6"),
        // C10
        (with(&["openai/gpt-5.5", "OpenAI/gpt-5.5", "openai/GPT-5.5", P]), P, None,
            "anthropic+claude-opus-4-6; openai+gpt-5.5; openai+GPT-5.5"),
        // C7
        (with(&["openai/gpt-5.5"]), "groq/llama-3", Some(&["google/gemini-2.5-pro", "groq/llama-3"]),
            "groq+llama-3; google+gemini-2.5-pro"),
        (with(&["openai/gpt-5.5"]), "groq/llama-3", Some(&[]), "groq+llama-3"),
        // C5
        (json!({ "model": { "primary": P, "fallbacks": ["openai/gpt-5.5"] }, "models": { P: {} } }), P, None,
            "anthropic+claude-opus-4-6; openai+gpt-5.5"),
        // C4: bare entries belong to the primary's provider
        (with(&["claude-haiku-x", "gpt-5.5"]), P, None,
            "anthropic+claude-opus-4-6; anthropic+claude-haiku-x; anthropic+gpt-5.5"),
        (json!({ "model": { "primary": "groq/x", "fallbacks": ["y"] } }), "openai/q", None,
            "openai+q; groq+y; groq+x"),
        // and are not inferred from the model map (chain.md 5)
        (json!({ "model": { "primary": P, "fallbacks": ["gpt-9"] }, "models": { "openai/gpt-9": {} } }), P, None,
            "anthropic+claude-opus-4-6; anthropic+gpt-9"),
        // C4: profiles are dropped, unreadable entries skipped
        (with(&["openai/gpt-5.5@openai:work"]), P, None, "anthropic+claude-opus-4-6; openai+gpt-5.5"),
        (with(&["groq/a@groq:1", "groq/a@groq:2"]), P, None, "anthropic+claude-opus-4-6; groq+a"),
        (with(&["", " ", "/x", "openai/", "a/b/c/d"]), P, None, "anthropic+claude-opus-4-6; a+b/c/d"),
        // C11
        (with(&["openai/*"]), P, None, "anthropic+claude-opus-4-6; openai+*"),
        (json!({ "model": { "fallbacks": ["openai/gpt-5.5"] } }), "groq/x", None, "groq+x; openai+gpt-5.5"),
        // C2
        (json!({ "model": { "primary": "mystery-model", "fallbacks": ["openai/gpt-5.5"] } }), "", None,
            "openai+mystery-model; openai+gpt-5.5"),
        (with(&[]), "/gpt-5.5", None, "anthropic+gpt-5.5; anthropic+claude-opus-4-6"),
        (with(&[]), " google / ", None, "google+claude-opus-4-6; anthropic+claude-opus-4-6"),
    ]);
}

#[test]
#[rustfmt::skip]
fn aliases_and_normal_forms_of_8_2() {
    let fast = |fallbacks: &[&str]| json!({ "model": { "primary": P, "fallbacks": fallbacks },
        "models": { "openai/gpt-5.4": { "alias": "fast" } } });
    let fast55 = json!({ "model": { "primary": P, "fallbacks": [] }, "models": { "openai/gpt-5.5": { "alias": "fast" } } });
    check(vec![
        (fast(&["Fast"]), P, None, "anthropic+claude-opus-4-6; openai+gpt-5.4"),
        (fast(&["openai/fast"]), P, None, "anthropic+claude-opus-4-6; openai+gpt-5.4"),
        (fast(&["groq/fast"]), P, None, "anthropic+claude-opus-4-6; groq+fast"),
        // C3
        (fast55.clone(), "anthropic/fast", None, "openai+gpt-5.5; anthropic+claude-opus-4-6"),
        (fast55, "groq/fast", None, "groq+fast; anthropic+claude-opus-4-6"),
        (fast(&[]), "openai/fast", None, "openai+gpt-5.4; anthropic+claude-opus-4-6"),
        (fast(&[]), "OPENAI/Fast", None, "openai+gpt-5.4; anthropic+claude-opus-4-6"),
        // C10
        (json!({ "model": { "primary": "anthropic/opus", "fallbacks": ["anthropic/sonnet", "anthropic/OPUS"] } }),
            "anthropic/opus", None, "anthropic+claude-opus-4-8; anthropic+claude-sonnet-5"),
        (json!({ "model": { "primary": "openrouter/auto",
            "fallbacks": ["openrouter/moonshotai/kimi-k2", "openrouter/openrouter/auto", "openrouter:auto"] } }),
            "openrouter/auto", None, "openrouter+openrouter/auto; openrouter+moonshotai/kimi-k2"),
        (json!({ "model": P }), "openrouter/anthropic/claude-opus-4-6", None,
            "openrouter+anthropic/claude-opus-4-6; anthropic+claude-opus-4-6"),
        // V1: no provider aliases in model selection
        (json!({ "model": { "primary": "z.ai/glm-5", "fallbacks": ["zai/glm-5", "Z-AI/glm-5"] } }), "z.ai/glm-5", None,
            "z.ai+glm-5; zai+glm-5; z-ai+glm-5"),
        (json!({ "model": P }), "anthropic/Claude-Opus-4-6", None,
            "anthropic+Claude-Opus-4-6; anthropic+claude-opus-4-6"),
    ]);
}

#[test]
fn c6_without_any_configuration_nothing_is_appended() {
    let none = Resolver::unconfigured();
    assert_eq!(pairs(&none.chain(&requested(""), None)), "openai+gpt-5.5");
    assert_eq!(pairs(&none.chain(&requested("groq/x"), None)), "groq+x");
    assert_eq!(
        pairs(&none.chain(&requested("groq/x"), Some(&owned(&["a/b"])))),
        "groq+x; a+b"
    );
    assert_eq!(
        pairs(&resolver(json!({})).chain(&requested("groq/x"), None)),
        "groq+x; openai+gpt-5.5"
    );
}

#[test]
fn lenient_reading_of_1_1_fallbacks_given_as_a_text_are_none() {
    let config =
        json!({ "agents": { "defaults": { "model": { "primary": P, "fallbacks": "openai/gpt-5.5" } } } });
    let resolver = Resolver::new(&crate::ChainConfig::lenient(&config));
    assert_eq!(
        pairs(&resolver.chain(&requested(P), None)),
        "anthropic+claude-opus-4-6"
    );
}

#[test]
fn c12_an_agent_s_own_model_does_not_change_the_configured_primary() {
    let resolver = resolver(json!({ "agents": {
        "defaults": { "model": { "primary": P, "fallbacks": ["x"] } },
        "list": [{ "id": "main", "model": "groq/own" }],
    } }));
    assert_eq!(
        pairs(&resolver.chain(&requested("groq/own"), None)),
        "groq+own; anthropic+x; anthropic+claude-opus-4-6"
    );
}

#[test]
fn bl_52_a_primary_that_is_no_model_leaves_the_fallbacks() {
    check(vec![
        (
            json!({ "model": { "primary": "x/", "fallbacks": ["groq/f"] } }),
            "",
            None,
            "openai+gpt-5.5; groq+f",
        ),
        (
            json!({ "model": { "primary": "nobody/knows", "fallbacks": ["groq/f"] } }),
            "",
            None,
            "nobody+knows; groq+f",
        ),
    ]);
}

#[test]
fn a_long_list_with_awkward_texts_keeps_its_order() {
    let texts: Vec<String> = (0..5_000)
        .map(|at| format!("p{}/größe-{at}/模型 🦞@w", at % 7))
        .collect();
    let none = resolver(json!({}));
    let chain = none.chain(&requested("a/b"), Some(&texts));
    assert_eq!(chain.len(), 5_001);
    assert_eq!(pairs(&chain[5_000..]), "p1+größe-4999/模型 🦞");
}

#[test]
fn an_explanation_shows_where_each_candidate_comes_from() {
    let config = defaults(
        r#"{ "model": { "primary": "anthropic/opus",
            "fallbacks": ["fast@work", "openai/", "anthropic/claude-opus-4-8", "groq/llama"] },
            "models": { "openai/gpt-5.4": { "alias": "fast" } } }"#,
    );
    let explanation = Resolver::new(&config).explain_chain(&requested("anthropic/opus"), None);
    insta::assert_snapshot!("explained_chain", explanation);
}

/// Texts as people write them: references, bare names, aliases, blanks, profiles.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "(openai|anthropic|groq|OpenAI)/(opus|gpt|a/b|auto|fast)(@work)?",
        "(fast|opus|mystery|openrouter:auto|openrouter:free)",
        "[a-z/@ ]{0,8}",
    ]
}

fn configured() -> impl Strategy<Value = crate::ChainConfig> {
    let model = (
        prop::option::of(text()),
        prop::option::of(prop::collection::vec(text(), 0..5)),
    );
    let aliases = prop::collection::vec((text(), prop::option::of(text())), 0..3);
    (model, aliases).prop_map(|((primary, fallbacks), aliases)| {
        let mut model = json!({});
        if let Some(primary) = primary {
            model["primary"] = json!(primary);
        }
        if let Some(fallbacks) = fallbacks {
            model["fallbacks"] = json!(fallbacks);
        }
        let mut models = json!({});
        for (key, alias) in aliases {
            models[key] = alias.map_or_else(|| json!({}), |alias| json!({ "alias": alias }));
        }
        config(json!({ "agents": { "defaults": { "model": model, "models": models } } }))
    })
}

proptest! {
    /// chain.md 13: the requested model comes first, each candidate stands once, and the ends are as promised.
    #[test]
    fn the_shape_of_every_chain(
        config in configured(),
        provider in "(openai|anthropic|groq| )",
        model in "(gpt|opus|a/b|fast|)",
        list in prop::option::of(prop::collection::vec(text(), 0..5)),
    ) {
        let resolver = Resolver::new(&config);
        let requested = Requested { provider, model };
        let chain = resolver.chain(&requested, list.as_deref());
        let alone = resolver.chain(&requested, Some(&[]));
        prop_assert_eq!(alone.len(), 1);
        prop_assert_eq!(&chain[0], &alone[0]);
        for (index, candidate) in chain.iter().enumerate() {
            prop_assert!(!chain[..index].contains(candidate), "{} stands twice", candidate);
        }
        if let Some(list) = &list {
            prop_assert!(chain.len() <= 1 + list.len());
        } else {
            // The primary is the last one unless it appeared earlier, as requested or as a fallback.
            let primary = resolver.names.normalise(&resolver.primary());
            let configured = config.agents.defaults.model.fallbacks().unwrap_or_default();
            let mut expected = resolver.chain(&requested, Some(configured));
            if !expected.contains(&primary) {
                expected.push(primary);
            }
            prop_assert_eq!(chain, expected);
        }
    }

    /// BL-51: what a chain is made of is a candidate or left out for a stated reason, and both views agree.
    #[test]
    fn every_member_is_accounted_for(
        config in configured(),
        list in prop::option::of(prop::collection::vec(text(), 0..5)),
    ) {
        let resolver = Resolver::new(&config);
        let explained = resolver.explain_chain(&Requested::default(), list.as_deref());
        let configured = config.agents.defaults.model.fallbacks().unwrap_or_default();
        let members = 1 + list.as_ref().map_or(configured.len() + 1, Vec::len);
        prop_assert_eq!(explained.candidates.len() + explained.dropped.len(), members);
        prop_assert_eq!(explained.into_models(), resolver.chain(&Requested::default(), list.as_deref()));
    }

    /// C10: removing a later duplicate never changes a chain, so the first position is what counts.
    #[test]
    fn repeating_a_fallback_changes_nothing(config in configured(), list in prop::collection::vec(text(), 1..5)) {
        let resolver = Resolver::new(&config);
        let repeated: Vec<String> = list.iter().chain(&list).cloned().collect();
        prop_assert_eq!(
            resolver.chain(&Requested::default(), Some(&list)),
            resolver.chain(&Requested::default(), Some(&repeated))
        );
    }
}
