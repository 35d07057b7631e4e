//! The kinds of bytes that a text contains: one pass that tells which of the later, more expensive searches to skip.

/// In longer texts, in bytes, each search is cheaper than this pass; the set then contains every kind.
const MAX_LENGTH: usize = 512;

/// The kinds of bytes of a text, or of a longer text that it is part of.
#[derive(Clone, Copy)]
pub(super) struct ByteSet(u16);

/// What a byte may begin or is a necessary part of.
#[derive(Clone, Copy)]
#[repr(u16)]
pub(super) enum ByteKind {
    /// `<`: an HTML page.
    Tag = 1,
    /// `v`: a quoted upstream.
    Quotation = 2,
    /// `\`: an object inside a text.
    Escape = 4,
    /// `{` or `[`: an object.
    Object = 8,
    /// `q`: the id of the request.
    Request = 16,
    /// A digit: sizes and times.
    Number = 32,
    /// `4` or `5`: a status.
    Status = 64,
    /// `(`, `:` or `=`: the name of an error.
    Name = 128,
    /// `b`: a statement that there was no body.
    Body = 256,
}

const KINDS: [u16; 256] = {
    let mut kinds = [0; 256];
    let mut byte: u8 = 0;
    // All of them are ASCII.
    while byte < 128 {
        kinds[byte as usize] = match byte {
            b'<' => ByteKind::Tag as u16,
            b'v' | b'V' => ByteKind::Quotation as u16,
            b'\\' => ByteKind::Escape as u16,
            b'{' | b'[' => ByteKind::Object as u16,
            b'q' | b'Q' => ByteKind::Request as u16,
            b'4' | b'5' => ByteKind::Number as u16 | ByteKind::Status as u16,
            b'0'..=b'9' => ByteKind::Number as u16,
            b'(' | b':' | b'=' => ByteKind::Name as u16,
            b'b' | b'B' => ByteKind::Body as u16,
            _ => 0,
        };
        byte += 1;
    }
    kinds
};

impl ByteSet {
    /// The kinds of bytes in `text`.
    pub(super) fn of(text: &str) -> Self {
        if text.len() > MAX_LENGTH {
            return Self(u16::MAX);
        }
        Self(text.bytes().fold(0, |all, byte| all | KINDS[usize::from(byte)]))
    }

    /// False when the text has no byte of this kind.
    pub(super) fn may_contain(self, kind: ByteKind) -> bool {
        self.0 & kind as u16 != 0
    }
}
