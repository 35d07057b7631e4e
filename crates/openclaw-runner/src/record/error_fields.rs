//! What a record may show of an error: previews, hashes, a fingerprint (R-12.3).

use std::sync::Arc;

use openclaw_classify::{Failure, observe, preview};
use serde::{Deserialize, Serialize};

use crate::record::short_hash::short_hash;

/// Longest `errorPreview`, in UTF-16 units.
const ERROR_PREVIEW: usize = 400;
/// Longest `providerErrorMessagePreview`, in UTF-16 units.
const MESSAGE_PREVIEW: usize = 200;
/// Longest `providerErrorType`, in UTF-16 units; some providers put sentences there.
const KIND_PREVIEW: usize = 100;
/// How much of a message enters the fingerprint, in characters.
const FINGERPRINT_MESSAGE: usize = 8_000;

/// The error part of a record. No member shows a secret or a request id. Each text is written once and shared by all
/// records of the failure.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ErrorFields {
    /// The whole text, redacted and clipped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_preview: Option<Arc<str>>,
    /// Hash of the unredacted text: equal errors have equal hashes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_hash: Option<Arc<str>>,
    /// Hash of status, type and message: equal for the same fault with another request id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_fingerprint: Option<Arc<str>>,
    /// The status of a structured answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub http_code: Option<Arc<str>>,
    /// The provider's error type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider_error_type: Option<Arc<str>>,
    /// The provider's message, redacted and clipped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider_error_message_preview: Option<Arc<str>>,
    /// Hash of the provider's request id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_id_hash: Option<Arc<str>>,
}

impl ErrorFields {
    /// The fields of a text that is our own, such as a skip's.
    pub(crate) fn of_text(text: &str) -> Self {
        if text.trim().is_empty() {
            return Self::default();
        }
        Self {
            error_preview: Some(preview(text.trim(), ERROR_PREVIEW).into()),
            error_hash: Some(short_hash(text).into()),
            ..Self::default()
        }
    }

    /// The fields of a failed attempt, whose human text is `text`.
    #[cfg(test)]
    pub(crate) fn of_failure(failure: &Failure, text: &str) -> Self {
        Self::and_code(failure, text).0
    }

    /// The fields of a failed attempt, whose human text is `text`, and the code of the provider's answer, unless it is
    /// told as the type already (F-14).
    pub(crate) fn and_code(failure: &Failure, text: &str) -> (Self, Option<String>) {
        let seen = observe(failure);
        let answer = Answer::of(failure);
        let request_id_hash = seen.request_id.as_deref().map(short_hash);
        // Before the cut, so that no piece of the id stays at it.
        let shown = |text: &str, length| match (&seen.request_id, &request_id_hash) {
            (Some(id), Some(hash)) if !id.is_empty() => preview(&text.replace(id.as_str(), hash), length),
            _ => preview(text, length),
        };
        let whole = !text.trim().is_empty();
        let structured = answer != Answer::Unstructured;
        let kind = seen
            .kind
            .as_deref()
            .or(seen.code.as_deref())
            .filter(|_| structured);
        let message = seen.message.as_deref().filter(|_| structured);
        let http_code = match answer {
            Answer::Body => failure.status.map(|status| status.to_string()),
            Answer::Message { leading } => leading.map(|status| status.to_string()),
            Answer::Unstructured => None,
        };
        let code = seen.code.as_deref().filter(|code| {
            let is_status = code.parse().is_ok_and(|status: u16| (100..600).contains(&status));
            structured && kind.is_some() && kind != Some(*code) && !is_status
        });
        let code = code.map(str::to_owned);
        let fields = Self {
            error_preview: whole.then(|| shown(text.trim(), ERROR_PREVIEW).into()),
            error_hash: whole.then(|| short_hash(text).into()),
            error_fingerprint: structured.then(|| fingerprint(http_code.as_deref(), kind, message).into()),
            http_code: http_code.map(Arc::from),
            provider_error_type: kind.map(|kind| preview(kind, KIND_PREVIEW).into()),
            provider_error_message_preview: message.map(|message| shown(message, MESSAGE_PREVIEW).into()),
            request_id_hash: request_id_hash.map(Arc::from),
        };
        (fields, code)
    }

    /// The best short text: the provider's own message, else the whole text.
    pub fn detail(&self) -> Option<&str> {
        self.shared_detail().map(|detail| &**detail)
    }

    /// [`detail`](Self::detail) for another record.
    pub(crate) fn shared_detail(&self) -> Option<&Arc<str>> {
        self.provider_error_message_preview
            .as_ref()
            .or(self.error_preview.as_ref())
    }
}

/// Where the provider's own answer stands, if it is structured at all (R-12.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answer {
    /// In the body.
    Body,
    /// In the message of the caller's client, perhaps behind a status.
    Message { leading: Option<u16> },
    /// There is none: the facts say nothing of the provider's own.
    Unstructured,
}

