//! `GET /v1/models` and `GET /v1/models/{id}`: the names a client can ask for.

use axum::Json;
use openclaw_ids::{AgentId, ModelRef};
use serde::Serialize;

use super::Served;
use super::error::ApiError;
use super::reading::PathName;
use super::selection::{AskError, OWN_MODEL};

/// The list, in OpenAI's shape.
#[derive(Debug, Serialize)]
pub(crate) struct ModelList {
    object: &'static str,
    data: Vec<ModelObject>,
}

/// One model.
#[derive(Debug, Serialize)]
pub(crate) struct ModelObject {
    id: String,
    object: &'static str,
    created: u64,
    owned_by: String,
}

/// The configured selection, the agents, and every model of their chains.
pub(crate) async fn list(served: Served) -> Json<ModelList> {
    Json(ModelList {
        object: "list",
        data: models(&served),
    })
}

/// One of them, by its id.
pub(crate) async fn one(served: Served, PathName(id): PathName) -> Result<Json<ModelObject>, ApiError> {
    let found = models(&served).into_iter().find(|model| model.id == id);
    found
        .map(Json)
        .ok_or_else(|| AskError::UnknownModel { model: id }.into())
}

/// The models that a person of `agent` can choose: its chain, what is listed, and what providers are said to serve.
pub(crate) fn callable(served: &Served, agent: &AgentId) -> Vec<ModelRef> {
    let (catalogue, chain) = (served.catalogue(), &served.generation.config.chain);
    let configured = served.generation.resolver.configured_chain(agent);
    let listed = chain.agents.defaults.models.keys().cloned();
    let rows = chain.models.providers.iter();
    let offered = rows.flat_map(|(id, row)| row.models.iter().map(move |model| format!("{id}/{}", model.id)));
    let mut models = Vec::new();
    for text in configured.iter().map(ModelRef::key).chain(listed).chain(offered) {
        if let Ok(model) = catalogue.select(agent, &text)
            && !models.contains(&model)
        {
            models.push(model);
        }
    }
    models
}

fn models(served: &Served) -> Vec<ModelObject> {
    let agents = served.generation.config.chain.agent_ids();
    let mut ids = vec![(OWN_MODEL.to_owned(), OWN_MODEL.to_owned())];
    ids.extend(
        agents
            .iter()
            .map(|agent| (format!("{OWN_MODEL}/{agent}"), OWN_MODEL.to_owned())),
    );
    let chains = agents
        .iter()
        .flat_map(|agent| served.generation.resolver.configured_chain(agent));
    for model in chains.chain(served.generation.resolver.image_chain(None)) {
        let row = (model.key(), model.provider().to_string());
        if !ids.contains(&row) {
            ids.push(row);
        }
    }
    let model = |(id, owned_by)| ModelObject {
        id,
        object: "model",
        created: 0,
        owned_by,
    };
    ids.into_iter().map(model).collect()
}
