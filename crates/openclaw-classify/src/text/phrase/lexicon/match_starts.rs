//! Where pieces may begin in a text: eight bytes are looked at in one number, a bit of each byte telling what it is.

/// So many bytes are looked at together.
const LANES: usize = 8;
/// One in each byte.
const ONES: u64 = 0x0101_0101_0101_0101;
/// The bit of each byte that tells.
const TELLS: u64 = 0x80 * ONES;

/// What pieces begin with besides words and characters outside ASCII, which all texts are searched for.
pub(super) struct Sites {
    /// Marks that begin a piece, and bytes that begin one inside a word, each in all lanes.
    others: [u64; USUAL],
    /// More of them than rules usually have.
    more: Vec<u64>,
}

/// As many are looked for in any case.
const USUAL: usize = 2;
/// No byte of a text.
const NONE: u64 = u64::MAX;

impl Default for Sites {
    fn default() -> Self {
        Self {
            others: [NONE; USUAL],
            more: Vec::new(),
        }
    }
}

impl Sites {
    /// Counts a piece by its first byte.
    pub(super) fn add(&mut self, first: u8, open: bool) {
        let lanes = u64::from(first) * ONES;
        let is_mark = first.is_ascii() && !first.is_ascii_alphanumeric();
        if !(open || is_mark) || self.others.contains(&lanes) || self.more.contains(&lanes) {
            return;
        }
        match self.others.iter_mut().find(|other| **other == NONE) {
            Some(free) => *free = lanes,
            None => self.more.push(lanes),
        }
    }

    /// The places of `text` where a piece may begin, from left to right.
    pub(super) fn of<'t>(&'t self, text: &'t [u8]) -> impl Iterator<Item = usize> + 't {
        let mut from = 0;
        // Whether the byte in front is part of a word.
        let mut carried = 0;
        let mut left = self.look(text, from, &mut carried);
        std::iter::from_fn(move || {
            while left == 0 {
                from += LANES;
                if from >= text.len() {
                    return None;
                }
                left = self.look(text, from, &mut carried);
            }
            let lane = left.trailing_zeros() as usize / 8;
            left &= left - 1;
            Some(from + lane)
        })
    }

    /// Tells the sites among the bytes from `from` on.
    fn look(&self, text: &[u8], from: usize, carried: &mut u64) -> u64 {
        let rest = text.get(from..).unwrap_or_default();
        let (lanes, known) = match rest.first_chunk::<LANES>() {
            Some(lanes) => (u64::from_le_bytes(*lanes), TELLS),
            None if rest.is_empty() => return 0,
            None => {
                let mut lanes = [0; LANES];
                lanes[..rest.len()].copy_from_slice(rest);
                (u64::from_le_bytes(lanes), TELLS >> (8 * (LANES - rest.len())))
            }
        };
        let words = words(lanes);
        let begins = words & !((words << 8) | *carried);
        *carried = words >> (8 * (LANES - 1));
        let foreign = lanes & (lanes << 1) & TELLS;
        let [one, another] = self.others;
        let usual = equal(lanes, one) | equal(lanes, another);
        let more = self.more.iter().fold(0, |all, byte| all | equal(lanes, *byte));
        (begins | foreign | usual | more) & known
    }
}

/// Tells the ASCII letters and digits.
fn words(lanes: u64) -> u64 {
    let lower = lanes | (0x20 * ONES);
    (within(lower, b'a', b'z') | within(lanes, b'0', b'9')) & !lanes & TELLS
}

/// Tells the bytes from `first` to `last`, both in ASCII; what it tells of bytes outside ASCII is chance.
fn within(lanes: u64, first: u8, last: u8) -> u64 {
    let low = lanes & !TELLS;
    let from = low + u64::from(0x80 - first) * ONES;
    let above = low + u64::from(0x7F - last) * ONES;
    from & !above
}

/// Tells the bytes that are the same in both.
fn equal(lanes: u64, others: u64) -> u64 {
    let differ = lanes ^ others;
    !(((differ & !TELLS) + !TELLS) | differ) & TELLS
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same byte by byte.
    fn slowly(text: &[u8], others: &[u8]) -> Vec<usize> {
        let is_site = |at: &usize| {
            let byte = text[*at];
            let inside = *at > 0 && text[at - 1].is_ascii_alphanumeric();
            byte >= 0xC0 || byte.is_ascii_alphanumeric() && !inside || others.contains(&byte)
        };
        (0..text.len()).filter(is_site).collect()
    }

    fn found(text: &[u8], others: &[u8]) -> Vec<usize> {
        let mut sites = Sites::default();
        for byte in others {
            sites.add(*byte, true);
        }
        sites.of(text).collect()
    }

    #[test]
    fn each_byte_is_told_for_what_it_is_in_every_lane() {
        for byte in 0..=u8::MAX {
            for lane in 0..11 {
                for around in [b' ', b'a', b'9', 0xE4, 0x80] {
                    let mut text = [around; 11];
                    text[lane] = byte;
                    for others in [&b""[..], b"m", b"\xE4z |"] {
                        assert_eq!(found(&text, others), slowly(&text, others), "{text:?} {others:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn marks_and_what_is_open_are_looked_for_everywhere() {
        for (first, open, expected) in [
            (b'(', false, vec![0, 1, 4]),
            (b'm', true, vec![1, 2, 4]),
            (b'm', false, vec![1, 4]),
        ] {
            let mut sites = Sites::default();
            sites.add(first, open);
            assert_eq!(sites.of(b"(am i").collect::<Vec<_>>(), expected, "{first} {open}");
        }
    }

    #[test]
    fn texts_of_any_length_end() {
        for length in 0..20 {
            let text = &b"rate limit, too many"[..length];
            assert_eq!(found(text, b""), slowly(text, b""));
        }
    }
}
