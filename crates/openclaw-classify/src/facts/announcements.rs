//! A quick check whether a text has words that announce a number: a size beside its limit, or the end of a limit.
//!
//! A hash of four bytes at every other offset rules out nearly all texts without such words.

use super::byte_set::{ByteKind, ByteSet};
use super::{RESET_CUES, limit_comparison};

/// What the numbers of a text may state.
#[derive(Clone, Copy, Default)]
pub(super) struct Announcements {
    /// A size beside its limit.
    pub(super) size: bool,
    /// When a limit ends.
    pub(super) time: bool,
}

/// How many bytes are hashed together; only words of one byte are shorter.
const WINDOW: usize = 4;

/// A set of hashes: of the windows at the first and at the second byte of each word, one of which is at an even offset.
type Windows = [u64; 1024];
static TIME_WINDOWS: Windows = windows(RESET_CUES);
static SIZE_WINDOWS: Windows = windows(limit_comparison::COMPARISON_WORDS);
static ALL_WINDOWS: Windows = {
    let mut both = windows(RESET_CUES);
    let mut word = 0;
    while word < both.len() {
        both[word] |= SIZE_WINDOWS[word];
        word += 1;
    }
    both
};

const fn windows<const COUNT: usize>(words: [&str; COUNT]) -> Windows {
    let mut windows = [0; 1024];
    let mut at = 0;
    while at < COUNT {
        windows = with_word(windows, words[at]);
        at += 1;
    }
    windows
}

const fn with_word(mut windows: Windows, word: &str) -> Windows {
    let Some((first, _)) = word.as_bytes().split_first_chunk::<WINDOW>() else {
        assert!(word.len() == 1, "a shorter word needs more windows");
        return windows;
    };
    let (index, bit) = bit(*first);
    windows[index] |= bit;
    // The second window of a word of four bytes ends with any byte.
    let mut next = 0;
    while next <= u8::MAX as usize {
        let last = if word.len() > WINDOW {
            word.as_bytes()[WINDOW]
        } else {
            next.to_le_bytes()[0]
        };
        let (index, bit) = self::bit([first[1], first[2], first[3], last]);
        windows[index] |= bit;
        next += 1;
    }
    windows
}

/// The first eight bytes of each word in lower case, and a mask of the bytes that it has.
const fn heads<const COUNT: usize>(words: [&str; COUNT]) -> [(u64, u64); COUNT] {
    let mut heads = [(0, 0); COUNT];
    let mut at = 0;
    while at < COUNT {
        let length = if words[at].len() < 8 { words[at].len() } else { 8 };
        let (begin, _) = words[at].as_bytes().split_at(length);
        heads[at] = (head(begin), u64::MAX >> (64 - 8 * length));
        at += 1;
    }
    heads
}

/// The first eight bytes as a number, letters in lower case; zeros where there are none.
const fn head(text: &[u8]) -> u64 {
    let mut head = 0;
    let mut at = 0;
    while at < 8 && at < text.len() {
        head |= ((text[at] | 0x20) as u64) << (8 * at);
        at += 1;
    }
    head
}

const TIME_HEADS: [(u64, u64); RESET_CUES.len()] = heads(RESET_CUES);
const SIZE_HEADS: [(u64, u64); limit_comparison::COMPARISON_WORDS.len()] =
    heads(limit_comparison::COMPARISON_WORDS);

/// The bit of a window in [`Windows`], case-insensitive: the index of its word, and the bit in that word.
const fn bit(window: [u8; WINDOW]) -> (usize, u64) {
    let bit = (u32::from_le_bytes(window) | 0x2020_2020).wrapping_mul(0x9E37_79B1) >> 16;
    (bit as usize / 64, 1 << (bit % 64))
}

/// The announcements in `text`; a word counts only when a number follows it.
pub(super) fn find(text: &str, kinds: ByteSet) -> Announcements {
    let mut found = Announcements::default();
    if !kinds.may_contain(ByteKind::Number) {
        return found;
    }
    let Some(last) = text.as_bytes().iter().rposition(u8::is_ascii_digit) else {
        return found;
    };
    let bytes = &text.as_bytes()[..=last];
    // Words of one byte are too short for a window.
    found.time = memchr::memchr(b'|', bytes).is_some();
    found.size = memchr::memchr(b'>', bytes).is_some();
    let mut at = 0;
    while let Some(window) = bytes.get(at..).and_then(|rest| rest.first_chunk()) {
        let (index, bit) = bit(*window);
        if ALL_WINDOWS[index] & bit != 0 {
            found.compare(bytes, at, (index, bit));
            if found.size && found.time {
                break;
            }
        }
        at += 2;
    }
    found
}

impl Announcements {
    /// Compares the words that begin at `at` or one byte before it, for each announcement that was not found yet.
    #[inline(never)]
    fn compare(&mut self, bytes: &[u8], at: usize, (index, bit): (usize, u64)) {
        let time = !self.time && TIME_WINDOWS[index] & bit != 0;
        let size = !self.size && SIZE_WINDOWS[index] & bit != 0;
        if !time && !size {
            return;
        }
        let heads = [head(&bytes[at.saturating_sub(1)..]), head(&bytes[at..])];
        let is_head = |(word, mask): &(u64, u64)| heads.iter().any(|head| head & mask == *word);
        self.time |= time && TIME_HEADS.iter().any(is_head);
        self.size |= size && SIZE_HEADS.iter().any(is_head);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_word_is_found_at_every_offset_in_any_case_before_a_number() {
        for (words, expected) in [
            (&RESET_CUES[..], (true, false)),
            (&limit_comparison::COMPARISON_WORDS[..], (false, true)),
        ] {
            for word in words
                .iter()
                .flat_map(|word| [(*word).to_owned(), word.to_uppercase()])
            {
                for front in ["", "x", "é", "any "] {
                    for back in ["5", " 5", "é 5", "\u{b}5"] {
                        let text = format!("{front}{word}{back}");
                        let found = find(&text, ByteSet::of(&text));
                        assert_eq!((found.time, found.size), expected, "{text:?}");
                        let text = format!("5 {front}{word}");
                        let found = find(&text, ByteSet::of(&text));
                        assert!(!found.time && !found.size, "{text:?}");
                    }
                }
            }
        }
    }
}
