//! Checks the origin of requests: without a token, only those pass that no page of another host can have made.

use axum::extract::Request;
use axum::http::header::{ACCESS_CONTROL_REQUEST_METHOD, HOST, ORIGIN};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderValue, Method, Uri};
use openclaw_providers::is_loopback_host;

use crate::http::{ApiError, RequestContext};

/// The error for a request that reaches this machine under a foreign name, or comes from a page of another host, when no
/// token tells clients apart. A browser sends both headers and lets no page change them.
pub(super) fn refusal(context: &RequestContext, request: &Request) -> Option<ApiError> {
    if context.generation.token.is_some() || is_local(request.uri(), request.headers()) {
        return None;
    }
    Some(ApiError::foreign())
}

/// The error for a preflight: a browser asks whether a page of another origin may send a request. It may not.
pub(super) fn preflight_refusal(request: &Request) -> Option<ApiError> {
    let headers = request.headers();
    let is_preflight = *request.method() == Method::OPTIONS
        && headers.contains_key(ORIGIN)
        && headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD);
    is_preflight.then(ApiError::cross_origin)
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
        // User information before an `@` is not expected in these headers.
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

/// Whether nothing stands before the host.
fn is_plain(uri: &Uri) -> bool {
    uri.authority()
        .is_none_or(|authority| !authority.as_str().contains('@'))
}

/// Whether a page of another site loads this as one of its pictures or scripts: it sends no `Origin` then, but learns from
/// the time it takes, and can hold connections open. Following a link from there is allowed.
fn is_embedded(headers: &HeaderMap) -> bool {
    let says = |name, what: &str| headers.get(name).is_some_and(|value| value == what);
    says("sec-fetch-site", "cross-site")
        && !says("sec-fetch-mode", "navigate")
        && !headers.contains_key(ORIGIN)
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
}
