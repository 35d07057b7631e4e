//! A request as it arrived, and reading it off a connection.

use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt};

use crate::wire::Wire;

/// The largest request that is read, in bytes.
const MAX_REQUEST: usize = 64 * 1024 * 1024;

/// A request that an upstream saw.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedRequest {
    /// The upstream it was sent to: the first segment of the path.
    pub upstream: String,
    /// The format.
    pub wire: Wire,
    /// The model it names.
    pub model: String,
    /// Whether it asks for a stream.
    pub stream: bool,
    /// Request line and headers.
    pub head: String,
    /// The body.
    pub body: String,
}

impl RecordedRequest {
    /// The value of a header, by lowercase name.
    pub fn header(&self, name: &str) -> Option<&str> {
        header(&self.head, name)
    }

    /// The key or token that was sent.
    pub fn key(&self) -> Option<&str> {
        let bearer = self
            .header("authorization")
            .and_then(|value| value.strip_prefix("Bearer "));
        bearer.or_else(|| self.header("x-api-key"))
    }

    /// The text of the last message, if it is a short word; answers repeat it, so that they can be told apart.
    pub(crate) fn tag(&self) -> Option<String> {
        let body: Value = serde_json::from_str(&self.body).ok()?;
        let last = |list: &str| body.get(list)?.as_array()?.last()?.get("content").cloned();
        let text = body.get("input").filter(|input| input.is_string()).cloned();
        let text = text.or_else(|| last("messages"))?;
        let is_short = |text: &&str| {
            (1..=40).contains(&text.len())
                && text
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        };
        text.as_str().filter(is_short).map(str::to_owned)
    }
}

/// What was asked on a connection.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum WallRequest {
    /// An answer of a model.
    Model(RecordedRequest),
    /// The models of an upstream.
    Models,
    /// What the upstreams saw.
    Record,
    /// Something that is not here.
    Unknown,
}

/// Reads one request; none when the peer left before it was whole.
pub(crate) async fn read(stream: &mut (impl AsyncRead + Unpin)) -> Option<WallRequest> {
    let mut bytes = Vec::new();
    let (mut head_end, mut length) = (None, 0);
    loop {
        if stream.read_buf(&mut bytes).await.ok()? == 0 || bytes.len() > MAX_REQUEST {
            return None;
        }
        if head_end.is_none()
            && let Some(at) = bytes.windows(4).position(|window| window == b"\r\n\r\n")
        {
            let head = String::from_utf8_lossy(&bytes[..at]).into_owned();
            let stated = header(&head, "content-length").and_then(|length| length.parse().ok());
            length = stated.unwrap_or(0);
            head_end = Some((at + 4, head));
        }
        if let Some((body_at, head)) = &head_end
            && bytes.len() >= body_at.saturating_add(length)
        {
            let body = String::from_utf8_lossy(&bytes[*body_at..]).into_owned();
            return Some(asked(head.clone(), body));
        }
    }
}

fn asked(head: String, body: String) -> WallRequest {
    let mut words = head.split(' ');
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let path = path
        .split('?')
        .next()
        .unwrap_or_default()
        .trim_matches('/')
        .to_owned();
    if method == "GET" {
        return match path.as_str() {
            "seen" => WallRequest::Record,
            path if path.ends_with("v1/models") => WallRequest::Models,
            _ => WallRequest::Unknown,
        };
    }
    let spoken = |wire: &Wire| path.ends_with(wire.path());
    let Some(wire) = Wire::ALL.into_iter().find(spoken) else {
        return WallRequest::Unknown;
    };
    let request: Value = serde_json::from_str(&body).unwrap_or_default();
    WallRequest::Model(RecordedRequest {
        upstream: path.split('/').next().unwrap_or_default().to_owned(),
        wire,
        model: request["model"].as_str().unwrap_or_default().to_owned(),
        stream: request["stream"].as_bool().unwrap_or_default(),
        head,
        body,
    })
}

fn header<'h>(head: &'h str, name: &str) -> Option<&'h str> {
    let mut lines = head.lines().skip(1).filter_map(|line| line.split_once(": "));
    lines
        .find(|(header, _)| header.eq_ignore_ascii_case(name))
        .map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn requests_are_read_whatever_their_pieces() {
        let body = r#"{"model":"ok","stream":true,"messages":[{"content":"first"},{"content":"tag-1"}]}"#;
        let text = format!(
            "POST /primary/v1/chat/completions?x=1 HTTP/1.1\r\nAuthorization: Bearer k\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        for cut in [1, 30, text.len() - 1] {
            let (one, two) = text.as_bytes().split_at(cut);
            let Some(WallRequest::Model(seen)) = read(&mut one.chain(two)).await else {
                panic!("{cut}");
            };
            assert_eq!(
                (seen.upstream.as_str(), seen.wire),
                ("primary", Wire::ChatCompletions)
            );
            assert_eq!(
                (seen.model.as_str(), seen.stream, seen.key()),
                ("ok", true, Some("k"))
            );
            assert_eq!(seen.tag().as_deref(), Some("tag-1"));
            assert_eq!(seen.body, body);
        }
        assert_eq!(read(&mut &text.as_bytes()[..40]).await, None);
    }

    #[tokio::test]
    async fn other_paths_are_told_apart() {
        for (line, expected) in [
            ("GET /seen", WallRequest::Record),
            ("GET /any/v1/models", WallRequest::Models),
            ("GET /", WallRequest::Unknown),
            ("POST /a/v1/embeddings", WallRequest::Unknown),
        ] {
            let text = format!("{line} HTTP/1.1\r\n\r\n");
            assert_eq!(read(&mut text.as_bytes()).await, Some(expected), "{line}");
        }
    }
}
