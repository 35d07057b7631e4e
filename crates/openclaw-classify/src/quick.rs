//! A hash for the short keys of our own tables: nobody who sends a text chooses what stands in them.

use std::hash::{BuildHasherDefault, Hasher};

/// Builds the hashers of such a table.
pub(crate) type Quick = BuildHasherDefault<QuickHasher>;

/// Eight bytes at a time.
#[derive(Default)]
pub(crate) struct QuickHasher(u64);

impl Hasher for QuickHasher {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            let mixed = self.0.rotate_left(5) ^ u64::from_le_bytes(word);
            self.0 = mixed.wrapping_mul(0x517C_C1B7_2722_0A95);
        }
    }

    fn write_u8(&mut self, byte: u8) {
        self.0 ^= u64::from(byte);
    }

    fn finish(&self) -> u64 {
        // The upper half of a product is the well mixed one, and a table looks at both.
        self.0 ^ self.0 >> 32
    }
}
