//! A few words found anywhere in a text, whatever their case, without building an automaton first.

use std::ops::Range;

/// Words to find; each is a bit of the tables.
///
/// A word can only begin where two bytes stand that begin a word, which one look-up per byte tells for all words at
/// once, and where the tables of its first three bytes agree; only there it is compared.
pub(crate) struct Needles<const COUNT: usize> {
    words: [&'static str; COUNT],
    masks: [[u32; 256]; 3],
    /// Bits of the pairs of bytes that words begin with.
    pairs: [u64; 1024],
}

impl<const COUNT: usize> Needles<COUNT> {
    /// At most 32 words in lower case, none of them empty.
    pub(crate) const fn new(words: [&'static str; COUNT]) -> Self {
        assert!(COUNT <= 32, "a word is a bit of 32");
        let mut masks = [[0; 256]; 3];
        let mut pairs = [0; 1024];
        let mut word = 0;
        while word < COUNT {
            let bytes = words[word].as_bytes();
            let bit = 1 << word;
            let mut place = 0;
            while place < 3 {
                if place < bytes.len() {
                    masks[place][bytes[place] as usize] |= bit;
                    masks[place][bytes[place].to_ascii_uppercase() as usize] |= bit;
                } else {
                    let mut any = 0;
                    while any < 256 {
                        masks[place][any] |= bit;
                        any += 1;
                    }
                }
                place += 1;
            }
            word += 1;
        }
        let mut pair = 0;
        while pair < 65_536 {
            if masks[0][pair >> 8] & masks[1][pair & 255] != 0 {
                pairs[pair / 64] |= 1 << (pair % 64);
            }
            pair += 1;
        }
        Self { words, masks, pairs }
    }

    /// The words in `text` from left to right, none reaching into another; the longest of those that begin at the same
    /// place. Each with its number.
    pub(crate) fn find_in<'t>(&'t self, text: &'t str) -> impl Iterator<Item = (usize, Range<usize>)> + 't {
        let bytes = text.as_bytes();
        let mut at = 0;
        std::iter::from_fn(move || {
            while at < bytes.len() {
                let mut pairs = bytes[at..].windows(2);
                // Behind the last pair only the last byte is left.
                let skipped = pairs.position(|pair| self.may_begin(pair));
                let here = skipped.map_or(bytes.len() - 1, |skipped| at + skipped);
                at = here + 1;
                let mut left = self.candidates(&bytes[here..]);
                if left == 0 {
                    continue;
                }
                let mut longest: Option<(usize, usize)> = None;
                while left != 0 {
                    let word = left.trailing_zeros() as usize;
                    left &= left - 1;
                    let length = self.words[word].len();
                    let longer = longest.is_none_or(|(_, other)| length > other);
                    if longer && starts_with_ignore_case(&bytes[here..], self.words[word]) {
                        longest = Some((word, length));
                    }
                }
                if let Some((word, length)) = longest {
                    at = here + length;
                    return Some((word, here..at));
                }
            }
            None
        })
    }

    /// Whether a word may begin with these two bytes.
    fn may_begin(&self, pair: &[u8]) -> bool {
        let &[first, second] = pair else { return true };
        let pair = usize::from(first) << 8 | usize::from(second);
        self.pairs[pair / 64] >> (pair % 64) & 1 != 0
    }

    /// The words that `rest` may begin with.
    fn candidates(&self, rest: &[u8]) -> u32 {
        let [first, second, third] = &self.masks;
        match rest {
            [a, b, c, ..] => first[usize::from(*a)] & second[usize::from(*b)] & third[usize::from(*c)],
            [a, b] => first[usize::from(*a)] & second[usize::from(*b)],
            [a] => first[usize::from(*a)],
            [] => 0,
        }
    }
}

/// Whether `text` begins with `prefix` in any ASCII case.
pub(crate) fn starts_with_ignore_case(text: &[u8], prefix: &str) -> bool {
    text.get(..prefix.len())
        .is_some_and(|head| head.eq_ignore_ascii_case(prefix.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_whole_in_any_case_and_the_longest_first() {
        static WORDS: Needles<4> = Needles::new(["try again", "again", "agains", "|"]);
        for (text, expected) in [
            ("Try AGAIN", vec![(0, 0..9)]),
            ("and again|", vec![(1, 4..9), (3, 9..10)]),
            ("against", vec![(2, 0..6)]),
            ("éagain", vec![(1, 2..7)]),
            ("agai", vec![]),
            ("ag", vec![]),
            ("", vec![]),
        ] {
            assert_eq!(WORDS.find_in(text).collect::<Vec<_>>(), expected, "{text}");
        }
    }
}
