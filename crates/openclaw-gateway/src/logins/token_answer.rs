//! Parses the response of a token endpoint (OAuth 2).

use std::time::Duration;

use jiff::Timestamp;
use openclaw_auth_store::{Oauth, RenewedLogin, Secret, TokenEndpointError};
use openclaw_classify::preview;
use serde_json::Value;

use super::claims::Claims;

/// The lifetime of a token whose response and claims state none.
const UNSTATED: Duration = Duration::from_hours(1);
/// How much of a response that is no JSON is repeated, in UTF-16 units.
const SHOWN: usize = 200;

/// The new tokens in a response with `status` to the refresh of `login`.
///
/// # Errors
/// What the provider said.
pub(super) fn read(
    status: u16,
    body: &[u8],
    login: &Oauth,
    now: Timestamp,
) -> Result<RenewedLogin, TokenEndpointError> {
    let json: Option<Value> = serde_json::from_slice(body).ok();
    if !(200..300).contains(&status) {
        return Err(TokenEndpointError::new(refusal(status, json.as_ref(), body)));
    }
    let Some(json) = json else {
        return Err(TokenEndpointError::new(
            "the token endpoint answered with something else than JSON",
        ));
    };
    if json.get("error").is_some_and(|error| !error.is_null()) {
        return Err(TokenEndpointError::new(refusal(status, Some(&json), body)));
    }
    let text = |name: &str| {
        let text = json.get(name)?.as_str()?.trim();
        (!text.is_empty()).then(|| text.to_owned())
    };
    let Some(access) = text("access_token") else {
        return Err(TokenEndpointError::new(
            "the token endpoint answered without an access token",
        ));
    };
    let (of_access, id_token) = (Claims::of(&access), text("id_token"));
    let of_identity = id_token.as_deref().map(Claims::of).unwrap_or_default();
    let claimed = |read: fn(&Claims) -> Option<String>| read(&of_identity).or_else(|| read(&of_access));
    Ok(RenewedLogin {
        expires: Some(end(&json, &of_access, now)),
        access: Some(Secret::new(access)),
        refresh: text("refresh_token").map(Secret::new),
        id_token: id_token.map(Secret::new),
        // The account is stored once; the store compares later claims with it.
        account_id: claimed(Claims::account),
        email: login
            .attributes
            .email
            .is_none()
            .then(|| claimed(Claims::email))
            .flatten(),
        chatgpt_plan_type: claimed(Claims::plan),
        project_id: None,
    })
}

/// When the access token ends: as the response states, else as its claims do.
fn end(json: &Value, access: &Claims, now: Timestamp) -> Timestamp {
    let seconds = json.get("expires_in").and_then(|value| {
        let number = value.as_u64().or_else(|| value.as_str()?.trim().parse().ok());
        number.filter(|seconds| *seconds > 0)
    });
    if let Some(seconds) = seconds {
        return after(now, Duration::from_secs(seconds));
    }
    let claimed = access
        .end()
        .and_then(|seconds| Timestamp::from_second(seconds).ok());
    claimed.unwrap_or_else(|| after(now, UNSTATED))
}

fn after(now: Timestamp, wait: Duration) -> Timestamp {
    now.saturating_add(wait).unwrap_or(Timestamp::MAX)
}

/// A refusal in one line, with codes such as `invalid_grant` that tell a dead login from a temporary fault.
fn refusal(status: u16, json: Option<&Value>, body: &[u8]) -> String {
    let told = json.map(words).filter(|words| !words.is_empty());
    let told = told.unwrap_or_else(|| {
        let text = String::from_utf8_lossy(body);
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        // A page of markup is of no use in a message.
        if text.starts_with('<') {
            String::new()
        } else {
            preview(&text, SHOWN)
        }
    });
    if told.is_empty() {
        format!("HTTP {status}")
    } else {
        format!("HTTP {status}: {told}")
    }
}

/// Paths of the texts of an error, in the format of OAuth 2 and of the providers' other endpoints.
const WORDS: &[&str] = &[
    "/error",
    "/error/code",
    "/error/type",
    "/error/message",
    "/error_description",
    "/code",
    "/message",
    "/detail",
];

fn words(json: &Value) -> String {
    let mut found: Vec<&str> = Vec::new();
    for place in WORDS {
        let text = json.pointer(place).and_then(Value::as_str).map(str::trim);
        if let Some(text) = text.filter(|text| !text.is_empty() && !found.contains(text)) {
            found.push(text);
        }
    }
    found.join(": ")
}

#[cfg(test)]
mod tests {
    use openclaw_auth_store::Credential;
    use serde_json::json;

    use super::*;

    const NOW: i64 = 1_700_000_000;

    fn login() -> Oauth {
        let entry = json!({"type": "oauth", "provider": "openai", "access": "a", "refresh": "r"});
        match Credential::from_json(&entry).unwrap() {
            Credential::Oauth(login) => login,
            other => panic!("{other:?}"),
        }
    }

    fn answer(status: u16, body: &str) -> Result<RenewedLogin, TokenEndpointError> {
        read(
            status,
            body.as_bytes(),
            &login(),
            Timestamp::from_second(NOW).unwrap(),
        )
    }

    #[test]
    fn tokens_and_their_end() {
        // {"exp":1700007200}
        let claiming = "e30.eyJleHAiOjE3MDAwMDcyMDB9.x";
        for (body, end) in [
            (json!({"access_token": "n", "expires_in": 60}), NOW + 60),
            (json!({"access_token": "n", "expires_in": "90"}), NOW + 90),
            (json!({"access_token": claiming}), NOW + 7_200),
            (json!({"access_token": "n"}), NOW + 3_600),
            (json!({"access_token": "n", "expires_in": -5}), NOW + 3_600),
        ] {
            let renewed = answer(200, &body.to_string()).unwrap();
            assert_eq!(renewed.expires.map(Timestamp::as_second), Some(end), "{body}");
            assert!(renewed.refresh.is_none());
        }
        let rotated = answer(200, r#"{"access_token":"n","refresh_token":"r2"}"#).unwrap();
        assert_eq!(rotated.refresh.unwrap().expose(), "r2");
    }

    #[test]
    fn refusals_keep_the_words_that_matter() {
        let told = |error: TokenEndpointError| {
            // Its words are shown by the refresh error alone.
            let store = format!("{error:?}");
            assert!(store.contains("redacted"), "{store}");
        };
        for (status, body, expected) in [
            (
                400,
                r#"{"error":"invalid_grant","error_description":"Refresh token expired"}"#,
                "HTTP 400: invalid_grant: Refresh token expired",
            ),
            (
                401,
                r#"{"error":{"message":"used before","code":"refresh_token_reused","type":"invalid_request_error"}}"#,
                "HTTP 401: refresh_token_reused: invalid_request_error: used before",
            ),
            (503, "<html>busy</html>", "HTTP 503"),
            (500, "upstream  down\n", "HTTP 500: upstream down"),
            (502, "", "HTTP 502"),
        ] {
            let json: Option<Value> = serde_json::from_str(body).ok();
            assert_eq!(refusal(status, json.as_ref(), body.as_bytes()), expected);
            told(answer(status, body).unwrap_err());
        }
        for body in ["<html>", "{}", r#"{"error":"invalid_grant"}"#] {
            told(answer(200, body).unwrap_err());
        }
    }
}
