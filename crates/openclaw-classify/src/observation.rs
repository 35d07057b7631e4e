//! The facts of a failure for decision records, and its text for people (runner.md ).

mod prompt_size;

use crate::facts::{Facts, PageDetail, ReadOptions, SentenceFilter};
use crate::failure::{AbortedBy, Transport};
use crate::text::lenient_json::{self, Json};

use crate::Failure;
pub use prompt_size::observed_tokens;

/// The structured facts of one failure for the decision record. Nothing is redacted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Observation {
    /// The HTTP status, from the response or from a text.
    pub status: Option<u16>,
    /// The code of the failure.
    pub code: Option<String>,
    /// The provider's name for the failure: the error's type, else its code.
    pub kind: Option<String>,
    /// The provider's message, without the object around it.
    pub message: Option<String>,
    /// The provider's id of the request.
    pub request_id: Option<String>,
}

/// All messages, and of a page only its title.
const MESSAGES: ReadOptions<'static> = ReadOptions::texts(PageDetail::Presence, SentenceFilter::All);

/// The facts of `failure` for a decision record (C-2, R-12.3).
pub fn observe(failure: &Failure) -> Observation {
    let facts = Facts::read(failure, MESSAGES);
    let body = failure.body.as_deref().map(String::from_utf8_lossy);
    let texts = [failure.message.as_deref(), body.as_deref()].map(|text| text.map(crate::facts::clip));
    let payload = texts.iter().flatten().find_map(|text| payload(text));
    let error = payload.as_ref().and_then(innermost_error);
    let member = |value: Option<&Json<'_>>, name: &str| {
        let text = match value?.get(name)? {
            Json::Text(text) => text.to_string(),
            Json::Number(number) => number.to_string(),
            Json::Null | Json::Bool | Json::List(_) | Json::Object(_) => return None,
        };
        (!text.trim().is_empty()).then_some(text)
    };
    let top = payload.as_ref();
    Observation {
        status: facts.status(),
        code: failure
            .code
            .clone()
            .or_else(|| member(error, "code"))
            .or_else(|| member(top, "code")),
        kind: member(error, "type")
            .or_else(|| member(error, "code"))
            .or_else(|| failure.kind.clone())
            .or_else(|| member(top, "error"))
            .or_else(|| member(top, "type")),
        message: member(error, "message")
            .or_else(|| member(top, "message"))
            .or_else(|| top.and_then(entries_text))
            .or_else(|| facts.sentences.first().cloned())
            .map(|message| serialized_message(&message).unwrap_or(message)),
        request_id: facts.request_id.clone().or_else(|| request_id(failure)),
    }
}

/// The text of a failure for people: its message, else the message in its body, else its status, else what happened to
/// the connection, else its code, else the text of its cause. Not redacted.
pub fn describe(failure: &Failure) -> String {
    let message = failure
        .message
        .as_deref()
        .map(str::trim)
        .filter(|text| !text.is_empty());
    message
        .map(|text| serialized_message(text).unwrap_or_else(|| text.to_owned()))
        .or_else(|| {
            let body = String::from_utf8_lossy(failure.body.as_deref()?);
            if let Some(entries) = payload(&crate::facts::clip(&body))
                .as_ref()
                .and_then(entries_text)
            {
                return Some(entries);
            }
            let only_body = Failure {
                body: failure.body.clone(),
                ..Failure::default()
            };
            let mut sentences = Facts::read(&only_body, MESSAGES).sentences.into_iter();
            sentences
                .next()
                .or_else(|| Some(body.trim().to_owned()).filter(|text| !text.is_empty()))
        })
        .or_else(|| failure.status.map(|status| format!("HTTP {status}")))
        .or_else(|| {
            failure
                .transport
                .map(|transport| transport_text(transport).to_owned())
        })
        .or_else(|| failure.code.clone())
        .or_else(|| failure.cause.as_deref().map(describe))
        .unwrap_or_else(|| "unknown error".to_owned())
}

/// How often an error is serialized into the message of another one.
const MAX_SERIALIZED: usize = 8;

