//! What preparing a configuration, resolving a chain and walking it cost, in time and in allocations.

use divan::{AllocProfiler, Bencher, black_box};
use openclaw_chain::{ChainConfig, Requested, Resolver, RunKind, SelectionFacts};
use serde_json::json;

#[global_allocator]
static ALLOCATOR: AllocProfiler = AllocProfiler::system();

const LENGTHS: &[usize] = &[3, 100];

fn main() {
    divan::main();
}

/// A primary and `length - 1` fallbacks of several providers, some under an alias.
fn config(length: usize) -> ChainConfig {
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
    ChainConfig::lenient(&json!({
        "agents": { "defaults": { "model": model, "models": aliases } },
        "models": { "providers": { "local": { "api": "openai-completions", "models": [{ "id": "m" }] } } },
    }))
}

fn primary(resolver: &Resolver) -> Requested {
    Requested::from(&resolver.primary())
}

/// The configured chain, as every turn without an override asks for it.
#[divan::bench(args = LENGTHS)]
fn chain_of_the_configuration(bencher: Bencher<'_, '_>, length: usize) {
    let resolver = Resolver::new(&config(length));
    let requested = primary(&resolver);
    bencher.bench_local(|| resolver.chain(black_box(&requested), None));
}

/// A list passed by the caller, as a job with fallbacks of its own does.
#[divan::bench(args = LENGTHS)]
fn chain_of_a_passed_list(bencher: Bencher<'_, '_>, length: usize) {
    let resolver = Resolver::new(&config(length));
    let requested = primary(&resolver);
    let list: Vec<String> = (1..length).map(|at| format!("mistral/large-{at}")).collect();
    bencher.bench_local(|| resolver.chain(black_box(&requested), Some(black_box(&list))));
}

/// Walking a chain that was resolved.
#[divan::bench(args = LENGTHS)]
fn iteration(bencher: Bencher<'_, '_>, length: usize) {
    let resolver = Resolver::new(&config(length));
    let chain = resolver.chain(&primary(&resolver), None);
    bencher.bench_local(|| {
        let ids = black_box(&chain).iter();
        ids.map(|model| model.provider().as_str().len() + model.model().as_str().len())
            .sum::<usize>()
    });
}

/// Who chose the model, with the printed reasons.
#[divan::bench(args = LENGTHS)]
fn selection(bencher: Bencher<'_, '_>, length: usize) {
    let config = config(length);
    let (resolver, agent) = (Resolver::new(&config), config.default_agent());
    bencher.bench_local(|| resolver.select(black_box(&SelectionFacts::new(&agent, RunKind::Turn))));
}

/// Preparing a configuration, once per reload.
#[divan::bench(args = LENGTHS)]
fn preparation(bencher: Bencher<'_, '_>, length: usize) {
    let config = config(length);
    bencher.bench_local(|| Resolver::new(black_box(&config)));
}
