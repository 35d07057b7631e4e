//! A configuration of any text is read or refused with its place, and chains of what was read hold each model once.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use openclaw_chain::{ChainConfig, Requested, Resolver, lint};
use openclaw_config::{Config, FileError};
use openclaw_gateway::fuzzing::{Format, Front, failover};
use openclaw_ids::ModelRef;

fuzz_target!(|data: &[u8]| {
    let [kind, data @ ..] = data else { return };
    let Ok(text) = std::str::from_utf8(data) else { return };
    if kind % 4 == 0 {
        match failover(text) {
            Ok(written) => {
                let again = failover(&written);
                let again = again.unwrap_or_else(|error| panic!("{error}: {written}"));
                assert_eq!(again, written, "what is shown means the same");
            }
            Err(error) => check_place(&error, text),
        }
        return;
    }
    let config = match Config::parse(Path::new("/c"), text) {
        Ok(config) => config,
        Err(error) => return check_place(&error, text),
    };
    lint(&config.chain, None);
    config.names_no_model();
    check_chains(&config.chain);
    if let Ok(front) = Front::of(config) {
        for model in ["openclaw", "openclaw/main", "openai/gpt", "fast"] {
            let _ = front.ask(Format::ChatCompletions, model, None, &[]);
        }
    }
});

/// A place is one in the text, and words say what is wrong.
fn check_place(error: &FileError, text: &str) {
    let lines = text.split('\n').count();
    let (FileError::Syntax { line, column, .. }
    | FileError::TooDeep { line, column, .. }
    | FileError::Value { line, column, .. }) = error
    else {
        panic!("nothing is read from a disk: {error}");
    };
    assert!((1..=lines.max(1) + text.len()).contains(line) && *column >= 1, "{error}");
    assert!(error.to_string().chars().count() < 1_000 + text.len() * 8);
}

fn check_chains(config: &ChainConfig) {
    let resolver = Resolver::new(config);
    let agents = config.agent_ids();
    assert!(agents.contains(&config.default_agent()) || agents.is_empty(), "the default agent is one");
    for agent in &agents {
        let chain = resolver.configured_chain(agent);
        assert_once(&chain);
        assert_eq!(chain, Resolver::new(config).configured_chain(agent), "the same each time");
        assert_eq!(chain.first(), Some(&resolver.agent_primary(agent)), "it begins with the primary");
        for model in &chain {
            let requested = Requested::from(model);
            let chain = resolver.chain(&requested, None);
            assert_eq!(chain.first(), Some(model), "who is asked for comes first");
            assert_once(&chain);
            resolver.is_allowed(agent, model);
            resolver.capabilities(model);
        }
    }
    assert_once(&resolver.image_chain(None));
}

fn assert_once(chain: &[ModelRef]) {
    for (place, model) in chain.iter().enumerate() {
        assert!(!chain[..place].contains(model), "{model} stands twice in {chain:?}");
    }
}
