//! The records of a walk: decisions, steps, what may be shown of an error, and what the log leaves out (R-12).

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

/// Longest part of a provider's own message that is shown, in UTF-16 units.
const MESSAGE: usize = 200;
/// Longest part of any other text.
const TEXT: usize = 400;

/// `sha256:` and twelve hex digits.
pub(super) fn hash(text: &str) -> String {
    let digest = Sha256::digest(text.trim().as_bytes());
    let head = digest
        .iter()
        .take(6)
        .fold(0_u64, |head, byte| head * 256 + u64::from(*byte));
    format!("sha256:{head:012x}")
}

/// R-12.3: what may be shown of `raw`; `whole` is the text as it came.
pub(super) fn shown(raw: &str, whole: &str, wordless: bool) -> Map<String, Value> {
    let mut fields = Map::new();
    let raw = raw.trim();
    if raw.is_empty() {
        return fields;
    }
    let payload = raw
        .find('{')
        .and_then(|at| serde_json::from_str::<Map<String, Value>>(&raw[at..]).ok());
    let member = |name: &str| payload.as_ref().and_then(|payload| payload.get(name));
    let id = ["request_id", "requestId"]
        .iter()
        .find_map(|name| member(name)?.as_str())
        .map(str::to_owned);
    let id = id.or_else(|| {
        let rest = raw.split_once("request id: ")?.1;
        rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '_')
            .next()
            .map(str::to_owned)
    });
    let masked = |text: &str| match &id {
        Some(id) if !id.is_empty() => text.replace(id.as_str(), &hash(id)),
        _ => text.to_owned(),
    };
    let mut put = |name: &str, value: String| fields.insert(name.to_owned(), value.into());
    put("errorPreview", cut(&masked(raw), TEXT));
    put("errorHash", hash(whole));
    if let Some(id) = &id {
        put("requestIdHash", hash(id));
    }
    if payload.is_some() {
        let error = member("error").filter(|error| error.is_object());
        let of = |name: &str| error.and_then(|error| error[name].as_str()).map(str::to_owned);
        let top = |name: &str| member(name).and_then(Value::as_str).map(str::to_owned);
        let kind = of("type")
            .or_else(|| of("code"))
            .or_else(|| top("error"))
            .or_else(|| top("type"));
        let message = of("message")
            .or_else(|| top("message"))
            .or_else(|| wordless.then(|| raw.to_owned()));
        let before = raw.split('{').next().unwrap_or_default();
        let code = before
            .strip_suffix(' ')
            .filter(|code| code.len() == 3 && code.parse::<u16>().is_ok());
        let quoted =
            |text: Option<&str>| text.map_or_else(|| "undefined".to_owned(), |text| json!(text).to_string());
        put(
            "errorFingerprint",
            hash(&format!(
                r#"{{"httpCode":{},"message":{},"type":{}}}"#,
                quoted(code),
                quoted(message.as_deref()),
                quoted(kind.as_deref())
            )),
        );
        for (name, value) in [("httpCode", code.map(str::to_owned)), ("providerErrorType", kind)] {
            if let Some(value) = value {
                put(name, value);
            }
        }
        if let Some(message) = message {
            put("providerErrorMessagePreview", cut(&masked(&message), MESSAGE));
        }
    }
    fields
}

/// The best short text of what may be shown.
pub(super) fn detail(fields: &Map<String, Value>) -> Option<Value> {
    fields
        .get("providerErrorMessagePreview")
        .or_else(|| fields.get("errorPreview"))
        .cloned()
}

fn cut(whole: &str, units: usize) -> String {
    let mut left = units;
    let mut kept = String::new();
    for c in whole.chars() {
        let Some(rest) = left.checked_sub(c.len_utf16()) else {
            return format!("{kept}…");
        };
        left = rest;
        kept.push(c);
    }
    kept
}

/// A page as one line (BL-85).
pub(super) fn as_line(raw: &str) -> String {
    let lower = raw.to_lowercase();
    let Some(at) = lower.find("<html").or_else(|| lower.find("<!doctype html")) else {
        return raw.to_owned();
    };
    let title = lower.find("<title>").and_then(|from| {
        let rest = &raw[from + "<title>".len()..];
        rest.split('<').next()
    });
    let title = title
        .map(str::trim)
        .filter(|title| !title.is_empty())
        .unwrap_or("untitled");
    let before = raw[..at].trim();
    let gap = if before.is_empty() { "" } else { " " };
    format!("{before}{gap}HTML page: {title}")
}

/// What the log wrote last, by everything that makes two records the same (R-12.4).
#[derive(Debug, Default)]
pub(super) struct Log(BTreeMap<String, (i64, u64)>);

/// Members that make two records the same.
const SAME: [&str; 19] = [
    "sessionId",
    "lane",
    "requestedProvider",
    "requestedModel",
    "decision",
    "candidateProvider",
    "candidateModel",
    "attempt",
    "total",
    "reason",
    "status",
    "code",
    "httpCode",
    "providerErrorType",
    "nextCandidateProvider",
    "nextCandidateModel",
    "isPrimary",
    "requestedModelMatched",
    "fallbackConfigured",
];

impl Log {
    /// The record as it is written; none when the log just said the same.
    pub(super) fn admit(&mut self, mut record: Map<String, Value>, now: i64) -> Option<Map<String, Value>> {
        let is = |name: &str, values: &[&str]| {
            values
                .iter()
                .any(|value| record.get(name).is_some_and(|is| is == value))
        };
        if !is("decision", &["candidate_failed", "skip_candidate"])
            || !is("reason", &["auth", "auth_permanent"])
        {
            return Some(record);
        }
        let member = |name: &str| record.get(name).cloned().unwrap_or_default();
        let print = record
            .get("errorFingerprint")
            .or_else(|| record.get("errorHash"))
            .cloned();
        let run = if member("sessionId").is_null() {
            member("runId")
        } else {
            Value::Null
        };
        let key = json!([SAME.map(member), print, run]).to_string();
        if let Some((at, count)) = self.0.get_mut(&key) {
            let age = now - *at;
            if age < 30_000 {
                *count += 1;
                return None;
            }
            if age < 60_000 && *count > 0 {
                record.insert("suppressedDuplicateCount".to_owned(), (*count).into());
            }
        }
        self.0.insert(key, (now, 0));
        Some(record)
    }
}
