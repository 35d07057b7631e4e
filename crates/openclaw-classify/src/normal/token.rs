//! Cuts a text into tokens, and runs over those that stand in its normal form as they are (classify.md C-1.4).

/// Plain tokens with one blank between them, at the front of a text.
pub(super) struct Run {
    /// Where the last of them begins.
    pub(super) last: usize,
    /// Where it ends, 0 when there is none.
    pub(super) end: usize,
}

/// What a byte is to a token that cannot be a name or a link and has nothing to be replaced; most are such.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Plain,
    /// Plain at the end of a token only.
    Final,
    Blank,
    Other,
}

const CLASSES: [Class; 256] = {
    let mut classes = [Class::Other; 256];
    let mut byte: u8 = 0;
    while byte < 128 {
        classes[byte as usize] = match byte {
            b'.' | b':' => Class::Final,
            b'\t'..=b'\r' | b' ' => Class::Blank,
            // Separators, what may stand in a name or a path, quotes, and what is no text.
            b'-' | b'_' | b'/' | b'"' | b'\'' | b'`' | 0..=31 | 127 => Class::Other,
            _ => Class::Plain,
        };
        byte += 1;
    }
    classes
};

fn class(bytes: &[u8], at: usize) -> Class {
    bytes
        .get(at)
        .map_or(Class::Blank, |byte| CLASSES[usize::from(*byte)])
}

/// The longest run of plain tokens that `text` begins with.
pub(super) fn plain_run(text: &str) -> Run {
    let bytes = text.as_bytes();
    let mut run = Run { last: 0, end: 0 };
    let mut from = 0;
    loop {
        let mut at = from;
        while class(bytes, at) == Class::Plain {
            at += 1;
        }
        if class(bytes, at) == Class::Final {
            at += 1;
        }
        if at == from || class(bytes, at) != Class::Blank {
            return run;
        }
        run = Run { last: from, end: at };
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

/// What stands before the next blank.
pub(super) fn first_token(text: &str) -> &str {
    let bytes = text.as_bytes();
    let ascii = bytes
        .iter()
        .position(|byte| CLASSES[usize::from(*byte)] == Class::Blank || !byte.is_ascii());
    match ascii {
        None => text,
        Some(end) if bytes[end].is_ascii() => &text[..end],
        Some(end) => {
            let more = text[end..].find(is_blank);
            &text[..more.map_or(text.len(), |more| end + more)]
        }
    }
}

pub(super) fn is_blank(c: char) -> bool {
    c.is_whitespace()
}
