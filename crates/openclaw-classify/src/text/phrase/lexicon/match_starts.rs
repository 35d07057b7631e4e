//! The offsets of a text where a piece may begin, found by comparing eight bytes at a time as lanes of one number.

/// How many bytes are compared at a time.
const LANES: usize = 8;
/// The number 1 in each lane.
const ONES: u64 = 0x0101_0101_0101_0101;
/// The result bit of each lane.
const RESULT_BITS: u64 = 0x80 * ONES;

/// The bytes that pieces begin with. Beginnings of words and characters outside ASCII always count.
pub(super) struct MatchStarts {
    /// Punctuation that begins a piece, and bytes that begin one inside a word, each repeated in all lanes.
    others: [u64; INLINE],
    /// Further such bytes, which rules rarely have.
    more: Vec<u64>,
}

/// How many such bytes are always compared.
const INLINE: usize = 2;
/// Equal to no byte that is compared.
const NONE: u64 = u64::MAX;

impl Default for MatchStarts {
    fn default() -> Self {
        Self {
            others: [NONE; INLINE],
            more: Vec::new(),
        }
    }
}

impl MatchStarts {
    /// Adds the first byte of a piece; `open` when the piece may begin inside a word.
    pub(super) fn add(&mut self, first: u8, open: bool) {
        let lanes = u64::from(first) * ONES;
        let is_punctuation = first.is_ascii() && !first.is_ascii_alphanumeric();
        if !(open || is_punctuation) || self.others.contains(&lanes) || self.more.contains(&lanes) {
            return;
        }
        match self.others.iter_mut().find(|other| **other == NONE) {
            Some(free) => *free = lanes,
            None => self.more.push(lanes),
        }
    }

    /// The offsets in `text` where a piece may begin, from left to right.
    pub(super) fn find_in<'t>(&'t self, text: &'t [u8]) -> impl Iterator<Item = usize> + 't {
        let mut from = 0;
        // Whether the byte before the lanes is part of a word.
        let mut carried = 0;
        let mut left = self.starts_at(text, from, &mut carried);
        std::iter::from_fn(move || {
            while left == 0 {
                from += LANES;
                if from >= text.len() {
                    return None;
                }
                left = self.starts_at(text, from, &mut carried);
            }
            let lane = left.trailing_zeros() as usize / 8;
            left &= left - 1;
            Some(from + lane)
        })
    }

    /// The result bits of the offsets among the eight bytes from `from` on where a piece may begin.
    fn starts_at(&self, text: &[u8], from: usize, carried: &mut u64) -> u64 {
        let rest = text.get(from..).unwrap_or_default();
        let (lanes, present) = match rest.first_chunk::<LANES>() {
            Some(lanes) => (u64::from_le_bytes(*lanes), RESULT_BITS),
            None if rest.is_empty() => return 0,
            None => {
                let mut lanes = [0; LANES];
                lanes[..rest.len()].copy_from_slice(rest);
                (
                    u64::from_le_bytes(lanes),
                    RESULT_BITS >> (8 * (LANES - rest.len())),
                )
            }
        };
        let words = words(lanes);
        let begins = words & !((words << 8) | *carried);
        *carried = words >> (8 * (LANES - 1));
        let foreign = lanes & (lanes << 1) & RESULT_BITS;
        let [one, another] = self.others;
        let usual = equal(lanes, one) | equal(lanes, another);
        let more = self.more.iter().fold(0, |all, byte| all | equal(lanes, *byte));
        (begins | foreign | usual | more) & present
    }
}

/// The result bits of ASCII letters and digits.
fn words(lanes: u64) -> u64 {
    let lower = lanes | (0x20 * ONES);
    (within(lower, b'a', b'z') | within(lanes, b'0', b'9')) & !lanes & RESULT_BITS
}

/// The result bits of bytes from `first` to `last`, both ASCII; those of bytes outside ASCII are arbitrary.
fn within(lanes: u64, first: u8, last: u8) -> u64 {
    let low = lanes & !RESULT_BITS;
    let from = low + u64::from(0x80 - first) * ONES;
    let above = low + u64::from(0x7F - last) * ONES;
    from & !above
}

/// The result bits of bytes that are equal in both numbers.
fn equal(lanes: u64, others: u64) -> u64 {
    let differ = lanes ^ others;
    !(((differ & !RESULT_BITS) + !RESULT_BITS) | differ) & RESULT_BITS
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A reference implementation, byte by byte.
    fn reference(text: &[u8], others: &[u8]) -> Vec<usize> {
        let is_start = |at: &usize| {
            let byte = text[*at];
            let inside = *at > 0 && text[at - 1].is_ascii_alphanumeric();
            byte >= 0xC0 || byte.is_ascii_alphanumeric() && !inside || others.contains(&byte)
        };
        (0..text.len()).filter(is_start).collect()
    }

    fn found(text: &[u8], others: &[u8]) -> Vec<usize> {
        let mut starts = MatchStarts::default();
        for byte in others {
            starts.add(*byte, true);
        }
        starts.find_in(text).collect()
    }

    #[test]
    fn each_byte_is_recognised_in_every_lane() {
        for byte in 0..=u8::MAX {
            for lane in 0..11 {
                for around in [b' ', b'a', b'9', 0xE4, 0x80] {
                    let mut text = [around; 11];
                    text[lane] = byte;
                    for others in [&b""[..], b"m", b"\xE4z |"] {
                        assert_eq!(
                            found(&text, others),
                            reference(&text, others),
                            "{text:?} {others:?}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn punctuation_and_open_pieces_may_begin_anywhere() {
        for (first, open, expected) in [
            (b'(', false, vec![0, 1, 4]),
            (b'm', true, vec![1, 2, 4]),
            (b'm', false, vec![1, 4]),
        ] {
            let mut starts = MatchStarts::default();
            starts.add(first, open);
            assert_eq!(
                starts.find_in(b"(am i").collect::<Vec<_>>(),
                expected,
                "{first} {open}"
            );
        }
    }

    #[test]
    fn texts_of_any_length_end() {
        for length in 0..20 {
            let text = &b"rate limit, too many"[..length];
            assert_eq!(found(text, b""), reference(text, b""));
        }
    }
}
