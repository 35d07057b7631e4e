//! A request's query and body, read into types, or what is wrong with them.

use axum::extract::{FromRequest, FromRequestParts, Query, Request};
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

use crate::http::{ApiError, whole_body};

/// The most that any request of an operator needs, in bytes.
const MAX: usize = 64 * 1024;

/// A JSON object of a known form.
pub(super) struct Object<T>(pub(super) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Object<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> Result<Self, ApiError> {
        let (parts, body) = request.into_parts();
        let bytes = whole_body(&parts.headers, body, MAX).await?;
        if bytes.is_empty() {
            return Err(ApiError::invalid("the request needs a body: a JSON object"));
        }
        let read = serde_json::from_slice(&bytes);
        // The parser's words name members and kinds, never what a text of the body says.
        read.map(Self)
            .map_err(|error| ApiError::invalid(&openclaw_classify::redact(&error.to_string())))
    }
}

/// What the query says.
pub(super) struct Params<T>(pub(super) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Params<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let read = Query::try_from_uri(&parts.uri);
        read.map(|Query(asked)| Self(asked))
            .map_err(|error| ApiError::invalid(&openclaw_classify::error_chain::line(&error)))
    }
}
