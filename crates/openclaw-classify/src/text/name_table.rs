//! A hash table of names that are compared without case and separators, without allocating a normalised name.

use std::borrow::Cow;

use crate::text::normal::{code_key, is_code_key};

/// Values by the [`code_key`] of their names.
pub(crate) struct NameTable<T> {
    entries: Vec<(Cow<'static, str>, T)>,
    /// The hash and the number of an entry. At least twice as many as entries; a power of two.
    slots: Vec<Option<(u32, u32)>>,
}

impl<T> NameTable<T> {
    /// A table without names.
    pub(crate) const EMPTY: Self = Self {
        entries: Vec::new(),
        slots: Vec::new(),
    };

    /// The value of a key, which is added when it is missing.
    pub(crate) fn entry(&mut self, key: Cow<'static, str>) -> &mut T
    where
        T: Default,
    {
        if 2 * self.entries.len() >= self.slots.len() {
            self.grow();
        }
        let hash = hash(&key);
        let at = self.slot(hash, |other| *other == *key);
        let number = if let Some((_, number)) = self.slots[at] {
            number as usize
        } else {
            let number = self.entries.len();
            self.slots[at] = u32::try_from(number).ok().map(|number| (hash, number));
            self.entries.push((key, T::default()));
            number
        };
        &mut self.entries[number].1
    }

    fn grow(&mut self) {
        self.slots = vec![None; (4 * self.entries.len()).next_power_of_two().max(16)];
        for (number, (key, _)) in (0u32..).zip(&self.entries) {
            let hash = hash(key);
            let at = self.slot(hash, |_| false);
            self.slots[at] = Some((hash, number));
        }
    }

    /// The slot of the key that `is_it` accepts, or a free one.
    fn slot(&self, hash: u32, is_it: impl Fn(&str) -> bool) -> usize {
        let last = self.slots.len() - 1;
        let mut at = hash as usize & last;
        while let Some((other, number)) = self.slots[at] {
            if other == hash && is_it(&self.entries[number as usize].0) {
                break;
            }
            at = (at + 1) & last;
        }
        at
    }

    /// The key of `name` and its value, if the table has it.
    pub(crate) fn get(&self, name: &str) -> Option<(&str, &T)> {
        if self.slots.is_empty() {
            return None;
        }
        let at = self.slot(hash(name), |key| is_code_key(name, key));
        let (_, number) = self.slots[at]?;
        let (key, value) = &self.entries[number as usize];
        Some((key, value))
    }
}

/// The FNV-1a hash of the [`code_key`] of a name, folded.
fn hash(name: &str) -> u32 {
    let mixed = |all: u32, byte: u8| (all ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    let all = if name.is_ascii() {
        let kept = name.bytes().map(|byte| KEY_BYTES[usize::from(byte)]);
        kept.filter(|byte| *byte != 0).fold(0x811C_9DC5, mixed)
    } else {
        code_key(name).bytes().fold(0x811C_9DC5, mixed)
    };
    all ^ all >> 15
}

/// The byte of a key for each byte of a name: letters in lower case, digits, and 0 for bytes that are dropped.
const KEY_BYTES: [u8; 256] = {
    let mut kept = [0; 256];
    let mut byte: u8 = 0;
    while byte < 128 {
        if byte.is_ascii_alphanumeric() {
            kept[byte as usize] = byte.to_ascii_lowercase();
        }
        byte += 1;
    }
    kept
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_in_any_case_and_with_any_separators() {
        let mut table: NameTable<usize> = NameTable::EMPTY;
        assert_eq!(table.get("a"), None);
        let keys: Vec<String> = (0..300)
            .map(|number| format!("key{number}"))
            .chain(["größe".to_owned()])
            .collect();
        for (number, key) in keys.iter().enumerate() {
            *table.entry(key.clone().into()) += number;
        }
        *table.entry("key7".into()) += 1;
        for (name, expected) in [
            ("key7", Some(("key7", 8))),
            ("KEY_2-9 9", Some(("key299", 299))),
            ("_Key.0", Some(("key0", 0))),
            ("GRÖSSE", None),
            ("Grö-ße", Some(("größe", 300))),
            ("key300", None),
            ("", None),
        ] {
            assert_eq!(
                table.get(name),
                expected.as_ref().map(|(key, value)| (*key, value)),
                "{name}"
            );
        }
    }
}
