//! Case-insensitive search for a fixed set of patterns, with look-up tables that are built at compile time.

use std::ops::Range;

/// A set of patterns; each is one bit of the tables.
///
/// One look-up for each pair of bytes rules out nearly all offsets for all patterns at once. Where a pattern may
/// begin, the tables of the first three bytes select the patterns that are compared.
pub(crate) struct Patterns<const COUNT: usize> {
    texts: [&'static str; COUNT],
    /// For each of the first three bytes, the patterns that may have it.
    masks: [[u32; 256]; 3],
    /// The set of pairs of bytes that patterns begin with.
    pairs: [u64; 1024],
}

impl<const COUNT: usize> Patterns<COUNT> {
    /// A set of at most 32 patterns in lower case, none of them empty.
    pub(crate) const fn new(texts: [&'static str; COUNT]) -> Self {
        assert!(COUNT <= 32, "a pattern is a bit of 32");
        let mut masks = [[0; 256]; 3];
        let mut pairs = [0; 1024];
        let mut pattern = 0;
        while pattern < COUNT {
            let bytes = texts[pattern].as_bytes();
            let bit = 1 << pattern;
            let mut position = 0;
            while position < 3 {
                if position < bytes.len() {
                    masks[position][bytes[position] as usize] |= bit;
                    masks[position][bytes[position].to_ascii_uppercase() as usize] |= bit;
                } else {
                    let mut any = 0;
                    while any < 256 {
                        masks[position][any] |= bit;
                        any += 1;
                    }
                }
                position += 1;
            }
            pattern += 1;
        }
        let mut pair = 0;
        while pair < 65_536 {
            if masks[0][pair >> 8] & masks[1][pair & 255] != 0 {
                pairs[pair / 64] |= 1 << (pair % 64);
            }
            pair += 1;
        }
        Self { texts, masks, pairs }
    }

    /// The matches in `text` from left to right without overlaps, the longest of those at the same offset; each as the
    /// number of its pattern and its range.
    pub(crate) fn find_in<'t>(&'t self, text: &'t str) -> impl Iterator<Item = (usize, Range<usize>)> + 't {
        let bytes = text.as_bytes();
        let mut at = 0;
        std::iter::from_fn(move || {
            while at < bytes.len() {
                let mut pairs = bytes[at..].windows(2);
                // After the last pair only the last byte is left.
                let skipped = pairs.position(|pair| self.may_begin(pair));
                let start = skipped.map_or(bytes.len() - 1, |skipped| at + skipped);
                at = start + 1;
                let mut left = self.candidates(&bytes[start..]);
                if left == 0 {
                    continue;
                }
                let mut longest: Option<(usize, usize)> = None;
                while left != 0 {
                    let pattern = left.trailing_zeros() as usize;
                    left &= left - 1;
                    let length = self.texts[pattern].len();
                    let longer = longest.is_none_or(|(_, other)| length > other);
                    if longer && starts_with_ignore_case(&bytes[start..], self.texts[pattern]) {
                        longest = Some((pattern, length));
                    }
                }
                if let Some((pattern, length)) = longest {
                    at = start + length;
                    return Some((pattern, start..at));
                }
            }
            None
        })
    }

    /// Whether a pattern may begin with these two bytes.
    fn may_begin(&self, pair: &[u8]) -> bool {
        let &[first, second] = pair else { return true };
        let pair = usize::from(first) << 8 | usize::from(second);
        self.pairs[pair / 64] >> (pair % 64) & 1 != 0
    }

    /// The patterns that `rest` may begin with.
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
    fn patterns_are_found_whole_in_any_case_and_the_longest_first() {
        static WORDS: Patterns<4> = Patterns::new(["try again", "again", "agains", "|"]);
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
