//! The call that exchanges a refresh token for new tokens.

use std::time::Duration;

use axum::http::header::{ACCEPT, CONTENT_TYPE};
use axum::http::{HeaderValue, Method};
use openclaw_auth_store::{Oauth, RenewedLogin, TokenEndpoint, TokenEndpointError};
use openclaw_classify::error_chain;
use openclaw_config::TokenBody;
use openclaw_runner::{Clock, SystemClock};
use openclaw_upstream::{FetchError, PlainRequest, Upstream};
use serde_json::{Map, Value};
use url::form_urlencoded;

use super::token_answer;
use crate::providers::{LoginEndpoints, OAuthConfig, SecretSources, secret_text};

/// The time limit of the whole call. It is long, because an abandoned call may have used up the refresh token.
const CALL_LIMIT: Duration = Duration::from_secs(100);
/// The largest response that is read, in bytes.
const MAX_ANSWER: usize = 64 * 1024;

/// Token endpoints over HTTP.
pub(crate) struct HttpTokenEndpoint {
    endpoints: LoginEndpoints,
    sources: SecretSources,
    upstream: Upstream,
}

impl HttpTokenEndpoint {
    /// Refreshes logins at the token endpoints in `endpoints`.
    pub(super) fn new(endpoints: LoginEndpoints, sources: SecretSources, upstream: Upstream) -> Self {
        Self {
            endpoints,
            sources,
            upstream,
        }
    }

    async fn exchange(
        &self,
        config: &OAuthConfig,
        login: &Oauth,
    ) -> Result<(u16, Vec<u8>), TokenEndpointError> {
        let (content_type, body) = match config.body {
            TokenBody::Form => (
                "application/x-www-form-urlencoded",
                as_form(&self.fields(config, login)?),
            ),
            TokenBody::Json => ("application/json", as_json(&self.fields(config, login)?)),
        };
        let headers = [
            (CONTENT_TYPE, HeaderValue::from_static(content_type)),
            (ACCEPT, HeaderValue::from_static("application/json")),
        ];
        let request = PlainRequest {
            method: Method::POST,
            url: config.url.as_url().clone(),
            headers: headers.into_iter().collect(),
            body: body.into(),
        };
        let response = self.upstream.fetch(request, MAX_ANSWER).await;
        let (status, read) = response.map_err(|fault| {
            TokenEndpointError::new(match fault {
                FetchError::TooLarge(_) => fault.to_string(),
                FetchError::Address | FetchError::Broken(_) | FetchError::Unreachable(_) => {
                    format!("no answer: {}", error_chain::line(&fault))
                }
            })
        })?;
        Ok((status.as_u16(), read))
    }

    /// The fields of the request. The client id stored with the login comes before the configured one.
    fn fields(
        &self,
        config: &OAuthConfig,
        login: &Oauth,
    ) -> Result<Vec<(&'static str, String)>, TokenEndpointError> {
        let refresh = login
            .refresh
            .as_ref()
            .map(|token| token.expose().trim().to_owned());
        let secret = config
            .client_secret
            .as_ref()
            .map(|value| secret_text(value, &self.sources));
        let secret = secret.transpose().map_err(|problem| {
            let provider = &login.provider;
            TokenEndpointError::new(format!(
                "logins.{provider}.clientSecret cannot be used: {problem}"
            ))
        })?;
        let fields = [
            ("grant_type", Some("refresh_token".to_owned())),
            ("refresh_token", refresh),
            (
                "client_id",
                login.client_id.clone().or_else(|| config.client_id.clone()),
            ),
            ("client_secret", secret),
            ("scope", config.scope.clone()),
        ];
        Ok(fields
            .into_iter()
            .filter_map(|(name, value)| Some((name, value?)))
            .collect())
    }
}

impl TokenEndpoint for HttpTokenEndpoint {
    async fn refresh(&self, login: &Oauth) -> Result<Option<RenewedLogin>, TokenEndpointError> {
        let Some(config) = self.endpoints.oauth_config(&login.provider) else {
            return Ok(None);
        };
        let exchange = self.exchange(&config, login);
        let (status, body) = tokio::time::timeout(CALL_LIMIT, exchange).await.map_err(|_| {
            TokenEndpointError::new(format!(
                "the provider did not answer within {} s",
                CALL_LIMIT.as_secs()
            ))
        })??;
        token_answer::read(status, &body, login, SystemClock.now()).map(Some)
    }
}

fn as_form(fields: &[(&'static str, String)]) -> String {
    form_urlencoded::Serializer::new(String::new())
        .extend_pairs(fields)
        .finish()
}

fn as_json(fields: &[(&'static str, String)]) -> String {
    let members: Map<String, Value> = fields
        .iter()
        .map(|(name, value)| ((*name).to_owned(), Value::from(value.as_str())))
        .collect();
    Value::Object(members).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_carry_any_text() {
        let fields = [
            ("grant_type", "refresh_token".to_owned()),
            ("refresh_token", "a&b=c \"ü+".to_owned()),
        ];
        assert_eq!(
            as_form(&fields),
            "grant_type=refresh_token&refresh_token=a%26b%3Dc+%22%C3%BC%2B"
        );
        assert_eq!(
            as_json(&fields),
            r#"{"grant_type":"refresh_token","refresh_token":"a&b=c \"ü+"}"#
        );
    }
}
