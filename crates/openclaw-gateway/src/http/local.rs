//! Keeps web pages out: without a token, only requests that a page of another host cannot have made are answered.

use axum::body::HttpBody;
use axum::extract::Request;
use axum::http::header::{ACCESS_CONTROL_REQUEST_METHOD, CONTENT_ENCODING, CONTENT_TYPE, HOST, ORIGIN};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderValue, Method, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use openclaw_providers::is_loopback_host;

use super::Served;
use super::error::ApiError;

/// How the kinds of JSON end that are not plain JSON.
const SUFFIX: &str = "+json";

/// Refuses requests that reach this machine under a foreign name, or come from a page of another host, when no token
/// tells who asks. A browser sends both headers and lets no page change them.
pub(crate) async fn require(served: Served, request: Request, next: Next) -> Response {
    match refusal(&served, &request) {
        Some(refusal) => refusal,
        None => next.run(request).await,
    }
}

/// The answer of [`require`] to a request that it refuses.
pub(super) fn refusal(served: &Served, request: &Request) -> Option<Response> {
    if served.generation.token.is_some() || is_local(request.uri(), request.headers()) {
        return None;
    }
    let error = ApiError::foreign().for_path(request.uri().path());
    Some(error.into_response())
}

/// Refuses bodies that are not declared as JSON, which a page may post to any host without asking first, and compressed
/// ones, which nobody here unpacks. What is no body at all may be declared as anything, as command line tools do.
pub(crate) async fn json_only(request: Request, next: Next) -> Response {
    match refusal_of_kind(&request) {
        Some(refusal) => refusal,
        None => next.run(request).await,
    }
}

/// The answer of [`json_only`] to a request that it refuses.
pub(super) fn refusal_of_kind(request: &Request) -> Option<Response> {
    let content_type = request.headers().get(CONTENT_TYPE);
    let says_nothing = request.body().is_end_stream();
    let writes = matches!(*request.method(), Method::PATCH | Method::POST | Method::PUT);
    if !writes || says_nothing {
        return None;
    }
    let error = if !is_json(content_type) {
        ApiError::not_json()
    } else if is_packed(request.headers()) {
        ApiError::packed()
    } else {
        return None;
    };
    Some(error.for_path(request.uri().path()).into_response())
}

/// Answers the question that a browser asks before a page of another origin may: no, and what to do instead.
pub(crate) async fn no_preflight(request: Request, next: Next) -> Response {
    let headers = request.headers();
    let asks = *request.method() == Method::OPTIONS
        && headers.contains_key(ORIGIN)
        && headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD);
    if asks {
        return ApiError::cross_origin()
            .for_path(request.uri().path())
            .into_response();
    }
    next.run(request).await
}

fn is_local(uri: &Uri, headers: &HeaderMap) -> bool {
    let named = |value: &HeaderValue| {
        if is_plainly_here(value.as_bytes()) {
            return true;
        }
        let authority = value
            .to_str()
            .ok()
            .and_then(|text| text.parse::<Authority>().ok());
        // What stands before an `@` names nobody here, and belongs into no such header.
        authority
            .is_some_and(|authority| is_loopback_host(authority.host()) && !authority.as_str().contains('@'))
    };
    // `null`, and anything else that is no address, comes from a page that hides where it is from.
    let from = |value: &HeaderValue| {
        let uri = value.to_str().ok().and_then(|text| text.parse::<Uri>().ok());
        uri.is_some_and(|uri| {
            uri.host().is_some_and(is_loopback_host) && uri.scheme().is_some() && is_plain(&uri)
        })
    };
    uri.host().is_none_or(is_loopback_host)
        && is_plain(uri)
        && !is_embedded(headers)
        && headers.get_all(HOST).iter().all(named)
        && headers.get_all(ORIGIN).iter().all(from)
}

