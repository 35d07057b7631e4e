//! What is sent for a fault: a list of acts that the connection performs in order.

use crate::fault::{Fault, TOKENS};
use crate::request::RecordedRequest;

/// One thing that a connection does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Act {
    /// Sends bytes.
    Send(Vec<u8>),
    /// Sends sixteen bytes at a time, this many milliseconds apart.
    Drip(Vec<u8>, u64),
    /// Sends the same bytes until the peer leaves.
    Forever(Vec<u8>),
    /// Keeps the connection open until the peer leaves.
    Hang,
    /// Resets the connection.
    Reset,
    /// Waits this many milliseconds.
    Wait(u64),
}

/// Errors by status: the type that providers give them.
const KINDS: &[(u16, &str)] = &[
    (400, "invalid_request_error"),
    (401, "invalid_api_key"),
    (402, "insufficient_credits"),
    (403, "permission_error"),
    (404, "model_not_found"),
    (429, "rate_limit_exceeded"),
    (503, "overloaded_error"),
    (529, "overloaded_error"),
];

/// What faults under a 200 say.
const OVERLOADED: (&str, &str) = ("overloaded_error", "the wall is overloaded");

const STREAM: &str = "text/event-stream";
const JSON: &str = "application/json";

/// The acts for one request.
pub(crate) fn acts(fault: Fault, seen: &RecordedRequest) -> Vec<Act> {
    let answer = Answer {
        seen,
        tag: seen.tag(),
    };
    match fault {
        Fault::Bare(status) => vec![Act::Send(reply(status, &[], ""))],
        Fault::Cut(tokens) => answer.broken(tokens, None),
        Fault::Empty => answer.of_kind(answer.kind(), 0),
        Fault::ErrorEvent => answer.error_after(0),
        Fault::ErrorAfter(tokens) => answer.error_after(tokens),
        Fault::Html(status) => {
            let page = format!(
                "<!doctype html><html><body><h1>{status}</h1><p>The wall is closed.</p></body></html>"
            );
            vec![Act::Send(reply(status, &[("content-type", "text/html")], &page))]
        }
        Fault::HugeBody => answer.huge(),
        Fault::InOnePiece => vec![Act::Send(reply(
            200,
            &[("content-type", JSON)],
            &answer.whole(TOKENS),
        ))],
        Fault::Malformed => answer.malformed(),
        Fault::NoEnd => answer.without_end(),
        Fault::Ok(tokens) => answer.of_kind(answer.kind(), tokens),
        Fault::Other => Answer {
            seen,
            tag: Some("other".to_owned()),
        }
        .of_kind(answer.kind(), TOKENS),
        Fault::ResetAfterHead => vec![Act::Send(head(answer.kind())), Act::Reset],
        Fault::ResetBeforeHead => vec![Act::Reset],
        Fault::Silence => vec![Act::Hang],
        Fault::SlowDrip(pause) => answer.dripped(pause),
        Fault::SlowHead(wait) => [vec![Act::Wait(wait)], answer.of_kind(answer.kind(), TOKENS)].concat(),
        Fault::SlowFirstToken(wait) => answer.delayed(wait),
        Fault::Stall(tokens) => answer.broken(tokens, Some(Act::Hang)),
        Fault::Status(status, after) => answer.refused(status, after),
        // The label of the other kind.
        Fault::WrongType => answer.of_kind(if seen.stream { JSON } else { STREAM }, TOKENS),
    }
}

/// A whole answer with a length.
pub(crate) fn reply(status: u16, headers: &[(&str, &str)], body: &str) -> Vec<u8> {
    let lines: Vec<String> = headers
        .iter()
        .map(|(name, value)| format!("{name}: {value}\r\n"))
        .collect();
    let (length, lines) = (body.len(), lines.concat());
    format!("HTTP/1.1 {status} Wall\r\ncontent-length: {length}\r\nconnection: close\r\n{lines}\r\n{body}")
        .into_bytes()
}

struct Answer<'a> {
    seen: &'a RecordedRequest,
    /// What every token begins with.
    tag: Option<String>,
}

