//! What a list of profiles shows.

use openclaw_ids::ModelId;
use serde_json::json;

use super::*;
use crate::store::conformance::{at, profile};
use crate::{Secret, UsageChange};

const SECRETS: [&str; 4] = ["sk-planted-1", "tok-planted-2", "acc-planted-3", "ref-planted-4"];

fn snapshot() -> AuthSnapshot {
    let mut snapshot = AuthSnapshot::default();
    let [key, token, access, refresh] = SECRETS;
    for (id, entry) in [
        (
            "openai:key",
            json!({"type": "api_key", "provider": "openai", "key": key}),
        ),
        (
            "openai:ref",
            json!({"type": "api_key", "provider": "openai",
            "keyRef": {"source": "env", "provider": "default", "id": "PLANTED_NAME"}}),
        ),
        (
            "a:token",
            json!({"type": "token", "provider": "a", "token": token, "expires": 1, "displayName": "Old one"}),
        ),
        (
            "a:login",
            json!({"type": "oauth", "provider": "a", "access": access, "refresh": refresh, "idToken": access,
            "expires": at(3_600).as_millisecond(), "email": "me@x.example"}),
        ),
    ] {
        let credential = Credential::from_json(&entry).unwrap();
        snapshot.upsert(profile(id), credential).unwrap();
    }
    let local = Credential::local(ProviderId::try_new("ollama").unwrap());
    snapshot.ambient.insert(profile("ollama:local"), local);
    let hidden = Credential::api_key(ProviderId::try_new("openai").unwrap(), Secret::new("sk-other"));
    snapshot.ambient.insert(profile("openai:key"), hidden);
    snapshot
}

#[test]
fn z2_a_list_shows_what_a_profile_is_and_never_its_secret() {
    let config = json!({"profiles": {"a:login": {"provider": "a", "mode": "oauth", "displayName": "Mine"}}});
    let config: AuthConfig = serde_json::from_value(config).unwrap();
    let mut snapshot = snapshot();
    let settings = openclaw_cooldown::CooldownConfig::default();
    let rest = UsageChange::CoolDown {
        profile: profile("openai:key"),
        until: at(7_200),
    };
    snapshot.apply(&rest, at(0), &settings);
    let list = list_profiles(&snapshot, &config, at(0));
    let text = serde_json::to_string_pretty(&list).unwrap();
    for secret in SECRETS {
        assert!(!text.contains(secret), "{secret}");
    }
    assert!(!text.contains("PLANTED_NAME"), "pointers are not shown either");
    assert!(!format!("{list:?}").contains("planted"));
    insta::assert_snapshot!("list", text);
}

#[test]
fn rows_of_section_10_windows_and_remaining_times() {
    for (seconds, shown) in [
        (1, "1m"),
        (89, "1m"),
        (90, "2m"),
        (59 * 60, "59m"),
        (60 * 60, "1h"),
        (47 * 3_600, "47h"),
        (48 * 3_600, "2d"),
        (84 * 3_600, "4d"),
    ] {
        assert_eq!(remaining(at(0), at(seconds)), shown, "{seconds} s");
    }
    let model = Lane::Model(ModelId::try_new("m").unwrap());
    for (lane, reason, shown) in [
        (Lane::Billing, Reason::Billing, "disabled:billing"),
        (
            Lane::AuthPermanent,
            Reason::AuthPermanent,
            "disabled:auth_permanent",
        ),
        (Lane::Profile, Reason::Auth, "cooldown"),
        (Lane::Blocked, Reason::RateLimit, "cooldown"),
        (model, Reason::Overloaded, "cooldown"),
    ] {
        assert_eq!(status(&lane, reason), shown);
    }
}
