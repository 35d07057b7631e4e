//! `GET /healthz` and `GET /readyz`: whether the process answers, and whether it could answer a request; both without the
//! token.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use openclaw_auth_store::UsageStore;
use openclaw_classify::error_chain;
use openclaw_ids::ModelRef;
use openclaw_runner::{Clock, SystemClock};
use serde::Serialize;

use super::RequestContext;
use crate::report::UsableProfiles;
use crate::report::disk;
use crate::state::GatewayState;

/// The answer.
#[derive(Debug, Serialize)]
pub(crate) struct Health {
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<&'static str>,
    /// What the operator should look at although requests are answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<&'static str>,
}

const OK: Health = Health {
    status: "ok",
    problem: None,
    detail: None,
};
/// It is readable without the token, so it does not say what is wrong with the files.
const REFUSED: &str = "the last reload was refused and the configuration before it is used; the log and \
                       GET /admin/v1/status say why";

/// Requests are answered all the same, so this refuses no client.
const UNWRITABLE: &str = "nothing can be written to the state directory, so what is learned of limits is lost with the \
                          gateway; GET /admin/v1/status says why";

/// Answers as long as the process does.
pub(crate) async fn alive() -> Json<Health> {
    Json(OK)
}

/// Answers 200 while the default agent's state can be used and there is a model to ask; the details of a problem are
/// in the log.
pub(crate) async fn ready(
    State(current): State<Arc<GatewayState>>,
    context: RequestContext,
) -> (StatusCode, Json<Health>) {
    let detail = match current.refused() {
        Some(_) => Some(REFUSED),
        None => is_unwritable(&context).await.then_some(UNWRITABLE),
    };
    match problem(&context).await {
        None => (StatusCode::OK, Json(Health { detail, ..OK })),
        Some(problem) => {
            let unready = Health {
                status: "unavailable",
                problem: Some(problem),
                detail,
            };
            (StatusCode::SERVICE_UNAVAILABLE, Json(unready))
        }
    }
}

/// A disk may take its time to say so; a process that is ending does not ask.
async fn is_unwritable(context: &RequestContext) -> bool {
    let state_dir = context.process.state_dir.clone();
    let looking = tokio::task::spawn_blocking(move || disk::problem(&state_dir).is_some());
    looking.await.unwrap_or_default()
}

async fn problem(context: &RequestContext) -> Option<&'static str> {
    let default = context.generation.config.chain.default_agent();
    let chain = context.generation.resolver.configured_chain(&default);
    let is_callable = |model: &ModelRef| context.generation.endpoints.get(model.provider()).is_some();
    if !chain.iter().any(is_callable) {
        return Some("no model of the default chain can be called");
    }
    let unusable = |error: &(dyn std::error::Error + 'static)| {
        tracing::error!(error = error_chain::line(error), "not ready");
        Some("the gateway cannot use its state")
    };
    let agent = match context.process.agents.get(&default).await {
        Ok(agent) => agent,
        Err(error) => return unusable(&error),
    };
    let (snapshot, now) = (agent.usage.snapshot(), SystemClock.now());
    let installation = context.generation.installation();
    let is_proven = |model: &&ModelRef| {
        let proofs = UsableProfiles::of(&installation, &snapshot, model.provider(), now);
        is_callable(model) && !proofs.usable.is_empty()
    };
    if !chain.iter().any(|model| is_proven(&model)) {
        return Some("no model of the default chain has a credential that can be used");
    }
    let usage = Arc::clone(agent.usage.agent());
    match tokio::task::spawn_blocking(move || usage.refresh()).await {
        Ok(Ok(())) => None,
        Ok(Err(error)) => unusable(&error),
        Err(error) => unusable(&error),
    }
}
