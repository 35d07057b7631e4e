//! The headers of a request to a provider.

use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use openclaw_classify::{Failure, Phase};
use secrecy::ExposeSecret;

use super::Call;
use crate::endpoint::SecretKind;

/// Room for the headers of a request.
const USUAL_HEADERS: usize = 8;

impl Call<'_> {
    /// The headers of the request.
    ///
    /// # Errors
    /// When no header can carry the key: it is a wrong key.
    #[expect(
        clippy::result_large_err,
        reason = "a failure is made and moved once, off the fast path"
    )]
    pub(crate) fn request_headers(&self, wants_stream: bool) -> Result<HeaderMap, Failure> {
        let accept = if wants_stream {
            "text/event-stream"
        } else {
            "application/json"
        };
        let mut headers = self.headers.clone();
        // One allocation for all that follows, and what the client library adds.
        headers.reserve(USUAL_HEADERS);
        if let Some(login) = self.endpoint.login() {
            headers.insert(AUTHORIZATION, login.clone());
        }
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static(accept));
        let family = self.wire.family();
        for (name, value) in family.default_headers() {
            headers
                .entry(HeaderName::from_static(name))
                .or_insert(HeaderValue::from_static(value));
        }
        if let Some(secret) = self.secret {
            let secret = secret.expose_secret().trim();
            match (family.key_header(), self.kind) {
                (Some(name), SecretKind::Key) => {
                    headers.insert(HeaderName::from_static(name), sensitive(secret)?);
                }
                (None, SecretKind::Key) => {
                    headers.insert(AUTHORIZATION, sensitive(&format!("Bearer {secret}"))?);
                }
                (_, SecretKind::Token) => {
                    headers.insert(AUTHORIZATION, sensitive(&format!("Bearer {secret}"))?);
                    for (name, value) in family.login_headers() {
                        headers.append(HeaderName::from_static(name), HeaderValue::from_static(value));
                    }
                }
            }
        }
        for (name, value) in self.endpoint.headers() {
            headers.insert(name.clone(), value.clone());
        }
        Ok(headers)
    }
}

#[expect(
    clippy::result_large_err,
    reason = "a failure is made and moved once, off the fast path"
)]
fn sensitive(text: &str) -> Result<HeaderValue, Failure> {
    let mut value = HeaderValue::from_str(text).map_err(|_| Failure {
        code: Some("invalid_api_key".to_owned()),
        message: Some("the API key holds characters that cannot be sent; store it again".to_owned()),
        phase: Some(Phase::BeforeRequest),
        ..Failure::default()
    })?;
    value.set_sensitive(true);
    Ok(value)
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use openclaw_ids::ProviderId;
    use secrecy::SecretString;

    use openclaw_wire::{RequestBody, WireFormat};

    use super::super::*;
    use super::*;

    /// The headers of a request, sensitive values included, one per line.
    fn sent(
        wire: WireFormat,
        secret: Option<(&str, SecretKind)>,
        client: &[(&'static str, &'static str)],
    ) -> String {
        let endpoint = Endpoint::try_new(ProviderId::try_new("p").unwrap(), "http://h").unwrap();
        let mut own = HeaderMap::new();
        own.insert("x-own", HeaderValue::from_static("of the row"));
        let endpoint = endpoint.with_headers(own);
        let mut headers = HeaderMap::new();
        for (name, value) in client {
            headers.append(*name, HeaderValue::from_static(value));
        }
        let body = RequestBody::try_new(Bytes::from_static(br#"{"model":"m"}"#)).unwrap();
        let text = secret.map(|(text, _)| SecretString::from(text));
        let call = Call {
            endpoint: &endpoint,
            model: "m",
            secret: text.as_ref(),
            kind: secret.map_or(SecretKind::Key, |(_, kind)| kind),
            wire,
            headers: &headers,
            deadlines: Deadlines::DEFAULT,
            body: &body,
        };
        let headers = call.request_headers(true).unwrap();
        let lines = headers
            .iter()
            .map(|(name, value)| format!("{name}: {}", value.to_str().unwrap()));
        let mut lines: Vec<String> = lines.collect();
        lines.sort_unstable();
        lines.join("\n")
    }

    #[test]
    fn keys_and_tokens_go_where_the_format_reads_them() {
        let client = [("anthropic-beta", "one"), ("anthropic-version", "2099-01-01")];
        let (key, token) = (Some(("k", SecretKind::Key)), Some(("t", SecretKind::Token)));
        insta::assert_snapshot!("chat_key", sent(WireFormat::ChatCompletions, key, &[]));
        insta::assert_snapshot!("chat_token", sent(WireFormat::ChatCompletions, token, &[]));
        insta::assert_snapshot!("messages_key", sent(WireFormat::Messages, key, &client));
        insta::assert_snapshot!("messages_token", sent(WireFormat::Messages, token, &client));
        insta::assert_snapshot!("messages_without", sent(WireFormat::Messages, None, &[]));
    }
}
