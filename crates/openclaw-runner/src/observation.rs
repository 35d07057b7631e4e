//! What a record may show of an error: previews, hashes, a fingerprint (R-12.3).

use openclaw_classify::{Failure, Observed, observe, preview};

use crate::hash::short_hash;

/// Longest `errorPreview`, in UTF-16 units.
const ERROR_PREVIEW: usize = 400;
/// Longest `providerErrorMessagePreview`, in UTF-16 units.
const MESSAGE_PREVIEW: usize = 200;
/// Longest `providerErrorType`, in UTF-16 units; some providers put sentences there.
const KIND_PREVIEW: usize = 100;
/// How much of a message enters the fingerprint, in characters.
const FINGERPRINT_MESSAGE: usize = 8_000;

/// The error part of a record. No member shows a secret or a request id.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ErrorFields {
    /// The whole text, redacted and clipped.
    pub error_preview: Option<String>,
    /// Hash of the unredacted text: equal errors have equal hashes.
    pub error_hash: Option<String>,
    /// Hash of status, type and message: equal for the same fault with another request id.
    pub error_fingerprint: Option<String>,
    /// The status of a structured answer.
    pub http_code: Option<String>,
    /// The provider's error type.
    pub provider_error_type: Option<String>,
    /// The provider's message, redacted and clipped.
    pub provider_error_message_preview: Option<String>,
    /// Hash of the provider's request id.
    pub request_id_hash: Option<String>,
}

impl ErrorFields {
    /// The fields of a text that is our own, such as a skip's.
    pub(crate) fn of_text(text: &str) -> Self {
        if text.trim().is_empty() {
            return Self::default();
        }
        Self {
            error_preview: Some(preview(text.trim(), ERROR_PREVIEW)),
            error_hash: Some(short_hash(text)),
            ..Self::default()
        }
    }

    /// The fields of a failed attempt, whose human text is `text`.
    pub(crate) fn of_failure(failure: &Failure, text: &str) -> Self {
        let seen = observe(failure);
        let request_id_hash = seen.request_id.as_deref().map(short_hash);
        // Before the cut, so that no piece of the id stays at it.
        let shown = |text: &str, length| match (&seen.request_id, &request_id_hash) {
            (Some(id), Some(hash)) if !id.is_empty() => preview(&text.replace(id.as_str(), hash), length),
            _ => preview(text, length),
        };
        Self {
            error_preview: (!text.trim().is_empty()).then(|| shown(text.trim(), ERROR_PREVIEW)),
            error_hash: (!text.trim().is_empty()).then(|| short_hash(text)),
            error_fingerprint: fingerprint(&seen),
            http_code: structured(&seen)
                .then(|| seen.status.map(|status| status.to_string()))
                .flatten(),
            provider_error_type: seen
                .kind
                .as_deref()
                .or(seen.code.as_deref())
                .map(|kind| preview(kind, KIND_PREVIEW)),
            provider_error_message_preview: seen
                .message
                .as_deref()
                .map(|message| shown(message, MESSAGE_PREVIEW)),
            request_id_hash,
        }
    }

    /// The best short text: the provider's own message, else the whole text.
    pub fn detail(&self) -> Option<&str> {
        self.provider_error_message_preview
            .as_deref()
            .or(self.error_preview.as_deref())
    }
}

fn structured(seen: &Observed) -> bool {
    seen.kind.is_some() || seen.code.is_some() || seen.message.is_some()
}

/// The hash over status, message and type as compact JSON with sorted keys; none for unstructured errors.
fn fingerprint(seen: &Observed) -> Option<String> {
    if !structured(seen) {
        return None;
    }
    let text = |value: Option<String>| {
        value.map_or_else(
            || "undefined".to_owned(),
            |text| serde_json::Value::from(text).to_string(),
        )
    };
    let message = seen
        .message
        .as_deref()
        .map(|message| message.chars().take(FINGERPRINT_MESSAGE).collect());
    let kind = seen.kind.clone().or_else(|| seen.code.clone());
    let canonical = format!(
        r#"{{"httpCode":{},"message":{},"type":{}}}"#,
        text(seen.status.map(|status| status.to_string())),
        text(message),
        text(kind)
    );
    Some(short_hash(&canonical))
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