/// Whether a host is one of the usual names of this machine, perhaps with a port.
fn is_plainly_here(host: &[u8]) -> bool {
    let rest = ["127.0.0.1", "localhost"]
        .iter()
        .find_map(|name| host.strip_prefix(name.as_bytes()));
    match rest {
        Some([]) => true,
        Some([b':', port @ ..]) => !port.is_empty() && port.len() <= 5 && port.iter().all(u8::is_ascii_digit),
        Some(_) | None => false,
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

/// Whether nothing stands before the host.
fn is_plain(uri: &Uri) -> bool {
    uri.authority()
        .is_none_or(|authority| !authority.as_str().contains('@'))
}

/// Whether a page of another site wants this as one of its pictures or scripts: it sends no `Origin` then, learns from
/// the time how it went, and can hold connections open. Whoever follows a link from there is let in.
fn is_embedded(headers: &HeaderMap) -> bool {
    let says = |name, what: &str| headers.get(name).is_some_and(|value| value == what);
    says("sec-fetch-site", "cross-site")
        && !says("sec-fetch-mode", "navigate")
        && !headers.contains_key(ORIGIN)
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
    use axum::http::HeaderName;

    use super::*;

    const MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");
    const SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

    #[test]
    fn who_may_ask_without_a_token() {
        for (uri, headers, expected) in [
            ("/", &[] as &[(_, &str)], true),
            ("/", &[(HOST, "127.0.0.1:18789")], true),
            ("/", &[(HOST, "localhost:18789")], true),
            ("/", &[(HOST, "LocalHost")], true),
            ("/", &[(HOST, "[::1]:18789")], true),
            ("/", &[(HOST, "127.8.9.1")], true),
            ("/", &[(HOST, "rebound.example:18789")], false),
            ("/", &[(HOST, "127.0.0.1.example")], false),
            ("/", &[(HOST, "localhost.example")], false),
            ("/", &[(HOST, "10.0.0.1")], false),
            ("/", &[(HOST, "")], false),
            ("/", &[(HOST, "evil@localhost")], false),
            ("/", &[(HOST, "localhost"), (HOST, "rebound.example")], false),
            ("http://rebound.example/", &[(HOST, "localhost")], false),
            ("http://evil@localhost/", &[(HOST, "localhost")], false),
            (
                "/",
                &[(HOST, "localhost"), (ORIGIN, "http://evil@localhost")],
                false,
            ),
            ("/", &[(HOST, "localhost"), (SITE, "cross-site")], false),
            (
                "/",
                &[(HOST, "localhost"), (SITE, "cross-site"), (MODE, "no-cors")],
                false,
            ),
            (
                "/",
                &[(HOST, "localhost"), (SITE, "cross-site"), (MODE, "navigate")],
                true,
            ),
            ("/", &[(HOST, "localhost"), (SITE, "same-origin")], true),
            ("/", &[(HOST, "localhost"), (SITE, "none")], true),
            (
                "/",
                &[
                    (HOST, "127.0.0.1"),
                    (ORIGIN, "http://localhost:3000"),
                    (SITE, "cross-site"),
                ],
                true,
            ),
            (
                "/",
                &[(HOST, "localhost"), (ORIGIN, "http://localhost:3000")],
                true,
            ),
            ("/", &[(HOST, "localhost"), (ORIGIN, "http://[::1]:3000")], true),
            (
                "/",
                &[(HOST, "localhost"), (ORIGIN, "https://page.example")],
                false,
            ),
            ("/", &[(HOST, "localhost"), (ORIGIN, "null")], false),
            ("/", &[(HOST, "localhost"), (ORIGIN, "localhost")], false),
            ("/", &[(HOST, "localhost"), (ORIGIN, "file://")], false),
        ] {
            let sent = headers
                .iter()
                .map(|(name, value)| (name.clone(), value.parse().unwrap()));
            let mut map = HeaderMap::new();
            sent.for_each(|(name, value): (_, HeaderValue)| {
                map.append(name, value);
            });
            assert_eq!(
                is_local(&uri.parse().unwrap(), &map),
                expected,
                "{uri} {headers:?}"
            );
        }
    }

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
