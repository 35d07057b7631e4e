//! Every shipped row, switching off, replacing, and repeating.

use openclaw_ids::{ModelId, ProviderId};
use proptest::prelude::*;

use super::*;

fn normalise(rules: &VendorRules, provider: &str, model: &str) -> String {
    let provider = ProviderId::try_new(provider).unwrap();
    rules
        .normalise(&provider, &ModelId::try_new(model).unwrap())
        .model()
        .to_string()
}

#[test]
#[rustfmt::skip]
fn rows_of_section_4() {
    let rules = VendorRules::default();
    for (providers, model, expected) in [
        ("openai", "openai/gpt", "gpt"), // step 2
        ("openai", "OpenAI/gpt", "gpt"),
        ("groq", "groq/llama", "llama"),
        ("openai", "GPT-5.5", "GPT-5.5"),
        ("google google-gemini-cli google-vertex", "gemini-3-pro", "gemini-3.1-pro-preview"),
        ("google google-gemini-cli google-vertex", "gemini-3-pro-preview", "gemini-3.1-pro-preview"),
        ("google google-gemini-cli google-vertex", "gemini-3.1-pro", "gemini-3.1-pro-preview"),
        ("google google-gemini-cli google-vertex", "gemini-3-flash", "gemini-3-flash-preview"),
        ("google google-gemini-cli google-vertex", "gemini-3.1-flash", "gemini-3-flash-preview"),
        ("google google-gemini-cli google-vertex", "gemini-3.1-flash-preview", "gemini-3-flash-preview"),
        ("google google-gemini-cli google-vertex", "gemini-3.1-flash-lite-preview", "gemini-3.1-flash-lite"),
        ("google google-gemini-cli google-vertex", "gemma-4-26b", "gemma-4-26b-a4b-it"),
        ("google google-gemini-cli google-vertex", "gemini-2.5-pro", "gemini-2.5-pro"),
        ("google", "google/gemini-3-pro", "gemini-3.1-pro-preview"),
        ("google-vertex google-gemini-cli", "google/gemini-3-pro", "google/gemini-3.1-pro-preview"),
        ("google-vertex", "google/gemini-2.5-pro", "google/gemini-2.5-pro"),
        ("anthropic", "opus", "claude-opus-4-8"),
        ("anthropic", "opus-4.8", "claude-opus-4-8"),
        ("anthropic", "Opus-4.6", "claude-opus-4-6"),
        ("anthropic", "sonnet", "claude-sonnet-5"),
        ("anthropic", "sonnet-5", "claude-sonnet-5"),
        ("anthropic", "sonnet-4.6", "claude-sonnet-4-6"),
        ("anthropic", "mythos-5", "claude-mythos-5"),
        ("anthropic", "Anthropic/opus", "claude-opus-4-8"),
        ("anthropic", "anthropic/ANTHROPIC/opus", "claude-opus-4-8"), // steps 2 and 3
        ("anthropic", "haiku", "haiku"),
        ("openrouter", "auto", "openrouter/auto"),
        ("openrouter", "openrouter/auto", "openrouter/auto"),
        ("openrouter", "anthropic/claude-opus-4-8", "anthropic/claude-opus-4-8"),
        ("openrouter", "google/gemini-3-pro", "google/gemini-3-pro"),
        ("nvidia", "nemotron", "nvidia/nemotron"),
        ("nvidia", "nvidia/nemotron", "nvidia/nemotron"),
        ("nvidia", "meta/llama", "meta/llama"),
        ("huggingface", "huggingface/meta/llama", "meta/llama"),
        ("huggingface", "huggingface/huggingface/meta/llama", "meta/llama"),
        ("vercel-ai-gateway", "opus-4.6", "anthropic/claude-opus-4-6"),
        ("vercel-ai-gateway", "sonnet-5", "anthropic/claude-sonnet-5"),
        ("vercel-ai-gateway", "sonnet", "anthropic/claude-sonnet-4-6"),
        ("vercel-ai-gateway", "sonnet-4.6", "anthropic/claude-sonnet-4-6"),
        ("vercel-ai-gateway", "claude-opus-4-8", "anthropic/claude-opus-4-8"),
        ("vercel-ai-gateway", "openai/gpt-5.5", "openai/gpt-5.5"),
        ("vercel-ai-gateway", "gpt-5.5", "gpt-5.5"),
        ("xai", "grok-4-fast-reasoning", "grok-4-fast"),
        ("xai", "grok-4-1-fast-reasoning", "grok-4-1-fast"),
        ("xai", "grok-4.20-reasoning", "grok-4.20-beta-latest-reasoning"),
        ("xai", "grok-4.20-experimental-beta-0304-reasoning", "grok-4.20-beta-latest-reasoning"),
        ("xai", "grok-4.20-non-reasoning", "grok-4.20-beta-latest-non-reasoning"),
        ("xai", "grok-4.20-experimental-beta-0304-non-reasoning", "grok-4.20-beta-latest-non-reasoning"),
        ("xai", "grok-5", "grok-5"),
        ("together", "moonshotai/Kimi-K2.5", "moonshotai/Kimi-K2.6"),
        ("together", "moonshotai/kimi-k2.5", "moonshotai/kimi-k2.5"), // exact case
        ("minimax", "MiniMax-M3", "MiniMax-M3"),
    ] {
        for provider in providers.split(' ') {
            assert_eq!(normalise(&rules, provider, model), expected, "{provider} {model}");
        }
    }
}

