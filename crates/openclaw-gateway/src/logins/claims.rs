//! Reads the claims about an account from the token of a login, without verifying the signature.

use serde_json::Value;

/// Paths of the account id, the preferred one first.
const ACCOUNT: &[&[&str]] = &[
    &["https://api.openai.com/auth", "chatgpt_account_id"],
    &["chatgpt_account_id"],
];
/// Paths of the plan.
const PLAN: &[&[&str]] = &[&["https://api.openai.com/auth", "chatgpt_plan_type"]];
/// Paths of the mail address.
const EMAIL: &[&[&str]] = &[&["email"], &["https://api.openai.com/profile", "email"]];

/// The claims of a token; empty for a token that is no signed JSON.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Claims(Value);

impl Claims {
    /// Reads the claims without verifying them.
    pub(super) fn of(token: &str) -> Self {
        let mut parts = token.split('.');
        let (head, body, signature) = (parts.next(), parts.next(), parts.next());
        let claims = match (head, body, signature) {
            (Some(_), Some(body), Some(_)) => {
                decoded(body).and_then(|bytes| serde_json::from_slice(&bytes).ok())
            }
            _ => None,
        };
        Self(claims.unwrap_or_default())
    }

    /// The account id.
    pub(super) fn account(&self) -> Option<String> {
        self.text(ACCOUNT)
    }

    /// The plan of the account.
    pub(super) fn plan(&self) -> Option<String> {
        self.text(PLAN)
    }

    /// The mail address of the account.
    pub(super) fn email(&self) -> Option<String> {
        self.text(EMAIL)
    }

    /// When the token ends, in Unix seconds.
    pub(super) fn end(&self) -> Option<i64> {
        self.0.get("exp")?.as_i64()
    }

    fn text(&self, places: &[&[&str]]) -> Option<String> {
        places.iter().find_map(|path| {
            let value = path.iter().try_fold(&self.0, |value, name| value.get(name))?;
            let text = value.as_str()?.trim();
            (!text.is_empty()).then(|| text.to_owned())
        })
    }
}

/// The bytes of a base64 text, in either alphabet and with any padding or none.
fn decoded(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() * 3 / 4);
    let (mut held, mut bits) = (0_u32, 0_u32);
    for letter in text.trim_end_matches('=').bytes() {
        let value = match letter {
            b'A'..=b'Z' => letter - b'A',
            b'a'..=b'z' => letter - b'a' + 26,
            b'0'..=b'9' => letter - b'0' + 52,
            b'-' | b'+' => 62,
            b'_' | b'/' => 63,
            _ => return None,
        };
        held = (held << 6) | u32::from(value);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            let [.., byte] = (held >> bits).to_be_bytes();
            bytes.push(byte);
            held &= (1 << bits) - 1;
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_are_read_off_the_middle_part() {
        // {"exp":1700000000,"email":"me@example.com","https://api.openai.com/auth":{"chatgpt_account_id":"acc-1","chatgpt_plan_type":"plus"}}
        let body = "eyJleHAiOjE3MDAwMDAwMDAsImVtYWlsIjoibWVAZXhhbXBsZS5jb20iLCJodHRwczovL2FwaS5vcGVuYWkuY29tL2F1dGgiOnsiY2hhdGdwdF9hY2NvdW50X2lkIjoiYWNjLTEiLCJjaGF0Z3B0X3BsYW5fdHlwZSI6InBsdXMifX0";
        let claims = Claims::of(&format!("e30.{body}.signature"));
        assert_eq!(claims.account().as_deref(), Some("acc-1"));
        assert_eq!(claims.plan().as_deref(), Some("plus"));
        assert_eq!(claims.email().as_deref(), Some("me@example.com"));
        assert_eq!(claims.end(), Some(1_700_000_000));
    }

    #[test]
    fn other_texts_claim_nothing() {
        for token in ["", "sk-ant-oat01-x", "a.b", "e30.%%%.x", "e30.e30.x", "e30.bm8.x"] {
            let claims = Claims::of(token);
            assert_eq!((claims.account(), claims.end()), (None, None), "{token}");
        }
    }

    #[test]
    fn base_64_of_every_length() {
        for (text, bytes) in [
            ("", &b""[..]),
            ("Zg", b"f"),
            ("Zm8", b"fo"),
            ("Zm9v", b"foo"),
            ("_-8=", b"\xff\xef"),
        ] {
            assert_eq!(decoded(text).unwrap(), bytes, "{text}");
        }
    }
}
