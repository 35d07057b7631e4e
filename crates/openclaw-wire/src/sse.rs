//! An incremental parser of server-sent events that keeps the bytes it read.

use std::ops::Range;

use bytes::{Buf, Bytes, BytesMut};

/// One event, with the exact bytes that made it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SseEvent {
    /// Everything the upstream sent for this event, its empty line included, so that it can be forwarded as is.
    pub raw: Bytes,
    /// The `event:` field.
    pub name: Option<Bytes>,
    /// The `data:` lines joined by line feeds; `None` when there was no such line (comments, pings).
    pub data: Option<Bytes>,
}

impl SseEvent {
    /// A JSON object in place of an event: some servers that fail in the middle of a stream write their error as if it
    /// were the body.
    pub fn stray(&self) -> Option<&[u8]> {
        let text = self.raw.trim_ascii();
        (self.data.is_none() && text.starts_with(b"{")).then_some(text)
    }

    /// Whether the data is complete JSON or `[DONE]`, for an event whose closing empty line never came.
    pub fn is_whole(&self) -> bool {
        let data = self.data.as_deref().or_else(|| self.stray()).unwrap_or_default();
        data.trim_ascii() == b"[DONE]" || serde_json::from_slice::<serde::de::IgnoredAny>(data).is_ok()
    }
}

/// An event is larger than the limit of its parser.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an event of the stream is larger than {limit} bytes")]
pub struct EventTooLarge {
    /// The limit, in bytes.
    pub limit: usize,
}

/// Splits a byte stream into events, whatever its chunks are.
///
/// Lines end in LF, CR or CRLF; a byte order mark at the start is skipped. Memory is bounded by the size limit
/// of one event.
#[derive(Debug)]
pub struct SseParser {
    limit: usize,
    buffer: BytesMut,
    /// Everything before this offset is complete lines of the current event.
    line_start: usize,
    /// Everything before this offset holds no line end after `line_start`.
    scanned: usize,
    /// The last byte of the previous line end was a CR, so a LF that follows belongs to it.
    after_cr: bool,
    at_start: bool,
    /// Where the name of the current event stands in the buffer.
    name: Option<Range<usize>>,
    data: Data,
}

/// What the `data:` lines of the current event hold so far.
#[derive(Debug, Default)]
enum Data {
    #[default]
    Nothing,
    /// One line, which stays where it is in the buffer.
    Line(Range<usize>),
    /// Several, joined.
    Lines(BytesMut),
}

impl SseParser {
    /// A parser that holds at most `limit` bytes of one event.
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            buffer: BytesMut::new(),
            line_start: 0,
            scanned: 0,
            after_cr: false,
            at_start: true,
            name: None,
            data: Data::Nothing,
        }
    }

    /// A parser that begins within a stream, where a byte order mark is none.
    pub fn within_stream(limit: usize) -> Self {
        Self {
            at_start: false,
            ..Self::new(limit)
        }
    }

    /// Adds what arrived.
    pub fn push(&mut self, chunk: &[u8]) {
        self.buffer.extend_from_slice(chunk);
    }

    /// The next complete event, `None` when more bytes are needed.
    pub fn next_event(&mut self) -> Result<Option<SseEvent>, EventTooLarge> {
        if let Some(rest) = self.rest_of_line_end() {
            return Ok(Some(rest));
        }
        while let Some(end) = self.line_end() {
            let line = self.line_start..end;
            self.line_start = end + 1;
            self.scanned = self.line_start;
            if line.is_empty() {
                return Ok(Some(self.dispatch()));
            }
            self.field(line.start, line.end);
        }
        if self.buffer.len() > self.limit {
            return Err(EventTooLarge { limit: self.limit });
        }
        Ok(None)
    }

    /// What is left when the stream ended without the empty line that closes an event.
    ///
    /// Servers that end with a bare `data: [DONE]` are common, so the rest is an event when it has data, or is
    /// [stray](SseEvent::stray). Its bytes are completed with the missing line ends.
    pub fn finish(mut self) -> Option<SseEvent> {
        if self.line_start < self.buffer.len() {
            let end = self.buffer.len();
            self.field(self.line_start, end);
        }
        if matches!(self.data, Data::Nothing) && !self.buffer.trim_ascii_start().starts_with(b"{") {
            return None;
        }
        self.buffer.extend_from_slice(b"\n\n");
        self.line_start = self.buffer.len();
        Some(self.take_event())
    }

    /// The LF of a CRLF that closed the event before and came after its CR: a piece of its own, so that it is neither
    /// waited for nor lost with an event that is not forwarded.
    fn rest_of_line_end(&mut self) -> Option<SseEvent> {
        if !self.after_cr || self.line_start > 0 || self.buffer.is_empty() {
            return None;
        }
        self.after_cr = false;
        (self.buffer[0] == b'\n').then(|| SseEvent {
            raw: self.buffer.split_to(1).freeze(),
            name: None,
            data: None,
        })
    }

    /// The offset of the end of the line that begins at `line_start`.
    fn line_end(&mut self) -> Option<usize> {
        if self.at_start && self.buffer.starts_with(b"\xef\xbb\xbf") {
            self.buffer.advance(3);
            self.at_start = false;
        } else if !b"\xef\xbb\xbf".starts_with(&self.buffer[..self.buffer.len().min(3)]) {
            self.at_start = false;
        }
        if self.at_start {
            return None;
        }
        if self.after_cr && self.line_start < self.buffer.len() {
            if self.buffer[self.line_start] == b'\n' {
                self.line_start += 1;
                self.scanned = self.line_start;
            }
            self.after_cr = false;
        }
        let rest = &self.buffer[self.scanned..];
        let Some(offset) = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) else {
            self.scanned = self.buffer.len();
            return None;
        };
        self.after_cr = rest[offset] == b'\r';
        Some(self.scanned + offset)
    }

    fn field(&mut self, start: usize, end: usize) {
        let line = &self.buffer[start..end];
        let (name, value) = match line.iter().position(|byte| *byte == b':') {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (line, &line[line.len()..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match name {
            b"data" => {
                self.data = match std::mem::take(&mut self.data) {
                    Data::Nothing => Data::Line(end - value.len()..end),
                    Data::Line(first) => {
                        let mut lines = BytesMut::from(&self.buffer[first]);
                        join(&mut lines, value);
                        Data::Lines(lines)
                    }
                    Data::Lines(mut lines) => {
                        join(&mut lines, value);
                        Data::Lines(lines)
                    }
                };
            }
            b"event" => self.name = Some(end - value.len()..end),
            _ => {}
        }
    }

    /// The event that an empty line has just closed.
    fn dispatch(&mut self) -> SseEvent {
        if self.after_cr && self.buffer.get(self.line_start) == Some(&b'\n') {
            self.line_start += 1;
            self.after_cr = false;
        }
        self.take_event()
    }

    /// Everything before `line_start` as an event.
    fn take_event(&mut self) -> SseEvent {
        let raw = self.buffer.split_to(self.line_start).freeze();
        self.line_start = 0;
        self.scanned = 0;
        let data = match std::mem::take(&mut self.data) {
            Data::Nothing => None,
            Data::Line(line) => Some(raw.slice(line)),
            Data::Lines(lines) => Some(lines.freeze()),
        };
        let name = self.name.take().map(|name| raw.slice(name));
        SseEvent { raw, name, data }
    }
}

/// Adds a line to others.
fn join(lines: &mut BytesMut, line: &[u8]) {
    lines.extend_from_slice(b"\n");
    lines.extend_from_slice(line);
}

#[cfg(test)]
mod tests;
