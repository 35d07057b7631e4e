//! The settings: strict, lenient, defaults.

use super::*;
use serde_json::{Value, json};

fn strict(text: &str) -> Result<CooldownConfig, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}

fn id(text: &str) -> ProviderId {
    ProviderId::try_new(text).unwrap()
}

#[test]
fn cooldown_2_defaults() {
    let config = CooldownConfig::default();
    assert_eq!(config.billing_backoff(&id("openai")), Duration::from_hours(5));
    assert_eq!(config.billing_max(), Duration::from_hours(24));
    assert_eq!(config.auth_permanent_backoff(), Duration::from_mins(10));
    assert_eq!(config.auth_permanent_max(), Duration::from_hours(1));
    assert_eq!(config.failure_window(), Duration::from_hours(24));
    assert_eq!(config.overloaded_profile_rotations(), 1);
    assert_eq!(config.overloaded_backoff(), Duration::ZERO);
    assert_eq!(config.rate_limited_profile_rotations(), 1);
    assert!(!config.bypasses(&id("openrouter")), "D8: the list is empty");
    assert_eq!(strict("{}"), Ok(config.clone()));
    assert_eq!(
        strict(r#"{"someday": true}"#),
        Ok(config.clone()),
        "unknown keys are ignored"
    );
    assert_eq!(CooldownConfig::lenient(&Value::Null), config);
}

#[test]
fn cooldown_2_every_key_is_read() {
    let settings = json!({
        "billingBackoffHours": 1,
        "billingBackoffHoursByProvider": {" OpenAI ": 0.5, "z.ai": 2},
        "billingMaxHours": 2.5,
        "authPermanentBackoffMinutes": 3,
        "authPermanentMaxMinutes": 0.25,
        "failureWindowHours": 6,
        "overloadedProfileRotations": 7,
        "overloadedBackoffMs": 8,
        "rateLimitedProfileRotations": 0,
    });
    let config = strict(&settings.to_string()).unwrap();
    assert_eq!(CooldownConfig::lenient(&settings), config);
    assert_eq!(config.billing_backoff(&id("anthropic")), Duration::from_hours(1));
    assert_eq!(config.billing_backoff(&id("openai")), Duration::from_mins(30));
    assert_eq!(config.billing_backoff(&id("Z.AI")), Duration::from_hours(2));
    assert_eq!(config.billing_max(), Duration::from_mins(150));
    assert_eq!(config.auth_permanent_backoff(), Duration::from_mins(3));
    assert_eq!(config.auth_permanent_max(), Duration::from_secs(15));
    assert_eq!(config.failure_window(), Duration::from_hours(6));
    assert_eq!(config.overloaded_profile_rotations(), 7);
    assert_eq!(config.overloaded_backoff(), Duration::from_millis(8));
    assert_eq!(config.rate_limited_profile_rotations(), 0);
}

/// Every wrong value with what the error says; the lenient reading keeps the default.
#[test]
fn cooldown_2_a_wrong_value_is_an_error_that_says_what_to_write() {
    let hours = "a number of hours above 0, such as 5 or 0.5; remove the key for the default";
    let minutes = "a number of minutes above 0, such as 10 or 0.5; remove the key for the default";
    let count = "a whole number of rotations, 0 or more; remove the key for the default";
    let milliseconds = "a whole number of milliseconds, 0 or more; remove the key for the default";
    let mut messages = Vec::new();
    for (key, expected) in [
        ("billingBackoffHours", hours),
        ("billingMaxHours", hours),
        ("authPermanentBackoffMinutes", minutes),
        ("authPermanentMaxMinutes", minutes),
        ("failureWindowHours", hours),
        ("overloadedProfileRotations", count),
        ("overloadedBackoffMs", milliseconds),
        ("rateLimitedProfileRotations", count),
    ] {
        for wrong in [
            json!(-1),
            json!(-0.5),
            json!("5"),
            json!(true),
            Value::Null,
            json!([1]),
        ] {
            let error = strict(&json!({ key: wrong }).to_string()).unwrap_err();
            assert!(error.contains(expected), "{key}: {wrong}: {error}");
            messages.push(format!("{key} = {wrong}: {error}"));
        }
    }
    insta::assert_snapshot!("errors", messages.join("\n"));
}

#[test]
fn cooldown_2_zero_is_a_rotation_count_but_no_wait() {
    for key in [
        "billingBackoffHours",
        "failureWindowHours",
        "authPermanentMaxMinutes",
    ] {
        assert!(strict(&json!({ key: 0 }).to_string()).is_err(), "{key}");
        assert!(strict(&json!({ key: 0.0 }).to_string()).is_err(), "{key}");
        assert_eq!(
            CooldownConfig::lenient(&json!({ key: 0 })),
            CooldownConfig::default(),
            "{key}"
        );
    }
    for (value, ok) in [(json!(0), true), (json!(2.0), true), (json!(2.5), false)] {
        assert_eq!(
            strict(&json!({ "overloadedBackoffMs": value }).to_string()).is_ok(),
            ok,
            "{value}"
        );
    }
}

#[test]
fn cooldown_2_the_lenient_reading_of_values_that_are_no_use() {
    for wrong in [
        json!("5"),
        json!(true),
        Value::Null,
        json!([]),
        json!(-3),
        json!(0),
    ] {
        for key in [
            "billingBackoffHours",
            "billingMaxHours",
            "authPermanentBackoffMinutes",
            "failureWindowHours",
        ] {
            assert_eq!(
                CooldownConfig::lenient(&json!({ key: wrong })),
                CooldownConfig::default(),
                "{key}: {wrong}"
            );
        }
    }
    let rotations = |value: Value| {
        CooldownConfig::lenient(&json!({ "rateLimitedProfileRotations": value }))
            .rate_limited_profile_rotations()
    };
    for (value, expected) in [
        (json!(-3), 0),
        (json!(1.9), 1),
        (json!("2"), 1),
        (json!(1e300), u32::MAX),
    ] {
        assert_eq!(rotations(value.clone()), expected, "{value}");
    }
}

#[test]
fn d12_an_invalid_override_falls_back_to_the_global_value() {
    for wrong in [json!("2"), json!(0), json!(-1), Value::Null, json!({})] {
        let settings = json!({"billingBackoffHours": 1, "billingBackoffHoursByProvider": {"openai": wrong, "OPENAI": 9}});
        let config = CooldownConfig::lenient(&settings);
        assert_eq!(
            config.billing_backoff(&id("openai")),
            Duration::from_hours(1),
            "{wrong}: the first spelling decides"
        );
        assert!(strict(&settings.to_string()).is_err(), "{wrong}");
    }
    let settings = json!({"billingBackoffHoursByProvider": {" ": 3, "openai": 2, "OpenAI": 9}});
    assert_eq!(
        CooldownConfig::lenient(&settings).billing_backoff(&id("openai")),
        Duration::from_hours(2)
    );
    assert_eq!(
        CooldownConfig::lenient(&json!({"billingBackoffHoursByProvider": 5})),
        CooldownConfig::default()
    );
    assert!(
        strict(r#"{"billingBackoffHoursByProvider": 5}"#)
            .unwrap_err()
            .contains("an object of provider ids")
    );
}

#[test]
fn d8_the_bypass_list_is_set_apart() {
    let config = CooldownConfig::default().with_bypass(vec![id("openrouter")]);
    assert!(config.bypasses(&id("OpenRouter")) && !config.bypasses(&id("openai")));
}
