//! Reads what a client sent: its body within a limit, and the last part of its path.

use axum::body::{Body, Bytes};
use axum::extract::{FromRequestParts, Path};
use axum::http::HeaderMap;
use axum::http::header::CONTENT_LENGTH;
use axum::http::request::Parts;
use http_body_util::LengthLimitError;
use openclaw_classify::error_chain;

use super::error::ApiError;
use crate::server::BodyFault;

/// What some editors and shells put before a text.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
/// The same in an encoding that JSON is not sent in.
const UTF_16_MARKS: &[&[u8]] = &[b"\xff\xfe", b"\xfe\xff"];

/// The whole of `body`, at most `limit` bytes, without a byte order mark. A body that is announced to be larger is
/// refused before anything of it is waited for.
pub(crate) async fn whole_body(headers: &HeaderMap, body: Body, limit: usize) -> Result<Bytes, ApiError> {
    let announced = headers
        .get(CONTENT_LENGTH)
        .and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    if announced.is_some_and(|length| usize::try_from(length).map_or(true, |length| length > limit)) {
        return Err(ApiError::too_large(limit));
    }
    let read = axum::body::to_bytes(body, limit).await.map_err(|error| {
        if let Some(fault) = BodyFault::behind(&error) {
            return ApiError::of_body(fault);
        }
        if error_chain::each(&error).any(<dyn std::error::Error>::is::<LengthLimitError>) {
            ApiError::too_large(limit)
        } else {
            ApiError::unreadable_body()
        }
    })?;
    if UTF_16_MARKS.iter().any(|mark| read.starts_with(mark)) {
        return Err(ApiError::invalid(
            "the request body is UTF-16, as its byte order mark says; send it in UTF-8",
        ));
    }
    let mark = if read.starts_with(BYTE_ORDER_MARK) {
        BYTE_ORDER_MARK.len()
    } else {
        0
    };
    Ok(read.slice(mark..))
}

/// The part of the path that names something, percent-decoded.
pub(crate) struct PathName(pub(crate) String);

impl<S: Send + Sync> FromRequestParts<S> for PathName {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        match Path::<String>::from_request_parts(parts, state).await {
            Ok(Path(name)) => Ok(Self(name)),
            Err(_) => Err(ApiError::invalid(
                "the name in the path is not UTF-8 in percent-encoding",
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;
    use futures_util::stream;

    use super::*;

    async fn read(headers: &HeaderMap, body: Body) -> Result<Bytes, ApiError> {
        whole_body(headers, body, 8).await
    }

    #[tokio::test]
    async fn a_body_that_is_not_waited_for_is_told_from_one_that_broke_off() {
        for (fault, code) in [
            (axum::Error::new(BodyFault::Late), "request_timeout"),
            (axum::Error::new(BodyFault::Stopping), "stopping"),
            (axum::Error::new(std::io::Error::other("gone")), "invalid_request"),
        ] {
            let body = Body::from_stream(stream::iter([Ok(Bytes::from_static(b"{")), Err(fault)]));
            assert_eq!(read(&HeaderMap::new(), body).await.unwrap_err().code(), code);
        }
    }

    #[tokio::test]
    async fn what_is_announced_to_be_too_large_is_not_waited_for() {
        let never = || {
            Body::from_stream(stream::once(std::future::pending::<
                Result<Bytes, std::convert::Infallible>,
            >()))
        };
        let announcing = |length| HeaderMap::from_iter([(CONTENT_LENGTH, HeaderValue::from_static(length))]);
        for length in ["9", "18446744073709551615"] {
            let refused = read(&announcing(length), never()).await.unwrap_err();
            assert_eq!(refused.code(), "request_too_large");
        }
        let fits = read(&announcing("8"), Body::from("12345678")).await.unwrap();
        assert_eq!(fits.len(), 8);
        let longer = read(&HeaderMap::new(), Body::from("123456789"))
            .await
            .unwrap_err();
        assert_eq!(longer.code(), "request_too_large");
    }

    #[tokio::test]
    async fn a_byte_order_mark_is_left_out_and_another_encoding_is_named() {
        let none = HeaderMap::new();
        let marked = read(&none, Body::from("\u{feff}{}")).await.unwrap();
        assert_eq!(marked, "{}");
        for bytes in [b"\xff\xfe{\0".as_slice(), b"\xfe\xff\0{"] {
            let refused = read(&none, Body::from(bytes)).await.unwrap_err();
            assert_eq!(refused.code(), "invalid_request");
        }
    }
}
