//! Candidate chains: configuration and requested model become an ordered list.

use openclaw_chain::{ChainConfig, Requested, Resolver};
use serde_json::{Value, json};

use super::{Kind, OverrulePolicy, recorded, refused};
use crate::row::Row;

pub(crate) const KIND: Kind = Kind {
    name: "chain",
    answer,
    accepted: recorded,
    overruled: OverrulePolicy::NOTHING,
};

fn answer(row: &Row) -> Value {
    let input = row.input();
    let resolver = match &input["config"] {
        Value::Null => Resolver::unconfigured(),
        config => Resolver::new(&ChainConfig::lenient(config)),
    };
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let requested = Requested {
        provider: text(&input["provider"]),
        model: text(&input["model"]),
    };
    let fallbacks: Option<Vec<String>> = match &input["fallbacksOverride"] {
        Value::Null => None,
        Value::Array(texts) => Some(texts.iter().map(text).collect()),
        other => return refused(&format!("`fallbacksOverride` is {other}, expected a list")),
    };
    let chain = resolver.chain(&requested, fallbacks.as_deref());
    chain
        .iter()
        .map(|model| json!({"provider": model.provider(), "model": model.model()}))
        .collect()
}
