//! The login that replaces a lost one (O14).

use super::*;

fn config(email: &str) -> AuthConfig {
    serde_json::from_value(json!({"profiles": {
        "openai:default": {"provider": "openai", "mode": "oauth", "email": email}}}))
    .unwrap()
}

#[tokio::test]
async fn rows_of_o14() {
    let named = |email: &str| {
        let mut entry = entry("x", 3_600);
        entry["email"] = json!(email);
        entry
    };
    let lost = "openai:default";
    for (others, config, good, expected) in [
        (
            json!({"openai:a@x": named("b@x"), "openai:c@x": named("d@x")}),
            config("D@x"),
            None,
            Some("openai:c@x"),
        ),
        (
            json!({"openai:a@x": entry("x", 0), "openai:c@x": entry("x", 0)}),
            config("A@x"),
            None,
            Some("openai:a@x"),
        ),
        (
            json!({"openai:a": entry("x", 0), "openai:c": entry("x", 0)}),
            config("?"),
            Some("openai:c"),
            Some("openai:c"),
        ),
        (
            json!({"openai:a": entry("x", 0)}),
            AuthConfig::default(),
            None,
            Some("openai:a"),
        ),
        (
            json!({"openai:a": entry("x", 0), "openai:c@x": entry("x", 0)}),
            AuthConfig::default(),
            None,
            Some("openai:c@x"),
        ),
        (
            json!({"openai:a@x": entry("x", 0), "openai:c@x": entry("x", 0)}),
            AuthConfig::default(),
            None,
            None,
        ),
        (
            json!({"openai:a": {"type": "api_key", "provider": "openai", "key": "k"}}),
            AuthConfig::default(),
            None,
            None,
        ),
        (
            json!({"other:a": {"type": "oauth", "provider": "other", "access": "a"}}),
            AuthConfig::default(),
            None,
            None,
        ),
    ] {
        let mut entries = others.clone();
        entries[lost] = entry("lost", 0);
        let store = store(entries);
        if let Some(good) = good {
            store
                .commit(crate::store::conformance::success(good, None, 0), at(0))
                .await
                .unwrap();
        }
        let found = suggest(&store.snapshot(), &config, &profile(lost));
        assert_eq!(found.as_ref().map(ProfileId::as_str), expected, "{others}");
    }
    let store = store(json!({"p": entry("x", 0), "q": entry("x", 0)}));
    assert_eq!(
        suggest(&store.snapshot(), &AuthConfig::default(), &profile("p")),
        None,
        "not an older id"
    );
}

#[tokio::test]
async fn o14_the_login_that_took_the_place_of_a_lost_one_is_tried() {
    let (endpoint, host) = (Endpoint::answering(refused("invalid_grant")), Host::default());
    let store = store(json!({"openai:default": entry("old", 0), "openai:me@x": entry("me", 3_600)}));
    let (_folder, refresher) = refresher(&endpoint, &host);
    let id = profile("openai:default");
    let answer = refresher
        .login(&store, &AuthConfig::default(), &id, Demand::Usable)
        .await;
    assert_eq!(access(&answer), Some("me-access"));
    // A fault that passes by says nothing about the login.
    endpoint.then(None, refused("connection reset"));
    let answer = refresher
        .login(&store, &AuthConfig::default(), &id, Demand::Usable)
        .await;
    assert_eq!(answer.unwrap_err().code(), "refresh_failed");
}
