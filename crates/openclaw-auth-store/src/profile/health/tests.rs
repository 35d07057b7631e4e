//! How near the end of a credential is.

use serde_json::{Value, json};

use super::*;

const NOW: i64 = 1_750_000_000_000;
const DAY: i64 = 86_400_000;

fn asked(mut entry: Value, warning: Duration) -> &'static str {
    entry["provider"] = "p".into();
    let now = Timestamp::from_millisecond(NOW).unwrap();
    health(&Credential::from_json(&entry).unwrap(), now, warning).as_str()
}

#[test]
fn rows_of_10() {
    for (entry, word) in [
        (json!({"type": "api_key", "key": "k"}), "static"),
        (json!({"type": "api_key"}), "missing"),
        (json!({"type": "token", "token": "t"}), "static"),
        (json!({"type": "token"}), "missing"),
        (
            json!({"type": "token", "token": "t", "expires": "soon"}),
            "missing",
        ),
        (json!({"type": "token", "token": "t", "expires": NOW}), "expired"),
        (
            json!({"type": "token", "token": "t", "expires": NOW + 1}),
            "expiring",
        ),
        (
            json!({"type": "token", "token": "t", "expires": NOW + DAY}),
            "expiring",
        ),
        (
            json!({"type": "token", "token": "t", "expires": NOW + DAY + 1}),
            "ok",
        ),
        (json!({"type": "oauth", "access": "a"}), "missing"),
        (json!({"type": "oauth", "access": "a", "expires": 0}), "missing"),
        (json!({"type": "oauth", "expires": NOW + 2 * DAY}), "missing"),
        (json!({"type": "oauth", "access": "a", "expires": NOW}), "expired"),
        (
            json!({"type": "oauth", "access": "a", "expires": NOW + DAY}),
            "expiring",
        ),
        (
            json!({"type": "oauth", "access": "a", "expires": NOW + 2 * DAY}),
            "ok",
        ),
    ] {
        assert_eq!(asked(entry.clone(), EXPIRY_WARNING), word, "{entry}");
    }
}

#[test]
fn a_login_that_is_about_to_be_refreshed_is_always_near_its_end() {
    let ends_in = |ms: i64| json!({"type": "oauth", "access": "a", "expires": NOW + ms});
    assert_eq!(asked(ends_in(300_000), Duration::ZERO), "expiring");
    assert_eq!(asked(ends_in(300_001), Duration::ZERO), "ok");
}