/// The message of the error that `text` is the serialized form of: an object with its name and its message (F-92).
fn serialized_message(text: &str) -> Option<String> {
    let inner = |text: &str| {
        let text = text.trim();
        if !text.starts_with('{') {
            return None;
        }
        let parsed = lenient_json::parse(text).filter(|parsed| parsed.length == text.len())?;
        match (parsed.value.get("name"), parsed.value.get("message")) {
            (Some(Json::Text(_)), Some(Json::Text(message))) if !message.trim().is_empty() => {
                Some(message.trim().to_owned())
            }
            _ => None,
        }
    };
    std::iter::successors(inner(text), |text| inner(text))
        .take(MAX_SERIALIZED)
        .last()
}

/// The first object in `text`.
fn payload(text: &str) -> Option<Json<'_>> {
    text.match_indices('{')
        .take(8)
        .find_map(|(at, _)| lenient_json::parse(&text[at..]))
        .map(|parsed| parsed.value)
}

/// The most entries of a list of faults that are told.
const MAX_ENTRIES: usize = 16;

/// All entries of a body's list of faults, each with the place it is about, as frameworks and RFC 9457 write them.
fn entries_text(payload: &Json<'_>) -> Option<String> {
    let text = |value: Option<&Json<'_>>| match value? {
        Json::Text(text) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
        Json::Number(number) => Some(number.to_string()),
        Json::Null | Json::Bool | Json::List(_) | Json::Object(_) => None,
    };
    let entry = |entry: &Json<'_>| {
        let first = |names: &[&str]| names.iter().find_map(|name| text(entry.get(name)));
        let Some(said) = first(&["msg", "message", "detail"]) else {
            return text(Some(entry));
        };
        let path = match entry.get("loc") {
            Some(Json::List(parts)) => {
                let parts: Vec<String> = parts.iter().filter_map(|part| text(Some(part))).collect();
                Some(parts.join(".")).filter(|path| !path.is_empty())
            }
            other => text(other).or_else(|| first(&["pointer", "field", "path"])),
        };
        Some(path.map_or_else(|| said.clone(), |path| format!("{path}: {said}")))
    };
    ["detail", "errors"].iter().find_map(|name| {
        let Some(Json::List(items)) = payload.get(name) else {
            return None;
        };
        let all: Vec<String> = items.iter().take(MAX_ENTRIES).filter_map(entry).collect();
        (!all.is_empty()).then(|| all.join("; "))
    })
}

/// The innermost of the nested objects under `error`.
fn innermost_error<'n, 't>(payload: &'n Json<'t>) -> Option<&'n Json<'t>> {
    let under = |node: &'n Json<'t>| node.get("error").filter(|inner| matches!(inner, Json::Object(_)));
    std::iter::successors(under(payload), |error| under(error)).last()
}

fn request_id(failure: &Failure) -> Option<String> {
    const NAMES: &[&str] = &[
        "request-id",
        "x-request-id",
        "x-amzn-requestid",
        "x-goog-request-id",
        "cf-ray",
    ];
    failure
        .headers
        .iter()
        .find(|header| NAMES.iter().any(|name| header.name.eq_ignore_ascii_case(name)))
        .map(|header| header.value.trim().to_owned())
        .or_else(|| id_in_text(failure.message.as_deref()?))
        .filter(|id| !id.is_empty())
}

/// The id after a label such as "request id:".
fn id_in_text(text: &str) -> Option<String> {
    let lower = text.to_ascii_lowercase();
    let at = ["request id:", "request id ", "request_id:", "requestid:"]
        .iter()
        .find_map(|label| lower.find(label).map(|at| at + label.len()))?;
    let id = text[at..].trim_start();
    let end = id
        .find(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '-' | '_'))
        .unwrap_or(id.len());
    Some(id[..end].to_owned())
}

fn transport_text(transport: Transport) -> &'static str {
    match transport {
        Transport::Aborted(AbortedBy::Caller) => "aborted by the caller",
        Transport::Aborted(AbortedBy::Us) => "aborted by this process",
        Transport::Dns => "the host name did not resolve",
        Transport::Proxy => "the proxy failed",
        Transport::Refused => "connection refused",
        // The peer may also have closed it regularly, only too early.
        Transport::Reset => "connection closed early",
        Transport::Timeout(..) => "timed out",
        Transport::Tls => "the TLS handshake failed",
        Transport::Unreachable => "the network is unreachable",
    }
}

#[cfg(test)]
mod tests;
