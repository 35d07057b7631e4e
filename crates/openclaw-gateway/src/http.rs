//! The HTTP surface: the handlers of each path and the middleware around them.

mod answer;
mod commands;
mod conversation;
mod error;
mod headers;
pub(crate) mod health;
pub(crate) mod metrics;
pub(crate) mod middleware;
mod model_choice;
pub(crate) mod models;
mod notice;
mod plan;
mod prompt_size;
mod request_context;
mod request_parts;
mod rescue;
mod selection;
mod stream;
mod synthetic_response;

pub(crate) use error::ApiError;
pub(crate) use middleware::GatewayService;
pub(crate) use model_choice::{Choice, ChoiceError};
pub(crate) use request_context::RequestContext;
pub(crate) use request_parts::{PathName, whole_body};
pub(crate) use selection::AskError;
#[cfg(feature = "fuzzing")]
pub(crate) use selection::Catalogue;

/// The largest request body, in bytes.
pub(crate) const MAX_BODY: usize = 32 * 1024 * 1024;
