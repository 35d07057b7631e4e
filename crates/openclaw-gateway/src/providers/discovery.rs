//! Finds the providers that this machine can call when none is configured.

use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

use axum::http::{HeaderMap, Method};
use bytes::Bytes;
use openclaw_config::Environment;
use openclaw_ids::{ModelId, ModelRef, ProviderId};
use openclaw_providers::{Provider, with_address};
use openclaw_upstream::{Endpoint, PlainRequest, Upstream};
use serde::Deserialize;

use super::OLLAMA;
use super::ambient::key_variable;

/// Evidence long a running Ollama may take to answer.
const PROBE_LIMIT: Duration = Duration::from_millis(500);

/// The largest list of models that is read, in bytes.
const MAX_TAGS: usize = 8 * 1024 * 1024;

/// The providers that were found, in the order of the chain.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Discovery {
    found: Vec<FoundProvider>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct FoundProvider {
    provider: &'static str,
    how: Evidence,
    model: Option<ModelRef>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Evidence {
    /// A server answered and has this many models.
    Running(usize),
    /// The auth store holds a profile.
    Stored,
    /// A variable holds a key.
    Variable(&'static str),
}

/// Looks at the key variables, at the providers of stored profiles, and at the models of a running Ollama.
pub(crate) fn discover(
    environment: &Environment,
    stored: &BTreeSet<ProviderId>,
    ollama_models: Option<&[String]>,
) -> Discovery {
    let find = |row: &'static Provider| {
        let variable = key_variable(row, environment);
        let how = match (variable, ollama_models) {
            (Some((name, _)), _) => Evidence::Variable(name),
            (None, Some(models)) if row.id == OLLAMA => Evidence::Running(models.len()),
            (None, _) if stored.iter().any(|provider| provider.as_str() == row.id) => Evidence::Stored,
            (None, _) => return None,
        };
        let model = if row.id == OLLAMA {
            ollama_models.and_then(|models| models.first().map(String::as_str))
        } else {
            row.default_model
        };
        Some(FoundProvider {
            provider: row.id,
            how,
            model: model.and_then(|model| reference(row, model)),
        })
    };
    Discovery {
        found: with_address().filter_map(find).collect(),
    }
}

fn reference(row: &Provider, model: &str) -> Option<ModelRef> {
    Some(ModelRef::verbatim(
        row.provider_id()?,
        ModelId::try_new(model).ok()?,
    ))
}

/// The names of the models that a running Ollama has; `None` when none answers in time.
pub(crate) async fn ollama_models(upstream: &Upstream, endpoint: &Endpoint) -> Option<Vec<String>> {
    #[derive(Deserialize)]
    struct Tags {
        models: Vec<Model>,
    }
    #[derive(Deserialize)]
    struct Model {
        name: String,
    }
    // The model list is not part of the OpenAI-compatible paths; it stands beside them.
    let mut url = endpoint.url("");
    url.set_path("/api/tags");
    let asked = PlainRequest {
        method: Method::GET,
        url,
        headers: HeaderMap::new(),
        body: Bytes::new(),
    };
    let asking = upstream.fetch(asked, MAX_TAGS);
    let (status, body) = tokio::time::timeout(PROBE_LIMIT, asking).await.ok()?.ok()?;
    let tags = status
        .is_success()
        .then(|| serde_json::from_slice::<Tags>(&body).ok())??;
    Some(tags.models.into_iter().map(|model| model.name).collect())
}

impl Discovery {
    /// The chain of the providers that were found, one model each.
    pub fn chain(&self) -> impl Iterator<Item = &ModelRef> {
        self.found.iter().filter_map(|found| found.model.as_ref())
    }
}

/// A report for the operator who started the gateway.
impl fmt::Display for Discovery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.found.is_empty() {
            f.write_str(
                "found no provider: set a key such as OPENAI_API_KEY or OPENROUTER_API_KEY, start Ollama, or see it \
                 work without any with `openclaw-gateway serve --demo`",
            )?;
        }
        for (position, found) in self.found.iter().enumerate() {
            if position > 0 {
                f.write_str("\n")?;
            }
            let how = match found.how {
                Evidence::Running(1) => "running with 1 model".to_owned(),
                Evidence::Running(count) => format!("running with {count} models"),
                Evidence::Stored => "a stored profile".to_owned(),
                Evidence::Variable(name) => name.to_owned(),
            };
            match &found.model {
                Some(model) => write!(f, "found {:<18} {how:<22} {model}", found.provider)?,
                None => write!(
                    f,
                    "found {:<18} {how:<22} (no default model; ask for {}/<model>)",
                    found.provider, found.provider
                )?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
