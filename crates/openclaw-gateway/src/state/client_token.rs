//! The token that clients must send: where it is configured, and how a request is checked for it.

use std::borrow::Cow;

use axum::http::header::AUTHORIZATION;
use axum::http::{HeaderMap, HeaderValue};
use openclaw_config::{ClientTokenError, Config, Environment, GatewayAuthMode};
use secrecy::SecretString;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use super::auth_throttle::Guess;

/// The variable that holds the token clients must send.
pub const TOKEN_VARIABLE: &str = "OPENCLAW_GATEWAY_TOKEN";

/// The variable of the other program for a password, which counts where no token is configured or a password is asked for.
const PASSWORD_VARIABLE: &str = "OPENCLAW_GATEWAY_PASSWORD";

/// The token that clients must send: the variable's, else the configured one.
///
/// # Errors
/// When one is configured that cannot be read; no client is let in without it then.
pub fn client_token(
    config: &Config,
    environment: &Environment,
) -> Result<Option<SecretString>, ClientTokenError> {
    if let Some(token) = environment.get(TOKEN_VARIABLE) {
        return Ok(Some(token.to_owned().into()));
    }
    let auth = &config.gateway.auth;
    let wants_password = auth.mode == GatewayAuthMode::Password || auth.token.is_none();
    if let Some(password) = environment.get(PASSWORD_VARIABLE).filter(|_| wants_password) {
        return Ok(Some(password.to_owned().into()));
    }
    auth.secret(environment)
}

/// The hash of the token that clients must send. Hashes have one length and no structure, and are compared in constant
/// time, so the time that a comparison takes says nothing about the token.
#[derive(Clone)]
pub(crate) struct TokenDigest([u8; 32]);

const API_KEY: &str = "x-api-key";
/// What stands before a bearer token.
const SCHEME: &[u8] = b"bearer ";

impl TokenDigest {
    /// The token that clients must send.
    pub(crate) fn new(text: &str) -> Self {
        Self(hash(text.as_bytes()))
    }

    /// Whether the request carries it; what it carries instead, if anything.
    pub(crate) fn check(&self, headers: &HeaderMap) -> Result<(), Option<Guess>> {
        let bearer = headers.get(AUTHORIZATION).and_then(|value| {
            let (scheme, token) = value.as_bytes().split_at_checked(SCHEME.len())?;
            scheme.eq_ignore_ascii_case(SCHEME).then_some(token)
        });
        // Anthropic's clients send their key in a header of its own.
        let key = || headers.get(API_KEY).map(HeaderValue::as_bytes);
        let token = bearer.or_else(key).unwrap_or_default().trim_ascii();
        let sent = hash(&in_utf_8(token));
        if bool::from(self.0.ct_eq(&sent)) {
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

#[cfg(test)]
mod tests {
    use std::path::Path;

    use secrecy::ExposeSecret;

    use super::*;

    #[test]
    fn the_variable_of_what_is_asked_for_wins() {
        let (token, password) = ((TOKEN_VARIABLE, "t"), (PASSWORD_VARIABLE, "p"));
        for (variables, auth, expected) in [
            (&[token, password] as &[_], "{}", Some("t")),
            (&[password], "{}", Some("p")),
            (&[password], r#"{ "password": "written" }"#, Some("p")),
            (&[password], r#"{ "mode": "password" }"#, Some("p")),
            (&[password], r#"{ "token": "written" }"#, Some("written")),
            (&[], "{}", None),
        ] {
            let environment = Environment::of(variables.iter().copied(), Path::new("/"));
            let mut config = Config::default();
            config.gateway.auth = serde_json::from_str(auth).unwrap();
            let found = client_token(&config, &environment).unwrap();
            let found = found.as_ref().map(ExposeSecret::expose_secret);
            assert_eq!(found, expected, "{variables:?} {auth}");
        }
    }

    #[test]
    fn only_the_whole_token_after_bearer_is_right() {
        let token = TokenDigest::new("s3cret");
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
                let checked = TokenDigest::new(token).check(&headers);
                assert_eq!(checked.is_ok(), right, "{name} {token} {sent:?}");
            }
        }
    }

    #[test]
    fn anthropics_header_is_read_where_there_is_no_bearer_token() {
        let token = TokenDigest::new("s3cret");
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