#[test]
fn every_shipped_rename_is_lowercase_and_ends_after_one_step() {
    for row in MODEL_RENAMES {
        for (from, to) in row.renames {
            assert_eq!(*from, from.to_lowercase(), "the lookup is by lowercased id");
            assert!(
                !row.renames.iter().any(|(other, _)| other == to),
                "{from} -> {to} chains"
            );
        }
    }
}

#[test]
fn switched_off_only_the_structure_remains() {
    let rules = VendorRules::none();
    assert_eq!(normalise(&rules, "anthropic", "anthropic/opus"), "opus");
    assert_eq!(normalise(&rules, "openrouter", "auto"), "auto");
}

#[test]
fn the_rules_of_one_provider_can_be_replaced() {
    let rules = VendorRules::default().with_provider(
        ProviderId::try_new("Anthropic").unwrap(),
        ProviderRules {
            renames: HashMap::from([("opus".to_owned(), "claude-opus-5".to_owned())]),
            ..ProviderRules::default()
        },
    );
    assert_eq!(normalise(&rules, "anthropic", "opus"), "claude-opus-5");
    assert_eq!(normalise(&rules, "anthropic", "sonnet"), "sonnet");
    assert_eq!(normalise(&rules, "xai", "grok-4-fast-reasoning"), "grok-4-fast");
}

#[test]
fn a_rule_that_would_leave_nothing_leaves_the_id() {
    assert_eq!(
        normalise(&VendorRules::default(), "huggingface", "huggingface/"),
        "huggingface/"
    );
}

proptest! {
    /// chain.md 13: a normal form is its own normal form (a prefix that is repeated loses one turn at a time).
    #[test]
    fn normalising_twice_changes_nothing(
        provider in prop::sample::select(vec![
            "openai", "anthropic", "google", "google-vertex", "openrouter", "nvidia", "huggingface",
            "vercel-ai-gateway", "xai", "together",
        ]),
        model in prop_oneof![
            "[a-z/.-]{1,12}",
            prop::sample::select(MODEL_RENAMES.iter().flat_map(|row| row.renames).flat_map(|(from, to)| [*from, *to]).collect::<Vec<_>>())
                .prop_map(str::to_owned),
        ],
    ) {
        prop_assume!(ModelId::try_new(&model).is_ok() && !model.starts_with(provider));
        let rules = VendorRules::default();
        let once = normalise(&rules, provider, &model);
        let twice = normalise(&rules, provider, &once);
        prop_assert_eq!(once, twice);
    }
}
