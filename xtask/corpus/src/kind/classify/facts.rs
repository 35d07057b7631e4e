//! What a caller would know about a failure that the files describe.

use openclaw_classify::{Failure, Header};
use openclaw_ids::ProviderId;
use serde_json::{Map, Value, json};

use crate::row::Row;

/// Members of a thrown value that have their own place among the facts; what is left, but for the notes of the files
/// themselves (`$…`), is its body.
const PLACED: [&str; 10] = [
    "cause",
    "code",
    "errorType",
    "message",
    "name",
    "reason",
    "stack",
    "status",
    "statusCode",
    "type",
];

/// Flat facts about one failure.
pub(super) fn signal(input: &Value) -> Failure {
    let body = match (&input["body"], &input["details"]) {
        (Value::Null, Value::Null) => None,
        // Further texts reach a caller as part of the body.
        (Value::Null, details) => Some(json!({"errors": details}).to_string().into_bytes()),
        (Value::String(text), _) => Some(text.clone().into_bytes()),
        (body, _) => Some(body.to_string().into_bytes()),
    };
    Failure {
        provider: provider(&input["provider"]),
        status: status(&input["status"]),
        code: text(&input["code"]),
        kind: text(&input["errorType"]),
        message: text(&input["message"]),
        body,
        headers: headers(&input["headers"]),
        ..Failure::default()
    }
}

/// A text from a bug report; its facts stand beside the answer.
pub(super) fn reported(row: &Row) -> Failure {
    Failure {
        provider: provider(row.member("provider")),
        status: status(row.member("status")),
        code: text(row.member("code")),
        kind: text(row.member("type")),
        message: text(row.member("message")),
        headers: headers(row.member("headers")),
        ..Failure::default()
    }
}

/// A thrown value; `called` is the provider being called, if the row names it.
pub(in crate::kind) fn thrown(error: &Value, called: &Value) -> Failure {
    level(
        error,
        provider(called).or_else(|| provider(&error["provider"])).as_ref(),
    )
}

fn level(error: &Value, called: Option<&ProviderId>) -> Failure {
    let provider = called.cloned();
    let Value::Object(members) = error else {
        return Failure {
            provider,
            message: text(error),
            ..Failure::default()
        };
    };
    let status = status(&error["status"]).or_else(|| status(&error["statusCode"]));
    if ["$type", "name"]
        .iter()
        .any(|member| error[*member] == "FailoverError")
        && error["reason"].is_string()
    {
        // It was classified before; its reason is the fact that is left.
        return Failure {
            provider,
            status,
            code: text(&error["reason"]),
            ..Failure::default()
        };
    }
    let rest: Map<String, Value> = members
        .iter()
        .filter(|(name, _)| !PLACED.contains(&name.as_str()) && !name.starts_with('$'))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    let wrapped = [&error["cause"], &error["reason"]]
        .into_iter()
        .find(|inner| !inner.is_null() && !inner.is_boolean());
    Failure {
        provider,
        status,
        code: text(&error["code"]),
        kind: [&error["type"], &error["errorType"], &error["name"]]
            .into_iter()
            .find_map(text)
            .filter(|name| name != "Error"),
        message: text(&error["message"]),
        body: (!rest.is_empty()).then(|| Value::Object(rest).to_string().into_bytes()),
        cause: wrapped.map(|inner| Box::new(level(inner, called))),
        headers: headers(&error["headers"]),
        ..Failure::default()
    }
}

fn provider(id: &Value) -> Option<ProviderId> {
    ProviderId::try_new(id.as_str()?).ok()
}

/// A status as a number, or as a text that is one.
fn status(value: &Value) -> Option<u16> {
    match value {
        Value::String(text) => text.trim().parse().ok(),
        value => value.as_u64()?.try_into().ok(),
    }
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

fn headers(value: &Value) -> Vec<Header> {
    let rows = value.as_object().into_iter().flatten();
    rows.filter_map(|(name, value)| {
        Some(Header {
            name: name.clone(),
            value: text(value)?,
        })
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thrown_value_is_read_level_by_level() {
        let error = json!({
            "$type": "Error", "name": "APIError", "message": "oops", "status": " 429 ", "error": {"type": "x"},
            "cause": {"$type": "Error", "name": "Error", "message": "inner", "code": 7}
        });
        let failure = thrown(&error, &json!("OpenAI"));
        assert_eq!(failure.provider.as_ref().map(ProviderId::as_str), Some("openai"));
        assert_eq!(
            (failure.status, failure.kind.as_deref()),
            (Some(429), Some("APIError"))
        );
        assert_eq!(failure.body.as_deref(), Some(&br#"{"error":{"type":"x"}}"#[..]));
        let inner = failure.cause.unwrap();
        assert_eq!(
            (inner.message.as_deref(), inner.code.as_deref(), inner.kind),
            (Some("inner"), Some("7"), None)
        );
    }

    #[test]
    fn what_is_no_object_is_a_message_or_nothing() {
        assert_eq!(
            thrown(&json!("text"), &Value::Null).message.as_deref(),
            Some("text")
        );
        assert_eq!(thrown(&json!(429), &Value::Null).message.as_deref(), Some("429"));
        assert_eq!(thrown(&Value::Null, &Value::Null), Failure::default());
    }

    #[test]
    fn further_texts_of_a_signal_are_its_body() {
        let failure = signal(&json!({"status": 401, "details": ["a"]}));
        assert_eq!(failure.body.as_deref(), Some(&br#"{"errors":["a"]}"#[..]));
    }
}
