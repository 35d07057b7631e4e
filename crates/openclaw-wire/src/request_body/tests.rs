//! Only `model` may change, whatever surrounds it.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn read(text: &str) -> Result<RequestBody, BodyError> {
    RequestBody::try_new(Bytes::copy_from_slice(text.as_bytes()))
}

#[test]
fn every_other_byte_stays() {
    for (before, after) in [
        (r#"{"model":"a"}"#, r#"{"model":"x/y"}"#),
        (
            "{ \"z\" : 1.0e2,\n\t\"model\" : \"a\" , \"n\":12345678901234567890123 }",
            "{ \"z\" : 1.0e2,\n\t\"model\" : \"x/y\" , \"n\":12345678901234567890123 }",
        ),
        (r#"{"\u006dodel":"a"}"#, r#"{"\u006dodel":"x/y"}"#),
        (
            r#"{"messages":[{"model":"no","content":"\"model\": \"no\""}],"metadata":{"model":"no"},"model":"a"}"#,
            r#"{"messages":[{"model":"no","content":"\"model\": \"no\""}],"metadata":{"model":"no"},"model":"x/y"}"#,
        ),
        (
            r#"{"user":"model","model":"a\\\"b"}"#,
            r#"{"user":"model","model":"x/y"}"#,
        ),
    ] {
        assert_eq!(read(before).unwrap().with_model("x/y"), after);
    }
}

#[test]
fn what_is_read() {
    let body = read(r#"{"model":" openclaw ","stream":true,"unknown":[]}"#).unwrap();
    assert_eq!((body.model(), body.wants_stream()), (" openclaw ", true));
    assert!(!read(r#"{"model":"a","stream":null}"#).unwrap().wants_stream());
    assert!(!read(r#"{"model":"a"}"#).unwrap().wants_stream());
}

#[test]
fn what_is_refused_and_why() {
    for (text, error) in [
        ("", "not JSON: it ends too early at line 1, column 0"),
        ("{\n", "not JSON: it ends too early at line 2, column 0"),
        (
            "{,}",
            "not JSON: there is something unexpected at line 1, column 2",
        ),
        ("[]", "must be a JSON object such as"),
        ("[\"a\", true]", "not a list"),
        ("\"a\"", "not a text"),
        ("7", "not a number"),
        (
            "{\"model\":3}",
            "`model` must be a text such as \"openclaw\", not a number",
        ),
        (
            "{\"model\":[\"a\"]}",
            "`model` must be a text such as \"openclaw\", not a list",
        ),
        (
            "{\"model\":\"a\",\"stream\":\"yes\"}",
            "`stream` must be true or false, not a text",
        ),
        ("{\"model\":\"a\",\"model\":\"b\"}", "only once"),
        ("{}", "names no model"),
        ("{\"model\":\" \"}", "names no model"),
        ("{\"model\":null}", "names no model"),
    ] {
        let message = read(text).unwrap_err().to_string();
        assert!(message.contains(error), "{text}: {message}");
    }
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
        Just(json!("model")),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            proptest::collection::vec(("model|.{0,3}", inner), 0..3)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn the_value_at_the_top_and_nothing_else_changes(
        mut members in proptest::collection::vec((".{1,4}", value()), 0..5),
        at in any::<prop::sample::Index>(),
        old in ".{1,6}",
        new in ".{0,6}",
    ) {
        prop_assume!(!old.trim().is_empty());
        members.retain(|(name, _)| name != "model" && name != "stream");
        members.insert(at.index(members.len() + 1), ("model".to_owned(), Value::from(old.clone())));
        let mut expected: serde_json::Map<String, Value> = members.into_iter().collect();
        let body = read(&Value::Object(expected.clone()).to_string()).unwrap();
        prop_assert_eq!(body.model(), &old);
        expected.insert("model".to_owned(), Value::from(new.clone()));
        let (sent, expected) = (body.with_model(&new), Value::Object(expected).to_string());
        prop_assert_eq!(&sent[..], expected.as_bytes());
    }
}
