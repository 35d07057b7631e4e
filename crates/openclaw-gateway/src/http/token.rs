//! The gateway's own token, checked without telling by the time it takes how much of it was right.

use axum::extract::{Request, State};
use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use sha2::{Digest, Sha256};

use super::Served;
use super::error::ApiError;

/// The hash of the token that clients must send. Hashes have one length and no structure, so comparing them byte by
/// byte to the end says nothing about the token.
#[derive(Clone)]
pub(crate) struct Token([u8; 32]);

const API_KEY: &str = "x-api-key";

impl Token {
    /// The token that clients must send.
    pub(crate) fn new(text: &str) -> Self {
        Self(Sha256::digest(text.as_bytes()).into())
    }

    /// Whether the request carries it.
    fn is_in(&self, headers: &HeaderMap) -> bool {
        let sent = headers
            .get(AUTHORIZATION)
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default();
        let scheme = sent
            .get(..7)
            .filter(|scheme| scheme.eq_ignore_ascii_case("bearer "));
        let bearer = scheme.map(|_| sent[7..].trim());
        // Anthropic's clients send their key in a header of its own.
        let key = headers.get(API_KEY).and_then(|value| value.to_str().ok());
        let token = bearer.or(key.map(str::trim)).unwrap_or_default();
        let Self(sent) = Self::new(token);
        let differences = self
            .0
            .iter()
            .zip(sent)
            .fold(0, |all, (own, sent)| all | (own ^ sent));
        differences == 0
    }
}

/// Refuses requests without the token, when there is one.
pub(crate) async fn require(State(served): State<Served>, request: Request, next: Next) -> Response {
    match &served.token {
        Some(token) if !token.is_in(request.headers()) => ApiError::unauthorized()
            .for_path(request.uri().path())
            .into_response(),
        _ => next.run(request).await,
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn only_the_whole_token_after_bearer_is_right() {
        let token = Token::new("s3cret");
        for (sent, right) in [
            (Some("Bearer s3cret"), true),
            (Some("bearer s3cret"), true),
            (Some("Bearer  s3cret "), true),
            (Some("Bearer s3cre"), false),
            (Some("Bearer s3crets"), false),
            (Some("Bearer "), false),
            (Some("s3cret"), false),
            (Some("Basic s3cret"), false),
            (Some("Bearér s3cret"), false),
            (None, false),
        ] {
            let mut headers = HeaderMap::new();
            if let Some(sent) = sent {
                headers.insert(AUTHORIZATION, HeaderValue::from_bytes(sent.as_bytes()).unwrap());
            }
            assert_eq!(token.is_in(&headers), right, "{sent:?}");
        }
    }
}
