//! Whether a failed call may be made again at once, before failover.

use openclaw_classify::{Failure, Header, Phase, Transport};

/// Statuses of a gateway whose server just went away.
const SERVER_GONE: &[u16] = &[500, 502, 504];

/// Headers by which a provider says when to retry.
const RETRY_HEADERS: &[&str] = &[
    "retry-after",
    "x-should-retry",
    "x-ms-retry-after-ms",
    "x-amz-retry-after",
];

/// Whether a failure looks transient: the connection was reset before any byte of an answer, or a 500, 502 or 504 came
/// without an explanation. A timeout never does, since the same wait would only be repeated, and neither does an error that
/// the provider explains.
pub fn is_transient(failure: &Failure) -> bool {
    match (failure.transport, failure.status) {
        (Some(Transport::Reset), None) => {
            matches!(failure.phase, Some(Phase::BeforeRequest | Phase::BeforeFirstByte))
        }
        (None, Some(status)) => SERVER_GONE.contains(&status) && is_bare(failure),
        (Some(_) | None, _) => false,
    }
}

/// Whether a refusal explains nothing: no error object, and no header about the next request. The page of a proxy is no
/// explanation.
fn is_bare(failure: &Failure) -> bool {
    let asks = |header: &Header| {
        RETRY_HEADERS
            .iter()
            .any(|name| header.name.eq_ignore_ascii_case(name))
    };
    let body = failure.body.as_deref().unwrap_or_default();
    let is_json = || serde_json::from_slice::<serde::de::IgnoredAny>(body).is_ok();
    !failure.headers.iter().any(asks) && failure.message.is_none() && !is_json()
}

#[cfg(test)]
mod tests {
    use openclaw_classify::{TimeoutPhase, TimerOwner};

    use super::*;

    #[test]
    fn resets_before_any_byte_are_transient_and_timeouts_never_are() {
        use Phase::{AfterContent, BeforeFirstByte, BeforeFirstContent, BeforeRequest};
        for (transport, phase, expected) in [
            (Transport::Reset, BeforeRequest, true),
            (Transport::Reset, BeforeFirstByte, true),
            (Transport::Reset, BeforeFirstContent, false),
            (Transport::Reset, AfterContent, false),
            (Transport::Refused, BeforeRequest, false),
            (Transport::Dns, BeforeRequest, false),
            (
                Transport::Timeout(TimeoutPhase::FirstByte, TimerOwner::Us),
                BeforeFirstByte,
                false,
            ),
            (
                Transport::Timeout(TimeoutPhase::Connect, TimerOwner::Us),
                BeforeRequest,
                false,
            ),
        ] {
            let failure = Failure {
                transport: Some(transport),
                phase: Some(phase),
                message: Some("connection reset".to_owned()),
                ..Failure::default()
            };
            assert_eq!(is_transient(&failure), expected, "{transport:?} {phase:?}");
        }
    }

    #[test]
    fn only_a_bare_refusal_is_transient() {
        let html = "<html><h1>502 Bad Gateway</h1></html>";
        for (status, body, header, expected) in [
            (500, "", "", true),
            (502, html, "", true),
            (504, "upstream request timeout", "", true),
            (503, "", "", false),
            (429, "", "", false),
            (400, "", "", false),
            (500, r#"{"error":{"message":"m"}}"#, "", false),
            (502, html, "retry-after", false),
            (502, html, "X-Should-Retry", false),
            (502, html, "content-type", true),
        ] {
            let sent = Header {
                name: header.to_owned(),
                value: "1".to_owned(),
            };
            let failure = Failure {
                status: Some(status),
                body: Some(body.as_bytes().to_vec()),
                headers: vec![sent],
                ..Failure::default()
            };
            assert_eq!(is_transient(&failure), expected, "{status} {body} {header}");
        }
    }
}
