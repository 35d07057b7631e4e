//! Resolving a chain and walking it.

use std::hint::black_box;

use openclaw_chain::{ChainConfig, Requested, Resolver};
use serde_json::json;

use super::Prepared;

/// The configured chain, asked of a prepared configuration.
pub(super) fn of_the_configuration(length: usize) -> Prepared {
    let resolver = Resolver::new(&config(length));
    let requested = Requested::from(&resolver.primary());
    Prepared::one(move || {
        black_box(resolver.chain(black_box(&requested), None));
    })
}

/// Walking a chain that was resolved.
pub(super) fn iteration(length: usize) -> Prepared {
    let resolver = Resolver::new(&config(length));
    let chain = resolver.chain(&Requested::from(&resolver.primary()), None);
    Prepared::one(move || {
        let models = black_box(&chain).iter();
        let length: usize = models
            .map(|model| model.provider().as_str().len() + model.model().as_str().len())
            .sum();
        black_box(length);
    })
}

/// A primary and `length - 1` fallbacks of several providers, some under an alias.
pub(crate) fn config(length: usize) -> ChainConfig {
    let fallbacks: Vec<String> = (1..length)
        .map(|at| match at % 4 {
            0 => format!("short-{at}"),
            1 => format!("openai/gpt-{at}"),
            2 => format!("openrouter/vendor/model-{at}@openrouter:work"),
            _ => format!("google/gemini-{at}"),
        })
        .collect();
    let aliases: serde_json::Map<_, _> = (1..length)
        .filter(|at| at % 4 == 0)
        .map(|at| {
            (
                format!("groq/llama-{at}"),
                json!({ "alias": format!("short-{at}") }),
            )
        })
        .collect();
    let model = json!({ "primary": "anthropic/opus", "fallbacks": fallbacks });
    ChainConfig::lenient(&json!({ "agents": { "defaults": { "model": model, "models": aliases } } }))
}
