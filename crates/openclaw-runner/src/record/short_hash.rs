//! Short hashes that stand for a value in records without showing it.

use sha2::{Digest, Sha256};

/// `sha256:` and the first 12 hex digits of the trimmed text's SHA-256 (R-12.3, auth-store.md Z3).
pub(crate) fn short_hash(text: &str) -> String {
    format!("sha256:{}", short_hex(text))
}

/// The first 12 hex digits of the trimmed text's SHA-256, which are its first six bytes.
pub(crate) fn short_hex(text: &str) -> String {
    let digest = Sha256::digest(text.trim().as_bytes());
    let head = digest
        .iter()
        .take(8)
        .fold(0_u64, |head, byte| head << 8 | u64::from(*byte));
    format!("{:012x}", head >> 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn z3_vector() {
        assert_eq!(short_hash(" anthropic:default "), "sha256:154a23a3efe6");
    }

    #[test]
    fn r_12_3_vector() {
        assert_eq!(short_hash("Request timed out."), "sha256:98123ccc6904");
    }
}
