//! Errors, with what was tried, in the shape that the client reads (M3).

mod admin;
mod run;

use std::time::Duration;

use axum::Json;
use axum::body::Bytes;
use axum::http::header::RETRY_AFTER;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use openclaw_classify::{Failure, describe, preview};
use openclaw_runner::AttemptRecord;
use openclaw_wire::{ApiFamily, BodyError, WireFormat};
use serde::Serialize;
use serde_json::json;

use super::headers::set;
use super::selection::AskError;
use crate::agents::AgentError;
use crate::server::BodyFault;

/// Longest message of an error, in UTF-16 units.
const MAX_MESSAGE: usize = 2_000;
/// What there is, for requests that ask for something else.
const ROUTES: &str = "there is nothing here; this gateway answers POST /v1/chat/completions, \
     /v1/responses, /v1/messages and /v1/embeddings, GET /v1/models, GET /healthz and GET /readyz";

/// The same for a path that is there under another method.
const NO_METHOD: &str = "this path takes another method (see the header allow); this gateway answers \
                         POST /v1/chat/completions, /v1/responses, /v1/messages and /v1/embeddings, GET /v1/models, \
                         GET /healthz and GET /readyz";

/// An error answer.
#[derive(Debug)]
pub(crate) struct ApiError {
    status: StatusCode,
    headers: HeaderMap,
    error: Box<ErrorObject>,
    family: ApiFamily,
}

/// The `error` object. `attempts` and what follows it are ours.
#[derive(Debug, Serialize)]
struct ErrorObject {
    message: String,
    #[serde(rename = "type")]
    kind: &'static str,
    code: &'static str,
    param: Option<&'static str>,
    #[serde(flatten)]
    run: Option<RunMembers>,
}

/// What is known about a run that has no answer.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct RunMembers {
    attempts: Vec<AttemptRecord>,
    soonest_cooldown_expiry: Option<i64>,
    user_text: String,
}

impl ApiError {
    fn new(status: StatusCode, kind: &'static str, code: &'static str, message: &str) -> Self {
        let message = preview(message, MAX_MESSAGE);
        let error = ErrorObject {
            message,
            kind,
            code,
            param: None,
            run: None,
        };
        Self {
            status,
            headers: HeaderMap::new(),
            error: Box::new(error),
            family: ApiFamily::OpenAi,
        }
    }

    /// This error in the shape of a wire format.
    pub(crate) fn in_wire(mut self, wire: WireFormat) -> Self {
        self.family = wire.family();
        self
    }

    /// This error in the shape that clients of a path read.
    pub(crate) fn for_path(mut self, path: &str) -> Self {
        let below = path.strip_prefix("/v1/").unwrap_or_default();
        if let Some(format) = WireFormat::ALL
            .iter()
            .find(|format| below.starts_with(format.path()))
        {
            self.family = format.family();
        }
        self
    }

    fn about(mut self, param: &'static str) -> Self {
        self.error.param = Some(param);
        self
    }

    /// No token, or a wrong one.
    pub(crate) fn unauthorized() -> Self {
        let message = "wrong or missing token; send the gateway's own token as a bearer token";
        Self::new(
            StatusCode::UNAUTHORIZED,
            "authentication_error",
            "invalid_token",
            message,
        )
    }

    /// A request that a web page may have made, while no token tells who asks.
    pub(crate) fn foreign() -> Self {
        let message = "without a token this gateway answers only requests from and to this machine (Host and Origin); \
                       set OPENCLAW_GATEWAY_TOKEN and send it as a bearer token, or ask 127.0.0.1 or localhost";
        Self::new(
            StatusCode::FORBIDDEN,
            "permission_error",
            "foreign_request",
            message,
        )
    }

    /// A page of another origin that asks whether it may ask.
    pub(crate) fn cross_origin() -> Self {
        let message = "this gateway sends no CORS headers, so browsers let no page of another origin read its answers; serve \
                       the page and the gateway under one origin, by a reverse proxy that passes /v1 on";
        Self::new(StatusCode::FORBIDDEN, "permission_error", "cross_origin", message)
    }

