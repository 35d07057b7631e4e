//! `GET /admin/v1/status`: the gateway at a glance.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use openclaw_classify::error_chain;
use openclaw_history::History;
use openclaw_runner::{Clock, SystemClock};
use serde::Serialize;

use super::agents::look_as_far_as_readable;
use crate::http::RequestContext;
use crate::report::disk;
use crate::report::legacy_credentials::{self, LegacyCredentials, LegacyLocations};
use crate::report::{StatusReport, UnreadAgent};
use crate::state::{AgentSnapshot, GatewayState};

/// The gateway at a glance. Times are Unix milliseconds.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Status {
    version: &'static str,
    pub(super) configuration: Configuration,
    pub(super) in_flight: u32,
    history: HistoryStatus,
    #[serde(flatten)]
    pub(super) report: StatusReport,
}

/// Which configuration is used.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Configuration {
    path: String,
    exists: bool,
    /// Counts up with each configuration that was taken over.
    pub(super) generation: u64,
    pub(super) since: i64,
    /// Why the last reload changed nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) refused: Option<RefusedReload>,
    /// Settings that were changed by a reload and count from the next start on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    restart_needed: Vec<&'static str>,
}

#[derive(Debug, Serialize)]
pub(super) struct RefusedReload {
    at: i64,
    pub(super) problem: String,
}

/// Whether decisions are kept, and what was lost of them since the start.
#[derive(Debug, Serialize)]
struct HistoryStatus {
    on: bool,
    dropped: u64,
    failed: u64,
}

/// The gateway at a glance.
pub(super) async fn status(State(current): State<Arc<GatewayState>>, served: RequestContext) -> Json<Status> {
    Json(of(&current, &served).await)
}

/// What can be read; what cannot be is named in it.
pub(super) async fn of(current: &GatewayState, served: &RequestContext) -> Status {
    let (generation, process) = (&served.generation, &served.process);
    let (mut looks, mut unread_sessions, mut unread) = (Vec::new(), Vec::new(), Vec::new());
    for id in generation.config.chain.agent_ids() {
        match process.agents.get(&id).await {
            Ok(agent) => {
                let (look, problem) = look_as_far_as_readable(&id, &agent).await;
                looks.push(look);
                unread_sessions.push(problem);
            }
            Err(error) => {
                let problem = error_chain::line(&error);
                unread.push(UnreadAgent { id, problem });
            }
        }
    }
    let places = Arc::clone(process);
    // Files may take their time; a process that is ending tells nothing more.
    let looking = tokio::task::spawn_blocking(move || {
        let inherited = LegacyLocations::of(&places.environment, &places.state_dir);
        let older = looks
            .iter()
            .map(|look| legacy_credentials::of_agent(&look.state(), &inherited));
        let older: Vec<Vec<LegacyCredentials>> = older.collect();
        (looks, older, disk::problem(&places.state_dir))
    });
    let (looks, older, trouble) = looking.await.unwrap_or_default();
    let states: Vec<_> = looks.iter().map(AgentSnapshot::state).collect();
    let report = StatusReport::of(&generation.installation(), &states, SystemClock.now())
        .with_unread_sessions(unread_sessions.into_iter())
        .with_older(older.into_iter())
        .with_unread(unread)
        .with_disk(trouble);
    let refused = current.refused().map(|refusal| RefusedReload {
        at: refusal.at.as_millisecond(),
        problem: refusal.problem,
    });
    let history = process.telemetry.history();
    Status {
        version: env!("CARGO_PKG_VERSION"),
        configuration: Configuration {
            path: generation.config.path.display().to_string(),
            exists: generation.config.exists,
            generation: generation.number,
            since: generation.since.as_millisecond(),
            refused,
            restart_needed: generation.restart_needed.clone(),
        },
        in_flight: process.in_flight.taken(),
        history: HistoryStatus {
            on: history.is_some(),
            dropped: history.map_or(0, History::dropped),
            failed: history.map_or(0, History::failed),
        },
        report,
    }
}
