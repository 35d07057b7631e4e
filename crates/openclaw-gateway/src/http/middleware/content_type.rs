//! Checks that request bodies are declared as JSON and not compressed.

use axum::body::HttpBody;
use axum::extract::Request;
use axum::http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderValue, Method};

use crate::http::ApiError;

/// The end of media types of JSON that are not plain JSON.
const SUFFIX: &str = "+json";

/// The error for a body that is not declared as JSON, which a page may post to any host without a preflight, or for a
/// compressed one, which is not unpacked here. An empty body may be declared as anything, as command line tools do.
pub(super) fn refusal(request: &Request) -> Option<ApiError> {
    let content_type = request.headers().get(CONTENT_TYPE);
    let is_empty = request.body().is_end_stream();
    let writes = matches!(*request.method(), Method::PATCH | Method::POST | Method::PUT);
    if !writes || is_empty {
        return None;
    }
    if !is_json(content_type) {
        Some(ApiError::not_json())
    } else if is_packed(request.headers()) {
        Some(ApiError::packed())
    } else {
        None
    }
}

/// Whether a body is compressed, or changed in another way, as its sender says.
fn is_packed(headers: &HeaderMap) -> bool {
    let is_plain = |value: &HeaderValue| {
        let value = value.as_bytes().trim_ascii();
        value.is_empty() || value.eq_ignore_ascii_case(b"identity")
    };
    !headers.get_all(CONTENT_ENCODING).iter().all(is_plain)
}

fn is_json(content_type: Option<&HeaderValue>) -> bool {
    let text = content_type
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    let media_type = text.split(';').next().unwrap_or_default().trim();
    let ends_in_json = || {
        let end = media_type.len().checked_sub(SUFFIX.len());
        let end = end.and_then(|end| media_type.get(end..));
        end.is_some_and(|end| end.eq_ignore_ascii_case(SUFFIX))
    };
    media_type.eq_ignore_ascii_case("application/json") || (media_type.contains('/') && ends_in_json())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_json() {
        for (content_type, expected) in [
            (Some("application/json"), true),
            (Some("Application/JSON; charset=utf-8"), true),
            (Some("application/vnd.api+json"), true),
            (Some("text/plain"), false),
            (Some("+json"), false),
            (Some("application/x-www-form-urlencoded"), false),
            (Some(""), false),
            (None, false),
        ] {
            let value = content_type.map(|text| text.parse().unwrap());
            assert_eq!(is_json(value.as_ref()), expected, "{content_type:?}");
        }
    }

    #[test]
    fn what_is_compressed() {
        for (encodings, expected) in [
            (&[] as &[&str], false),
            (&[""], false),
            (&["Identity"], false),
            (&["gzip"], true),
            (&["identity", "br"], true),
            (&["gzip, identity"], true),
        ] {
            let mut headers = HeaderMap::new();
            for encoding in encodings {
                headers.append(CONTENT_ENCODING, encoding.parse().unwrap());
            }
            assert_eq!(is_packed(&headers), expected, "{encodings:?}");
        }
    }
}
