//! The errors of the admin surface.

use axum::http::StatusCode;

use super::ApiError;

impl ApiError {
    /// An operator's request from another machine.
    pub(crate) fn not_from_here() -> Self {
        let message = "the admin surface answers only this machine; set admin: 'token' in failover.json5 to open it to \
                       everybody who has the token";
        Self::new(
            StatusCode::FORBIDDEN,
            "permission_error",
            "admin_is_local",
            message,
        )
    }

    /// A configuration that was not taken over; its files say nothing that can be used.
    pub(crate) fn not_reloaded(problem: &str) -> Self {
        let message = format!("nothing was changed, the configuration before is used on: {problem}");
        Self::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            "invalid_request_error",
            "not_reloaded",
            &message,
        )
    }

    /// Something that was named is not there.
    pub(crate) fn unknown(message: &str) -> Self {
        Self::new(
            StatusCode::NOT_FOUND,
            "invalid_request_error",
            "not_found",
            message,
        )
    }

    /// A request that means nothing.
    pub(crate) fn invalid(message: &str) -> Self {
        Self::new(
            StatusCode::BAD_REQUEST,
            "invalid_request_error",
            "invalid_request",
            message,
        )
    }
}
