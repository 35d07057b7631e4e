//! The gateway's own token, checked without telling by the time it takes how much of it was right.

use std::borrow::Cow;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use axum::extract::{ConnectInfo, Request};
use axum::http::header::AUTHORIZATION;
use axum::http::{HeaderMap, HeaderValue};
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
/// What stands before a bearer token.
const SCHEME: &[u8] = b"bearer ";

impl Token {
    /// The token that clients must send.
    pub(crate) fn new(text: &str) -> Self {
        Self(hash(text.as_bytes()))
    }

    /// Whether the request carries it; what it carries instead, if anything.
    fn check(&self, headers: &HeaderMap) -> Result<(), Option<Guess>> {
        let bearer = headers.get(AUTHORIZATION).and_then(|value| {
            let (scheme, token) = value.as_bytes().split_at_checked(SCHEME.len())?;
            scheme.eq_ignore_ascii_case(SCHEME).then_some(token)
        });
        // Anthropic's clients send their key in a header of its own.
        let key = || headers.get(API_KEY).map(HeaderValue::as_bytes);
        let token = bearer.or_else(key).unwrap_or_default().trim_ascii();
        let sent = hash(&in_utf_8(token));
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

/// A password may be written in any script; browsers and some libraries send it in Latin-1.
fn in_utf_8(sent: &[u8]) -> Cow<'_, [u8]> {
    match std::str::from_utf8(sent) {
        Ok(_) => Cow::Borrowed(sent),
        Err(_) => Cow::Owned(
            sent.iter()
                .copied()
                .map(char::from)
                .collect::<String>()
                .into_bytes(),
        ),
    }
}

fn hash(text: &[u8]) -> [u8; 32] {
    Sha256::digest(text).into()
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
    fn a_token_may_be_written_in_any_script_and_sent_in_latin_1() {
        for (token, sent, right) in [
            ("pässwörd", "pässwörd".as_bytes(), true),
            ("pässwörd", b"p\xe4ssw\xf6rd", true),
            ("pässwörd", b"passw\xf6rd", false),
            ("密碼", "密碼".as_bytes(), true),
            ("密碼", "密".as_bytes(), false),
        ] {
            let bearer = HeaderValue::from_bytes(&[b"Bearer ", sent].concat()).unwrap();
            let key = HeaderValue::from_bytes(sent).unwrap();
            for (name, value) in [(AUTHORIZATION.as_str(), bearer), (API_KEY, key)] {
                let headers = HeaderMap::from_iter([(name.parse().unwrap(), value)]);
                let checked = Token::new(token).check(&headers);
                assert_eq!(checked.is_ok(), right, "{name} {token} {sent:?}");
            }
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
