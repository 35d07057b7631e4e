//! Splitting a text into tokens, with a fast path for tokens that are their own normal form (classify.md C-1.4).

/// Plain tokens with one blank between them, at the beginning of a text.
pub(super) struct PlainRun {
    /// The offset of the last of them.
    pub(super) last: usize,
    /// The end of the last of them; 0 when there is none.
    pub(super) end: usize,
}

/// The text between two blanks.
pub(super) struct Token<'t> {
    pub(super) text: &'t str,
    /// The kinds of its bytes.
    kinds: u8,
}

impl Token<'_> {
    /// Whether it has a byte of one of these kinds.
    pub(super) fn holds(&self, kinds: u8) -> bool {
        self.kinds & kinds != 0
    }
}

/// `-` and `_`, which separate words.
pub(super) const SEPARATOR: u8 = 1;
pub(super) const DOT: u8 = 2;
pub(super) const SLASH: u8 = 4;
pub(super) const COLON: u8 = 8;
pub(super) const DIGIT: u8 = 16;
/// A byte outside ASCII.
pub(super) const NON_ASCII: u8 = 32;
/// The byte of [`SEGMENT`](super::SEGMENT), which is dropped from texts.
pub(super) const SPECIAL: u8 = 64;
/// A quote in ASCII.
pub(super) const QUOTE: u8 = 128;
/// Whitespace; no token has it.
const BLANK: u8 = 255;

/// The kind of each byte.
pub(super) const KINDS: [u8; 256] = {
    let mut kinds = [NON_ASCII; 256];
    let mut byte: u8 = 0;
    while byte < 128 {
        kinds[byte as usize] = match byte {
            1 => SPECIAL,
            b'\t'..=b'\r' | b' ' => BLANK,
            b'-' | b'_' => SEPARATOR,
            b'.' => DOT,
            b'/' => SLASH,
            b':' => COLON,
            b'0'..=b'9' => DIGIT,
            b'"' | b'\'' | b'`' => QUOTE,
            _ => 0,
        };
        byte += 1;
    }
    kinds
};

/// The role of a byte in plain tokens, which are no names or links and are their own normal form, as most tokens are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ByteRole {
    Plain,
    /// Plain at the end of a token only.
    Final,
    Blank,
    Other,
}

const BYTE_ROLES: [ByteRole; 256] = {
    let mut classes = [ByteRole::Other; 256];
    let mut byte: u8 = 0;
    while byte < 128 {
        classes[byte as usize] = match byte {
            b'.' | b':' => ByteRole::Final,
            b'\t'..=b'\r' | b' ' => ByteRole::Blank,
            // Separators, parts of names and paths, quotes, and control characters.
            b'-' | b'_' | b'/' | b'"' | b'\'' | b'`' | 0..=31 | 127 => ByteRole::Other,
            _ => ByteRole::Plain,
        };
        byte += 1;
    }
    classes
};

fn role(bytes: &[u8], at: usize) -> ByteRole {
    bytes
        .get(at)
        .map_or(ByteRole::Blank, |byte| BYTE_ROLES[usize::from(*byte)])
}

/// The longest run of plain tokens that `text` begins with.
pub(super) fn plain_run(text: &str) -> PlainRun {
    let bytes = text.as_bytes();
    let mut run = PlainRun { last: 0, end: 0 };
    let mut from = 0;
    loop {
        let mut at = from;
        while role(bytes, at) == ByteRole::Plain {
            at += 1;
        }
        if role(bytes, at) == ByteRole::Final {
            at += 1;
        }
        if at == from || role(bytes, at) != ByteRole::Blank {
            return run;
        }
        run = PlainRun { last: from, end: at };
        if bytes.get(at) != Some(&b' ') {
            return run;
        }
        from = at + 1;
    }
}

pub(super) fn without_blanks(text: &str) -> &str {
    match text.as_bytes() {
        [b' ', next, ..] if next.is_ascii_graphic() => &text[1..],
        _ => text.trim_start_matches(is_blank),
    }
}

/// The text before the next blank.
pub(super) fn first_token(text: &str) -> Token<'_> {
    let mut kinds = 0;
    let mut end = text.len();
    for (at, byte) in text.bytes().enumerate() {
        let kind = KINDS[usize::from(byte)];
        if kind == BLANK {
            end = at;
            break;
        }
        kinds |= kind;
        if kind == NON_ASCII {
            // The next blank may be one outside ASCII.
            let more = text[at..].find(is_blank);
            end = more.map_or(end, |more| at + more);
            kinds |= text[at..end]
                .bytes()
                .fold(0, |all, byte| all | KINDS[usize::from(byte)]);
            if end == at {
                kinds &= !NON_ASCII;
            }
            break;
        }
    }
    Token {
        text: &text[..end],
        kinds,
    }
}

pub(super) fn is_blank(c: char) -> bool {
    c.is_whitespace()
}