impl Answer<'_> {
    fn kind(&self) -> &'static str {
        if self.seen.stream { STREAM } else { JSON }
    }

    fn tokens(&self, count: usize) -> Vec<String> {
        let tag = self.tag.as_deref().unwrap_or("token");
        (0..count).map(|number| format!("{tag}.{number} ")).collect()
    }

    fn whole(&self, count: usize) -> String {
        self.seen
            .wire
            .whole(&self.seen.model, &self.tokens(count))
            .to_string()
    }

    /// The pieces of a streamed answer: opening, tokens, closing.
    fn pieces(&self, count: usize) -> Vec<String> {
        let events = self.seen.wire.events(&self.seen.model, &self.tokens(count));
        let mut pieces = vec![events.opening];
        pieces.extend(events.tokens);
        pieces.push(events.closing);
        pieces
    }

    fn of_kind(&self, content_type: &str, count: usize) -> Vec<Act> {
        let pieces = if self.seen.stream {
            self.pieces(count)
        } else {
            vec![self.whole(count)]
        };
        chunked(content_type, pieces, Some(end()))
    }

    /// Tokens, or half of a plain answer, and then no more.
    fn broken(&self, tokens: usize, then: Option<Act>) -> Vec<Act> {
        let pieces = if self.seen.stream {
            let mut pieces = self.pieces(tokens);
            pieces.pop();
            pieces
        } else {
            let whole = self.whole(TOKENS);
            vec![whole[..whole.len() / 2].to_owned()]
        };
        chunked(self.kind(), pieces, then)
    }

    fn error_after(&self, tokens: usize) -> Vec<Act> {
        let (kind, message) = OVERLOADED;
        if !self.seen.stream {
            let body = self.seen.wire.error(kind, message).to_string();
            return vec![Act::Send(reply(200, &[("content-type", JSON)], &body))];
        }
        let mut pieces = self.pieces(tokens);
        pieces.pop();
        pieces.push(self.seen.wire.error_event(&self.seen.model, kind, message));
        chunked(STREAM, pieces, Some(end()))
    }

    fn malformed(&self) -> Vec<Act> {
        let torn = r#"{"choices":[{"delta":{"content":"to"#;
        if !self.seen.stream {
            return vec![Act::Send(reply(200, &[("content-type", JSON)], torn))];
        }
        let mut pieces = self.pieces(TOKENS);
        pieces.insert(3, format!("data: {torn}\n\n"));
        chunked(STREAM, pieces, Some(end()))
    }

    fn without_end(&self) -> Vec<Act> {
        if !self.seen.stream {
            return self.of_kind(JSON, TOKENS);
        }
        let mut pieces = self.pieces(TOKENS);
        pieces.pop();
        chunked(STREAM, pieces, Some(end()))
    }

    fn huge(&self) -> Vec<Act> {
        let beginning = if self.seen.stream {
            "data: \""
        } else {
            "{\"text\": \""
        };
        let mut acts = chunked(self.kind(), vec![beginning.to_owned()], None);
        acts.push(Act::Forever(chunk(&"x".repeat(256 * 1024))));
        acts
    }

    fn dripped(&self, pause: u64) -> Vec<Act> {
        let dripped = |act: Act| match act {
            Act::Send(bytes) => Act::Drip(bytes, pause),
            other => other,
        };
        let acts = self.of_kind(self.kind(), TOKENS).into_iter();
        acts.enumerate()
            // The head comes in one piece: how slowly it comes is another fault.
            .map(|(number, act)| if number == 0 { act } else { dripped(act) })
            .collect()
    }

    fn delayed(&self, wait: u64) -> Vec<Act> {
        let mut acts = self.of_kind(self.kind(), TOKENS);
        let after_opening = if self.seen.stream { 2 } else { 1 };
        acts.insert(after_opening, Act::Wait(wait));
        acts
    }

    fn refused(&self, status: u16, after: Option<u64>) -> Vec<Act> {
        let kind = KINDS
            .iter()
            .find(|(known, _)| *known == status)
            .map_or("server_error", |(_, kind)| kind);
        let body = self
            .seen
            .wire
            .error(kind, &format!("the wall answers {status}"))
            .to_string();
        let after = after.map(|after| after.to_string());
        let mut headers = vec![("content-type", JSON)];
        headers.extend(after.as_deref().map(|after| ("retry-after", after)));
        vec![Act::Send(reply(status, &headers, &body))]
    }
}

/// An answer that comes in these pieces.
fn chunked(content_type: &str, pieces: Vec<String>, last: Option<Act>) -> Vec<Act> {
    let mut acts = vec![Act::Send(head(content_type))];
    acts.extend(pieces.into_iter().map(|piece| Act::Send(chunk(&piece))));
    acts.extend(last);
    acts
}

/// The head of an answer that comes in pieces.
fn head(content_type: &str) -> Vec<u8> {
    format!(
        "HTTP/1.1 200 OK\r\ncontent-type: {content_type}\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n"
    )
    .into_bytes()
}

fn chunk(text: &str) -> Vec<u8> {
    format!("{:x}\r\n{text}\r\n", text.len()).into_bytes()
}

fn end() -> Act {
    Act::Send(b"0\r\n\r\n".to_vec())
}
