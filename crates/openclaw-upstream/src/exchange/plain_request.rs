//! Requests that are no attempt: the renewal of a token, the list of a provider's models, a usage report.

use bytes::Bytes;
use http::header::{AUTHORIZATION, HeaderMap};
use http::{Method, StatusCode, Uri};
use http_body_util::BodyExt;
use hyper_util::client::legacy;
use url::Url;

use super::Upstream;
use crate::client::ResendPolicy;
use crate::endpoint::{userinfo_header, without_userinfo};

/// A request outside of all wire formats.
pub struct PlainRequest {
    /// The HTTP method.
    pub method: Method,
    /// The address; user and password in it become a header.
    pub url: Url,
    /// Further headers.
    pub headers: HeaderMap,
    /// Empty for requests without one.
    pub body: Bytes,
}

/// A plain request got no answer.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// The address cannot stand in a request.
    #[error("the address cannot be called")]
    Address,
    /// The answer broke off.
    #[error("the answer broke off")]
    Broken(#[from] hyper::Error),
    /// No answer began.
    #[error("cannot reach it")]
    Unreachable(#[from] legacy::Error),
    /// The answer is larger than this, in bytes.
    #[error("the answer is larger than {0} bytes")]
    TooLarge(usize),
}

impl Upstream {
    /// Sends a request to an address that is no provider's endpoint, for an answer of at most `most` bytes. It has no
    /// deadline of its own.
    ///
    /// # Errors
    /// When no answer comes, or a larger one.
    pub async fn fetch(
        &self,
        request: PlainRequest,
        most: usize,
    ) -> Result<(StatusCode, Vec<u8>), FetchError> {
        let PlainRequest {
            method,
            url,
            mut headers,
            body,
        } = request;
        if let Some(login) = userinfo_header(&url) {
            headers.entry(AUTHORIZATION).or_insert(login);
        }
        let to = Uri::try_from(without_userinfo(&url).as_str()).map_err(|_| FetchError::Address)?;
        let answer = self
            .default
            .current()
            .send(method, &to, headers, body, ResendPolicy::Refused)
            .await?;
        let status = answer.status();
        let mut source = answer.into_body();
        let mut read = Vec::new();
        while let Some(frame) = source.frame().await {
            if let Ok(piece) = frame?.into_data() {
                read.extend_from_slice(&piece);
            }
            if read.len() > most {
                return Err(FetchError::TooLarge(most));
            }
        }
        Ok((status, read))
    }
}