impl Answer {
    fn of(failure: &Failure) -> Self {
        let message = failure.message.as_deref().unwrap_or_default().trim();
        if let Some(at) = message
            .find('{')
            .filter(|at| is_object(&message.as_bytes()[*at..]))
        {
            let before = message[..at].strip_suffix(' ').filter(|digits| digits.len() == 3);
            let leading = before.and_then(|digits| digits.parse().ok());
            return Self::Message { leading };
        }
        if failure.body.as_deref().is_some_and(is_object) {
            return Self::Body;
        }
        Self::Unstructured
    }
}

fn is_object(text: &[u8]) -> bool {
    // What follows the object does not make it none.
    let mut values = serde_json::Deserializer::from_slice(text).into_iter::<serde_json::Value>();
    matches!(values.next(), Some(Ok(serde_json::Value::Object(_))))
}

/// The hash over status, message and type as compact JSON with sorted keys.
fn fingerprint(status: Option<&str>, kind: Option<&str>, message: Option<&str>) -> String {
    let text = |value: Option<&str>| {
        value.map_or_else(
            || "undefined".to_owned(),
            |text| serde_json::Value::from(text).to_string(),
        )
    };
    let message: Option<String> = message.map(|message| message.chars().take(FINGERPRINT_MESSAGE).collect());
    let canonical = format!(
        r#"{{"httpCode":{},"message":{},"type":{}}}"#,
        text(status),
        text(message.as_deref()),
        text(kind)
    );
    short_hash(&canonical)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(message: &str) -> ErrorFields {
        let failure = Failure {
            message: Some(message.to_owned()),
            ..Failure::default()
        };
        ErrorFields::of_failure(&failure, message)
    }

    #[test]
    fn m2_a_type_that_is_a_sentence_with_a_key_shows_no_key() {
        let failure = Failure {
            body: Some(b"{}".to_vec()),
            kind: Some("bad key sk-ant-api03-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA".to_owned()),
            ..Failure::default()
        };
        let kind = ErrorFields::of_failure(&failure, "refused")
            .provider_error_type
            .unwrap();
        assert!(
            kind.starts_with("bad key") && !kind.contains("AAAAAAAAAAAA"),
            "{kind}"
        );
    }

    #[test]
    fn f_14_the_code_beside_the_type_is_kept() {
        let code = |body: &str| {
            let failure = Failure {
                status: Some(400),
                body: Some(body.as_bytes().to_vec()),
                ..Failure::default()
            };
            let (fields, code) = ErrorFields::and_code(&failure, "text");
            (fields.provider_error_type.map(|kind| kind.to_string()), code)
        };
        let text = |text: &str| Some(text.to_owned());
        for (body, kind, expected) in [
            (
                r#"{"error":{"type":"invalid_request_error","code":"model_not_found"}}"#,
                text("invalid_request_error"),
                text("model_not_found"),
            ),
            (
                r#"{"error":{"type":"limit","code":"1302"}}"#,
                text("limit"),
                text("1302"),
            ),
            (
                r#"{"error":{"type":"limit","code":"limit"}}"#,
                text("limit"),
                None,
            ),
            (r#"{"error":{"code":"limit"}}"#, text("limit"), None),
            (r#"{"error":{"type":"limit","code":429}}"#, text("limit"), None),
        ] {
            assert_eq!(code(body), (kind, expected), "{body}");
        }
    }

    #[test]
    fn r_12_3_provider_fields_come_from_a_structured_answer_alone() {
        let plain = Failure {
            status: Some(429),
            kind: Some("RateLimitError".to_owned()),
            message: Some("Too many requests".to_owned()),
            ..Failure::default()
        };
        let seen = ErrorFields::of_failure(&plain, "Too many requests");
        assert_eq!(seen.error_preview.as_deref(), Some("Too many requests"));
        let provider = (
            seen.http_code,
            seen.provider_error_type,
            seen.provider_error_message_preview,
            seen.error_fingerprint,
        );
        assert_eq!(provider, (None, None, None, None));

        let payload = r#"{"error":{"type":"rate_limit_error","message":"slow down"}}"#;
        let in_body = Failure {
            body: Some(payload.as_bytes().to_vec()),
            ..plain.clone()
        };
        let in_message = Failure {
            message: Some(format!("429 {payload}")),
            ..plain.clone()
        };
        let bare = Failure {
            message: Some(payload.to_owned()),
            ..plain
        };
        for (failure, http_code) in [(in_body, Some("429")), (in_message, Some("429")), (bare, None)] {
            let seen = ErrorFields::of_failure(&failure, "text");
            assert_eq!(seen.http_code.as_deref(), http_code, "{:?}", failure.message);
            assert_eq!(seen.provider_error_type.as_deref(), Some("rate_limit_error"));
            assert_eq!(seen.provider_error_message_preview.as_deref(), Some("slow down"));
            assert!(seen.error_fingerprint.is_some());
        }
    }

    #[test]
    fn r_12_3_no_piece_of_a_request_id_stays_at_the_cut() {
        for padding in (ERROR_PREVIEW - 40)..=ERROR_PREVIEW {
            let seen = fields(&format!(
                "{} request id: req-0123456789abcdef",
                "x".repeat(padding)
            ));
            let shown = seen.error_preview.unwrap();
            assert!(!shown.contains("req-"), "{padding}: {shown}");
        }
    }
}
