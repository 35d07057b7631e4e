//! How keys and profile ids may be shown (auth-store.md Z3, Z4).

use openclaw_ids::ProfileId;
use sha2::{Digest, Sha256};

/// A profile id as log lines carry it: `sha256:` and twelve hex digits, or `-` for none (Z3).
///
/// ```
/// # use openclaw_auth_store::log_id;
/// let id = openclaw_ids::ProfileId::try_new("anthropic:default")?;
/// assert_eq!(log_id(Some(&id)), "sha256:154a23a3efe6");
/// assert_eq!(log_id(None), "-");
/// # Ok::<(), openclaw_ids::IdError>(())
/// ```
pub fn log_id(id: Option<&ProfileId>) -> String {
    match id {
        Some(id) => format!("sha256:{}", hex(&[id.as_str()], 12)),
        None => "-".to_owned(),
    }
}

/// A key as status output shows it (Z4): a few characters of both ends, or `missing`.
///
/// ```
/// # use openclaw_auth_store::mask_key;
/// assert_eq!(mask_key("sk-abcdefgh-12345678"), "sk-abcde...12345678");
/// ```
pub fn mask_key(key: &str) -> String {
    let clean: String = key.chars().filter(|c| !c.is_control()).collect();
    let shown: Vec<char> = clean.trim().chars().collect();
    let ends = match shown.len() {
        0 => return "missing".to_owned(),
        1..=6 => 1,
        7..=16 => 2,
        _ => 8,
    };
    let first: String = shown.iter().take(ends).collect();
    let last: String = shown.iter().skip(shown.len() - ends).collect();
    format!("{first}...{last}")
}

/// The first `digits` hex digits of SHA-256 over `parts`, joined without a separator.
pub(crate) fn hex(parts: &[&str], digits: usize) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part.as_bytes());
    }
    let digest = hash.finalize();
    let nibbles = digest.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    nibbles
        .take(digits)
        .filter_map(|nibble| char::from_digit(nibble.into(), 16))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn z4_rows() {
        for (key, shown) in [
            ("", "missing"),
            (" \n\t", "missing"),
            ("a", "a...a"),
            ("abcdef", "a...f"),
            ("abcdefg", "ab...fg"),
            ("abcdefghijklmnop", "ab...op"),
            ("abcdefghijklmnopq", "abcdefgh...jklmnopq"),
            (" ab\ncdef ", "a...f"),
        ] {
            assert_eq!(mask_key(key), shown, "{key:?}");
        }
    }
}
