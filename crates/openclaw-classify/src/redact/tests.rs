//! Tests of redaction with planted secrets.

use proptest::prelude::*;

use super::*;

/// Texts, and of each a part of its secret that must not be left.
const PLANTED: &[(&str, &str)] = &[
    (
        "Incorrect API key provided: sk-proj-Zm9vYmFyYmF6cXV4MTIzNDU2.",
        "Zm9vYmFyYmF6cXV4",
    ),
    ("sk-ant-api03-AAAABBBBCCCCDDDDEEEEFFFFGGGG", "BBBBCCCCDDDD"),
    ("key gsk_abcdefghijklmnopqrstuvwxyz0123", "ghijklmnopqrst"),
    ("AKIAIOSFODNN7EXAMPLE was refused", "FODNN7EX"),
    (
        "https://x.example/v1?key=AIzaSyA1234567890abcdefghijklmnopqrstu&alt=sse",
        "A1234567890abcdef",
    ),
    (
        "https://x.example/v1?api_key=0123456789abcdef0123456789abcdef",
        "456789abcdef0123",
    ),
    (
        "Authorization: Bearer abcdef0123456789abcdef0123456789",
        "0123456789abcdef01",
    ),
    ("authorization: Basic dXNlcjpwYXNzd29yZA==", "dXNlcjpw"),
    (
        "{\"api_key\": \"0a1b2c3d4e5f60718293a4b5c6d7e8f9\"}",
        "4e5f60718293",
    ),
    (
        "{\\\"apiKey\\\":\\\"0a1b2c3d4e5f60718293a4b5c6d7e8f9\\\"}",
        "4e5f60718293",
    ),
    ("x-api-key: 0a1b2c3d4e5f6071", "0a1b2c3d4e5f6071"),
    (
        "token eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P",
        "eyJzdWIiOiIx",
    ),
    ("refresh_token=rt_9f8e7d6c5b4a39281706", "7d6c5b4a3928"),
    ("password: hunter2hunter2", "hunter2"),
    ("postgres://admin:s3cr3tpass@db.example/x", "s3cr3tpass"),
    ("Your account bob.smith+ai@example.com is suspended", "bob.smith"),
    (
        "in organization org-AbCdEf1234567890AbCdEf12 on tokens",
        "Ef1234567890",
    ),
    ("in organization `org_01hxyzabc` service tier", "01hxyzabc"),
    ("account org-1f2a3b4c5d <ak-2e3f4a5b6c7d8e9f0a1b>", "4a5b6c7d8e"),
    ("project=1234567890 is disabled", "1234567890"),
    (
        "arn:aws:iam::123456789012:user/bot is not authorized",
        "123456789012",
    ),
    ("Cookie: session=abc123def456; theme=dark", "abc123def456"),
    ("team 7c21aaaa-1111-2222-3333-444455556666 has", "1111-2222"),
    (
        "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBg\n-----END PRIVATE KEY-----",
        "MIIEvQIBADANBg",
    ),
    (
        "The encrypted content gAAAABabcdefghijklmnopqrstuvwxyz could not",
        "efghijklmnop",
    ),
    ("hf_abcdefghijklmnopqrstuvwx", "ghijklmnop"),
    ("ghp_abcdefghijklmnopqrstuvwx0123456789", "ghijklmnop"),
];

#[test]
fn bl_84_planted_secrets_are_gone() {
    for (text, secret) in PLANTED {
        let masked = redact(text);
        assert!(!masked.contains(secret), "{text} became {masked}");
        assert!(
            masked.contains("***") || masked.contains('…'),
            "{text} became {masked}"
        );
    }
}

#[test]
fn bl_84_planted_secrets_are_gone_inside_objects_and_urls() {
    for (text, secret) in PLANTED {
        for wrapped in [
            serde_json::json!({"error": {"message": text}}).to_string(),
            format!("HTTP 401: {text}, please retry"),
            format!("a\n{text}\nb"),
        ] {
            assert!(
                !redact(&wrapped).contains(secret),
                "{wrapped} became {}",
                redact(&wrapped)
            );
        }
    }
}

#[test]
fn r_12_3_a_mask_keeps_what_people_recognise_a_long_key_by() {
    assert_eq!(redact("key sk-proj-abcdefghijklmnop1234"), "key sk-pro…1234");
    assert_eq!(redact("password: hunter2hunter2"), "password: ***");
}

#[test]
fn z5_values_of_links_and_forms_leave_no_trace() {
    for (text, shown) in [
        (
            "/v1?key=abcdefghijklmnopqrstuvwxyz&alt=sse",
            "/v1?key=***&alt=sse",
        ),
        (
            "a=1&client_secret=abcdefghijklmnopqrstuvwxyz",
            "a=1&client_secret=***",
        ),
        ("?code=1&state=2", "?code=***&state=2"),
        ("?monkey=abc&tokens=5", "?monkey=***&tokens=5"),
    ] {
        assert_eq!(redact(text), shown);
        assert_eq!(redact(shown), shown, "twice");
    }
}

#[test]
fn ordinary_text_stays() {
    for text in [
        "",
        "Rate limit reached for model `llama-3.3-70b-versatile` on tokens per minute (TPM): Limit 6000, Used 5800",
        "Your limit will reset at 2026-07-02 17:39:49",
        "prompt is too long: 213462 tokens > 200000 maximum",
        "Missing API key",
        "OAuth token has expired. Please obtain a new token.",
        "models/gemini-3-pro is not found for API version v1beta",
        "anthropic/claude-opus-4-8 is overloaded",
        "余额不足或无可用资源包,请充值。",
    ] {
        assert_eq!(redact(text), text);
    }
}

proptest! {
    #[test]
    fn bl_84_a_key_is_masked_in_any_surroundings(before in "[^A-Za-z0-9_]{0,20}", key in "[A-Za-z0-9]{24,60}", after in "\\PC{0,20}") {
        let masked = redact(&format!("{before} sk-proj-{key} {after}"));
        prop_assert!(!masked.contains(&key), "{masked}");
    }

    #[test]
    fn any_text_can_be_redacted(text in any::<String>()) {
        let _ = redact(&text);
    }
}

#[test]
fn bl_84_every_pattern_compiles() {
    for (_, pattern) in PATTERNS {
        compile(pattern);
    }
}
