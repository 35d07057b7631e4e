//! Tells a conversation that another model answers than the selected one, or that it answers again (S-10).

use std::fmt::Write;

use axum::body::Bytes;
use axum::http::HeaderValue;
use openclaw_session::{Notice, NoticeKind};
use serde::Serialize;

/// The header's object.
#[derive(Serialize)]
struct NoticeObject<'a> {
    kind: NoticeKind,
    id: &'a str,
    selected: &'a str,
    active: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
}

/// The value of the notice's header: one line of ASCII JSON. It is never cut, since half an object could not be read and a
/// notice is sent once.
pub(crate) fn header_value(notice: &Notice) -> Option<HeaderValue> {
    HeaderValue::try_from(line(notice)?).ok()
}

/// The same as a comment of an event stream, which clients that do not look for it skip.
pub(crate) fn comment(notice: &Notice) -> Option<Bytes> {
    Some(Bytes::from(format!(": openclaw-notice {}\n\n", line(notice)?)))
}

/// One line of ASCII JSON.
fn line(notice: &Notice) -> Option<String> {
    serde_json::to_string(&object(notice))
        .ok()
        .map(|json| ascii(&json))
}

/// The notice as an object for programs.
pub(crate) fn object(notice: &Notice) -> impl Serialize {
    NoticeObject {
        kind: notice.kind,
        id: &notice.id,
        selected: &notice.selected,
        active: &notice.active,
        reason: notice.reason.as_deref(),
    }
}

/// JSON with everything but ASCII escaped, which means the same.
fn ascii(json: &str) -> String {
    let mut escaped = String::with_capacity(json.len());
    for character in json.chars() {
        if matches!(character, ' '..='~') {
            escaped.push(character);
            continue;
        }
        for unit in character.encode_utf16(&mut [0; 2]) {
            // Writing to a text cannot fail.
            let _ = write!(escaped, "\\u{unit:04x}");
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_ascii_json_whatever_a_provider_said() {
        let notice = Notice {
            id: "s:1".to_owned(),
            kind: NoticeKind::Fallback,
            selected: "a/m".to_owned(),
            active: "b/é".to_owned(),
            reason: Some("später\u{7f} 🦀 \"x\"\n".to_owned()),
            text: "unused".to_owned(),
        };
        let value = header_value(&notice).unwrap();
        let sent = value.to_str().unwrap();
        assert_eq!(
            sent,
            "{\"kind\":\"fallback\",\"id\":\"s:1\",\"selected\":\"a/m\",\"active\":\"b/\\u00e9\",\
             \"reason\":\"sp\\u00e4ter\\u007f \\ud83e\\udd80 \\\"x\\\"\\n\"}"
        );
        let read: serde_json::Value = serde_json::from_str(sent).unwrap();
        assert_eq!(read["reason"], notice.reason.unwrap());
    }

    #[test]
    fn a_long_notice_is_told_whole() {
        let notice = Notice {
            id: "s:1".to_owned(),
            kind: NoticeKind::Fallback,
            selected: format!("a/{}", "m".repeat(400)),
            active: format!("b/{}", "模".repeat(400)),
            reason: None,
            text: "unused".to_owned(),
        };
        let value = header_value(&notice).unwrap();
        let sent = value.to_str().unwrap();
        let read: serde_json::Value = serde_json::from_str(sent).unwrap();
        assert_eq!(read["active"], notice.active);
    }
}
