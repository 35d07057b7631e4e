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

#[test]
fn f_92_the_message_of_a_serialized_error_is_its_detail() {
    let once = r#"{"name":"FailoverError","message":"ser","reason":"overloaded"}"#;
    let twice = serde_json::json!({"name": "Error", "message": once}).to_string();
    let other = r#"{"message":"slow down","reason":"overloaded","name":"ApiError","status":529}"#;
    let nested = serde_json::json!({"error": {"message": once, "type": "server_error"}}).to_string();
    for (text, expected) in [(once, "ser"), (&twice, "ser"), (other, "slow down")] {
        let failure = Failure {
            message: Some(text.to_owned()),
            ..Failure::default()
        };
        assert_eq!(describe(&failure), expected, "{text}");
        assert_eq!(observe(&failure).message.as_deref(), Some(expected), "{text}");
    }
    let failure = Failure {
        body: Some(nested.into_bytes()),
        ..Failure::default()
    };
    assert_eq!(observe(&failure).message.as_deref(), Some("ser"));
    // An object that is no serialized error stays as it was said.
    let payload = r#"{"error":{"type":"server_error","message":"boom"}}"#;
    let failure = Failure {
        message: Some(payload.to_owned()),
        ..Failure::default()
    };
    assert_eq!(describe(&failure), payload);
}

#[test]
fn f_14_type_and_code_are_both_kept() {
    for (body, kind, code) in [
        (
            r#"{"error":{"type":"invalid_request_error","code":"model_not_found","message":"m"}}"#,
            "invalid_request_error",
            "model_not_found",
        ),
        (r#"{"type":"error","code":"1302","message":"m"}"#, "error", "1302"),
        (
            r#"{"error":{"type":"limit","code":1113,"message":"m"}}"#,
            "limit",
            "1113",
        ),
    ] {
        let failure = Failure {
            status: Some(400),
            body: Some(body.as_bytes().to_vec()),
            ..Failure::default()
        };
        let seen = observe(&failure);
        assert_eq!(
            (seen.kind.as_deref(), seen.code.as_deref()),
            (Some(kind), Some(code)),
            "{body}"
        );
    }
}
