use openclaw_classify::Reason;
use openclaw_cooldown::CooldownConfig;
use serde_json::json;

use super::*;
use crate::store::conformance::{at, failure, key, openai, profile, success};
use crate::{LoginChange, UsageChange};

fn used() -> AuthSnapshot {
    let mut snapshot = AuthSnapshot::default();
    for id in ["b", "a"] {
        snapshot.upsert(profile(id), key("sk-secret")).unwrap();
    }
    snapshot.set_order(openai(), vec![profile("a")]);
    let endpoint = EndpointKey {
        provider: openai(),
        base_url: "https://a".to_owned(),
    };
    let started_at = None;
    for change in [
        failure("a", Reason::RateLimit, Some("m"), 1),
        failure("b", Reason::Billing, None, 1),
        success("a", None, 2),
        UsageChange::EndpointFailure { endpoint, started_at },
        UsageChange::ProbeStart {
            provider: openai(),
            holder: "run".to_owned(),
        },
    ] {
        snapshot.apply(&change, at(3), &CooldownConfig::default());
    }
    let holder = "task".to_owned();
    snapshot.apply_login(&profile("a"), &LoginChange::Lease { holder }, at(3));
    snapshot
}

#[test]
fn everything_that_is_kept_comes_back() {
    let snapshot = used();
    let json = serde_json::to_string(&snapshot.to_stored()).unwrap();
    let stored: StoredSnapshot = serde_json::from_str(&json).unwrap();
    assert_eq!(AuthSnapshot::from(stored), snapshot);
    let empty: StoredSnapshot = serde_json::from_str("{}").unwrap();
    assert_eq!(serde_json::to_string(&empty).unwrap(), "{}");
}

#[test]
fn secrets_are_in_what_is_serialized_and_nowhere_else() {
    let stored = used().to_stored();
    assert!(serde_json::to_string(&stored).unwrap().contains("sk-secret"));
    assert_eq!(format!("{stored:?}"), "StoredSnapshot { .. }");
}

#[test]
fn an_entry_that_is_no_credential_is_named() {
    let stored: StoredSnapshot = serde_json::from_value(json!({"profiles": {"x": 1}})).unwrap();
    let snapshot = AuthSnapshot::from(stored);
    assert!(snapshot.profiles.is_empty() && snapshot.is_rejected(&profile("x")));
}
