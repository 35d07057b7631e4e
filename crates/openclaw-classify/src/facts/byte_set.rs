//! Which bytes a short text holds: one look at each of them tells which of its readers have nothing to do.

/// In longer texts it is cheaper to search for each byte when its reader is asked.
const LONG: usize = 512;

/// The marks of one text, or of one that it is part of.
#[derive(Clone, Copy)]
pub(super) struct Marks(u16);

/// What a byte may be the beginning, or a necessary part, of.
#[derive(Clone, Copy)]
#[repr(u16)]
pub(super) enum Mark {
    /// `<`: a page.
    Tag = 1,
    /// `v`: somebody who is quoted.
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
    /// `b`: a body that was not there.
    Body = 256,
}

const MARKS: [u16; 256] = {
    let mut marks = [0; 256];
    let mut byte: u8 = 0;
    // None of them stands outside ASCII.
    while byte < 128 {
        marks[byte as usize] = match byte {
            b'<' => Mark::Tag as u16,
            b'v' | b'V' => Mark::Quotation as u16,
            b'\\' => Mark::Escape as u16,
            b'{' | b'[' => Mark::Object as u16,
            b'q' | b'Q' => Mark::Request as u16,
            b'4' | b'5' => Mark::Number as u16 | Mark::Status as u16,
            b'0'..=b'9' => Mark::Number as u16,
            b'(' | b':' | b'=' => Mark::Name as u16,
            b'b' | b'B' => Mark::Body as u16,
            _ => 0,
        };
        byte += 1;
    }
    marks
};

impl Marks {
    pub(super) fn of(text: &str) -> Self {
        if text.len() > LONG {
            return Self(u16::MAX);
        }
        Self(text.bytes().fold(0, |all, byte| all | MARKS[usize::from(byte)]))
    }

    /// False when the text has no such byte.
    pub(super) fn may_hold(self, mark: Mark) -> bool {
        self.0 & mark as u16 != 0
    }
}
