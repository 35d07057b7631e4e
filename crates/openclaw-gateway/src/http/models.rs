//! `GET /v1/models`: the names a client can ask for.

use axum::Json;
use axum::extract::State;
use serde::Serialize;

use super::Served;
use super::selection::OWN_MODEL;

/// The list, in OpenAI's shape.
#[derive(Debug, Serialize)]
pub(crate) struct ModelList {
    object: &'static str,
    data: Vec<ModelObject>,
}

#[derive(Debug, Serialize)]
struct ModelObject {
    id: String,
    object: &'static str,
    created: u64,
    owned_by: String,
}

/// The configured selection, the agents, and every model of their chains.
pub(crate) async fn handle(State(served): State<Served>) -> Json<ModelList> {
    let agents = served.config.chain.agent_ids();
    let mut ids = vec![(OWN_MODEL.to_owned(), OWN_MODEL.to_owned())];
    ids.extend(
        agents
            .iter()
            .map(|agent| (format!("{OWN_MODEL}/{agent}"), OWN_MODEL.to_owned())),
    );
    for model in agents
        .iter()
        .flat_map(|agent| served.resolver.configured_chain(agent))
    {
        let row = (model.key(), model.provider().to_string());
        if !ids.contains(&row) {
            ids.push(row);
        }
    }
    let data = ids.into_iter().map(|(id, owned_by)| ModelObject {
        id,
        object: "model",
        created: 0,
        owned_by,
    });
    Json(ModelList {
        object: "list",
        data: data.collect(),
    })
}
