//! The gateway's own token, checked without telling by the time it takes how much of it was right.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use axum::extract::{ConnectInfo, Request};
use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use sha2::{Digest, Sha256};
use tokio::time::Instant;

use super::Served;
use super::error::ApiError;
use super::guesses::Guess;

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

    /// Whether the request carries it; what it carries instead, if anything.
    fn check(&self, headers: &HeaderMap) -> Result<(), Option<Guess>> {
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
        if differences == 0 {
            return Ok(());
        }
        Err((!token.is_empty()).then(|| {
            let mut guess = Guess::default();
            guess.copy_from_slice(&sent[..size_of::<Guess>()]);
            guess
        }))
    }
}

/// Refuses requests without the token, when there is one, and peers that guess it.
pub(crate) async fn require(served: Served, request: Request, next: Next) -> Response {
    match refusal(&served, &request) {
        Some(refusal) => refusal,
        None => next.run(request).await,
    }
}

/// The answer of [`require`] to a request that it refuses.
pub(super) fn refusal(served: &Served, request: &Request) -> Option<Response> {
    let token = served.generation.token.as_ref()?;
    let connection = request.extensions().get::<ConnectInfo<SocketAddr>>();
    let peer = connection.map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |ConnectInfo(peer)| peer.ip());
    let now = Instant::now();
    if let Some(wait) = served.process.guesses.wait(peer, now) {
        return Some(refuse(ApiError::guessing(wait), request));
    }
    match token.check(request.headers()) {
        Ok(()) => None,
        Err(sent) => {
            if let Some(guess) = sent {
                served.process.guesses.add(peer, guess, now);
            }
            Some(refuse(ApiError::unauthorized(), request))
        }
    }
}

fn refuse(error: ApiError, request: &Request) -> Response {
    error.for_path(request.uri().path()).into_response()
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
            assert_eq!(token.check(&headers).is_ok(), right, "{sent:?}");
        }
    }

    #[test]
    fn anthropics_header_is_read_where_there_is_no_bearer_token() {
        let token = Token::new("s3cret");
        for (authorization, key, right) in [
            (None, "s3cret", true),
            (None, " s3cret ", true),
            (Some("Basic x"), "s3cret", true),
            (Some("Bearer other"), "s3cret", false),
            (None, "other", false),
        ] {
            let mut headers = HeaderMap::new();
            if let Some(value) = authorization {
                headers.insert(AUTHORIZATION, HeaderValue::from_static(value));
            }
            headers.insert(API_KEY, HeaderValue::from_static(key));
            assert_eq!(token.check(&headers).is_ok(), right, "{authorization:?} {key}");
        }
        assert_eq!(token.check(&HeaderMap::new()), Err(None), "nothing is no guess");
    }
}
