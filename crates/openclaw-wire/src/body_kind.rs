//! Tells a stream of events from one document by its first bytes, since `content-type` is often wrong (BL-89).

/// The kind of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyKind {
    /// One document: JSON, an error page.
    Document,
    /// Server-sent events.
    Events,
}

/// How a line of events can begin.
const FIELDS: &[&[u8]] = &[b":", b"data:", b"event:", b"id:", b"retry:"];
/// How many blank bytes are read before the header is believed.
const MAX_BLANK: usize = 4 * 1024;
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

impl BodyKind {
    /// The kind that a `content-type` header declares; the header is empty when there is none.
    pub fn declared(content_type: &str) -> Self {
        let media_type = content_type.split(';').next().unwrap_or_default().trim();
        let media_type = media_type.to_ascii_lowercase();
        if media_type.ends_with("json") || media_type == "text/html" {
            Self::Document
        } else {
            Self::Events
        }
    }

    /// The kind of a body that begins with `read` and was declared as `self`; `None` when more bytes are needed.
    pub fn detect(self, read: &[u8]) -> Option<Self> {
        let text = read
            .strip_prefix(BYTE_ORDER_MARK)
            .unwrap_or(read)
            .trim_ascii_start();
        let is_short = read.len() < MAX_BLANK;
        match (text.first(), self) {
            (None, _) if is_short => None,
            (None, said) => Some(said),
            (Some(b'{' | b'[' | b'<'), _) => Some(Self::Document),
            (Some(_), Self::Events) => Some(Self::Events),
            (Some(_), Self::Document) => {
                if FIELDS.iter().any(|field| text.starts_with(field)) {
                    Some(Self::Events)
                } else if FIELDS.iter().any(|field| field.starts_with(text)) {
                    None
                } else {
                    Some(Self::Document)
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use BodyKind::{Document, Events};

    use super::*;

    #[test]
    fn bl_89_the_first_bytes_tell_and_else_the_head_is_believed() {
        let blank = " ".repeat(MAX_BLANK);
        for (read, under_events, under_json) in [
            ("", None, None),
            ("\r\n \n", None, None),
            ("\u{feff}\n", None, None),
            (&*blank, Some(Events), Some(Document)),
            ("{", Some(Document), Some(Document)),
            ("\u{feff}\n\n {\"error\"", Some(Document), Some(Document)),
            ("[{\"error\"", Some(Document), Some(Document)),
            ("<!doctype html>", Some(Document), Some(Document)),
            (": ping", Some(Events), Some(Events)),
            ("\ndata: {\"choices\"", Some(Events), Some(Events)),
            ("\u{feff}event: x", Some(Events), Some(Events)),
            ("id:1", Some(Events), Some(Events)),
            ("retry: 3", Some(Events), Some(Events)),
            ("da", Some(Events), None),
            ("date: today", Some(Events), Some(Document)),
            ("upstream connect error", Some(Events), Some(Document)),
        ] {
            assert_eq!(Events.detect(read.as_bytes()), under_events, "{read:?}");
            assert_eq!(Document.detect(read.as_bytes()), under_json, "{read:?}");
        }
    }

    #[test]
    fn what_heads_say() {
        for (content_type, said) in [
            ("text/event-stream", Events),
            ("text/event-stream; charset=utf-8", Events),
            ("text/plain", Events),
            ("application/json", Document),
            ("application/problem+json; charset=utf-8", Document),
            ("application/JSON", Document),
            ("TEXT/HTML", Document),
        ] {
            assert_eq!(BodyKind::declared(content_type), said, "{content_type}");
        }
        assert_eq!(BodyKind::declared(""), Events);
    }
}
