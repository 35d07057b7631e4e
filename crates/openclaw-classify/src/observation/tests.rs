//! Tests of descriptions and observed facts.

use super::*;
use crate::Header;

fn said(message: &str) -> Failure {
    Failure {
        message: Some(message.to_owned()),
        ..Failure::default()
    }
}

#[test]
fn the_human_text_comes_from_the_best_place() {
    let body = |body: &str| Failure {
        body: Some(body.as_bytes().to_vec()),
        ..Failure::default()
    };
    for (failure, expected) in [
        (said(" Too many requests "), "Too many requests"),
        (
            body(r#"{"error":{"message":"model is gone","type":"x"}}"#),
            "model is gone",
        ),
        (body("plain words"), "plain words"),
        (body(r#"{"odd":1}"#), r#"{"odd":1}"#),
        (
            Failure {
                status: Some(503),
                ..body("  ")
            },
            "HTTP 503",
        ),
        (
            Failure {
                transport: Some(Transport::Refused),
                ..Failure::default()
            },
            "connection refused",
        ),
        (
            Failure {
                cause: Some(Box::new(said("inner"))),
                ..Failure::default()
            },
            "inner",
        ),
        (Failure::default(), "unknown error"),
    ] {
        assert_eq!(describe(&failure), expected);
    }
}

#[test]
fn r_12_3_observed_facts() {
    let failure = Failure {
        status: Some(429),
        ..said(
            r#"429 {"type":"error","error":{"type":"rate_limit_error","code":"slow","message":"Rate limited"},"request_id":"req_01"}"#,
        )
    };
    assert_eq!(
        observe(&failure),
        Observation {
            status: Some(429),
            code: Some("slow".to_owned()),
            kind: Some("rate_limit_error".to_owned()),
            message: Some("Rate limited".to_owned()),
            request_id: Some("req_01".to_owned()),
        }
    );
}

#[test]
fn r_12_3_the_type_is_the_first_of_its_places() {
    for (message, kind) in [
        (r#"{"error":{"type":"a","code":"b"},"type":"c"}"#, Some("a")),
        (r#"{"error":{"code":"b"},"type":"c"}"#, Some("b")),
        (r#"{"error":"unauthorized","type":"c"}"#, Some("unauthorized")),
        (r#"{"type":"c"}"#, Some("c")),
        ("plain", None),
    ] {
        assert_eq!(observe(&said(message)).kind.as_deref(), kind, "{message}");
    }
}

#[test]
fn the_request_id_is_found_in_headers_and_text() {
    let headed = Failure {
        headers: vec![Header {
            name: "X-Request-Id".to_owned(),
            value: "abc".to_owned(),
        }],
        ..said("odd")
    };
    assert_eq!(observe(&headed).request_id.as_deref(), Some("abc"));
    let worded = said("boom (Request ID: req_5b29-c0)");
    assert_eq!(observe(&worded).request_id.as_deref(), Some("req_5b29-c0"));
}
