//! The HTTP surface: the handlers of each path and the middleware around them.

mod answer;
mod choice;
mod commands;
mod conversation;
mod error;
pub(crate) mod front;
mod headers;
pub(crate) mod health;
pub(crate) mod local;
pub(crate) mod metrics;
pub(crate) mod models;
mod notice;
mod plan;
mod prompt_size;
mod reading;
pub(crate) mod request_id;
mod rescue;
mod selection;
pub(crate) mod served;
mod stream;
mod synthetic_response;
pub(crate) mod token;

pub(crate) use choice::{Choice, ChoiceError};
pub(crate) use error::ApiError;
pub(crate) use front::Front;
pub(crate) use reading::{PathName, whole_body};
pub(crate) use selection::AskError;
#[cfg(feature = "fuzzing")]
pub(crate) use selection::Catalogue;
pub(crate) use served::Served;

/// The largest request body, in bytes.
pub(crate) const MAX_BODY: usize = 32 * 1024 * 1024;
