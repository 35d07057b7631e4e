//! `GET /v1/models` and `GET /v1/models/{id}`: the names a client can ask for.

use axum::Json;
use openclaw_ids::{AgentId, ModelRef};
use serde::Serialize;

use super::RequestContext;
use super::error::ApiError;
use super::request_parts::PathName;
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
pub(crate) async fn list(context: RequestContext) -> Json<ModelList> {
    Json(ModelList {
        object: "list",
        data: models(&context),
    })
}

/// One of them, by its id.
pub(crate) async fn one(
    context: RequestContext,
    PathName(id): PathName,
) -> Result<Json<ModelObject>, ApiError> {
    let found = models(&context).into_iter().find(|model| model.id == id);
    found
        .map(Json)
        .ok_or_else(|| AskError::UnknownModel { model: id }.into())
}

/// The models that a person of `agent` can choose: its chain, what is listed, and what providers are said to serve.
pub(crate) fn callable(context: &RequestContext, agent: &AgentId) -> Vec<ModelRef> {
    let (catalogue, chain) = (context.catalogue(), &context.generation.config.chain);
    let configured = context.generation.resolver.configured_chain(agent);
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

fn models(context: &RequestContext) -> Vec<ModelObject> {
    let agents = context.generation.config.chain.agent_ids();
    let mut ids = vec![(OWN_MODEL.to_owned(), OWN_MODEL.to_owned())];
    ids.extend(
        agents
            .iter()
            .map(|agent| (format!("{OWN_MODEL}/{agent}"), OWN_MODEL.to_owned())),
    );
    let chains = agents
        .iter()
        .flat_map(|agent| context.generation.resolver.configured_chain(agent));
    for model in chains.chain(context.generation.resolver.image_chain(None)) {
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
