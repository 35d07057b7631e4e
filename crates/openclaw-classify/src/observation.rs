//! What a failure says of itself, for records and people (runner.md ).

mod prompt_size;

use crate::facts::{Facts, Pages, Sentences, Wanted};
use crate::failure::{AbortedBy, Transport};
use crate::text::lenient_json::{self as loose, Node};

use crate::Failure;
pub use prompt_size::observed_tokens;

/// Structured facts of one failure, for the decision record. Nothing is redacted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Observed {
    /// The status, wherever it was read.
    pub status: Option<u16>,
    /// The failure's own code.
    pub code: Option<String>,
    /// The provider's name for the failure: the error's type, else its code.
    pub kind: Option<String>,
    /// The provider's own words, without the object around them.
    pub message: Option<String>,
    /// The provider's id of the request.
    pub request_id: Option<String>,
}

/// Of a page only the title is shown.
const TEXTS: Wanted<'static> = Wanted::texts(Pages::Skimmed, Sentences::All);

/// Reads the facts that a decision record shows (C-2, R-12.3).
pub fn observe(failure: &Failure) -> Observed {
    let facts = Facts::read(failure, TEXTS);
    let body = failure.body.as_deref().map(String::from_utf8_lossy);
    let texts = [failure.message.as_deref(), body.as_deref()].map(|text| text.map(crate::facts::clip));
    let payload = texts.iter().flatten().find_map(|text| payload(text));
    let error = payload.as_ref().and_then(innermost_error);
    let member = |value: Option<&Node<'_>>, name: &str| {
        let text = match value?.get(name)? {
            Node::Text(text) => text.to_string(),
            Node::Number(number) => number.to_string(),
            Node::Null | Node::Bool | Node::List(_) | Node::Object(_) => return None,
        };
        (!text.trim().is_empty()).then_some(text)
    };
    let top = payload.as_ref();
    Observed {
        status: facts.status(),
        code: failure.code.clone().or_else(|| member(error, "code")),
        kind: member(error, "type")
            .or_else(|| member(error, "code"))
            .or_else(|| failure.kind.clone())
            .or_else(|| member(top, "error"))
            .or_else(|| member(top, "type")),
        message: member(error, "message")
            .or_else(|| member(top, "message"))
            .or_else(|| facts.sentences.first().cloned()),
        request_id: facts.request_id.clone().or_else(|| request_id(failure)),
    }
}

/// The human text of a failure: its message, else the text inside its body, else its status, else what happened to
/// the connection. Not redacted.
pub fn describe(failure: &Failure) -> String {
    let message = failure
        .message
        .as_deref()
        .map(str::trim)
        .filter(|text| !text.is_empty());
    message
        .map(str::to_owned)
        .or_else(|| {
            let body = String::from_utf8_lossy(failure.body.as_deref()?);
            let only_body = Failure {
                body: failure.body.clone(),
                ..Failure::default()
            };
            let mut sentences = Facts::read(&only_body, TEXTS).sentences.into_iter();
            sentences
                .next()
                .or_else(|| Some(body.trim().to_owned()).filter(|text| !text.is_empty()))
        })
        .or_else(|| failure.status.map(|status| format!("HTTP {status}")))
        .or_else(|| {
            failure
                .transport
                .map(|transport| transport_words(transport).to_owned())
        })
        .or_else(|| failure.code.clone())
        .or_else(|| failure.cause.as_deref().map(describe))
        .unwrap_or_else(|| "unknown error".to_owned())
}

/// The first object in a text.
fn payload(text: &str) -> Option<Node<'_>> {
    text.match_indices('{')
        .take(8)
        .find_map(|(at, _)| loose::read(&text[at..]))
        .map(|read| read.value)
}

/// The object under `error`, the inner one where several are nested.
fn innermost_error<'n, 't>(payload: &'n Node<'t>) -> Option<&'n Node<'t>> {
    let under = |node: &'n Node<'t>| node.get("error").filter(|inner| matches!(inner, Node::Object(_)));
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

/// The token after "request id:".
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

fn transport_words(transport: Transport) -> &'static str {
    match transport {
        Transport::Aborted(AbortedBy::Caller) => "aborted by the caller",
        Transport::Aborted(AbortedBy::Us) => "aborted by this process",
        Transport::Dns => "the host name did not resolve",
        Transport::Proxy => "the proxy failed",
        Transport::Refused => "connection refused",
        // Also what was closed in peace, only too early.
        Transport::Reset => "connection closed early",
        Transport::Timeout(..) => "timed out",
        Transport::Tls => "the TLS handshake failed",
        Transport::Unreachable => "the network is unreachable",
    }
}

#[cfg(test)]
mod tests;
