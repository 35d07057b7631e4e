//! `GET /admin/v1/lint`: what is wrong with the configuration that is used, or with the files as they are now.

use axum::Json;
use openclaw_classify::error_chain;
use serde::Deserialize;

use super::agents::unusable;
use super::params::Params;
use crate::http::{ApiError, RequestContext};
use crate::providers::SecretSources;
use crate::report::{ConfigReport, check};
use crate::state::configured_endpoints;

/// Which configuration is meant.
#[derive(Debug, Deserialize)]
pub(super) struct LintParams {
    /// `used` or `files`.
    of: Option<String>,
}

/// What is found.
pub(super) async fn lint(
    served: RequestContext,
    Params(meant): Params<LintParams>,
) -> Result<Json<ConfigReport>, ApiError> {
    let reads_files = match meant.of.as_deref() {
        None | Some("used") => false,
        Some("files") => true,
        Some(_) => return Err(ApiError::invalid("`of` must be used or files")),
    };
    let looking = tokio::task::spawn_blocking(move || {
        let process = &served.process;
        let config = if reads_files {
            let files = process.files.as_ref().ok_or_else(|| {
                ApiError::invalid(
                    "this gateway has no configuration files; leave `of` out to see what is used",
                )
            })?;
            let loaded = files.load_again(served.generation.config.exists);
            loaded.map_err(|error| ApiError::invalid(&error_chain::line(&error)))?
        } else {
            served.generation.config.clone()
        };
        let environment = config.environment(&process.environment);
        let sources = SecretSources::without_commands(&config.secrets, &environment);
        let endpoints = configured_endpoints(&config, &sources)
            .map_err(|error| ApiError::invalid(&error_chain::line(&error)))?;
        check(&config, &endpoints, &environment, &process.state_dir).map_err(|error| unusable(&error))
    });
    looking.await.map_err(|error| unusable(&error))?.map(Json)
}