    /// A body of another kind.
    pub(crate) fn not_json() -> Self {
        let message = "the request body must be JSON; send the header `content-type: application/json`";
        Self::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "invalid_request_error",
            "unsupported_media_type",
            message,
        )
    }

    /// A body that is compressed.
    pub(crate) fn packed() -> Self {
        let message = "the request body is compressed, which this gateway does not undo; send it as it is, without the header \
                       `content-encoding`";
        Self::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "invalid_request_error",
            "unsupported_media_type",
            message,
        )
    }

    /// A body whose rest is not waited for.
    pub(crate) fn of_body(fault: BodyFault) -> Self {
        let (status, kind, code) = match fault {
            BodyFault::Late => (
                StatusCode::REQUEST_TIMEOUT,
                "invalid_request_error",
                "request_timeout",
            ),
            BodyFault::Stopping => (StatusCode::SERVICE_UNAVAILABLE, "internal_error", "stopping"),
        };
        Self::new(status, kind, code, &fault.to_string())
    }

    /// A peer that sent many wrong tokens.
    pub(crate) fn guessing(wait: Duration) -> Self {
        let message = "too many wrong tokens came from this address; wait, then send the right one";
        let mut error = Self::new(
            StatusCode::TOO_MANY_REQUESTS,
            "rate_limit_error",
            "too_many_wrong_tokens",
            message,
        );
        let seconds = wait.as_millis().div_ceil(1_000).max(1).to_string();
        set(&mut error.headers, RETRY_AFTER.as_str(), &seconds);
        error
    }

    /// A body over the limit.
    pub(crate) fn too_large(limit: usize) -> Self {
        let (limit, unit) = match limit >> 20 {
            0 => (limit >> 10, "KiB"),
            mebibytes => (mebibytes, "MiB"),
        };
        let message = format!("the request body is larger than {limit} {unit}, the most this gateway takes");
        Self::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            "invalid_request_error",
            "request_too_large",
            &message,
        )
    }

    /// A body that broke off on its way in.
    pub(crate) fn unreadable_body() -> Self {
        let message = "the request body did not arrive whole; send the request again";
        Self::new(
            StatusCode::BAD_REQUEST,
            "invalid_request_error",
            "invalid_request",
            message,
        )
    }

    /// More requests at the same time than are answered.
    pub(crate) fn busy() -> Self {
        let message = "the gateway is answering as many requests as it may; come back in a second";
        let mut busy = Self::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "overloaded_error",
            "too_many_in_flight",
            message,
        );
        set(&mut busy.headers, RETRY_AFTER.as_str(), "1");
        busy
    }

    /// No such path.
    pub(crate) fn no_path() -> Self {
        Self::new(
            StatusCode::NOT_FOUND,
            "invalid_request_error",
            "not_found",
            ROUTES,
        )
    }

    /// A path with another method.
    pub(crate) fn no_method() -> Self {
        Self::new(
            StatusCode::METHOD_NOT_ALLOWED,
            "invalid_request_error",
            "method_not_allowed",
            NO_METHOD,
        )
    }

    /// A state file of ours cannot be used; the details are for the log, not for the client.
    pub(crate) fn state() -> Self {
        let message = "the gateway cannot use its state; see its log";
        Self::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "internal_error",
            "state_unavailable",
            message,
        )
    }

    /// The machine-readable code, for logs and tests.
    pub(crate) fn code(&self) -> &'static str {
        self.error.code
    }
}

/// The event that ends a stream which broke off, in place of the format's own end (BL-88); `sent` events
/// went before it.
pub(crate) fn cut_event(wire: WireFormat, failure: &Failure, sent: u64) -> Bytes {
    // How a connection broke is for the log; the client is told that it did.
    let told = match failure.transport {
        Some(transport) => describe(&Failure {
            transport: Some(transport),
            ..Failure::default()
        }),
        None => describe(failure),
    };
    let error = ErrorObject {
        message: preview(&format!("the answer broke off: {told}"), MAX_MESSAGE),
        kind: "upstream_error",
        code: "stream_interrupted",
        param: None,
        run: None,
    };
    wire.error_event(&json!(error), sent)
}

impl From<AgentError> for ApiError {
    fn from(error: AgentError) -> Self {
        tracing::error!(
            error = openclaw_classify::error_chain::line(&error),
            "state cannot be used"
        );
        Self::state()
    }
}

impl From<AskError> for ApiError {
    fn from(error: AskError) -> Self {
        let message = error.to_string();
        match error {
            AskError::Agents { .. }
            | AskError::Header { .. }
            | AskError::NoEmbeddingModel
            | AskError::NoImageModel
            | AskError::NotSpoken(_)
            | AskError::OnlyLogins { .. }
            | AskError::Repeated { .. }
            | AskError::TooLong { .. } => Self::new(
                StatusCode::BAD_REQUEST,
                "invalid_request_error",
                "invalid_request",
                &message,
            ),
            AskError::NotAllowed(_) | AskError::UnknownAgent { .. } | AskError::UnknownModel { .. } => {
                Self::new(
                    StatusCode::NOT_FOUND,
                    "invalid_request_error",
                    "model_not_found",
                    &message,
                )
                .about("model")
            }
        }
    }
}

impl From<BodyError> for ApiError {
    fn from(error: BodyError) -> Self {
        let mut answer = Self::new(
            StatusCode::BAD_REQUEST,
            "invalid_request_error",
            "invalid_request",
            &error.to_string(),
        );
        answer.error.param = error.member();
        answer
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let body = self.family.error_body(self.status.as_u16(), &json!(self.error));
        let mut response = (self.status, Json(body)).into_response();
        response.headers_mut().extend(self.headers);
        response
    }
}
