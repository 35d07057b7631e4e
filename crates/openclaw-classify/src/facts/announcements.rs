//! Whether a text announces what is read off its numbers: a size that does not fit, a time to come back.
//!
//! Four bytes of a text at every other place tell that no such word stands there, which is all there is to most texts.

use super::byte_set::{Mark, Marks};
use super::{CUES, limit_comparison};

/// What a text may state.
#[derive(Clone, Copy, Default)]
pub(super) struct Announced {
    /// A size beside its limit.
    pub(super) size: bool,
    /// When a limit ends.
    pub(super) time: bool,
}

/// So many bytes are looked at together, which shorter words but for signs are not.
const WINDOW: usize = 4;

/// Bits of the windows at the first and at the second byte of each word, one of which is at an even place.
type Windows = [u64; 1024];
static OF_TIMES: Windows = windows(CUES);
static OF_SIZES: Windows = windows(limit_comparison::DECISIVE);
static OF_BOTH: Windows = {
    let mut both = windows(CUES);
    let mut place = 0;
    while place < both.len() {
        both[place] |= OF_SIZES[place];
        place += 1;
    }
    both
};

const fn windows<const COUNT: usize>(words: [&str; COUNT]) -> Windows {
    let mut windows = [0; 1024];
    let mut at = 0;
    while at < COUNT {
        windows = with(windows, words[at]);
        at += 1;
    }
    windows
}

const fn with(mut windows: Windows, word: &str) -> Windows {
    let Some((first, _)) = word.as_bytes().split_first_chunk::<WINDOW>() else {
        assert!(word.len() == 1, "a shorter word needs more windows");
        return windows;
    };
    let (place, bit) = bit(*first);
    windows[place] |= bit;
    // Whatever follows a word of four letters is part of its second window.
    let mut next = 0;
    while next <= u8::MAX as usize {
        let last = if word.len() > WINDOW {
            word.as_bytes()[WINDOW]
        } else {
            next.to_le_bytes()[0]
        };
        let (place, bit) = self::bit([first[1], first[2], first[3], last]);
        windows[place] |= bit;
        next += 1;
    }
    windows
}

/// The first bytes of some words, whatever the case of their letters, each with those that it has.
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

/// The first eight bytes, letters in lower case; zeros where there are none.
const fn head(text: &[u8]) -> u64 {
    let mut head = 0;
    let mut at = 0;
    while at < 8 && at < text.len() {
        head |= ((text[at] | 0x20) as u64) << (8 * at);
        at += 1;
    }
    head
}

const TIMES: [(u64, u64); CUES.len()] = heads(CUES);
const SIZES: [(u64, u64); limit_comparison::DECISIVE.len()] = heads(limit_comparison::DECISIVE);

/// The bit of a window, whatever the case of its letters: its word, and its place there.
const fn bit(window: [u8; WINDOW]) -> (usize, u64) {
    let bit = (u32::from_le_bytes(window) | 0x2020_2020).wrapping_mul(0x9E37_79B1) >> 16;
    (bit as usize / 64, 1 << (bit % 64))
}

/// Words announce only numbers that follow them.
pub(super) fn announced(text: &str, marks: Marks) -> Announced {
    let mut announced = Announced::default();
    if !marks.may_hold(Mark::Number) {
        return announced;
    }
    let Some(last) = text.as_bytes().iter().rposition(u8::is_ascii_digit) else {
        return announced;
    };
    let bytes = &text.as_bytes()[..=last];
    // Signs are too short for a window.
    announced.time = memchr::memchr(b'|', bytes).is_some();
    announced.size = memchr::memchr(b'>', bytes).is_some();
    let mut at = 0;
    while let Some(window) = bytes.get(at..).and_then(|rest| rest.first_chunk()) {
        let (place, bit) = bit(*window);
        if OF_BOTH[place] & bit != 0 {
            announced.look(bytes, at, (place, bit));
            if announced.size && announced.time {
                break;
            }
        }
        at += 2;
    }
    announced
}

impl Announced {
    /// Counts the words that begin at `at` or in front of it, but no kind that is known already, however often it is
    /// said.
    #[inline(never)]
    fn look(&mut self, bytes: &[u8], at: usize, (place, bit): (usize, u64)) {
        let time = !self.time && OF_TIMES[place] & bit != 0;
        let size = !self.size && OF_SIZES[place] & bit != 0;
        if !time && !size {
            return;
        }
        let heads = [head(&bytes[at.saturating_sub(1)..]), head(&bytes[at..])];
        let is_head = |(word, mask): &(u64, u64)| heads.iter().any(|head| head & mask == *word);
        self.time |= time && TIMES.iter().any(is_head);
        self.size |= size && SIZES.iter().any(is_head);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_word_is_seen_at_every_place_in_any_case_in_front_of_a_number() {
        for (words, expected) in [
            (&CUES[..], (true, false)),
            (&limit_comparison::DECISIVE[..], (false, true)),
        ] {
            for word in words
                .iter()
                .flat_map(|word| [(*word).to_owned(), word.to_uppercase()])
            {
                for front in ["", "x", "é", "any "] {
                    for back in ["5", " 5", "é 5", "\u{b}5"] {
                        let text = format!("{front}{word}{back}");
                        let found = announced(&text, Marks::of(&text));
                        assert_eq!((found.time, found.size), expected, "{text:?}");
                        let text = format!("5 {front}{word}");
                        let found = announced(&text, Marks::of(&text));
                        assert!(!found.time && !found.size, "{text:?}");
                    }
                }
            }
        }
    }
}
