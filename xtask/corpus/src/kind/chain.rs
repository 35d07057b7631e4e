//! Candidate chains: configuration and requested model become an ordered list.

use openclaw_chain::{ChainConfig, Requested, Resolver};
use serde_json::{Value, json};

use super::{Kind, no_oracle, recorded};
use crate::row::{CannotRead, Row};

pub(crate) const KIND: Kind = Kind {
    name: "chain",
    answer,
    accepted: recorded,
    decisions: &[],
    oracle: no_oracle,
};

fn answer(row: &Row) -> Result<Value, CannotRead> {
    let input = row.input();
    let resolver = match &input["config"] {
        Value::Null => Resolver::unconfigured(),
        config => Resolver::new(&ChainConfig::lenient(config)),
    };
    let text = |member: &str| input[member].as_str().unwrap_or_default().to_owned();
    let requested = Requested {
        provider: text("provider"),
        model: text("model"),
    };
    let fallbacks = match &input["fallbacksOverride"] {
        Value::Null => None,
        Value::Array(texts) => Some(
            texts
                .iter()
                .map(|text| text.as_str().unwrap_or_default().to_owned())
                .collect::<Vec<_>>(),
        ),
        other => return Err(row.error(format!("`fallbacksOverride` is {other}, expected a list"))),
    };
    let chain = resolver.chain(&requested, fallbacks.as_deref());
    Ok(chain
        .iter()
        .map(|model| json!({"provider": model.provider(), "model": model.model()}))
        .collect())
}
