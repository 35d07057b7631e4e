//! Masks keys and profile ids for output (auth-store.md Z3, Z4).

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

    /// Texts that are not ours go through the redaction that all crates share.
    #[test]
    fn z5_z8_texts_for_logs_are_masked_by_length_and_by_place() {
        let key = "0123456789abcdefghij";
        for (text, shown) in [
            // Z5: short tokens vanish, long ones keep both ends.
            ("sk-123456789012".to_owned(), "***".to_owned()),
            (format!("sk-{key}"), "sk-012…ghij".to_owned()),
            // Z5: values of queries and forms show nothing of themselves.
            (
                format!("https://x.example/?key={key}&a=1"),
                "https://x.example/?key=***&a=1".to_owned(),
            ),
            (
                format!("/cb?state=1&access_token={key}"),
                "/cb?state=1&access_token=***".to_owned(),
            ),
            (
                format!("grant_type=x&refresh_token={key}&scope=y"),
                "grant_type=x&refresh_token=***&scope=y".to_owned(),
            ),
            // Z8: assignments, headers, addresses with passwords, prefixes.
            (
                format!("OPENAI_API_KEY={key}"),
                "OPENAI_API_KEY=012345…ghij".to_owned(),
            ),
            (
                format!("{{\"token\":\"{key}\"}}"),
                "{\"token\":\"012345…ghij\"}".to_owned(),
            ),
            (format!("with Bearer {key}"), "with Bearer 012345…ghij".to_owned()),
            (
                "https://me:hunter2@x.example/".to_owned(),
                "https://***@x.example/".to_owned(),
            ),
            (
                format!("ghp_{key} gsk_{key}"),
                "ghp_01…ghij gsk_01…ghij".to_owned(),
            ),
            (format!("AIza{key}"), "AIza01…ghij".to_owned()),
            (format!("ya29.{key}"), "ya29.0…ghij".to_owned()),
            (format!("xai-{key}"), "xai-01…ghij".to_owned()),
        ] {
            assert_eq!(openclaw_classify::redact(&text), shown, "{text}");
        }
        let pem = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBg\n-----END PRIVATE KEY-----";
        assert!(!openclaw_classify::redact(pem).contains("MII"));
    }

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
