//! `GET /admin/v1/chains`: which models a run would ask now, in which order, and why (BL-98).

use axum::Json;
use openclaw_chain::RunKind;
use openclaw_runner::{Clock, SystemClock};
use serde::Deserialize;

use super::agents::SelectedAgent;
use super::params::Params;
use super::sessions::stored;
use crate::http::ApiError;
use crate::report::{ChainQuery, ChainReport};

/// Which run is meant; a turn of the agent when nothing is said.
#[derive(Debug, Deserialize)]
pub(super) struct ChainParams {
    /// `turn`, `subagent` or `image`.
    run: Option<String>,
    session: Option<String>,
    /// A model that is named for the run alone.
    model: Option<String>,
}

/// The chain of a run.
pub(super) async fn chain(
    named: SelectedAgent,
    Params(meant): Params<ChainParams>,
) -> Result<Json<ChainReport>, ApiError> {
    let (look, now) = (named.look(), SystemClock.now());
    let (installation, catalogue) = (named.served.generation.installation(), named.served.catalogue());
    let run = match (meant.run.as_deref(), &meant.model) {
        (Some("image"), model) => {
            let report = ChainReport::of_images(&installation, &look.state(), model.as_deref(), now);
            return Ok(Json(report));
        }
        (Some("subagent"), None) => RunKind::Subagent,
        (Some("turn") | None, None) => RunKind::Turn,
        (Some("turn") | None, Some(text)) => RunKind::OneOff {
            model: catalogue.select(&named.id, text)?,
            policy: catalogue.usual_policy(),
        },
        (Some(_), _) => {
            return Err(ApiError::invalid(
                "`run` must be turn, subagent or image; `model` goes with turn and image",
            ));
        }
    };
    let session = match &meant.session {
        None => None,
        Some(text) => Some(stored(&named, text).await?),
    };
    let asking = ChainQuery {
        run,
        session: session.as_ref().map(|(key, entry)| (key, entry)),
    };
    Ok(Json(ChainReport::of(&installation, &look.state(), asking, now)))
}
